"""How comments are put: for each kind of comment its layouts, and the rules of their sentences."""

from agentgym_envs.envs.web.sites.forum.posts import RULES as POST_RULES
from agentgym_envs.envs.web.sites.grammar import Rules

RULES: Rules = {
    **{name: POST_RULES[name] for name in ("since", "season", "kin", "day", "some")},
    "lead": (
        "If you ask <me|{some}>", "One thing", "From one {doer} to another", "My advice<| {since}|, from {town}>", "<What saved me|The turn> in {month}", "Start here", "<Cheaper|Better> than {a gear}", "For {x} <in {town}|in {month}|on {day}s>", "{Some} says",
        "{Weeks} weeks <of {x} |>taught me this", "In {town} we do it like this", "Before {soon}",
    ),
    "advise": ("{lead}: {tip}.", "**{Tip}.** {lead}.", "{Tip}<, {op}| {since}|, even on {day}s|; {lead}>.", "<What|All that> I would tell you, {op}: {tip}."),
    "proof": (
        "I have been at {n} {measure} {since}.", "That took me {weeks} weeks <to learn|in {town}|and {a gear}>.", "Ask <any|the next> {doer} in {town}.", "With {x} it made <all the|a great> difference <in {month}|to {some}|by {soon}>.", "{A gear} <does not replace|cannot do> that <in {town}|in {month}|for ${price}>.",
        "{Some} <swears by it|showed me|does it too> {since}.", "It is the first thing I tell people <about {x}|in {town}|on {day}s>.", "You <will|should> see it after {weeks} weeks<| in {town}|, or by {soon}>.", "From {m} to {n} {measure}, <in {month}|that is what it did|no {gear} needed>.", "",
    ),
    "reason": (
        "I have ${limit} left until {soon}<| and no {doer} to ask|, {op}>.", "The {shop} in {town} <did not say|had none|was shut on {day}>.", "Asking for <my {kin}|{some}>, {since}.", "Mine <broke|vanished|went to my {kin}> in {month}<| in {town}>.", "With {x} <I never know|one is never sure>, {op}.",
        "{Some} <wants|asked> ${limit}, which <seems|sounds> <much|odd>.", "",
    ),
    "cost_of": ("What does {a gear} cost <these days|in {town}|this {season}>?", "How much was the {gear}<, {op}| in {month}| at the {shop}>?", "And the price of {a gear}<| in {town}|, {op}| by now>?", "What <did|does> {some} <pay|ask> for {a gear}?"),
    "where_of": ("Where did you get <the|that> {gear}<, {op}| in {month}|>?", "Which {shop} <sells|has> {a gear}<| near {town}| in {month}|, {op}>?", "Is the {gear} <from|out of> {town}<|, {op}| or {town2}>?"),
    "count_of": ("How many {measure} <are usual|are fair> <in {town}|by {soon}|, {op}>?", "How many {measure} <do|would> you count on<, {op}| in {month}|>?", "And in {measure}, {op}?", "What <did|would> {some} get, in {measure}?"),
    "mine": (
        "I am at {m} <since {month}|in {town}|, {op}>.", "With me it is {m}, {since}.", "I never got past {m}<| in {town}| before {soon}|, says {some}>.", "My {kin} <says|claims> {m}<| in {town}|, {since}>.", "In {town} they <told me|count> {m}<| {since}|, {some} {n}>.",
    ),
    "lauds": (
        "This is the best <post|thing> on {x} {since}<, {op}|>.", "Lovely, {op}<| – {x} in {month}|, even from {town}>.", "Saved for {soon}<|, {op}| and for my {kin}|, {x} and all>.", "Now <I want|my {kin} wants> to try {x} <in {town}|by {soon}|, too>.", "You make {x} look <easy|like a holiday><, {op}| {since}|>.",
        "My {kin} <should|must> read this<, {op}| in {month}| as well>.", "I read it <twice|to my {kin}|on {day}> <in {town}|, {op}|and bought {a gear}>.",
    ),
    "aside": (
        "My {gear} is ashamed<| in {town}|, {since}>.", "Greetings from {town}.", "{n} {measure} – respect<|, {op}| from {town}>.", "It took {some} {weeks} weeks<| and {a gear}|, {since}>.", "The {shop} <in {town} |>should <hang|pin> this <up|to the door> <in {month}|for every {doer}|, {op}>.",
        "I gave up in {month}<| with {m} {measure}|, in {town}>.", "Even my {kin} <stopped and read it|nodded|, who hates {x}, read on> <on {day}|in {town}|, {op}>.", "",
    ),
    "tale": (
        "Same in {town}: {trouble}<| {since}|, {op}|, {k} times>.", "In {month} <I had|we had> that too<, {op}|>; {trouble}.", "My {kin} and {x}: {trouble}, <for {weeks} weeks|{since}>.", "Here {trouble}<| {since}|, {op}|, and {some} laughs>.", "<After {weeks} weeks|One {day}|With a new {gear}> {trouble}<|, {op}| in {town}>.",
    ),
    "after": (
        "It <went away|stopped> by itself <in {month}|after {k} days|, {op}>.", "I laugh about it <now|in {town}|with {some}>.", "In the end I bought {a gear}<| in {town}| for ${price}|, {op}>.", "We are at {n} {measure} and content<| in {town}|, {since}>.", "I gave it to <the {shop}|my {kin}|{some}> in {month}.",
        "It was over in {month}<|, {op}| with {n} {measure}>.", "Nobody <in {town} |>has found out why<| {since}|, {op}>.", "",
    ),
    "assent": (
        "Thank you for saying it, {op}<| {since}| from {town}>.", "At last <somebody|{a doer}> says it about {x}<| in {month}|, {op}>.", "Yes, a hundred times<, {op}| from {town}| {since}>.", "{Some} <and I agree|would sign that> <{since}|, {op}>.",
    ),
    "dissent": (
        "I disagree, {op}: {counter}<|, in {town} at least| {since}>.", "Not in {town}: {counter}.", "Hm, {op}: {counter}<| – ask {some}|>.", "That depends<, {op}| on {month}|>: {counter}.", "{Some} <saw|did> it otherwise: {counter}.",
    ),
    "counter": (
        "with {m} {measure} it <would never have worked|fails>", "without {a gear} I would have given up {x} in {month}", "my {kin} did so<, and| in {month} and> {trouble}", "ask <any|the next> {doer} after {weeks} weeks", "try that in {month} <and write again|with {a gear}>",
    ),
    "plan": (
        "I will <do|try> it on {day}<| in {town}|, with {a gear}|, {name}>.", "I am off to the {shop}<| in {town}| for {a gear}|, {name}>.", "Let us see where I am <in {soon}|by {day}><|, {n} {measure} would do|, {name}>.", "That is one {gear} less to <buy|carry|clean><| in {month}|, {name}| for my {kin}>.",
        "I will tell <my {kin}|{some}> <as well|on {day}|, {name}>.", "{Weeks} weeks too late <for me|in {town}|, {name}>, but still.", "Then {x} may stay <until {soon}|in {town}|, {name}>.", "",
    ),
    "thank": (
        "Thank you, {name}<| – from {town}|, {since} I wondered>.", "{Name}, that helps <with {x}|in {town}|more than {a gear}|my {kin}, too>.", "Good to know, {name}<| before {soon}|, says {some}>.", "Noted, {name}, <next to the {gear}|for {soon}|in {k} places>!",
    ),
    "test": (
        "> {Tip}<.| – {name}.|, you said.>\n\nI did, {since}: from {m} to {n} {measure}.", "{Name}, I <can confirm|checked> it after {weeks} weeks<| in {town}| with {a gear}>: {n} {measure}.", "“{Tip}”, you <said|wrote>, {name}, and in {month} <it worked|I got {n} {measure}><| in {town}|, {some} saw it>.",
    ),
    "object": (
        "{Name}, and if {trouble}<| in {month}| – {some}'s case>?", "It did not help <me|in {town}|my {kin}><, {name}| {since}|>: {trouble}, as before.", "Careful, {name}: in {town} that <ended with|cost me> a <broken|lost> {gear}<| in {month}|, {k} days in>.", "I tried that for {weeks} weeks<, {name}| in {town}| with {a gear}>.",
    ),
    "told_price": (
        "{aware}about **${price}**, {bought}.", "{aware}I paid ${price} for {a gear}, {bought}.", "{aware}${price}, {bought}, and it still works <in {town2}|{since}|every {day}>.", "{aware}my {kin}'s {gear} <was|cost> ${price}, {bought}.",
    ),
    "told_place": ("{aware}mine is {bought}, ${price}<| {since}|, {name}>.", "{aware}{a gear} for ${price}, {bought}<|, {name}>."),
    "bought": ("<at|from> the {shop} in {town}", "used, from {a doer} in {town}", "new, in {month}, in {town}", "at a sale in {town}<| on a {day}>", "through my {kin} in {town}", "online, {since}", "at {some}'s, in {month}"),
    "told_figure": (
        "{aware}{n} {measure}, {steady}.", "{aware}I would say {n}, {steady}, {name}.", "{aware}{n}, {steady}; {m} <in {month}|for my {kin}|in {town2}>.", "{aware}between {m} and {n} {measure}, {steady}.",
    ),
    "steady": ("steady since {month}", "give or take {k} per cent", "after {weeks} weeks of trying", "with {a gear}", "here in {town}", "says {some}", "on a good {day}"),
    "gladly": (
        "You are welcome, {name}<| – {x} is fun|, from {town}>.", "Glad to <hear|read> it, {name}<| from {town}| this {season}>.", "Any time, {name}<|, {x} is my {day}|, I am in {town}>.", "Ha, {name}<|, {some} said so|, {month} again>.",
    ),
    "part": (
        "Write again <in {soon}|on {day}><|, {name}| from {town}|, {n} {measure} or not>.", "Show us <on {day}|in {soon}|the {gear}><|, {name}| in {town}>.", "It is worth it<, for {x}|, {name}| even in {month}>.", "Come by when you are in {town}<|, {name}| on a {day}>.", "My {kin} says hello <from {town}|, {name}|on {day}>.",
        "{Weeks} weeks and <you|your {kin}> will laugh about it<|, {name}| in {town}>.", "{A gear} is next, I suppose<|, {name}| for {soon}>?", "",
    ),
    "kinship": (
        "So I am not alone with {x}<| in {town}| {since}|, {name}>.", "Good to read that, {name}: <here in {town}|with my {kin}> it is the same<| {since}|, {k} times>.", "{Name}, did you get to {n} {measure} <in the end|by {soon}|, like {some}>?", "The same here, {name}, {since}.", "That is my {kin} with {x}, <word for word|{since}|, {name}>.",
    ),
    "defend": (
        "Fair enough, {name}: in {town} I count {n} {measure}<| {since}|, and that was the point>.", "I only <said|wrote> what worked {since}<|, {name}| in {town}>.", "{Name}, then let us agree on this: {tip}<| {since}|, in {town} as here>.", "True for {month}<, {name}|>, not for <the rest of the year|{soon}|{town}>.",
        "It is not the {gear}, {name}; it is <the patience|my {kin}|{town}>: {weeks} weeks.",
    ),
    "too_dear": (
        "${price} is a lot, {name}; in {town} it was half<| in {month}| for {a gear}>.", "At that price I <will stay|am staying> with my old {gear}, {name}<| from {town}| until {soon}>.", "So much for {a gear}, {name}? {Some} asks less<| {since}|, I think>.",
    ),
    "settle": ("Agreed, {name}<| – {x} needs both|, from {town}| {since}>.", "Then we mean the same, {name}<|: {n} {measure}|, in {town} and here>.", "I can live with that, {name}<| in {town}| until {soon}|, says {some}>."),
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
