"""What people write about a project: issues, merge requests and comments, composed from what they are about."""

from agentgym_envs.envs.web.sites.grammar import Rules

SYSTEMS = (
    "Debian 12", "Debian 13", "Fedora 42", "Fedora 43", "Ubuntu 24.04", "Ubuntu 26.04", "Alpine 3.22", "Arch Linux", "macOS 15", "macOS 26", "Windows 11",
    "Windows Server 2025", "FreeBSD 14.2", "OpenBSD 7.8", "NixOS 25.11", "openSUSE Leap 16",
)  # fmt: skip
PLACES: Rules = {
    "where": (
        "on the build server", "on a laptop with {gigabytes} GB of memory", "in a container", "on a freshly installed machine", "on {count} machines of ours",
        "on the server that we share with the {team} team", "at home as well as at work", "in a virtual machine",
    ),
    "team": ("billing", "support", "data", "mobile", "research", "network", "teaching", "archive"),
    "since": (
        "since the update to {version}", "since I moved to {version}", "with {version}", "with a build of {version}", "after {days} days with {version}",
        "with the packaged {version}",
    ),
    "often": ("every time", "in {tens} of 100 runs", "about once in {count} runs", "only at night", "now and then", "whenever two of them run at once"),
    "source": (
        "an export of our {team} database", "the sample folder", "a folder with {amount} files", "{amount} rows from the {team} team", "a file of {megabytes} MB",
        "the data of last week",
    ),
    "thanks": (
        "Thank you for {name}, we use it daily.", "I can test a fix {weekday}.", "Tell me what else you need to know.", "I have kept the log of that run.",
        "It is not urgent for us.", "We have pinned the version before until this is settled.", "I am glad to try a branch.",
        "The {team} team waits for this, too.",
    ),
    "weekday": ("on Monday", "on Tuesday", "on Wednesday", "on Thursday", "next week", "tomorrow", "at the weekend"),
}  # fmt: skip
# What a report says, by the words of its title; "Environment" is what follows.
REPORTS: dict[str, tuple[str, ...]] = {
    "crashes on empty files": (
        "Given a file of 0 bytes, the {part} ends with “{problem}” {often}. I noticed it {where}, {since}.",
        "One of {amount} files was empty, and `{function}` stopped the whole run with “{problem}”. An empty file should simply count as nothing.",
        "`touch empty && {name} empty` is enough: the {part} crashes {often}, {since}.",
    ),
    "ignores the timeout": (
        "I set the timeout to {seconds} seconds, and the {part} still waited {minutes} minutes for {source}. This happens {often}.",
        "The {part} never looks at the timeout: with `--timeout {seconds}` it ran for {minutes} minutes {where}.",
        "With a timeout of {seconds} seconds I expect the {part} to give up. It took {minutes} minutes instead, {since}.",
    ),
    "Windows paths": (
        "The {part} takes `C:\\data\\{team}` for two parts because of the colon. Forward slashes work; backslashes end with “{problem}”.",
        "Of our {count} machines, {minutes} run Windows, and there the {part} says “{problem}” for every path with a drive letter.",
        "Could `{function}` accept backslashes? I rewrite {amount} paths by hand {where}.",
    ),
    "too much memory": (
        "With {source} the {part} takes {gigabytes} GB of memory; {seconds} MB would do. I measured it {where}, {since}.",
        "Memory grows by {seconds} MB an hour while the {part} runs, until the system ends it after {minutes} hours.",
        "`{function}` seems to keep everything: {gigabytes} GB for {source}, {often}.",
    ),
    "Document how to extend": (
        "I wanted to add a step after `{function}` and had to read {amount} lines of source first. A page about extending the {part} would have saved me {minutes} hours.",
        "The guide says how to use the {part}, but not how to extend it. An example in {lines} lines would be enough.",
        "Newcomers of the {team} team ask me {often} how to extend the {part}; I would rather send them a link.",
    ),
    "Wrong exit status": (
        "When the {part} fails with “{problem}”, the exit status is 0, so our script goes on. It should be {status}, as the guide says.",
        "`{name} run && echo fine` says *fine* although `{function}` failed, {often}. We expected status {status}.",
        "A failure of the {part} has to end with a status other than 0: {count} of our nightly jobs were green for {days} days by mistake.",
    ),
    "slow on network drives": (
        "On a local disk the {part} takes {seconds} seconds for {source}, on a network drive {minutes} minutes.",
        "The {part} opens every file {count} times, which nobody notices on a local disk. {where}, it costs {minutes} minutes a run.",
        "`{function}` waits for the network drive after each of {amount} files. Reading in batches would help.",
    ),
    "be switched off": (
        "We have a {part} of our own {where} and would like to switch this one off with a setting, say `use_{word} = false`.",
        "For {source} the {part} does nothing useful but costs {seconds} seconds. A flag to leave it out would be welcome.",
        "Please add a way to run {name} without the {part}: in {count} of our jobs it only gets in the way.",
    ),
    "Flaky test": (
        "A test of the {part} fails {often}: it expects an answer within {seconds} ms, which is too short {where}.",
        "The test of `{function}` depends on the order of files. It failed {count} times this month, {since}.",
        "Rerunning the tests of the {part} {count} times gives {minutes} failures, always “{problem}”.",
    ),
    "swallows errors": (
        "When `{function}` meets a {problem}, nothing is said and the result is short by {count} rows. I lost {minutes} hours on this.",
        "The {part} should say “{problem}” instead of going on. I only noticed because {amount} rows had become fewer, {since}.",
        "Errors vanish {often}: the log of the {part} has not a line about them, even with `--verbose`.",
    ),
    "Unicode names": (
        "A file called `größe-{seconds}.csv` ends with “{problem}”. Plain names work. I see it {where}, {since}.",
        "`{function}` counts bytes where it should count characters, so that names with accents are cut after {count} of them.",
        "The {part} refuses {amount} of our files because of their Czech names; it says “{problem}” {often}.",
    ),
    "dry run": (
        "Before the {part} touches {source}, I would like to see what it is about to do. `--dry-run` should print it and stop before `{function}`.",
        "Last week I overwrote {amount} files. A dry run of the {part} would have told me in {seconds} seconds.",
        "The {team} team wants to review what the {part} will do. A list of the steps, without doing any, is all that is needed.",
    ),
    "loses its settings": (
        "Every update puts the settings of the {part} back: `{constant}` was {value} before and had its default afterwards.",
        "After the update to {version}, the {part} forgot {count} settings. `{constant} = {value}` was the one that hurt.",
        "We set `{constant}` to {value} {where}; each update brings the default back, {often}.",
    ),
    "Show progress": (
        "With {source} the {part} is silent for {minutes} minutes. A line every {seconds} seconds would tell that it is alive.",
        "Nobody knows whether the {part} still works or hangs. A count as in “{count} of {amount}” would do.",
        "Could `{function}` print a percentage? {where}, a run takes {minutes} hours.",
    ),
}
ISSUE: Rules = {
    **PLACES,
    "issue": (
        "{report}\n\n### Environment\n\n- Version: {version}\n- System: {system}\n\n{thanks}",
        "{report}\n\n### Steps\n\n1. {step}\n2. Run `{name} {command}`.\n3. {look}\n\n### Environment\n\n- Version: {version}\n- System: {system}",
        "### What happens\n\n{report}\n\n### Environment\n\n- Version: {version}\n- System: {system}\n\n### More\n\n{thanks} {step}",
        "{report}\n\n```\n$ {name} {command}\n{path}:{line}: {problem}\n```\n\n### Environment\n\n- Version: {version}\n- System: {system}\n\n{thanks}",
    ),
    "step": (
        "Take {source}.", "Set `{constant}` to {value}.", "Start from the default settings, with {source}.", "Use {count} of them at once.",
    ),
    "command": ("run", "check", "run --verbose", "run --workers {count}", "check --all"),
    "look": ("Look at the last {lines} lines.", "Wait {minutes} minutes.", "Compare with version {version}.", "See what `{function}` says."),
}  # fmt: skip
MERGE: Rules = {
    **PLACES,
    "merge": (
        "{does}\n\n{closes}\n\n### Checked\n\n- {checked}\n- {tested}",
        "{closes} {does}\n\n{checked} {thanks}",
        "### Why\n\n{why}\n\n### What\n\n{does}\n\n{closes} {tested}",
    ),
    "does": (
        "This changes `{path}`, mostly around `{function}`.", "Only `{path}` is touched, nobody else calls `{function}`.", "It concerns the {part}: {title} (`{path}`).",
        "The change to `{path}` is small; `{function}` is where to begin reading.",
    ),
    "checked": (
        "{seconds} s before, {fewer} s after, with {source}.", "Ran it {where} for {days} days.", "Memory stays below {seconds} MB with {source}.",
        "{amount} files give the same result as before.",
    ),
    "tested": ("{count} new tests.", "The tests pass on {system}.", "Tried by hand on {system}.", "No new test: {count} old ones cover it."),
    "why": (
        "Somebody from the {team} team stumbled over it {where}.", "It cost us {minutes} hours last month.", "I came across it {since}.",
        "We talked about it at the last meeting; {count} people were for it.",
    ),
}  # fmt: skip
COMMENT: Rules = {
    **PLACES,
    "confirm": (
        "I can confirm this on {system}, {since}. It happens {often}.", "Same {where}: the {part} does it {often}, version {version} on {system}.",
        "Not here: {system}, version {version}, with {source}. What is different?", "Seen with {source}, too, {where}.",
    ),
    "ask": (
        "@{author} What does `{name} check` say {where}?", "@{author} Could you attach the last {lines} lines of the log of the {part}?",
        "@{author} Does it also happen with {source}?", "@{author} Which value has `{constant}` in your settings? I have {value}.",
        "@{author} Was it better before {version}?",
    ),
    "workaround": (
        "As a workaround, set `{constant}` to {value}; that has helped {where}.", "Until this is fixed: `{constant} = {value}` makes it bearable for {source}.",
        "It goes away when `{constant}` is {value}. I do not know why, but I have run it {days} days now.",
    ),
    "cause": (
        "I traced it to `{function}` in `{path}`: it stops with “{problem}” for {source}.", "The cause is `{function}` (`{path}`, about line {line}).",
        "Found it: `{function}` in `{path}` is called {count} times where once would do.",
    ),
    "plan": (
        "We could do this in {next}, if somebody reviews `{path}`.", "I would rather wait for {next}: the {part} changes a lot {weekday}.",
        "I can write it {weekday}; about {lines} lines in `{path}`.", "Let us talk about the {part} {weekday}, there are {count} similar issues.",
    ),
    "review": (
        "In `{path}`: `{function}` needs a remark about “{problem}”.", "Please add a test for {source}; otherwise this looks good to me.",
        "I ran this branch on {system} {where}: fine, {fewer} seconds instead of {seconds}.", "Could the change to `{path}` be a commit of its own?",
        "Line {line} of `{path}` would be clearer with a name for the number.", "How does `{function}` behave with {source}? I see {count} callers.",
        "Looks good to me. We should mention it in the notes for {next}.",
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
