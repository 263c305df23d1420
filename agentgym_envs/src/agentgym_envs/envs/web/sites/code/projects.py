"""Which projects the code host holds, and what their commits, issues and merge requests talk about."""

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
ROLES = ("Guest", "Reporter", "Developer", "Maintainer", "Owner")
