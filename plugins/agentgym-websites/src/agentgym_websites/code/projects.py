"""The projects of the code host, and the topics of their commits, issues and merge requests."""

# The signed-in person and the projects that this person owns.
ME, MINE = (
    1,
    ("tidepool", "inkwell", "glasswing", "osprey"),
)
PROJECTS = (
    ("tidepool", "A tide table for the command line", "Python"), ("lanternfish", "Static site generator with live reload", "Go"),
    ("quarry", "Query CSV files with SQL", "Rust"), ("mosslight", "Theme kit for terminals", "TypeScript"),
    ("peregrine", "HTTP load tester", "Go"), ("inkwell", "Plain-text notebook with links", "Python"),
    ("copperline", "Client for message queues", "Java"), ("driftwood", "Log viewer that follows many files", "Rust"),
    ("hedgerow", "Dependency graphs as SVG", "Python"), ("sundial", "Cron expressions explained", "TypeScript"),
    ("basalt", "Key-value store in one file", "C"), ("orchard", "Package mirror for small teams", "Python"),
    ("fathom", "Unit conversion library", "Java"), ("glasswing", "Accessible chart components", "TypeScript"),
    ("millrace", "Stream processing with back pressure", "Rust"), ("pinecone", "Snapshot backups for home servers", "Go"),
    ("sandpiper", "Test data generator", "Python"), ("thistle", "Form validation rules", "TypeScript"),
    ("weathervane", "Forecasts from open data", "Python"), ("kelpie", "Background jobs for web apps", "Java"),
    ("longboat", "Container image linter", "Go"), ("marigold", "Colour palettes from photographs", "Python"),
    ("nightjar", "Sound event recorder", "C"), ("osprey", "Feature flags server", "Go"),
    ("almanac", "Calendar that reads many formats", "Go"), ("anvil", "Build cache shared over the network", "Rust"),
    ("barnacle", "Finds processes that cling to files", "C"), ("beeline", "Shortest routes on open maps", "Java"),
    ("bellwether", "Alerts when a page changes", "Python"), ("bramble", "Tangled configuration, merged", "TypeScript"),
    ("brindle", "Pattern generator for textiles", "Python"), ("causeway", "Bridge between two mail servers", "Java"),
    ("cinder", "Cleans up after containers", "Go"), ("cobweb", "Finds dead links in folders of HTML", "Rust"),
    ("cormorant", "Downloads that survive lost connections", "Go"), ("crosswind", "Wind statistics for sailing clubs", "Python"),
    ("dovetail", "Joins tables that almost match", "Python"), ("dunlin", "Small web framework with forms", "TypeScript"),
    ("ember", "Keeps services warm after deployment", "Java"), ("fennel", "Recipe scaler with shopping lists", "TypeScript"),
    ("filament", "3D print queue for workshops", "Python"), ("flint", "Spark plans drawn as pictures", "Java"),
    ("foxglove", "Dose calculator with sources", "Java"), ("gannet", "Dives into core dumps", "C"),
    ("gantry", "Release checklists as code", "TypeScript"), ("harrow", "Breaks up large pull requests", "Python"),
    ("heron", "Watches folders and waits", "Rust"), ("hollyhock", "Garden planner with frost dates", "TypeScript"),
    ("jetty", "Temporary file drop for teams", "Go"), ("juniper", "Notebook cells as tests", "Python"),
    ("kestrel-map", "Tiles from survey data", "C"), ("lichen", "Slow background file checks", "Rust"),
    ("limpet", "Pins versions of system packages", "Go"), ("lodestar", "Star charts for the terminal", "Rust"),
    ("mangrove", "Tree views of nested data", "TypeScript"), ("mothwing", "Dark themes from light ones", "TypeScript"),
    ("nettle", "Finds secrets before they are pushed", "Go"), ("oakum", "Seals holes in old databases", "Java"),
    ("paddock", "Sandbox for untrusted scripts", "C"), ("petrel", "Weather buoys as a stream", "Rust"),
    ("plover", "Footprints of slow queries", "Java"), ("quillon", "Editor plug-in for long sentences", "TypeScript"),
    ("ramshorn", "Ring buffer with a file behind it", "C"), ("redshank", "Early warnings from log files", "Python"),
    ("saltmarsh", "Filters for noisy sensors", "C"), ("shearwater", "Subtitle timing by ear", "Python"),
    ("skein", "Threads that cannot deadlock", "Rust"), ("spindle", "Plays lists over the house network", "Go"),
    ("tamarack", "Timelines from commit messages", "TypeScript"), ("teasel", "Picks apart archive formats", "C"),
    ("turnstone", "Finds duplicates in photo folders", "Python"), ("yarrow", "First aid for broken CSV files", "Rust"),
)  # fmt: skip
PARTS = (
    "parser",
    "cache",
    "config loader",
    "command line",
    "scheduler",
    "exporter",
    "retry logic",
    "logging",
    "tests",
    "documentation",
    "installer",
    "search index",
)
COMMITS = (
    "Fix off-by-one error in the {p}", "Make the {p} faster for large inputs", "Remove dead code from the {p}", "Document the {p}", "Add tests for the {p}",
    "Rename variables in the {p}", "Handle empty input in the {p}", "Cache results in the {p}", "Report errors of the {p} with context", "Split the {p} into modules",
)  # fmt: skip
ISSUES = (
    "The {p} crashes on empty files", "The {p} ignores the timeout", "Support Windows paths in the {p}", "The {p} uses too much memory", "Document how to extend the {p}",
    "Wrong exit status when the {p} fails", "The {p} is slow on network drives", "Allow the {p} to be switched off", "Flaky test in the {p}", "The {p} swallows errors",
    "Unicode names break the {p}", "Add a dry run to the {p}", "The {p} loses its settings after an update", "Show progress in the {p}",
)  # fmt: skip
LABELS = (
    ("bug", "#d73a4a"),
    ("feature", "#0e8a16"),
    ("documentation", "#0075ca"),
    ("performance", "#a2670a"),
    ("good first issue", "#7057ff"),
    ("security", "#8b1a2b"),
)
# Labels in addition to the one that an issue's title demands.
FURTHER = ("good first issue", "security")
ROLES = ("Guest", "Reporter", "Developer", "Maintainer", "Owner")
