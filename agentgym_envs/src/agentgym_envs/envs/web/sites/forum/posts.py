"""The layouts of posts: the sections of each kind of post, and the rules of their sentences."""

from agentgym_envs.envs.web.sites.grammar import Rules

RULES: Rules = {
    "since": (
        "since {month}", "for {weeks} weeks now", "since <we|I> <moved to|left> {town}", "since last {season}", "on and off since {month}", "every {day}", "ever since {town}",
        "since <my|our> first try", "all through {month}",
    ),
    "season": ("spring", "summer", "autumn", "winter"),
    "kin": ("sister", "neighbour", "father-in-law", "flatmate", "daughter", "old teacher", "colleague", "aunt", "brother", "best friend", "boss", "cousin"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "some": ("the {shop} in {town}", "my {kin}", "{a doer} from {town2}", "everybody in {town}", "the man at the {shop}", "a book from {month}"),
    "busy": ("busy with", "learning", "fighting", "in love with", "thinking about", "reading up on", "at work on"),
    "hello": (
        "I have been {busy} {x} {since}", "Like <every|any> {doer} <in|from> {town}, I thought that I <knew|had mastered> {x}", "After {weeks} weeks <of|with> {x} I owe you <a report|some figures|the story>",
        "<My|A> {kin} <got me into|talked me into|warned me of> {x} {since}", "{X} <kept|has kept> me <awake|busy|away from dinner> {since}", "In {month} {some} <brought|sent> me <to|back to> {x}",
        "{Weeks} weeks ago I <knew nothing about|had never tried> {x}", "<Greetings|Hello> from {town}, where {x} <is all we talk about|takes up every {day}|began in {month}>", "It is {day}, and {x} <is done|has eaten my evening> <again|in {town}>",
        "{X} {since}: that is <me|what {some} calls my life>", "Between {town} and {town2} nobody <talks more about|spends more on> {x} than <I do|my {kin}>", "{A gear1} for ${p1} was how {x} <began|got hold of me> {since}",
    ),
    "bye": (
        "<Ask|Write> <away|me>, I am <around|here> until {day}.", "Pictures <follow|come> on {day}<|, from {town}|, once my {kin} has gone|, if {month} allows>.", "Tell me what <you|{a doer}> would change <about the {gear1}|in {town2}|first|by {day}>.",
        "I <will report|shall write> again in {soon}<| from {town}|, with {x} or without|, figures and all>.", "That is all from {town}<| and the {gear1}| for {month}|; now to the {shop}>.", "Corrections from <any|an older> {doer} <in {town2} |>are welcome.", "Now <you|{town2}>.", "<My|Our> {kin} <sends|says> <regards|hello> from {town}.",
        "Back to {x}<, {day} is short| and the {gear1}|, it is late in {town}>.",
    ),
    "puzzled": (
        "I have read {k} <guides|threads|books> {since}, and <they disagree|no two agree|none mentions {town}>.", "Nobody in {town} <could tell|would say|agrees on> <me |>why.", "The {shop} in {town} <only shrugged|sold me {a gear1} and wished me luck|sent me here>.",
        "My {kin} <says|thinks> it is <normal|my {gear1}|the weather in {town}>, {since}.", "I <searched|looked> here first, back to {month}<, and found {k} opinions|, without luck|>.", "{Some} <laughed|sighed> when I <asked|mentioned the {gear1}|came with {x}>.",
        "A {doer} from {town2} <told me one thing|wrote to me>, and {some} <the opposite|another>.", "The <label|manual> of my {gear1} <says nothing|is in Danish|stops at page {k}>.",
    ),
    "please": (
        "What would you do?", "Where do I begin?", "Is that normal?", "What am I missing?", "Any idea?", "Which of these would <you|{a doer} in {town2}> <drop|try> <first|before {soon}>?", "What <does|would> {some} <do|say> with ${limit} <and|or> {a gear1}?",
        "Would a <used|better|second> {gear1} <help|change that> <in {town}|before {soon}>?", "Who <in|near> {town} has <seen|solved> this <since|before> {month}?", "How long <did|does> it take <you|{a doer}>: {weeks} weeks, or {k}?",
    ),
    "why": (
        "It felt silly <for a week|in {month}|to my {kin}>.", "This alone was half of it <in {town}|for me|by {soon}>.", "{Some} told me so {since}.", "I resisted until {month}<| because of {some}|, like every {doer}>.", "Cheap, <and it works|like a used {gear1}>.",
        "Nobody <in {town} |>believes it <at first|before {soon}>.", "It costs <nothing|less than {a gear1}|${p1} at most>.", "After {k} days <I|my {kin}> <saw|noticed> it.", "{Some} still <argues|disagrees>.",
    ),
    "verdict": (
        "yes, but slowly", "only <if you enjoy|for those who like> the waiting", "more than {some} hoped", "not in the first {weeks} weeks", "yes, for any {doer} with patience", "yes, if ${p1} does not hurt", "no before {soon}, yes after it", "only in {town}",
        "yes, says my {kin}", "no, says {some}",
    ),
    "woe": (
        "{Trouble1}<| {since}|, above all on {day}s|, as {some} foretold|, in {town} as in {town2}>", "<In {month}|On {day}|Again and again|One {season}> {trouble1}", "<The old story|My case|Picture this>: {trouble1}<|, and no {gear1} helps|, {k} times so far|, worse since {month}>",
    ),
    "woe2": (
        "{trouble2}<| {since}|, says my {kin}|, and it is {month}|, even with {a gear1}>", "<on {day}s|at times|from {month} on|once in {k} days> {trouble2}", "<add to that|then there is this|worse>: {trouble2}<| {since}|, {k} times by now>",
    ),
    "do1": (
        "{Tip1}<| – {some} swears by it|, {since}| (my {kin}'s rule)|, even in {month}|: {k} days are enough to see it|, says {some}>", "<In {month}|On {day}s|First|For {weeks} weeks|With or without {a gear1}>: {tip1}", "<My {kin} was right|Rule one in {town}|Written above my {gear1}|Heard in {town2}>: {tip1}",
    ),
    "do2": (
        "{Tip2}<| – I learned it in {town}|, {since}| (thank {some})|, whatever {month} brings|: ask {some}|, {k} times if you must>", "<In {soon}|Each {day}|Then|{Weeks} weeks long|Before you buy {a gear2}>: {tip2}", "<The {shop} says so too|Rule two in {town}|On a note beside my {gear1}|From {town2}>: {tip2}",
    ),
    "do3": (
        "{Tip3}<| – old advice from {town2}|, {since}| (no {gear1} needed)|, not only in {month}|: it took me {k} tries|, or ask {some}>", "<By {soon}|Every {day}|Last|After {weeks} weeks|Once the {gear1} is paid>: {tip3}", "<Learned the hard way|Rule three|What {some} forgot|Seen in {town2}>: {tip3}",
    ),
    "figure": (
        "I am at **{n} {measure}** <now|this {season}|since {day}>, <down from|after> <nothing I could count on|{m} in {month}|{k} bad tries>.", "The figure <that I hold on to|of {month}|for {some}>: *{n} {measure}*.", "In {town} I count **{n} {measure}**<, {some} counts {m}|; it was {m} in {month}|>.",
        "**{n} {measure}**, <if you want to know|by my {kin}'s count|give or take {k} per cent>, {since}.", "<From|Out of> {m} <came|grew> **{n} {measure}** <by {soon}|in {weeks} weeks|between {town} and {town2}>.",
    ),
    "tally": (
        "{n} {measure} <in {town}|since {month}|, says {some}|on {day}s|by {soon}|, or {m} with my {kin}>", "<about|roughly|exactly> {n} {measure}<| in {month}|, counted in {town}|, {k} checks>", "{m} in {month}, {n} {measure} now<| in {town}|>",
    ),
    "kit": (
        "{A gear1} (${p1}) from {some} <is all I own|does the work|came with me from {town2}>", "I <bought|found|borrowed> {a gear1} <for ${p1}|worth ${p1}> <at the {shop}|in {town}|in {month}>", "My {gear1} <cost|was> ${p1} <in {month}|in {town2}|, thanks to my {kin}>",
        "{Some} <sold|left> me {a gear1} for ${p1}<| in {month}|, almost new>",
    ),
}  # fmt: skip
POSTS = (
    (  # What worked
        "{hello}. {woe}. In this order:\n\n1. **{do1}.** {why}\n2. {do2}.\n3. {do3}.\n\n{figure} {bye}",
        "## What was wrong\n\n{woe}; {woe2}. {hello}.\n\n## What worked\n\n- {do2}\n- {do1}\n\n{figure} {why} {bye}",
        "{woe}. {hello}.\n\n> {do3}.\n\n{why} {figure} {bye}",
    ),
    (  # Is it worth it?
        "{hello}, and I still <cannot say|have doubts>.\n\n**For**\n\n- my {kin} calls it {verdict}\n- {kit}\n\n**Against**\n\n- {woe}\n- {woe2}\n\n{puzzled} {please}",
        "Short version: {verdict}? {puzzled}\n\n| | |\n|---|---|\n| Spent so far | ${p1} |\n| Weeks | {weeks} |\n| Best count | {n} |\n\n{woe}. {please}",
        "{hello}. {kit}, and my verdict is: {verdict}. Yours? {woe2}. {please}",
    ),
    (  # Beginner question
        "{hello}, so <please be patient|bear with me>. {some} says:\n\n> {do1}.\n\nI did, and {woe2}. {figure} {please}",
        "New here<, from {town}|, and to {x}|, sent by {some}>. {puzzled}\n\n- {kit}\n- {tally}\n- {woe2}\n\n{do2}, says one book, *never*, says another. {please}",
        "{kit}, {hello}, and I have {k} questions. The first: {woe2}? {puzzled} {please}",
    ),
    (  # Show and tell
        "{hello}. Here it is:\n\n| What | How much |\n|---|---|\n| Best count | {n} |\n| {Gear1} | ${p1} |\n| Time | {weeks} weeks |\n\nThe part <I am proud of|to copy>: {do3}. {bye}",
        "### From {town}\n\n{hello}. {kit}. {figure} Not all is well – {woe2} – but {verdict}. {bye}",
        "{figure} {hello}. {kit}. {do2}. {bye}",
    ),
    (  # Opinion
        "> “{do1}.”\n\n<Every|Any> {doer} <in {town} |>repeats this. I did the opposite for {weeks} weeks in {town2}: {n} {measure}, <as before|no worse>. What matters: **{do2}**. {bye}",
        "For {x} you need less <gear|money> than {some} thinks. ~~{A gear1}~~ and ~~{a gear2}~~ stay at the {shop}; that is ${total2} saved <in {month}|for {weeks} weeks>. {do3}. {puzzled} {bye}",
        "{hello}, and I say it plainly: {verdict}. {do2}. {why} {bye}",
    ),
    (  # Something is wrong
        "{woe}. It began in {month}<| in {town}| with the {gear1}|, on a {day}>.\n\n## What I have tried\n\n1. {do1}\n2. {do2}\n3. <New|Another> {gear1}\n\nStill {tally}. {puzzled} {please}",
        "{hello}, and now {woe2}.\n\n**What I see:** {woe}\n\n**What I use:** {kit}\n\n**What I did:** {do3}\n\n{please}",
        "{kit}, and yet: {woe}. {puzzled} {please}",
    ),
    (  # Looking back
        "- **2023** – {woe}. {kit}.\n- **2024** – {town2}. {do1}.\n- **2025** – {tally}.\n\n{do2}. {bye}",
        "{hello}; before that I made {k} mistakes.\n\n### Learned\n\n1. {do3}. {why}\n2. {do1}.\n\n### Unlearned\n\n- that {a gear1} for ${p1} helps <in {month}|anybody in {town}|against {some}>\n\n{figure} {bye}",
        "{figure} {do1}. {why} {do2}. {bye}",
    ),
    (  # Budget
        "My limit is **${limit}**, and {some} <has|offers>:\n\n| Option | Price | Remark |\n|---|---|---|\n| New {gear1} | ${p1} | the plain one |\n| Used {gear2} | ${p2} | my {kin}'s |\n| Both | ${total2} | over the limit? |\n\nI need it for {n} {measure} <in {town}|by {soon}|every {day}>. {please}",
        "{hello}. I <can|will|may> spend **${limit}** <until {soon}|on {x}|at the {shop}|before {day}>. Candidates: {a gear1} (${p1}), {a gear2} (${p2}), or nothing at all and *{do1}*. {puzzled} {please}",
        "**${limit}**, {hello}, and I want to spend it well. {woe2}. {puzzled} {please}",
    ),
    (  # Keeping it
        "Mine lives in {spot}, and {woe2}. <Heard|Read> so far:\n\n- {do1}\n- {do2}\n- {a gear1}, ${p1} <at the {shop}|in {town}>\n\n{figure} {please}",
        "<For|With> {x}<| in {town}|, in your opinion>: {spot}, {spot2} or <somewhere else|the {season} in {town2}|where {some} said>? {puzzled} At home in {town} it is <damp|cold|dusty> from {month} on, and {woe2}. My {kin} only says: “{do3}.” {please}",
        "{hello}, all of it in {spot}. {some} <prefers|says> {spot2}. {woe}. {please}",
    ),
    (  # Guide
        "## You need\n\n- {gear1}, ${p1}\n- {gear2}, ${p2}\n- {weeks} weeks\n\n## Steps\n\n1. {do1}.\n2. {do2}.\n3. {do3}.\n\n{figure} <More|The rest|Everything else> <about {x} |>is in [our wiki](/c/{community}/wiki/questions)<, since {month}| in {k} lines|, kept by {some}|>. {bye}",
        "{hello}, so here is <what|all that> I tell <everybody|newcomers> in {town}.\n\n### First week\n\n{do1}. {why}\n\n### From then on\n\n{do3}. {figure} If {trouble1} <in {month}|or worse|{k} times>, read [the questions](/c/{community}/wiki/questions). {bye}",
        "{do1}. {why} {do2}. {do3}. {kit}. {figure} {bye}",
    ),
    (  # Before and after
        "| | Before | After |\n|---|---|---|\n| Count | {m} | {n} |\n| Spent | $0 | ${p1} |\n\n{hello}. Before: {woe2}. After: quiet. {do1}. {bye}",
        "**Before** ({month}): {woe2}.\n\n**After** ({weeks} weeks later): <nothing of the kind|none of that|peace|{tally}><| in {town}| with {x}|, touch wood>.\n\n| Count | |\n|---|---|\n| Before | {m} |\n| After | {n} |\n\n{kit}. {why} {bye}",
        "{woe}: that was {month}. {figure} {do2}. {bye}",
    ),
    (  # What nobody says
        "1. {do2}. {why}\n2. {kit}.\n3. {woe}.\n\nIt took me {weeks} weeks in {town} to <find out|learn that|see it>. The [wiki](/c/{community}/wiki/start) <told {some}|has it> in {k} words<| {since}|, if you look>. {bye}",
        "{woe}. {kit}. {figure}\n\n> {do1}.\n\n{why} {bye}",
        "{hello}, and nobody mentioned this: {woe2}. {do3}. {bye}",
    ),
    (  # Weekend project
        "{hello}. <This weekend|In two days|Last {day}> {x} got done <in {town}|between {k} rain showers|with my {kin}|for {some}><| after all|, at {town2} prices|, {month} rain or not>.\n\n| Item | Cost |\n|---|---|\n| {Gear1} | ${p1} |\n| {Gear2} | ${p2} |\n| {Gear3} | ${p3} |\n| **All in all** | **${total}** |\n\n```\nSat 09:{mm} {do1}\nSun 16:{mm2} {tally}\n```\n\n{bye}",
        "```\nFri evening: {shop}\nSat 10:{mm2} {do2}\nSun 15:{mm} done\n```\n\nWhat it took:\n\n- {gear1}: ${p1}\n- {gear2}: ${p2}\n- {gear3}: ${p3}\n\nThat is **${total}** all in all<| in {town}|, paid by my {kin}|, {month} included>. My verdict<| on {x}| after {month}|, {k} days on>: {verdict}. {bye}",
    ),
    (  # Looking for advice
        "I live in {town}, I have **${limit}** and {weeks} weeks<| until {soon}|, and {a kin} who laughs>. Questions:\n\n1. {do1}, or is that a myth?\n2. Is {a gear1} enough <to begin with|before {soon}|in {town2}>?\n3. How many {measure} <do you reckon with|are usual in {month}|does {a doer} need>?\n\n{puzzled} {please}",
        "{hello}, and it is time for advice.\n\n### Where I stand\n\n{tally}; {woe2}.\n\n### What I was told\n\n> {do2}.\n\n{some} would sell me {a gear1} for ${p1}<| by {soon}|, he says|, used>. {please}",
        "{kit}. {hello}. {do3}, {some} told me. {please}",
    ),
)
"""Layouts of a post, by the number of its title's kind."""
