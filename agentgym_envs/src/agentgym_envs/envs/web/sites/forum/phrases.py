"""How the forum's people put things: rules for posts, for comments by what they answer, for wiki pages and biographies."""

RULES = {
    "since": ("since {month}", "for {weeks} weeks now", "since we moved to {town}", "since last {season}", "on and off since {month}"),
    "season": ("spring", "summer", "autumn", "winter"),
    "hello": (
        "I have been busy with {x} {since}", "Like every {doer} I thought that I knew {x}", "After {weeks} weeks with {x} I owe you a report",
        "My {kin} got me into {x} {since}", "{x} kept me awake in {month}",
    ),
    "kin": ("sister", "neighbour", "father-in-law", "flatmate", "daughter", "old teacher", "colleague"),
    "bye": (
        "Ask away, I am around until {day}.", "Pictures follow on {day}.", "Tell me what you would change.", "I will report again in {month}.",
        "That is all from {town}.", "Corrections are welcome.", "Now you.",
    ),
    "puzzled": (
        "I have read three guides and they disagree.", "Nobody in {town} could tell me.", "The {shop} only shrugged.", "My {kin} says it is normal.",
        "I searched here first, back to {month}.",
    ),
    "please": ("What would you do?", "Where do I begin?", "Is that normal?", "What am I missing?", "Which of these would you drop?", "Any idea?"),
    "why": (
        "It felt silly for a week.", "This alone was half of it.", "My {kin} told me so {since}.", "I resisted until {month}.", "Cheap, and it works.",
        "Nobody believes it at first.", "It costs nothing.",
    ),
    "verdict": ("yes, but slowly", "only if you enjoy the waiting", "more than I hoped", "not in the first {weeks} weeks", "yes, for any {doer} with patience"),
}  # fmt: skip
POSTS = (
    (  # What finally worked
        "{hello}. {trouble1} – that was the whole story until {month}. What changed it, in this order:\n\n1. **{Tip1}.** {why}\n2. {Tip2}.\n3. {Tip3}.\n\nI am at **{n} {measure}** now, down from nothing I could count on. {bye}",
        "## What was wrong\n\n{Trouble1}, and {trouble2}. {hello}.\n\n## What worked\n\n- {Tip2}\n- {Tip1}\n\nThe figure that I hold on to: *{n} {measure}*. {why} {bye}",
    ),
    (  # Is it worth the trouble?
        "{hello}, and I still cannot say.\n\n**For**\n\n- my {kin} calls it {verdict}\n- a {gear1} for ${p1} was all I bought\n\n**Against**\n\n- {trouble1}\n- {trouble2}\n\n{puzzled} {please}",
        "Short version: {verdict}? {puzzled}\n\n| | |\n|---|---|\n| Spent so far | ${p1} |\n| Weeks | {weeks} |\n| {Measure} | {n} |\n\nMeanwhile {trouble1}. {please}",
    ),
    (  # Beginner question
        "{hello}, so please be patient. The guide that I got at the {shop} in {town} says:\n\n> {Tip1}.\n\nI did, and {trouble1}. I am at {n} {measure}. {please}",
        "New here, from {town}. {puzzled}\n\n- I own a {gear1} (${p1}) and nothing else\n- {n} {measure}\n- {trouble2}\n\nOne book says “{tip2}”, another says **never**. {please}",
    ),
    (  # Show and tell
        "{hello}. Here it is, with its figures:\n\n| What | How much |\n|---|---|\n| {Measure} | {n} |\n| {Gear1} | ${p1} |\n| Time | {weeks} weeks |\n\nThe part that I am proud of: {tip3}. {bye}",
        "### From {town}\n\n{hello}. It took {weeks} weeks and a {gear1} that I found for ${p1} at the {shop}. {n} {measure}, if you want to know. Not all is well – {trouble2} – but {verdict}. {bye}",
    ),
    (  # Unpopular opinion
        "> “{Tip1}.”\n\nEvery {doer} repeats this. I did the opposite for {weeks} weeks in {town}, and nothing bad happened: {n} {measure}, as before. What matters is another thing: **{tip2}**. {bye}",
        "For {x} you need less gear than you think. ~~A {gear1}~~ and ~~a {gear2}~~ stay at the {shop}; that is ${total2} saved. What I would keep of all the advice is one line: *{tip3}*. {puzzled} {bye}",
    ),
    (  # Help, something is wrong
        "{Trouble1}. It began in {month}.\n\n## What I have tried\n\n1. {Tip1}\n2. {Tip2}\n3. A new {gear1} (${p1})\n\nStill {n} {measure}. {puzzled} {please}",
        "{hello}, and now {trouble2}.\n\n**What I see:** {trouble1}\n\n**What I use:** a {gear1} from the {shop} in {town}, {n} {measure}\n\n**What I did:** {tip3}\n\n{please}",
    ),
    (  # Three years of it
        "- **2023** – {trouble1}. I bought a {gear1} for ${p1} and blamed it.\n- **2024** – moved to {town}. I began to {tip1}.\n- **2025** – {n} {measure}, and calm.\n\nIf I could tell myself one thing in 2023: *{tip2}*. {bye}",
        "{hello}; before that I made every mistake there is.\n\n### Learned\n\n1. {Tip3}. {why}\n2. {Tip1}.\n\n### Unlearned\n\n- that a {gear1} for ${p1} helps\n\nFrom {m} to {n} {measure} in three years. {bye}",
    ),
    (  # Best budget option
        "My limit is **${limit}**, and the {shop} in {town} has three:\n\n| Option | Price | Remark |\n|---|---|---|\n| New {gear1} | ${p1} | the plain one |\n| Used {gear2} | ${p2} | my {kin}'s |\n| Both | ${total2} | over the limit? |\n\nI only need it for {n} {measure}. {please}",
        "{hello}. I can spend **${limit}** until {month}. Candidates: a {gear1} (${p1}), a {gear2} (${p2}), or nothing at all and *{tip1}*. {puzzled} {please}",
    ),
    (  # How do you store or keep it?
        "Mine lives in {spot}, and {trouble1}. What I have heard so far:\n\n- {tip1}\n- {tip2}\n- a {gear1}, ${p1} at the {shop}\n\nIt is {n} {measure} if that matters. {please}",
        "{spot}, {spot2} or somewhere else? {puzzled} At home in {town} it is damp from {month} on, and {trouble2}. My {kin} only says: “{tip3}.” {please}",
    ),
    (  # A short guide
        "## You need\n\n- a {gear1} (about ${p1})\n- a {gear2} (about ${p2})\n- {weeks} weeks\n\n## Steps\n\n1. {Tip1}.\n2. {Tip2}.\n3. {Tip3}.\n\nAim for **{n} {measure}**. More is in [our wiki](/c/{community}/wiki/questions). {bye}",
        "{hello}, so here is what I tell everybody in {town}.\n\n### First week\n\n{Tip1}. {why}\n\n### From then on\n\n{Tip3}. Count: {n} {measure} is fine, {m} is not. If {trouble1}, read [the questions](/c/{community}/wiki/questions). {bye}",
    ),
    (  # Before and after
        "| | Before | After |\n|---|---|---|\n| {Measure} | {m} | {n} |\n| Spent | $0 | ${p1} |\n\n{hello}. Before: {trouble1}. After: quiet. The difference is this: **{tip1}**. {bye}",
        "**Before** ({month}): {trouble2}.\n\n**After** ({weeks} weeks later): nothing of the kind.\n\n| {Measure} | |\n|---|---|\n| Before | {m} |\n| After | {n} |\n\nAll that I bought is a {gear1}, ${p1}. {why} {bye}",
    ),
    (  # What nobody told me
        "1. {Tip2}. {why}\n2. A {gear1} for ${p1} does the same as the dear one.\n3. {Trouble1} – for everybody, not only for you.\n\nIt took me {weeks} weeks in {town} to find out. The [wiki](/c/{community}/wiki/start) says so, on a page that I never opened. {bye}",
        "That {trouble1}. That a {doer} in {town} will wait {weeks} weeks for a {gear1}. And that {n} {measure} is quite enough.\n\n> {Tip1}.\n\nis what my {kin} says, and it is true. {bye}",
    ),
    (  # Weekend project
        "{hello}. This weekend it got done.\n\n| Item | Cost |\n|---|---|\n| {Gear1} | ${p1} |\n| {Gear2} | ${p2} |\n| {Gear3} | ${p3} |\n| **All in all** | **${total}** |\n\n```\nSat 09:{mm}  {tip1}\nSun 16:{mm2}  {n} {measure}\n```\n\n{bye}",
        "```\nFri 18:{mm}  to the {shop}\nSat 10:{mm2}  {tip2}\nSun 15:{mm}  done\n```\n\nWhat it took:\n\n- {gear1}: ${p1}\n- {gear2}: ${p2}\n- {gear3}: ${p3}\n\nThat is **${total}** all in all. It was worth it: {verdict}. {bye}",
    ),
    (  # Looking for advice
        "I live in {town}, I have **${limit}** and {weeks} weeks. What I would like to know:\n\n1. Should I {tip1}, or is that a myth?\n2. Is a {gear1} enough to begin with?\n3. How many {measure} do you reckon with?\n\n{puzzled} {please}",
        "{hello}, and it is time for advice.\n\n### Where I stand\n\n{n} {measure}; {trouble1}.\n\n### What I was told\n\n> {Tip2}.\n\nThe {shop} would sell me a {gear1} for ${p1}. {please}",
    ),
)  # fmt: skip
SPOTS = (
    "the cellar",
    "a drawer",
    "the hall cupboard",
    "the balcony",
    "a tin under the stairs",
    "the spare room",
    "the garage",
    "a box on the shelf",
)
TOP = {  # what people write under posts: first those that ask for something, then those that tell something, then opinions
    "asks": ("advice", "advice", "advice", "cost", "count", "story"),
    "tells": ("praise", "cost", "where", "count", "advice", "story"),
    "thinks": ("agree", "doubt", "doubt", "story", "advice", "count"),
}
GROUPS = ("tells", "asks", "asks", "tells", "thinks", "asks", "tells", "asks", "asks", "tells", "tells", "tells", "tells", "asks")
REPLIES = {  # what answers what
    "advice": ("thanks", "tried", "but"), "cost": ("price",), "count": ("figure",), "where": ("place",), "praise": ("welcome",), "story": ("fellow",),
    "agree": ("fellow", "but"), "doubt": ("defence",), "tried": ("thanks", "count"), "but": ("defence",), "price": ("thanks", "dear"), "figure": ("thanks", "but"),
    "place": ("thanks", "dear"), "defence": ("peace",), "thanks": ("welcome",), "welcome": ("fellow",), "fellow": ("welcome",), "dear": ("defence",), "peace": ("welcome",),
}  # fmt: skip
COMMENTS = {
    "advice": ("{lead} {tip}. {proof}", "{Tip}. {proof}", "**{Tip}.** {proof}", "{proof} And {tip}."),
    "lead": ("If you ask me:", "One thing:", "From one {doer} to another:", "My advice:", "Easy:", "What saved me:", "Start here:"),
    "proof": (
        "I have been at {n} {measure} {since}.", "That took me {weeks} weeks to learn.", "Ask any {doer} in {town}.", "With {x} it made all the difference in {month}.",
        "A {gear} does not replace that.", "My {kin} swears by it.", "It is the first thing I tell people about {x}.", "You will see it after {weeks} weeks.",
    ),
    "since": ("since {month}", "for {weeks} weeks", "since last {season}"),
    "season": ("spring", "summer", "autumn", "winter"),
    "kin": ("sister", "neighbour", "uncle", "flatmate", "daughter", "boss"),
    "cost": ("What does a {gear} cost these days? {reason}", "How much was the {gear}? {reason}", "And the price of a {gear}? {reason}"),
    "reason": ("I have ${limit} left until {month}.", "The {shop} in {town} did not say.", "Asking for my {kin}.", "Mine broke in {month}.", "With {x} I never know."),
    "where": ("Where did you get the {gear}? {reason}", "Which {shop} sells you a {gear}? {reason}"),
    "count": ("How many {measure} are usual? {mine}", "How many {measure} do you count on? {mine}"),
    "mine": ("I am at {m}.", "With me it is {m}, since {month}.", "I never got past {m}.", "My {kin} says {m}.", "In {town} they told me {m}."),
    "praise": (
        "This is the best post on {x} {since}. {aside}", "Lovely. {aside} I looked at it twice.", "Saved for {month}. {aside}", "Now I want to try {x} myself. {aside}",
        "You make {x} look easy. {aside}",
    ),
    "aside": (
        "My {gear} is ashamed.", "Greetings from {town}.", "{n} {measure} – respect.", "It took my {kin} {weeks} weeks.", "The {shop} should hang this up.",
        "I gave up in {month}.", "Even my {kin} stopped and read it.",
    ),
    "story": (
        "Same in {town}: {trouble}. {after}", "In {month} I had that too; {trouble}. {after}", "My {kin} and {x}: {trouble}, for {weeks} weeks. {after}",
        "Here {trouble}. {after}",
    ),
    "after": (
        "It went away by itself.", "I laugh about it now.", "In the end I bought a {gear}.", "We are at {n} {measure} and content.", "I gave it to the {shop}.",
        "It was over in {month}.", "Nobody has found out why.",
    ),
    "agree": ("Thank you for saying it. {aside}", "At last somebody says it about {x}. {aside}", "Yes, a hundred times. {aside}"),
    "doubt": ("I disagree: {counter}", "Not in {town}. {counter}", "Hm. {counter}", "That depends. {counter}"),
    "counter": (
        "with {m} {measure} it would never have worked.", "without a {gear} I would have given up {x} in {month}.", "my {kin} did so, and {trouble}.",
        "ask any {doer} after {weeks} weeks.", "try that in {month} and write again.",
    ),
    "thanks": ("Thank you, {name}. {plan}", "{name}, that helps. {plan}", "Good to know. {plan}", "Noted, {name}! {plan}"),
    "plan": (
        "I will do it on {day}.", "I am off to the {shop}.", "Let us see where I am in {month}.", "That is one {gear} less to buy.", "I will tell my {kin} as well.",
        "{weeks} weeks too late for me, but still.", "Then {x} may stay.",
    ),
    "tried": (
        "> {Tip}.\n\nI did, {since}: from {m} to {n} {measure}.", "> {Tip}.\n\nTried it in {month}. It works, {name}.",
        "{name}, I can confirm it after {weeks} weeks: {n} {measure}.",
    ),
    "but": (
        "{name}, and if {trouble}? Then it is no use.", "It did not help me: {trouble}, as before. {mine}", "Careful, {name}. In {town} that ended with a broken {gear}.",
        "I tried that for {weeks} weeks. {mine}",
    ),
    "price": ("{aware}about **${price}**, {bought}.", "{aware}I paid ${price} for a {gear}, {bought}.", "{aware}${price}, {bought}, and it still works."),
    "place": ("{aware}mine is {bought}, ${price}.", "{aware}a {gear} for ${price}, {bought}."),
    "bought": ("at the {shop} in {town}", "used, from a {doer} in {town}", "new, in {month}, in {town}", "at a sale in {town}"),
    "figure": ("{aware}{n} {measure}, {steady}.", "{aware}I would say {n}, {steady}. {m} is too many or too few, depends on whom you ask."),
    "steady": ("steady since {month}", "give or take one", "after {weeks} weeks of trying", "with a {gear}", "here in {town}"),
    "welcome": (
        "You are welcome, {name}. {plan2}", "Glad to hear it. {plan2}", "Any time, {name}. {plan2}", "Ha. {plan2}",
    ),
    "plan2": (
        "Write again in {month}.", "Show us on {day}.", "It is worth it, for {x}.", "Come by when you are in {town}.", "My {kin} says hello.", "{weeks} weeks and you will laugh about it.",
        "A {gear} is next, I suppose?",
    ),
    "fellow": (
        "So I am not alone with {x}. {plan2}", "Good to read that, {name}: here in {town} it is the same.", "{name}, did you get to {n} {measure} in the end?",
        "The same here, {since}. {plan2}", "That is my {kin} with {x}, word for word. {plan2}",
    ),
    "defence": (
        "Fair enough, {name}. In {town} I count {n} {measure}, and that was the point.", "I only said what worked {since}. {plan2}",
        "{name}, then let us agree on this: {tip}.", "True for {month}. Not for the rest of the year, {name}.", "It is not the {gear}, {name}. It is the patience: {weeks} weeks.",
    ),
    "dear": ("${price} is a lot, {name}. In {town} it was half.", "At that price I will stay with my old {gear}, {name}. {plan2}", "So much for a {gear}? The {shop} here asks less, I think. {plan2}"),
    "peace": ("Agreed, {name}. {plan2}", "Then we mean the same, {name}. {plan2}", "I can live with that. {plan2}"),
}  # fmt: skip
BIOS = (
    "{doer} in {town}. {n} {measure} and counting.", "From {town}. Mostly here for {x}.", "{weeks} weeks without a new {gear}. Proud of it.", "Tell me everything about {x}.",
    "{doer} by night, in {town}.", "I came for {x} and stayed for the people.", "My {gear} has a name.", "Slow and steady, in {town}: {x}.",
)  # fmt: skip
RULE_POOL = (
    "Be kind to beginners.", "One question for each post.", "Search before you ask.", "No advertising.", "Choose a flair for your post.", "Name your sources.",
    "No politics.", "Titles say what it is about.", "Write so that others can follow.", "Sell and buy elsewhere.",
)  # fmt: skip
MONTHS = ("January", "February", "March", "April", "May", "July", "August", "September", "October", "November")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FLAIRS = (
    "Experience",
    "Discussion",
    "Question",
    "Showcase",
    "Opinion",
    "Help",
    "Experience",
    "Advice",
    "Question",
    "Guide",
    "Showcase",
    "Experience",
    "Project",
    "Advice",
)
"""Of a post, by the number of its title."""
FEWER = (
    "minutes in the oven", "drops a minute", "plants lost", "slugs in a night", "squirrels at once", "squeaks found", "tiles broken", "pages lost",
    "crashes in a month", "seconds lost per kilometre", "weeks without a book", "hours of delay", "days of waiting", "people who said no, in a day",
    "weeks of rest", "rules changed", "watts at the wall", "months to go", "hours of work", "minutes of set-up", "seconds for a shot",
    "kilograms of luggage", "days until they come up", "minutes a frame", "hundred grams of weight", "dollars a night", "dollars a board foot",
    "kilometres to a dark place", "months until it is ready", "millimetres of gap", "papers a month",
)  # fmt: skip
"""Of these a person wants few, of all other figures many."""
