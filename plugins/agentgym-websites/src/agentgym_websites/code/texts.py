"""Rules of what people write about a project: issues, merge requests and comments, composed from its files, versions and figures."""

from agentgym_websites.grammar import Rules

SYSTEMS = (
    "Debian 12", "Debian 13", "Fedora 42", "Fedora 43", "Ubuntu 24.04", "Ubuntu 26.04", "Alpine 3.22", "Arch Linux", "macOS 15", "macOS 26", "Windows 11",
    "Windows Server 2025", "FreeBSD 14.2", "OpenBSD 7.8", "NixOS 25.11", "openSUSE Leap 16",
)  # fmt: skip


def _numbers(low: int, high: int, step: int = 1) -> tuple[str, ...]:
    return tuple(map(str, range(low, high + 1, step)))


FIGURES: Rules = {
    "seconds": _numbers(12, 95), "fewer": _numbers(2, 10), "minutes": _numbers(3, 48), "count": _numbers(3, 12), "tens": _numbers(11, 89), "amount": _numbers(120, 9800, 7),
    "gigabytes": ("2", "4", "6", "8", "12", "16", "24", "32"), "megabytes": _numbers(20, 900), "lines": _numbers(15, 60), "days": _numbers(2, 30), "line": _numbers(5, 70),
    "status": _numbers(2, 9),
}  # fmt: skip
PLACES: Rules = {
    **FIGURES,
    "where": (
        "on <the|our> {team} build server", "on {a gigabytes} GB laptop", "in <{a team}|their {team}> container", "on a <freshly installed|rented|borrowed|new|tiny> {system} machine", "on {count} <of our|rented|old> machines", "on {system}", "on the {team} server",
        "in {a system} <virtual machine|sandbox|chroot>", "in the {team} cluster", "behind <a|the {team}> proxy", "with {tens} per cent of disk left", "over a <slow|shared|busy> {team} line", "on {team}'s {count} nodes",
    ),
    "team": ("billing", "support", "finance", "mobile", "research", "network", "teaching", "catalog", "checkout", "mapping", "design", "release"),
    "since": (
        "since the update to {version}", "since I moved to {version}", "with {version}", "with my own {version} build", "after {days} days with {version}", "with the packaged {version}", "since {version}", "for {days} days now",
    ),
    "often": ("every time", "in {tens} of 100 runs", "about once in {count} runs", "now and then", "whenever {count} <jobs run at once|jobs overlap>", "after {minutes} minutes", "for one in {count} files"),
    "source": (
        "{megabytes} MB from {team}", "{amount} sample files", "{amount} files of one folder", "{amount} rows <from|of> {team}", "{a megabytes} MB file", "last week's {team} data", "{megabytes} MB of logs", "the {team} archive", "{count} copies of one file",
        "{amount} lines of <log|CSV|JSON>", "<all|half> of {team}'s files",
    ),
    "weekday": ("on Monday", "on Tuesday", "on Wednesday", "on Thursday", "next week", "tomorrow", "at the weekend", "on Friday", "in {days} days"),
    "it": ("the {part}", "the {part} of {name}", "`{function}`", "{name}'s {part}"),
    "f": ("{where}, ", "{since}, ", "with {source}, ", "{often}, ", "{where} and {since}, ", "{where}, with {source}, "),
    "g": ("{where}, ", "{since}, ", "{often}, ", "{where} and {since}, ", "{where}, {often}, "),
    "thanks": (
        "Thank you for {name}, which the {team} team uses for {source}.", "{weekday} the {team} team can test <a fix|a branch> {where}.", "Are the last {lines} lines of {it} enough?", "For {days} days I have kept <the log|{lines} lines> of {it}.",
        "In {days} days the {team} team moves to {next}.", "Until {it} <is settled|works> we stay with {old}.", "The {team} team waits for this, too, with {source}.", "{it} deserves a {label} label, says the {team} team.", "{where} it hurts most with {source}, so a {label} label seems right.",
        "{where} I can run anything you like for {days} days.", "For the {team} team it is a daily matter, with {source}.", "Without {it} the {team} team cannot move to {version}.",
    ),
    "step": (
        "Feed {it} with {source}.", "Set `{constant}` to {value}<| {where}>.", "{where} start {name} with {source}.", "With {source}, start {count} of them at once.", "Remove `{constant}` and wait {seconds} seconds.", "In the settings, set `{constant}` to {value}.", "Install {version} {where}.",
    ),
    "look": (
        "The last {lines} lines of {it} show it.", "Wait {minutes} minutes for {it}.", "Compare {it} with {old}.", "See what `{function}` says after {seconds} seconds.", "After {seconds} seconds {it} stops.", "{it} answers within {minutes} minutes, or never.", "{lines} lines come out of {it} instead of {tens}.",
    ),
    "command": ("run", "check", "run --verbose", "check --all", "run --quiet"),
}  # fmt: skip
# Sentences of a report, by the words of its title. The first two of a draw make the report.
REPORTS: dict[str, tuple[str, ...]] = {
    "crashes on empty files": (
        "{g}a file of 0 bytes ends {it} with “{problem}”.", "One of {amount} files was empty, and {it} stopped the <whole run|job> with “{problem}” {where}.", "`touch empty && {name} empty` shows it {where}: {it} crashes.",
        "{g}{it} should skip an empty file, as it did in {old}.", "{g}I get “{problem}” from {it} for an empty file.", "Why does {it} need bytes in every file {where}?", "{g}{it} gives up with “{problem}” when a file is empty.",
    ),
    "ignores the timeout": (
        "{seconds} seconds of timeout, and {it} still waited {minutes} minutes for {source}.", "{g}{it} never <looks at|reads> the timeout: `--timeout {seconds}` took {minutes} minutes.", "{g}{it} should give up after {seconds} seconds.",
        "{f}the timeout <counts for nothing|is lost>.", "{source} kept {it} busy, timeout or not.", "Does {it} read the timeout at all {where}?", "If `--timeout {seconds}` is given, {it} goes on for {minutes} minutes {where}.",
    ),
    "Windows paths": (
        "{it} takes `C:\\data\\{team}` for two parts because of the colon {where}.", "Of our {amount} machines, {minutes} run Windows, and there {it} says “{problem}” for a path with a drive letter.", "Could `{function}` accept backslashes <{where}|for {source}>?",
        "{g}I rewrite {amount} paths by hand, as {it} knows no backslash.", "{f}forward slashes work, backslashes end with “{problem}”.", "{g}{it} reports “{problem}” for a path with a drive letter.", "{amount} paths of the {team} team have a drive letter, and {it} stumbles over each.",
    ),
    "too much memory": (
        "With {source} {it} takes {gigabytes} GB of memory; {seconds} MB would do.", "{g}memory grows by {seconds} MB an hour while {it} runs.", "`{function}` seems to keep everything in memory {where}: {gigabytes} GB for {source}.",
        "{g}I measured {megabytes} MB of memory for {it}.", "{f}memory is never given back, so {minutes} runs of {it} need {gigabytes} GB.", "Why does {it} hold {megabytes} MB for {source}?", "{megabytes} MB before {it} starts, {gigabytes} GB after {minutes} minutes {where}.",
    ),
    "Document how to extend": (
        "{amount} lines of source were to be read before I could add a step after `{function}`.", "{minutes} hours would have been saved by a page about {it}.", "{g}I could use {it} at once, but not extend it.",
        "{lines} lines of example would be enough to explain {it} to the {team} team.", "The {team} team asks me how to extend {it}, and I have no answer.", "{g}how does one add a step after `{function}`?", "The {team} team wants to extend {it}, and I can only send them to the source.",
        "For {source} we had to guess how {it} is extended.",
    ),
    "Wrong exit status": (
        "{g}{it} fails with “{problem}” and the exit status is 0.", "`{name} run && echo fine` says *fine* {where} although `{function}` failed.", "{g}a failure of {it} should end with status {status}.",
        "{count} of our nightly jobs {where} were green for {days} days by mistake.", "With {source} we expected status {status} from {it}.", "When {it} fails {where}, our script goes on as if nothing had happened.", "Which status does {it} mean to return for “{problem}”? {where} it is 0.",
    ),
    "slow on network drives": (
        "For {source} {it} takes {seconds} seconds on a local disk and {minutes} minutes on a network drive.", "{it} opens every file {count} times, which costs {minutes} minutes on the network drive of the {team} team.", "`{function}` waits for the network drive after each of {amount} files {where}.",
        "{g}reading in batches of {lines} would help {it} on our network drive.", "{megabytes} MB take {it} {minutes} minutes over the network.", "From the {team} drive {it} reads for {minutes} minutes instead of {seconds} seconds.", "Does {it} have to ask the network drive {amount} times {where}?",
    ),
    "be switched off": (
        "{g}we have {a part} of our own and would like to set `use_{word} = false`.", "For {source} {it} does nothing useful but costs {seconds} seconds.", "{g}a flag to leave out {it} would be welcome.",
        "In {count} of our {tens} jobs {it} only gets in the way of {source}.", "{f}please let {name} run without {it}.", "Could the {team} team run {name} without {it}?", "Since the {team} team brings {a part} of its own, {it} costs {minutes} minutes for nothing.",
    ),
    "Flaky test": (
        "{g}a test of {it} fails: it expects an answer within {seconds} ms.", "The test of `{function}` depends on the order of files {where}.", "{count} failures in {days} days on {system}: that is the test of {it}.",
        "{tens} runs of the tests of {it} give {minutes} failures, always “{problem}”.", "{f}the test of {it} passes, and an hour later it fails.", "{g}why does a test of {it} need {seconds} ms?", "When {count} tests of {it} run at once, one ends with “{problem}” {where}.",
    ),
    "swallows errors": (
        "When `{function}` meets “{problem}”, the result is short by {amount} rows and nothing is said.", "{g}{it} should say “{problem}” instead of going on.", "{amount} rows had vanished before I noticed the error of {it}.",
        "{f}the log of {it} has not a line about errors.", "{minutes} hours went into an error that {it} kept to itself with {source}.", "Where does {it} write “{problem}”? Nowhere, {since}.", "If {it} fails {where}, nobody hears of it.",
    ),
    "Unicode names": (
        "A file called `größe-{megabytes}.csv` ends with “{problem}” in {it}.", "`{function}` counts bytes where it should count characters, and accented names are cut after {tens} of them {where}.", "{it} refuses {amount} of our files because of their Czech names.",
        "{f}plain names work, accented ones end with “{problem}”.", "The {team} team renamed {amount} files with umlauts for {it}.", "Can {it} read a name like `niño-{tens}.txt` {where}?", "{g}{it} says “{problem}” for a name with an accent.", "{amount} names with umlauts, and {it} stops at the first of them.",
    ),
    "dry run": (
        "Before {it} touches {source}, I would like to see a dry run.", "{g}a dry run should print {amount} lines and stop before `{function}`.", "{amount} files were overwritten {where}; a dry run of {it} would have told me.",
        "The {team} team wants a dry run to review what {it} will do {where}.", "With `--dry-run`, {it} could list the {count} steps for {source}.", "Could {it} show its {count} steps first {where}?", "If {it} had a dry run, the {team} team would trust it with {source}.",
    ),
    "loses its settings": (
        "The update to {version} put back the settings of {it} {where}: `{constant}` was {value} before.", "{g}{it} forgot {count} settings after the update.", "`{constant} = {value}` was lost first {where}.",
        "{value} is what we set `{constant}` to {where}; each update brings the default back.", "{where}, settings survive a restart but not an update.", "When {version} was installed {where}, {it} went back to its defaults.", "Why does {it} forget `{constant}` {where}?",
    ),
    "Show progress": (
        "With {source} {it} is silent for {minutes} minutes {where}.", "{g}a line every {seconds} seconds would tell whether {it} is alive.", "Nobody in the {team} team knows whether {it} works or hangs with {source}.",
        "“{count} of {amount}” would do {where}, instead of silence from {it}.", "Could `{function}` print a percentage, say of {source}?", "{minutes} minutes without a word from {it} make the {team} team nervous.", "When {it} reads {source}, only the fan of the machine shows that it works.",
    ),
}  # fmt: skip
LABEL_OF = {
    "crashes": "bug", "ignores": "bug", "Wrong": "bug", "Flaky": "bug", "swallows": "bug", "Unicode": "bug", "loses": "bug", "memory": "performance", "slow": "performance",
    "Document": "documentation", "Support": "feature", "switched": "feature", "dry run": "feature", "progress": "feature",
}  # fmt: skip
"""The label of an issue, by words of its title."""
ISSUES: tuple[str, ...] = (
    "{report1} {report2}\n\n### Environment\n\n- Version: {version}\n- System: {system}\n\n{thanks}",
    "{report1} {report2}\n\n### Steps\n\n1. {step}\n2. Run `{name} {command}`.\n3. {look}\n\n### Environment\n\n- Version: {version}\n- System: {system}",
    "### What happens\n\n{report1} {report2}\n\n### Environment\n\n- Version: {version}\n- System: {system}\n\n### More\n\n{thanks} {step}",
    "{report1}\n\n```\n$ {name} {command}\n{problem}\n```\n\n{report2}\n\n### Environment\n\n- Version: {version}\n- System: {system}\n\n{thanks}",
)
MERGE: Rules = {
    **PLACES,
    "does": (
        "This changes `{path}`, mostly around `{function}`<, for {source}|, as the {team} team asked>.", "Only `{path}` is touched; {count} others call `{function}` {where}.", "It concerns {it}: `{path}`, {lines} lines.",
        "For {source}, begin reading at `{function}` in `{path}`.", "{lines} lines of `{path}` change, and {count} of them belong to `{function}`.", "The aim is to {title}, in {lines} lines of `{path}`.", "In `{path}`, `{function}` <loses|gains> {lines} lines.", "With {lines} lines in `{path}` the {team} team gets what it asked for.", "If you read one thing, read `{function}` in `{path}`.",
        "`{function}` in `{path}` now copes with {source}.",
    ),
    "checked": (
        "{seconds} s before, {fewer} s after, with {source} {where}.", "{where} {it} ran for {days} days.", "Memory of {it} stays below {megabytes} MB with {source}.", "{amount} files give {it} the same result as before, {where}.", "The {team} team tried {it} {where} for {days} days.", "With {source} nothing changes {where}.", "On {system} {it} needs {fewer} seconds less.",
    ),
    "tested": (
        "{count} new tests.", "On {system} the tests of {it} pass in {seconds} seconds.", "By hand I tried it on {system}, with {source}.", "No new test: {count} old ones cover {it}.", "{tens} tests of {it} pass {where}.", "{where}, {count} new tests pass.", "With {count} new tests {it} is covered {where}.",
    ),
    "why": (
        "Somebody from the {team} team stumbled over {it} {where}.", "{it} cost the {team} team {minutes} hours last month, with {source}.", "{g}I came across {it}.", "{days} days ago {count} people were for it, {where}.", "{source} did not get through {it} {where}.", "When {source} arrived, {it} said “{problem}”.", "Why not? {where} {it} has been a problem for {days} days.", "The {team} team asked for it {days} days ago.",
    ),
}  # fmt: skip
MERGES: tuple[str, ...] = (
    "{does}\n\n{closes}\n\n### Checked\n\n- {checked}\n- {tested}",
    "{closes} {does}\n\n{checked} {thanks}",
    "### Why\n\n{why}\n\n### What\n\n{does}\n\n{closes} {tested}",
)
COMMENT: Rules = {
    **PLACES,
    "confirm": (
        "On {system} I can confirm this, {since}.", "{where} {it} does the same {often}, version {version}.", "Not here: {system}, version {version}, with {source}.", "{source} shows it, too, {where}.", "{tens} of {amount} runs {where} show it.",
        "The {team} team reported the same of {it} {days} days ago.", "With {source} I can confirm it on {system}: {it}, {often}.", "{f}{it} behaves like this, and {old} did not.", "{days} days ago I saw this with {source}.", "When {source} goes through {it}, I see it as well.", "Has anybody not seen this {where}?", "If you run {it} {where}, you see it {often}.", "Here {count} of {tens} runs of {it} fail.",
    ),
    "ask": (
        "@{author} What does `{name} check` say {where}?", "@{author} Could you attach the last {lines} lines of the log of {it}?", "@{author} Does it also happen with {source} {where}?", "@{author} Which value has `{constant}` in your settings? {where} I have {value}.",
        "@{author} Was {it} better before {version} {where}?", "@{author} How many of your {amount} files touch {it}?", "@{author} Is that {where}, or only with {source}?", "@{author} When did {it} last work {where}?", "@{author} With {old}, too?", "@{author} If you leave out {source}, what does {it} say?",
    ),
    "workaround": (
        "As a workaround, set `{constant}` to {value}; that has helped {where}.", "For {days} days `{constant} = {value}` makes {it} bearable {where}.", "{where} it goes away when `{constant}` is {value}.", "Run {name} twice, {seconds} seconds apart: {it} recovers {where}.",
        "We feed {it} {source} in {count} parts, which avoids it.", "With {old} there is no such problem {where}.", "For {source} it helps to set `{constant}` to {value}; {it} then needs {minutes} minutes.", "With {source}, `{constant} = {value}` makes the difference.", "If you can wait {seconds} seconds between runs, {it} recovers.", "The {team} team has no trouble when `{constant}` is {value}.", "{it} is happy again when `{constant}` is {value}, at least {where}.",
        "Until {next}, `{constant} = {value}` makes {it} work {where}.", "Since {version} I set `{constant}` to {value}; {it} works {where}.",
    ),
    "cause": (
        "With {source}, `{function}` in `{path}` stops with “{problem}”.", "The cause is `{function}` in `{path}`, about line {line}.", "{tens} times `{function}` in `{path}` is called for {source}.",
        "`{function}` in `{path}` never expected {source}<|, as line {line} shows>.", "Since {version}, `{function}` in `{path}` <drops|forgets> {count} values of {source}.", "Line {line} of `{path}` is to blame: `{function}` gives up with “{problem}”.", "{where} I traced it to `{function}` in `{path}`.", "When `{function}` meets {source}, line {line} of `{path}` goes wrong.", "Could it be line {line} of `{path}`? There `{function}` says “{problem}”.",
        "In `{path}`, near line {line}, `{function}` loses {count} values.",
    ),
    "plan": (
        "{next} could have it if somebody reviews `{path}` {weekday}.", "Until {next} I would rather wait: {it} changes {lines} lines {weekday}.", "{weekday} I can write it; about {lines} lines in `{path}`, with {count} tests.", "{count} similar issues are open, so let us talk about {it} {weekday}.",
        "{next} has room for {it} if {count} of us help {weekday}.", "Who takes {it}? The {team} team has {days} days before {next}.", "The {team} team could do {it} in {days} days.", "With {count} tests for `{path}` I would take it for {next}.", "Is {next} too early for {it}, with {lines} lines to change?", "For {it} I count {days} days of work, {count} tests included.", "{days} days before {next} I will look at `{path}`.", "After {next} {it} gets {lines} lines shorter anyway.",
    ),
    "review": (
        "In `{path}`: `{function}` needs a remark about “{problem}” near line {line}.", "With a test for {source}, {it} would be complete.", "On {system} I ran this branch: {fewer} seconds instead of {seconds}.", "Could `{path}` be a commit of its own, {lines} lines as it is?",
        "Line {line} of `{path}` would be clearer with a name for {value}.", "How does `{function}` behave with {source}? I see {count} callers.", "The notes for {next} should mention {it}, {source} included.", "Good {where}: {amount} files, {fewer} seconds, no “{problem}”.",
        "Is line {line} of `{path}` reached {where}? My {count} runs say no.", "{amount} files went through {it} {where}, without “{problem}”.", "Before {next}, `{function}` in `{path}` should lose {lines} lines.", "When {source} is empty, what does `{function}` return?", "{where} it works for me, {fewer} seconds for {source}.", "If `{constant}` is {value}, does line {line} of `{path}` still hold?",
        "Why {value} for `{constant}`? {where} I would take less.", "{count} callers of `{function}` are left {where}; do they all know?", "For {source} I would like to see {count} more tests.", "The {team} team will like it: {fewer} seconds for {source}.",
    ),
}  # fmt: skip
ORDER = (
    ("confirm", "ask", "cause", "workaround"),
    ("confirm", "cause", "workaround", "ask", "plan"),
    ("plan", "cause", "workaround", "confirm"),
)
"""What the first, the second and later comments of an issue do; causes and workarounds come once."""
EXTRAS = ("Address comments", "Follow the review", "Simplify", "Tidy up", "Try another value")
"""Messages of a branch's second commit."""
