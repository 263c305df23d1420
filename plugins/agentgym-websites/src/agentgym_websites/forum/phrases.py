"""Tables of the forum: what answers what, flairs, rules of communities."""

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
GROUPS = (
    "tells",
    "asks",
    "asks",
    "tells",
    "thinks",
    "asks",
    "tells",
    "asks",
    "asks",
    "tells",
    "tells",
    "tells",
    "tells",
    "asks",
)
REPLIES = {  # what answers what
    "advice": ("thanks", "tried", "but"), "cost": ("price",), "count": ("figure",), "where": ("place",), "praise": ("welcome",), "story": ("fellow",),
    "agree": ("fellow", "but"), "doubt": ("defence",), "tried": ("thanks", "count"), "but": ("defence",), "price": ("thanks", "dear"), "figure": ("thanks", "but"),
    "place": ("thanks", "dear"), "defence": ("peace",), "thanks": ("welcome",), "welcome": ("fellow",), "fellow": ("welcome",), "dear": ("defence",), "peace": ("welcome",),
}  # fmt: skip
BIOS = (
    "{doer} in {town}. {n} {measure} and counting.", "From {town}. Mostly here for {x}.", "{weeks} weeks without a new {gear}. Proud of it.", "Tell me everything about {x}.",
    "{doer} by night, in {town}.", "I came for {x} and stayed for the people.", "My {gear} has a name.", "Slow and steady, in {town}: {x}.",
)  # fmt: skip
RULE_POOL = (
    "Be kind to beginners.", "One question for each post.", "Search before you ask.", "No advertising.", "Choose a flair for your post.", "Name your sources.",
    "No politics.", "Titles say what it is about.", "Write so that others can follow.", "Sell and buy elsewhere.",
)  # fmt: skip
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
    "crashes in a month", "seconds lost per kilometre", "weeks without a book", "hours of delay", "days of waiting", "refusals in a day",
    "weeks of rest", "rules changed", "watts at the wall", "months to go", "hours of work", "minutes of set-up", "seconds for a shot",
    "kilograms of luggage", "days until they come up", "minutes a frame", "hundred grams of weight", "dollars a night", "dollars a board foot",
    "kilometres to a dark place", "months until it is ready", "millimetres of gap", "papers a month",
)  # fmt: skip
"""Of these a person wants few, of all other figures many."""
