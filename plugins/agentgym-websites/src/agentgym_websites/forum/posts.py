"""The layouts of posts: the sections of each kind of post, and the rules of their sentences."""

from agentgym_websites.grammar import Rules

RULES: Rules = {
    "since": (
        "since {month}", "for {weeks} weeks now", "since <we|I> <moved to|left> {town}", "since last {season}", "on and off since {month}", "every {day}", "ever since I left {town2}",
        "since <my|our> first try", "all through {month}",
    ),
    "season": ("spring", "summer", "autumn", "winter"),
    "kin": ("sister", "neighbour", "father-in-law", "flatmate", "daughter", "old teacher", "colleague", "aunt", "brother", "best friend", "boss", "cousin"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "some": ("my {kin}", "{a doer} from {town2}", "the man at the {shop}", "a friend in {town}", "the {shop}'s owner in {town}", "my {kin} in {town2}"),
    "busy": ("busy with", "learning", "fighting", "in love with", "thinking about", "reading up on", "at work on"),
    "hello": (
        "I have been {busy} {x} {since}", "Like <every|any> {doer} <in|from> {town}, I thought that I <knew|had mastered> {x}", "After {weeks} weeks <of|with> {x} I owe you <a report|some figures|the story>",
        "My {kin} <got me into|talked me into|warned me of> {x} in {month}", "{X} <kept|has kept> me <awake|busy|away from dinner> {since}", "In {month} {some} <brought|sent> me <to|back to> {x}",
        "{weeks} weeks ago I <knew nothing about|had never tried> {x}", "<Greetings|Hello> from {town}, where {x} <took up all of {month}|began in {month}>", "On {day}s I do nothing but {x}",
        "{X} in {month}: that was <my life|what {some} called my life>", "Between {town} and {town2} nobody <talks more about|spends more on> {x} than <I do|my {kin}>", "{A gear1} for ${p1} was how it began with {x}",
        "Before {month} I had never thought about {x}", "As {a doer} in {town} I cannot avoid {x}", "When I moved to {town}, {some} showed me {x}", "Since {month} my {kin} and I have talked of nothing but {x}", "If you had asked me about {x} in {month}, I would have laughed", "{town}, {month}, {x}: it could have gone worse",
    ),
    "bye": (
        "<Ask|Write> away, I am here until {day}.", "Pictures <follow|come> on {day}<|, from {town}|, once my {kin} has gone>.", "What would you change <about the {gear1}|first|by {day}>?",
        "In {soon} I will report again<| from {town}|, figures and all>.", "{town} says goodbye for {month}.", "Corrections from any {doer} are welcome.", "Now you.", "My {kin} <sends regards|says hello> from {town}.",
        "Back to {x} now, {day} is short.", "{soon} will show <more|who was right>.", "Until {soon}, greetings from {town}.", "With that I leave {town} for the weekend.", "If you are ever in {town}, come and see it.", "Questions about the {gear1} go to my {kin}.", "On {day} I go on<, with or without the {gear1}|>.", "Does anybody in {town2} see it otherwise?", "More in {soon}, when {some} is back.",
    ),
    "puzzled": (
        "In {k} <guides|threads|books> I found <no help|no two that agree|nothing about {town}>.", "Nobody in {town} <could say|agrees on> why.", "The {shop} in {town} only <shrugged|wished me luck|sent me here>.",
        "My {kin} <says|thinks> it is <normal|my {gear1}|the weather in {town}>.", "I searched here, back to {month}, and found {k} opinions.", "{Some} <laughed|sighed> when I <asked|mentioned the {gear1}>.",
        "{A doer} from {town2} told me one thing, and {some} another.", "The manual of my {gear1} <says nothing|is in Danish|stops at page {k}>.", "In {town} {k} people gave me {k} answers.", "Since {month} I have asked everybody from {town} to {town2}.", "Either {some} is wrong, or I am.", "{Some} blames the {gear1}.", "If my {gear1} is to blame, I would like to know.", "For {weeks} weeks I have been guessing.",
    ),
    "please": (
        "What would you do?", "Where do I begin?", "Is that normal?", "What am I missing?", "Any idea?", "Which of these would {a doer} drop <first|before {soon}>?", "Would {some} and ${limit} be of any help?",
        "Would a <used|better|second> {gear1} <help|change that>?", "Who <in|near> {town} has <seen|solved> this?", "Does it take <you|{a doer}> {weeks} weeks, or {k}?", "Has anybody in {town} got past {n} {measure}?", "In your place, would you buy {a gear1}?", "Before I spend ${limit}: is there a better way?", "What does {a doer} from {town2} do then?", "By {soon}, can it be done?", "Should I listen to {some}?",
    ),
    "why": (
        "In {month} it felt silly.", "This alone was half of it for my {kin}.", "{Some} had told me so.", "I resisted until {month}<| because of my {kin}|, like every {doer}>.", "It is cheap<, and it works| compared with {a gear1}>.",
        "Nobody in {town} believes it at first.", "After {k} days <I|my {kin}> noticed it.", "{Some} still <argues|disagrees>.", "With that I got from {m} to {n} {measure}.", "{town} laughed, and I did not.", "If you skip it, you lose {weeks} weeks.", "Before {soon} you will see why.", "{k} days are enough to see it.", "Why did nobody in {town} tell me?", "For ${p1} there was no better way.",
    ),
    "verdict": (
        "yes, but slowly", "only for those who like the waiting", "more than {a doer} hopes for", "not in the first {weeks} weeks", "yes, for any {doer} with patience", "yes, if ${p1} does not hurt", "no before {soon}, yes after it", "only in {town}",
        "yes, above all for {a doer} in {town}", "no, not at ${p1}",
    ),
    "woe": (
        "{Trouble1}<, above all on {day}s|, as {some} foretold|, in {town} as in {town2}|>", "<In {month}|On {day}|Again and again|Every {season}> {trouble1}", "My case: {trouble1}<|, and no {gear1} helps|, {k} times so far|, worse since {month}>",
        "{Some} calls it normal that {trouble1}", "No matter what I do, {trouble1}", "For {weeks} weeks it has been the same: {trouble1}", "Whenever my {kin} looks on, {trouble1}", "With or without {a gear1}, {trouble1}", "{k} times since {month} {trouble1}",
    ),
    "woe2": (
        "{trouble2}<|, says my {kin}|, and it is {month}|, even with {a gear1}>", "<on {day}s|at times|from {month} on|once in {k} days> {trouble2}", "on top of that {trouble2}<|, {k} times by now>",
        "to make things worse, {trouble2}", "in {town} {trouble2}", "once in a while {trouble2}, as with {some}",
    ),
    "do1": (
        "{Tip1}<| – {some} swears by it| (my {kin}'s rule)|, even in {month}|: {k} days are enough to see it|, says {some}>", "<In {month}|On {day}s|First|For {weeks} weeks|With or without {a gear1}>: {tip1}", "<My {kin} was right|Rule one in {town}|Heard in {town2}>: {tip1}",
        "As we say in {town}: {tip1}", "Before anything else, {tip1}", "If you do one thing in {soon}, {tip1}", "Like {some}, {tip1}",
    ),
    "do2": (
        "{Tip2}<| – I learned it in {town}| (thank {some})|, whatever {month} brings|: ask {some}|, {k} times if you must>", "<In {soon}|Each {day}|Then|{weeks} weeks long|Before you buy {a gear2}>: {tip2}", "<The {shop} says so, too|Rule two in {town}|From {town2}>: {tip2}",
        "Once that is done, {tip2}", "When {soon} comes, {tip2}", "{Some} would add: {tip2}", "After {k} days, {tip2}",
    ),
    "do3": (
        "{Tip3}<| – old advice from {town2}| (no {gear1} needed)|, not only in {month}|: it took me {k} tries|, or ask {some}>", "<By {soon}|Every {day}|Last|After {weeks} weeks|Once the {gear1} is paid>: {tip3}", "<Rule three in {town}|What {some} forgot|Seen in {town2}>: {tip3}",
        "Though it sounds odd, {tip3}", "And whatever {some} says, {tip3}", "In {month} as in {soon}, {tip3}",
    ),
    "figure": (
        "I am at **{n} {measure}** <now|this {season}>, <down from|after> <nothing I could count on|{m} in {month}|{k} bad tries>.", "My best for {month}: *{n} {measure}*.", "In {town} I count **{n} {measure}**<, {some} counts {m}|; it was {m} in {month}|>.",
        "**{n} {measure}**, <if you want to know|by my {kin}'s count|give or take {k} per cent>.", "Out of {m} <came|grew> **{n} {measure}** <by {soon}|in {weeks} weeks>.", "After {weeks} weeks: **{n} {measure}**.", "By my {kin}'s count it was {m} before and **{n} {measure}** after.", "{Some} counted **{n} {measure}**.", "From {m} in {month} I got to **{n} {measure}**.", "Would you have guessed **{n} {measure}**?", "What {town} wants to know: **{n} {measure}**.",
    ),
    "tally": (
        "{n} {measure} <in {town}|since {month}|, says {some}|on {day}s|, or {m} with my {kin}>", "<about|roughly|exactly> {n} {measure}<| in {month}|, counted in {town}|, {k} checks>", "{m} in {month}, {n} {measure} now<| in {town}>", "my {kin} counts {n} {measure}", "after {weeks} weeks {n} {measure}",
    ),
    "kit": (
        "{A gear1} (${p1}) from {some} <is all I own|does the work|came with me>", "I <bought|found|borrowed> {a gear1} <worth|for> ${p1} <at the {shop}|in {town}|in {month}>", "My {gear1} cost ${p1} <in {month}|in {town2}|, thanks to my {kin}>",
        "{Some} <sold|left> me {a gear1} for ${p1}<| in {month}|, almost new>", "For ${p1} I got {a gear1} <in {month}|in {town}|from {some}>", "In {month} ${p1} went into {a gear1}", "The {gear1} (${p1}) is <new|used|a present>, <bought in|sent from> {town}", "Since {month} I own {a gear1} (${p1})", "With {a gear1} for ${p1} I <began|started> in {month}",
    ),
}  # fmt: skip
POSTS = (
    (  # What worked
        "{hello}. {woe}. In this order:\n\n1. **{do1}.** {why}\n2. {do2}.\n3. {do3}.\n\n{figure} {bye}",
        "## What was wrong\n\n{woe}; {woe2}. {hello}.\n\n## What worked\n\n- {do2}.\n- {do1}.\n\n{figure} {why} {bye}",
        "{woe}. {hello}.\n\n> {do3}.\n\n{why} {figure} {bye}",
    ),
    (  # Is it worth it?
        "{hello}, and I still <cannot say|have doubts>.\n\n**For**\n\n- {Some} would say: {verdict}.\n- {kit}.\n\n**Against**\n\n- {woe}.\n- {woe2}.\n\n{puzzled} {please}",
        "In {town} they say: {verdict}? {puzzled}\n\n| | |\n|---|---|\n| Spent so far | ${p1} |\n| Weeks | {weeks} |\n| Best count | {n} |\n\n{woe}. {please}",
        "{hello}. {kit}. The verdict of {month}: {verdict}. Yours? {woe2}. {please}",
    ),
    (  # Beginner question
        "{hello}, so <please be patient|bear with me|I hope for help>. {Some} says:\n\n> {do1}.\n\nI did, and {woe2}. {figure} {please}",
        "New here, <from {town}|sent by {some}>, with {x} on my mind. {puzzled}\n\n- {kit}.\n- {tally}.\n- {woe2}.\n\n{do2}. {Some} says so, a book from {month} says *never*<|, and {town2} says nothing|; {k} people agree>. {please}",
        "{kit}. {hello}. Question one of {k}: {woe2}. {puzzled} {please}",
    ),
    (  # Show and tell
        "{hello}. Here it is:\n\n| What | How much |\n|---|---|\n| Best count | {n} |\n| {Gear1} | ${p1} |\n| Time | {weeks} weeks |\n\n<Proudest moment|Most useful part|My favourite part> of {month}? {do3}. {bye}",
        "### From {town}\n\n{hello}. {kit}. {figure} In {month} not all was well – {woe2} – but my verdict is: {verdict}. {bye}",
        "{figure} {hello}. {kit}. {do2}. {bye}",
    ),
    (  # Opinion
        "> “{do1}.”\n\n<Every|Any> {doer} in {town} repeats this<|, {some} included|, {month} or not| until {soon}|, says {some}>. For {weeks} weeks I did the opposite in {town2}: {n} {measure}, <as before|no worse>. What matters? **{do2}**. {bye}",
        "For {x} you need less <gear|money> than {some} thinks. ~~{A gear1}~~ and ~~{a gear2}~~ stay at the {shop}, which <saves|saved me> ${total2}. {do3}. {puzzled} {bye}",
        "{hello}, and is it worth it? {verdict}. {do2}. {why} {bye}",
    ),
    (  # Something is wrong
        "{woe}. It began in {month}<| in {town}| with the {gear1}|, on a {day}>.\n\n## What I have tried\n\n1. {do1}.\n2. {do2}.\n3. <New|Another> {gear1}.\n\nStill {tally}. {puzzled} {please}",
        "{hello}, and now {woe2}.\n\n**What I see:** {woe}.\n\n**What I use:** {kit}.\n\n**What I did:** {do3}.\n\n{please}",
        "{kit}. {woe}. {puzzled} {please}",
    ),
    (  # Looking back
        "- **2023** – {woe}. {kit}.\n- **2024** – {town2}. {do1}.\n- **2025** – {tally}.\n\n{do2}. {bye}",
        "{hello}; before that I made {k} mistakes.\n\n### Learned\n\n1. {do3}. {why}\n2. {do1}.\n\n### Unlearned\n\n- that {a gear1} for ${p1} helps <in {month}|anybody in {town}|against {some}>.\n\n{figure} {bye}",
        "{figure} {do1}. {why} {do2}. {bye}",
    ),
    (  # Budget
        "My limit is **${limit}**, and {some} <has|offers>:\n\n| Option | Price | Remark |\n|---|---|---|\n| New {gear1} | ${p1} | the plain one |\n| Used {gear2} | ${p2} | my {kin}'s |\n| Both | ${total2} | over the limit? |\n\n{n} {measure} by {soon} is what I want. {please}",
        "{hello}. I <can|will|may> spend **${limit}** <until {soon}|on {x}|at the {shop}|before {day}>. Candidates: {a gear1} (${p1}), {a gear2} (${p2}). Or nothing at all? *{do1}*. {puzzled} {please}",
        "**${limit}** for {x}<|, until {soon}|, in {town}>: that is my plan. {hello}, and I want to spend it well. {woe2}. {puzzled} {please}",
    ),
    (  # Keeping it
        "In {town} mine lives in {spot}, and {woe2}. <Heard|Read> so far:\n\n- {do1}.\n- {do2}.\n- {A gear1} for ${p1} <at the {shop}|in {town}>.\n\n{figure} {please}",
        "<For|With> {x}<| in {town}|, in your opinion>: {spot}, {spot2} or <somewhere else|the {season} in {town2}|where {some} said>? {puzzled} At home in {town} it is <damp|cold|dusty> from {month} on, and {woe2}. My {kin} only says: “{do3}.” {please}",
        "{hello}. In {town} all of it lives in {spot}<|, much to the joy of my {kin}| until {soon}|, {k} things in all>. {Some} <prefers|suggests> {spot2}. {woe}. {please}",
    ),
    (  # Guide
        "## You need\n\n- {gear1}, ${p1}\n- {gear2}, ${p2}\n- {weeks} weeks\n\n## Steps\n\n1. {do1}.\n2. {do2}.\n3. {do3}.\n\n{figure} <More|The rest|Everything else> <about {x} |>is in [our wiki](/c/{community}/wiki/questions)<, since {month}| in {k} lines|, kept by {some}|>. {bye}",
        "{hello}, so here is <what|all that> I tell <everybody|newcomers|every {doer}> in {town}.\n\n### First week\n\n{do1}. {why}\n\n### From then on\n\n{do3}. {figure} If {trouble1}<, as in {month}|, as with {some}|, as here on {day}s>, read [the questions](/c/{community}/wiki/questions). {bye}",
        "{do1}. {why} {do2}. {do3}. {kit}. {figure} {bye}",
    ),
    (  # Before and after
        "| | Before | After |\n|---|---|---|\n| Count | {m} | {n} |\n| Spent | $0 | ${p1} |\n\n{hello}. Before: {woe2}. After: quiet. {do1}. {bye}",
        "**Before** ({month}) – {woe2}.\n\n**After** ({weeks} weeks later): <nothing of the kind|none of that|peace|{tally}><| in {town}| with {x}|, touch wood>.\n\n| Count | |\n|---|---|\n| Before | {m} |\n| After | {n} |\n\n{kit}. {why} {bye}",
        "{woe}. That was {month}. {figure} {do2}. {bye}",
    ),
    (  # What nobody says
        "1. {do2}. {why}\n2. {kit}.\n3. {woe}.\n\nIt took me {weeks} weeks in {town} to <find out|learn that|see it>. The [wiki](/c/{community}/wiki/start) <told {some}|has it> in {k} words<|, if you look>. {bye}",
        "{woe}. {kit}. {figure}\n\n> {do1}.\n\n{why} {bye}",
        "{hello}. In {town} nobody had mentioned it, but {woe2}. {do3}. {bye}",
    ),
    (  # Weekend project
        "{hello}. <This weekend|In two days|Last {day}> it got done <in {town}|between {k} rain showers|with my {kin}|for {some}><| after all|, at {town2} prices|, {month} rain or not>.\n\n| Item | Cost |\n|---|---|\n| {Gear1} | ${p1} |\n| {Gear2} | ${p2} |\n| {Gear3} | ${p3} |\n| **All in all** | **${total}** |\n\n```\nSat 09:{mm} {do1}\nSun 16:{mm2} {tally}\n```\n\n{bye}",
        "```\nFri evening: {shop}\nSat 10:{mm2} {do2}\nSun 15:{mm} done\n```\n\nWhat it took:\n\n- {gear1}: ${p1}\n- {gear2}: ${p2}\n- {gear3}: ${p3}\n\nThat is **${total}** all in all<, {k} screws not counted| in {town}|, paid by my {kin}|, {month} included>. My verdict on {x}<| after {month}|, {k} days on|, says {some}|, for {soon}>: {verdict}. {bye}",
    ),
    (  # Looking for advice
        "I live in {town}, I have **${limit}** and {weeks} weeks<| until {soon}|, and {a kin} who laughs>. Questions:\n\n1. {do1} – or is that a myth?\n2. Is {a gear1} enough <to begin with|before {soon}|in {town2}>?\n3. How many {measure} <do you reckon with|are usual in {month}|does {a doer} need>?\n\n{puzzled} {please}",
        "{hello}, and it is time for advice.\n\n### Where I stand\n\n{tally}; {woe2}.\n\n### What I was told\n\n> {do2}.\n\n{Some} would sell me {a gear1} for ${p1}<| by {soon}|, used>. {please}",
        "{kit}. {hello}. {do3}; that is from {some}. {please}",
    ),
)
"""Layouts of a post, by the number of its title's kind."""
