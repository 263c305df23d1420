"""Rules of what people write about a project: issues, merge requests and comments, composed from its files, versions and figures."""

from agentgym_envs.envs.web.sites.grammar import Rules

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
        "on <the|our> build server<| at {team}>", "on a laptop with {gigabytes} GB", "in <a|their> container", "on a <freshly installed|rented|borrowed|new|tiny> machine", "on {count} <of our|rented|old> machines", "on {system}", "on the {team} server",
        "<at home|at work|at a client's|at {team}>", "in a <virtual machine|sandbox|chroot>", "in the {team} cluster", "behind <a|the {team}> proxy", "with {tens} per cent of disk left", "over a <slow|shared|mobile> line", "on {team}'s {count} nodes",
    ),
    "team": ("billing", "support", "data", "mobile", "research", "network", "teaching", "archive", "payments", "mapping", "design", "release"),
    "since": (
        "since the update to {version}", "since I moved to {version}", "with {version}", "with a build of {version}", "after {days} days with {version}", "with the packaged {version}", "since {weekday}, with {version}", "for {days} days now",
    ),
    "often": ("every time", "in {tens} of 100 runs", "about once in {count} runs", "only at night", "now and then", "whenever {count} <run at once|meet|overlap>", "after {minutes} minutes", "on every {count}th file"),
    "source": (
        "an export from {team}", "{amount} sample files", "a folder <of|with> {amount} files", "{amount} rows <from|of> {team}", "a file of {megabytes} MB", "last week's {team} data", "{megabytes} MB of logs", "the {team} archive", "{count} copies of one file",
        "{amount} lines of <log|CSV|JSON>", "<all|half> of {team}'s files",
    ),
    "weekday": ("on Monday", "on Tuesday", "on Wednesday", "on Thursday", "next week", "tomorrow", "at the weekend", "on Friday", "in {days} days"),
    "it": ("the {part}", "the {part} of {name}", "`{function}`", "{name}'s {part}"),
    "thanks": (
        "Thank you for {name}, which <the {team} team uses|we use {where}> <daily|for {source}>.", "I can test <a fix|a branch|anything> {weekday}, {where}.", "Tell me <if|whether> you need more than <the log|{lines} lines> of {it}.", "I have kept <the log|{lines} lines> of {it} for {days} days.",
        "It is not urgent <for us|{where}>: {days} days <are|would be> fine.", "We have <pinned|gone back to> {old} until {it} <is settled|works>.", "The {team} team waits for <this|{it}>, too, with {source}.", "A {label} label <seems right|would fit> <for {it}|, I think, since {where} it hurts>.",
    ),
    "step": (
        "Take {source} <and|to> feed {it}.", "Set `{constant}` to {value} <first|{where}>.", "Start <{name} |>with <its|the> defaults and {source}.", "Use {count} of them at once {where}.", "Remove `{constant}` <from the settings|again>, then wait {seconds} seconds.",
    ),
    "look": ("Look at the last {lines} lines of {it}.", "Wait {minutes} minutes <for|beside> {it}.", "Compare {it} with version {old}.", "See what `{function}` says <after {seconds} seconds|{where}>."),
    "command": ("run", "check", "run --verbose", "check --all", "run --quiet"),
}  # fmt: skip
# Sentences of a report, by the words of its title. The first two of a draw make the report.
REPORTS: dict[str, tuple[str, ...]] = {
    "crashes on empty files": (
        "Given a file of 0 bytes, {it} ends with “{problem}” {often}.", "One of {amount} files was empty, and {it} stopped the <whole run|job> with “{problem}” {where}.", "`touch empty && {name} empty` <is enough|shows it> {where}: {it} crashes {often}.",
        "An empty file should count as nothing <for|in> {it}, as it did <in {old}|{days} days ago>.", "I noticed that empty files stop {it} {where}, {since}.",
    ),
    "ignores the timeout": (
        "I set the timeout to {seconds} seconds, and {it} still waited {minutes} minutes for {source}.", "{it} never <looks at|reads> the timeout: with `--timeout {seconds}` it ran for {minutes} minutes {where}.", "With a timeout of {seconds} seconds I expect {it} to give up {where}.",
        "The timeout <counts for nothing|is lost> {often}, {since}, {where}.", "Even a timeout of {count} seconds <leaves|keeps> {it} busy with {source}.",
    ),
    "Windows paths": (
        "{it} takes `C:\\data\\{team}` for two parts because of the colon<, {since}|, {often}| {where}>.", "Of our {amount} machines, {minutes} run Windows, and there {it} says “{problem}” for a path with a drive letter.", "Could `{function}` accept backslashes <{where}|for {source}>?",
        "I rewrite {amount} paths by hand {where} <since|because> {it} knows no backslash.", "Forward slashes work with {source}, backslashes in a path end with “{problem}” {often}.",
    ),
    "too much memory": (
        "With {source} {it} takes {gigabytes} GB of memory; {seconds} MB would do <{where}|in {old}>.", "Memory grows by {seconds} MB an hour while {it} runs {where}, until <the system ends it|swapping starts>.", "`{function}` seems to keep everything in memory: {gigabytes} GB for {source}, {often}.",
        "I measured {megabytes} MB of memory for {it} {where}, {since}.", "Memory is given back {often} only, so {minutes} runs of {it} need {gigabytes} GB.",
    ),
    "Document how to extend": (
        "I wanted to add a step after `{function}` and had to read {amount} lines of source <first|{weekday}>.", "A page about extending {it} would have saved <me|the {team} team> {minutes} hours.", "The guide says how to use {it}, not how to extend it, {since}.",
        "An example of an extension in {lines} lines would be enough <for|to explain> {it}.", "Newcomers of the {team} team ask me how to extend {it} {often}.",
    ),
    "Wrong exit status": (
        "When {it} fails with “{problem}”, the exit status is 0, so our script goes on {where}.", "`{name} run && echo fine` says *fine* although `{function}` failed {where}, {often}.", "A failure of {it} should end with status {status}<, as in {old}|, {where} too>.",
        "{count} of our nightly jobs {where} were green for {days} days by mistake, with status 0 from {it}.", "We expected status {status} from {it} <for|after> {source}.",
    ),
    "slow on network drives": (
        "On a local disk {it} takes {seconds} seconds for {source}, on a network drive {minutes} minutes.", "{it} opens every file {count} times, which costs {minutes} minutes on the network drive of the {team} team.", "`{function}` waits for the network drive after each of {amount} files {where}.",
        "Reading in batches of {lines} would help {it} on our network drive<| {where}|, {since}>.", "Over the network {megabytes} MB take {it} {minutes} minutes {often}.",
    ),
    "be switched off": (
        "We have {a part} of our own {where} and would like to switch off {it} <with|by> a setting, say `use_{word} = false`.", "For {source} {it} does nothing useful but costs {seconds} seconds<| {where}| {often}>.", "A flag to leave out {it} would be welcome {where}.",
        "In {count} of our {tens} jobs {it} only gets in the way of {source}.", "Please let {name} run without {it} {where}, at least {since}.",
    ),
    "Flaky test": (
        "A test of {it} fails {often}: it expects an answer within {seconds} ms, which is too short {where}.", "The test of `{function}` depends on the order of files {where}.", "It failed {count} times in {days} days on {system}, that test of {it}.",
        "Rerunning the tests of {it} {tens} times gives {minutes} failures, always “{problem}”.", "The test passes {where} and fails with {source}, {often}.",
    ),
    "swallows errors": (
        "When `{function}` meets {a problem}, nothing is said and the result is short by {amount} rows.", "{it} should say “{problem}” instead of going on {where}.", "I only noticed the lost error because {amount} rows had become fewer, {since}.",
        "Errors vanish {often}: the log of {it} has not a line about them, even {where}.", "I lost {minutes} hours on an error that {it} kept to itself <with|over> {source}.",
    ),
    "Unicode names": (
        "A file called `größe-{megabytes}.csv` ends with “{problem}” in {it}, {since}.", "`{function}` counts bytes where it should count characters, and names with accents are cut after {tens} of them {where}.", "{it} refuses {amount} of our files because of their Czech names.",
        "Plain names work with {source}, accented ones end with “{problem}” {often}.", "The {team} team renamed {amount} files with umlauts for {it}<, {where}|>.",
    ),
    "dry run": (
        "Before {it} touches {source}, I would like to see a dry run {where}.", "A dry run should print {amount} lines and stop before `{function}` {often}.", "Last week I overwrote {amount} files, which a dry run of {it} would have told me in {seconds} seconds.",
        "The {team} team wants a dry run to review what {it} will do {where}.", "With `--dry-run`, {it} could list the {count} steps for {source}.",
    ),
    "loses its settings": (
        "The update to {version} put the settings of {it} back: `{constant}` was {value} before<| {where}| on {system}>.", "After the update, {it} forgot {count} settings {where}.", "`{constant} = {value}` was <the setting that hurt|lost first> {where}, after {days} days.",
        "We set `{constant}` to {value} {where}; each update brings the default back.", "Settings survive a restart on {system} but not an update, {often}.",
    ),
    "Show progress": (
        "With {source} {it} is silent for {minutes} minutes {where}.", "A line every {seconds} seconds would tell whether {it} is alive or hangs {where}.", "Nobody in the {team} team knows whether {it} works or hangs <with|on> {source}.",
        "A count as in “{count} of {amount}” would do for {it}, instead of silence {where}.", "Could `{function}` print a percentage {often}, say of {source}?",
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
        "This changes `{path}`, mostly around `{function}`<, for {source}| and {count} lines near it|, as the {team} team asked>.", "Only `{path}` is touched, {count} others call `{function}` {where}.", "It concerns {it}: {title} (`{path}`, {lines} lines).",
        "The change to `{path}` is <small|short|{lines} lines long>; `{function}` is where to begin reading, for {source}.", "I {title} in `{path}`, <{lines} lines of it|for the {team} team|{since}>.",
    ),
    "checked": (
        "{seconds} s before, {fewer} s after, with {source} {where}.", "Ran {it} {where} for {days} days, {since}.", "Memory of {it} stays below {megabytes} MB with {source}.", "{amount} files give {it} the same result as before, {where}.", "The {team} team tried {it} {where} for {days} days.",
    ),
    "tested": (
        "{count} new tests.", "The tests of {it} pass on {system}, {seconds} seconds in all.", "Tried by hand on {system}, with {source}.", "No new test: {count} old ones cover {it} {where}.", "{tens} tests of {it} pass {where}.",
    ),
    "why": (
        "Somebody from the {team} team stumbled over {it} {where}, {since}.", "{it} cost us {minutes} hours last month, with {source}.", "I came across {it} {since}, {where}.", "We talked about {it} {days} days ago; {count} people were for it, {where}.", "It began with {source} {where}.",
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
        "I can confirm this on {system}, {since}<, {often}| {where}>.", "Same {where}: {it} does it {often}, version {version}.", "Not here: {system}, version {version}, with {source}.", "Seen with {source}, too, {where}<, {often}|>.", "{tens} of {amount} runs {where} show it, {since}.",
        "The {team} team reported the same of {it} {days} days ago.", "Confirmed <with|for> {source} on {system}: {it}, {often}.", "{it} behaves like this {where} {often}, {old} did not.",
    ),
    "ask": (
        "@{author} What does `{name} check` say {where}, <with|about> {source}?", "@{author} Could you attach the last {lines} lines of the log of {it}<| {weekday}>?", "@{author} Does it also happen with {source} {where}?", "@{author} Which value has `{constant}` in your settings? I have {value} {where}, {since}.",
        "@{author} Was {it} better before {version} {where}?", "@{author} How many of your {amount} files touch {it}?", "@{author} Is that {where}, or only <with|for> {source}?",
    ),
    "workaround": (
        "As a workaround, set `{constant}` to {value}; that has helped {where}, {since}.", "Until this is fixed: `{constant} = {value}` makes {it} bearable for {source}.", "It goes away when `{constant}` is {value}<| {where}|, {since}|, for {source}>.", "Run {name} twice, {seconds} seconds apart: {it} recovers {where}.",
        "We feed {it} {source} in {count} parts, which avoids it {where}.", "Version {old} is a way round it {where}, {it} included.",
    ),
    "cause": (
        "I traced it to `{function}` in `{path}`: it stops with “{problem}” for {source}.", "The cause is `{function}` in `{path}`, about line {line}<| {since}| for {source}>.", "Found it: `{function}` in `{path}` is called {tens} times for {source}.",
        "`{function}` in `{path}` never expected {source}<|, as line {line} shows| {where}>.", "Since {version}, `{function}` in `{path}` <drops|forgets> {count} values of {source}.",
    ),
    "plan": (
        "We could do this in {next}, if somebody reviews `{path}` {weekday}.", "I would rather wait for {next}: {it} changes {lines} lines {weekday}.", "I can write it {weekday}; about {lines} lines in `{path}`, with {count} tests.", "Let us talk about {it} {weekday}, there are {count} similar issues {since}.",
        "{next} has room for {it} if {count} of us help {weekday}.", "Who takes {it}? The {team} team has {days} days before {next}.",
    ),
    "review": (
        "In `{path}`: `{function}` needs a remark about “{problem}” <near line {line}|for {source}>.", "Please add a test for {source}; otherwise {it} looks good {where}.", "I ran this branch on {system} {where}: fine, {fewer} seconds instead of {seconds}.", "Could the change to `{path}` be a commit of its own, {lines} lines as it is?",
        "Line {line} of `{path}` would be clearer with a name for {value}.", "How does `{function}` behave with {source}? I see {count} callers {where}.", "We should mention {it} in the notes for {next}, {source} included.", "Good {where}: {amount} files, {fewer} seconds, no “{problem}”.",
        "Is line {line} of `{path}` reached {where}? My {count} runs say no.",
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
