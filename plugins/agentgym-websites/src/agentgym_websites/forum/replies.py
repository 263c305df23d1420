"""How comments are put: for each kind of comment its layouts, and the rules of their sentences."""

from agentgym_websites.forum.posts import RULES as POST_RULES
from agentgym_websites.grammar import Rules

RULES: Rules = {
    **{name: POST_RULES[name] for name in ("since", "season", "kin", "day", "some")},
    "lead": (
        "One thing", "From one {doer} to another", "My advice<| from {town}>", "<What saved me|The turn> in {month}", "Better than {a gear}", "For {x} <in {town}|in {month}>", "{Some} says",
        "{weeks} weeks taught me this", "In {town} we do it like this", "Before {soon}", "If you ask {some}", "On {day}s", "With or without {a gear}", "Learned in {town}",
    ),
    "advise": (
        "{lead}: {tip}.", "{lead}: **{tip}**.", "{Tip}<, {op}|, even on {day}s|; {some} taught me that|; that is all>.", "**{Tip}**<, {op}|, and do so by {soon}|, above all in {month}>.",
        "{op}, {tip}<|, says {some}|, as in {town}>.", "If I had known it in {month}: {tip}.", "Do as we do in {town}: {tip}.", "When {trouble}, {some} always says: {tip}.", "Have you tried this, {op}: {tip}?",
    ),
    "proof": (
        "{n} {measure} <since {month}|in {town}>, and I am not even good at {x}.", "That took me {weeks} weeks to learn<| in {town}|, and {a gear}>.", "Ask any {doer} in {town}.", "With {x} it made <all the|a great> difference <in {month}|to {some}>.", "{A gear} cannot do that, <not even for ${price}|not in {month}>.",
        "{Some} <swears by it|showed me how|does it too>.", "In {town} it is the first thing that {a doer} hears.", "After {weeks} weeks you <will|should> see it<| in {town}>.", "From {m} to {n} {measure}: that is what it did in {month}.", "By {soon} you will be at {n} {measure}, I bet.",
        "Before that, {trouble}, and now it is over.", "Why? Because {some} got {n} {measure} that way.", "On {day}s I still check it<| with {a gear}>.", "Without it I would be at {m} {measure}, like my {kin}.", "",
    ),
    "reason": (
        "${limit} <is what I have|must do> until {soon}.", "The {shop} in {town} <did not say|had none|was shut on {day}>.", "My {kin} wants to know<, too|>.", "Mine <broke|vanished|went to my {kin}> in {month}.", "With {x} <I never know|one is never sure>.", "Since {month} {trouble}, and I want to change that.",
        "{Some} asked ${limit}, which <seems|sounds> a lot.", "My old {gear} <is falling apart|is on loan> in {town}.", "Before {soon} I need one for {x}.", "Without one, says {some}, I should not even begin with {x}.", "If it is under ${limit}, my {kin} will not complain.", "In {town} nobody sells {a gear} <any more|under ${limit}>.", "",
    ),
    "cost_of": (
        "What does {a gear} cost <these days|in {town}|this {season}>?", "How much was the {gear}<, {op}| in {month}| at the {shop}>?", "{op}, what did you pay for the {gear}?", "And the price of {a gear}<| in {town}|, {op}>?", "What does {some} <pay|ask> for {a gear}?", "Is {a gear} still under ${limit}<| in {town}|, {op}>?", "{A gear} in {town}: how much?", "Before I ask the {shop}: what is a fair price for {a gear}?",
        "For {x} I lack {a gear}; what does one cost<, {op}|>?", "Would ${limit} be enough for {a gear}<, {op}| in {town}>?", "In {month} {a gear} was cheap in {town}; what is it now?",
    ),
    "where_of": (
        "Where did you get the {gear}<, {op}| in {month}|>?", "Which {shop} <sells|has> {a gear}<| near {town}|, {op}>?", "Is the {gear} from {town}<|, {op}| or {town2}>?", "{op}, who sells {a gear} like that?", "{A gear} like that: where?", "In {town} I looked for {a gear} in vain; where is yours from<, {op}|>?", "Before I order {a gear} blindly: where did you buy it?", "Since {month} I have wanted {a gear}; which {shop} was it?", "Did the {gear} come from <the {shop}|{town}|{some}>?",
        "For {x} I would buy that {gear} today; which {shop}?",
    ),
    "count_of": (
        "How many {measure} <are usual|are fair> <in {town}|by {soon}|, {op}>?", "How many {measure} would you count on<, {op}| in {month}|>?", "And in {measure}, {op}?", "What did {some} get, in {measure}?", "Is {m} normal, in {measure}<|, {op}>?", "{op}, how many {measure} was it at the start?", "By {soon}, how many {measure} can {a doer} hope for?", "In {town} nobody counts {measure}; do you<, {op}|>?",
        "With {a gear}, how many {measure} are possible?", "Was it {n} {measure} <from the start|before {month}>, too?",
    ),
    "mine": (
        "I am at {m}<, {op}| in {town}|, like {some}>.", "With me it is {m}.", "{m} is where I stand<, {op}| since {month}>.", "My {kin} <says|claims> {m}<| in {town}>.", "In {town} they count {m}<|, and {some} {n}>.", "Since {month} I have not got past {m}.", "{Some} thinks that {m} is fair.", "After {weeks} weeks I am at {m}.", "On a good {day} I count {m}.", "Without {a gear} it is {m} for me.", "{n} was my best so far, in {month}.",
    ),
    "lauds": (
        "This is the best <post|thing> on {x} since {month}.", "Lovely, {op}<| – {x} in {month}|, even from {town}>.", "Saved for {soon}<|, {op}| and for my {kin}>.", "Now my {kin} wants to try {x}<| in {town}>, too.", "{op}, you make {x} look <easy|like a holiday>.", "{X} at its best<, {op}|, and I say that as {a doer}>!",
        "My {kin} must read this<, {op}| before {soon}>.", "On {day} I read it twice<| and then bought {a gear}>.", "In {town} we would frame this<, {op}|>.", "{n} {measure}! Nobody in {town} <gets there|believes that>.", "If all posts on {x} were like this, {town} would be full of {doers}.", "Who taught you {x}, {op}?", "After {weeks} weeks of my own tries, this <is a gift|helps a lot>.",
    ),
    "aside": (
        "My {gear} is ashamed<| in {town}>.", "Greetings from {town}.", "{n} {measure} – respect<|, {op}| from {town}>.", "{Some} needed {weeks} weeks <and {a gear}|for that>.", "The {shop} in {town} should hang this up<, {op}|>.", "In {month} I gave up<| at {m} {measure}>.", "Even my {kin}, who hates {x}, read on.", "Until {soon} I will think about {x} differently.", "Here in {town} {trouble}, so I am a little jealous.",
        "{A gear} is already on its way to {town}.", "Before {month} I would have laughed.", "With {m} {measure} I have some way to go.", "",
    ),
    "tale": (
        "Same in {town}: {trouble}<|, {k} times so far>.", "In {month} <I had|we had> that too<, {op}|>: {trouble}.", "My {kin} and {x}: {trouble}<|, for {weeks} weeks now>.", "{Trouble} <in {town}, too|here as well, {op}|with my {kin}, too>.", "<After {weeks} weeks|One {day}|With a new {gear}> {trouble}<|, {op}>.", "{Some} knows this well: {trouble}.", "Whenever {trouble}, my {kin} <laughs|leaves the room>.",
        "If {trouble}, you are not alone<, {op}|: ask {town}>.", "{k} times by now: {trouble}.", "Every {day} it is the same: {trouble}.", "As soon as I think that I know {x}, {trouble}.", "Since {month} {trouble}<, {op}|>.",
    ),
    "after": (
        "In {month} it <went away|stopped> by itself.", "After {k} days it was over<|, {op}>.", "Now {some} and I laugh about it.", "{A gear} for ${price} <was the end of it|helped in the end>.", "We are at {n} {measure} and content<| in {town}>.", "My {kin} <took over|has it now>.", "With {n} {measure} I cannot complain any more.", "Nobody in {town} has found out why<|, {op}>.", "Since {month} all is quiet.",
        "The {shop} in {town} only shrugged.", "What helped was {a gear}<, {op}|>.", "By {soon} I hope to be rid of it.", "Then {some} told me what was wrong.", "",
    ),
    "assent": (
        "Thank you for saying it, {op}<|, says all of {town}>.", "At last {a doer} says it<| about {x}|, {op}>.", "Yes, a hundred times<, {op}| from {town}>.", "{Some} and I agree<, {op}|>.", "In {town} we have said so since {month}.", "{X} needed that<, {op}|>.", "My {kin} would sign that<, {op}|>.", "{op}, you speak for every {doer} in {town}.", "As {a doer} I can only nod.", "Since {month} I have thought the same about {x}.",
        "After {weeks} weeks of {x} I agree with every word.", "Who could disagree<, {op}|>?", "{n} {measure} prove you right, {op}.",
    ),
    "dissent": (
        "I disagree, {op}: {counter}.", "Not in {town}: {counter}.", "Hm, {op}: {counter}.", "That depends<, {op}| on {month}>: {counter}.", "{Some} saw it otherwise: {counter}.", "Things are different in {town}: {counter}.", "With respect, {op}, {counter}.", "As {a doer} I say that {counter}.", "My {kin} would answer that {counter}.", "Are you sure, {op}? In {town} {counter}.", "Since {month} I know better: {counter}.",
    ),
    "counter": (
        "with {m} {measure} it would never have worked", "without {a gear} I would have given up in {month}", "my {kin} did so in {month}, and {trouble}", "{some} needed {weeks} weeks for it", "nobody with {n} {measure} would say so", "in {month} {trouble}", "{a gear} for ${price} made all the difference", "the {shop} in {town} sells more than luck", "{m} {measure} are not enough",
    ),
    "plan": (
        "On {day} I will <do|try> it<| in {town}|, with {a gear}>.", "I am off to the {shop}<| in {town}| for {a gear}>.", "Let us see where I am by {soon}.", "That is one {gear} less to buy<| in {month}>.", "My {kin} will hear of it<| on {day}>.", "{weeks} weeks too late for me, but still.", "Then {x} may stay <until {soon}|in {town}>.", "With {n} {measure} I would be happy.", "By {soon} I hope for {n} {measure}.",
        "If {trouble} next {season}, I will be back.", "In {town} that will be news.", "Before {day} I have to find {a gear}.", "",
    ),
    "thank": (
        "Thank you, {name}<|, also from {town}>.", "{Name}, that helps <with {x}|more than {a gear}|my {kin}, too>.", "Good to know, {name}<|, before {soon}>.", "Noted, {name}, <next to the {gear}|for {soon}>!", "That is what I needed, {name}.", "You saved my {day}, {name}.", "Now I understand {x}, {name}.", "{Some} said the same, {name}<, and I did not listen|>.", "For that I owe you {a gear}, {name}.",
    ),
    "test": (
        "> {Tip}.\n\nI did, from {month} on: from {m} to {n} {measure}.", "{Name}, after {weeks} weeks <in {town}|with {a gear}> I can confirm it: {n} {measure}.", "“{Tip}”, you said, {name}, and in {month} it worked<| in {town}|; {some} saw it>.", "In {town} it worked, {name}: {n} {measure} instead of {m}.", "> {Tip}.\n\nMy {kin} tried it in {month}, {name}, with {n} {measure} in the end.", "{n} {measure}, {name}, and {m} before that: it works.",
        "{weeks} weeks of it, {name}, and {trouble} no more often than once a month.",
    ),
    "object": (
        "{Name}, and if {trouble}<|, as with {some}>?", "It did not help in {town}, {name}: {trouble}, as before.", "Careful, {name}: in {town} that <ended with|cost me> a <broken|lost> {gear}.", "{weeks} weeks of that, {name}, and {trouble} all the same.", "In {month} I tried that<, {name}|>, and {trouble}.", "My {kin} did exactly that, {name}, and {trouble}.", "With {a gear} perhaps, {name}, but not without.", "What if {trouble}, {name}?", "{Some} says the opposite, {name}.",
        "Since {month} I do that, {name}, and still {trouble}.",
    ),
    "told_price": (
        "{aware}about **${price}**, {bought}.", "{aware}I paid ${price} for {a gear}, {bought}.", "{aware}${price}, {bought}, and it still works.", "{aware}my {kin} and I paid ${price}, {bought}.", "{Bought}: ${price}<|, {name}| for {a gear}>.", "{aware}mine was ${price}<|, {name}>, {bought}.", "In {month} it was ${price}, {bought}<|, {name}>.", "{Name}, ${price}, {bought}.", "For {a gear} I paid ${price}<|, {name}>, {bought}.", "As {a doer} from {town} I paid ${price}<|, {name}>.", "{Bought} {a gear} cost me ${price}<|, {name}>.",
    ),
    "told_place": (
        "{aware}mine is {bought}, ${price}<|, {name}>.", "{aware}{a gear} for ${price}, {bought}<|, {name}>.", "{Bought}, {name}, for ${price}.", "{Name}, {bought}, ${price}.", "In {month} I got it {bought}, ${price}.", "My {kin} found it {bought}, ${price}.",
    ),
    "bought": ("<at|from> the {shop} in {town}", "used, from {a doer} in {town}", "new, in {town}", "at a sale in {town}", "through my {kin} in {town}", "online in {month}", "on a {day} in {town}"),
    "told_figure": (
        "{aware}{n} {measure}, {steady}.", "{aware}I would say {n}, {steady}.", "{aware}{n}, {steady}; {m} <in {month}|for my {kin}|in {town2}>.", "{aware}between {m} and {n} {measure}, {steady}.", "{Name}, {n} {measure}, {steady}.", "{n} {measure}, {name}, {steady}.", "In {town} it is {n} {measure}<|, {name}>.", "After {weeks} weeks I am at {n} {measure}<|, {name}>.", "My {kin} gets {n} {measure}<|, {name}>, {steady}.", "With {a gear} I get {n} {measure}<|, {name}>.",
    ),
    "steady": ("steady since {month}", "give or take {k} per cent", "after {weeks} weeks of trying", "with {a gear}", "here in {town}", "says {some}", "on a good {day}"),
    "gladly": (
        "You are welcome, {name}<| – anything for {x}|, greetings from {town}>.", "Glad to <hear|read> it, {name}<|, this {season} of all times>.", "Any time, {name}<|, {day} is my day for {x}>.", "Ha, {name}<|, {some} said so, too>.", "{Name}, {town} is proud of you.", "With pleasure, {name}.", "In {town} we help each other, {name}.", "My {kin} gets the credit, {name}.", "That is what {doers} are for, {name}.", "For {x} I always have time, {name}.",
    ),
    "part": (
        "Write again <in {soon}|on {day}>.", "Show us the {gear}<| in {soon}>.", "{X}: worth it, even in {month}.", "When you are in {town}, come by<| on a {day}>.", "My {kin} says hello<| from {town}>.", "{weeks} weeks and you will laugh about it.", "{A gear} is next, I suppose?", "By {soon} you will be at {n} {measure}.", "In {town} it is {day} and late.", "Until {soon}, then.", "And now {a gear}, before {soon}?", "Tell {some} about it.", "",
    ),
    "kinship": (
        "In {town} it is the same, {name}.", "So I am not alone<| with {x}|>, {name}.", "Good to read that, {name}: with my {kin} it is the same.", "{Name}, did you get to {n} {measure} <in the end|by {soon}>?", "The same here, {name}<|, since {month}>.", "That is my {kin}, {name}, <word for word|to the letter>.", "{k} times, {name}, it has been like that <in {town}|with my {kin}>.", "My {kin} could have written that, {name}.", "{X} did that to me, too, {name}.", "After {weeks} weeks of {x} I feel the same, {name}.", "Since {month} I could say the same, {name}.",
    ),
    "defend": (
        "Fair enough, {name}: in {town} I count {n} {measure}.", "I only said what worked in {town}, {name}.", "{Name}, then let us agree on this: {tip}.", "True for {month}, {name}, not for <the rest of the year|{soon}|{town}>.", "Not {a gear}, {name}, but patience: {weeks} weeks of it.", "{n} {measure}, {name}, and that was the point.", "In {month} I thought so, too, {name}.", "With {m} {measure} I would talk like you, {name}.", "My {kin} is on your side, {name}.", "As {a doer} from {town} I stand by it, {name}.", "If {trouble}, {name}, you may be right.", "Have you tried it with {a gear}, {name}?",
        "{weeks} weeks ago I would have agreed, {name}.",
    ),
    "too_dear": (
        "${price} is a lot, {name}; in {town} it was half.", "At that price I am staying with my old {gear}, {name}.", "So much for {a gear}, {name}? {Some} asks less.", "In {town} {a gear} was half of that, {name}.", "My {kin} paid less than ${price}, {name}.", "For ${price} I expect more than {a gear}, {name}.", "{Name}, ${price} in {month}, or now?", "If {a gear} costs ${price}, {name}, I can wait until {soon}.",
    ),
    "settle": (
        "Agreed, {name}<| – for {x} one needs both>.", "Then we mean the same, {name}<|: {n} {measure}>.", "I can live with that, {name}<|, until {soon}>.", "{Name}, peace <until {soon}|in {town}>.", "In {town} we call that a draw, {name}.", "My {kin} thinks so, too, {name}.", "With {n} {measure} nobody needs to argue, {name}.", "By {soon} we will know, {name}.",
    ),
}  # fmt: skip
COMMENTS = {
    "advice": ("{advise} {proof}", "{proof} {advise}"),
    "cost": ("{cost_of} {reason}", "{reason} {cost_of}"),
    "where": ("{where_of} {reason}", "{reason} {where_of}"),
    "count": ("{count_of} {mine}", "{mine} {count_of}"),
    "praise": ("{lauds} {aside}", "{aside} {lauds}"),
    "story": ("{tale} {after}",),
    "agree": ("{assent} {aside}",),
    "doubt": ("{dissent}", "{dissent} {aside}"),
    "thanks": ("{thank} {plan}", "{plan} {thank}"),
    "tried": ("{test}", "{test} {plan}"),
    "but": ("{object} {mine}", "{object}"),
    "price": ("{told_price}",),
    "place": ("{told_place}",),
    "figure": ("{told_figure}",),
    "welcome": ("{gladly} {part}",),
    "fellow": ("{kinship} {part}", "{kinship}"),
    "defence": ("{defend}", "{defend} {part}"),
    "dear": ("{too_dear}", "{too_dear} {part}"),
    "peace": ("{settle} {part}",),
}
"""Layouts of each kind."""
