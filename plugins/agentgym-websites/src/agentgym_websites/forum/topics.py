"""The forum's topics: each community's description, subjects and forms of titles."""

COMMUNITIES = {
    "bread": ("Sourdough, rye, and everything that rises", ["a sourdough starter", "a rye loaf", "focaccia", "brioche", "ciabatta", "bagels", "pizza dough", "oven spring"]),
    "cycling": ("Riding to work, in the woods and across countries", ["gravel tyres", "disc brakes", "commuter lights", "winter gloves", "chain wear", "saddle height", "bike bags", "tubeless sealant"]),
    "houseplants": ("Green things indoors", ["monstera", "a spider plant", "a fiddle leaf fig", "a snake plant", "pothos", "calathea", "a rubber tree", "a grow light"]),
    "astronomy": ("Looking up", ["Saturn's rings", "the Orion nebula", "a Dobsonian", "meteor showers", "star trails", "Jupiter's moons", "light pollution", "a solar filter"]),
    "woodworking": ("Making things from trees", ["dovetails", "hand planes", "a workbench", "walnut boards", "table saw safety", "wood glue", "a cutting board", "oil finish"]),
    "running": ("From the sofa to the marathon", ["tempo runs", "trail shoes", "shin splints", "a half marathon", "heart rate zones", "hill repeats", "recovery days", "pacing"]),
    "photography": ("Pictures and how they were taken", ["a 50 mm lens", "film scanning", "golden hour", "tripods", "street portraits", "long exposure", "raw editing", "camera straps"]),
    "boardgames": ("Around the table", ["worker placement", "two-player games", "rulebooks", "solo variants", "party games", "deck building", "game storage", "house rules"]),
    "gardening": ("Outdoors and in the greenhouse", ["tomato blight", "raised beds", "compost", "slugs", "seed trays", "pruning roses", "drip irrigation", "cover crops"]),
    "personalfinance": ("Money without the noise", ["an emergency fund", "index funds", "a first mortgage", "a car loan", "a pension", "a budget app", "a tax return", "a credit score"]),
    "books": ("What we read", ["a long novel", "short stories", "translations", "library cards", "audiobooks", "a reading slump", "book clubs", "science fiction"]),
    "coffee": ("Beans, grinders, cups", ["hand grinders", "light roasts", "espresso dialing", "moka pots", "cold brew", "water hardness", "milk steaming", "filter papers"]),
    "linux": ("Free systems", ["systemd timers", "a home server", "btrfs snapshots", "tiling windows", "printer drivers", "shell scripts", "backups", "Wayland"]),
    "travel": ("Going places", ["night trains", "hostels", "packing light", "ferry passes", "visa questions", "solo travel", "rail passes", "travel insurance"]),
    "music": ("Listening and playing", ["fingerpicking", "piano scales", "vinyl care", "ear training", "a loop pedal", "choir warm-ups", "stage fright", "headphones"]),
    "languages": ("Learning to talk to more people", ["German cases", "listening practice", "flash cards", "Japanese kanji", "tandem partners", "Spanish subjunctive", "accent work", "reading aloud"]),
    "birds": ("Feathers", ["feeder squirrels", "owl calls", "warbler season", "a field guide", "binoculars", "nest boxes", "a duck pond", "migration"]),
    "diy": ("Fixing the house", ["a leaking tap", "drywall", "grout", "squeaky floors", "door hinges", "wallpaper", "a draughty window", "tile cutting"]),
    "cooking": ("Dinner", ["risotto", "knife skills", "lentil soup", "stir-fry", "roast chicken", "pickles", "dumplings", "leftover rice"]),
    "mathematics": ("Numbers and proofs", ["induction", "knot theory", "prime gaps", "graph colouring", "the pigeonhole principle", "infinite series", "matrices", "topology"]),
}  # fmt: skip
TITLES = (
    (
        "What finally worked for me with {x}",
        "How I made peace with {x}",
        "{X}: the change that helped",
    ),
    ("Is {x} worth the trouble?", "Should I give up on {x}?", "{X}, yes or no?"),
    ("Beginner question about {x}", "New to {x} and a little lost", "First steps with {x}?"),
    ("Show and tell: {x}", "Proud of this one: {x}", "My {bare} this season"),
    (
        "Unpopular opinion about {x}",
        "We talk too much about {x}",
        "A word against the fuss over {x}",
    ),
    ("Help, something is wrong with {x}", "Trouble with {x} again", "Stuck with {x}"),
    ("Three years of {x}: what I learned", "{X}, a look back", "Mistakes I made with {x}"),
    ("Best budget option for {x}?", "{X} for little money?", "What to buy first for {x}?"),
    (
        "How do you store or keep {x}?",
        "Where does {x} live at your place?",
        "A good place for {x}?",
    ),
    ("A short guide to {x}", "{X} step by step", "Notes on {x} for newcomers"),
    ("{X}: before and after", "What a season did to {x}", "{X}, then and now"),
    (
        "What nobody told me about {x}",
        "The quiet truth about {x}",
        "Things I wish I had known about {x}",
    ),
    ("Weekend project: {x}", "Two days for {x}", "Saturday, Sunday, {x}"),
    ("Looking for advice on {x}", "Planning {x}: what would you do?", "Talk me through {x}"),
)
"""The forms of a title, by kind of post."""
