"""A project's documents: README, change log, guide, settings."""

import random
from collections.abc import Sequence

from agentgym_websites.grammar import Rules, compose

USES = {
    "Python": "pip install {name}\n{name} --help",
    "Go": "go install ./cmd/{name}\n{name} -help",
    "Rust": "cargo install --path .\n{name} --help",
    "TypeScript": "npm install {name}\nnpx {name} --help",
    "Java": "mvn package\njava -jar target/{name}.jar --help",
    "C": "make install\n{name} --help",
}
GUIDE: Rules = {
    "start": (
        "This guide shows how to get from an empty folder to a first result with {name} in {minutes} minutes.",
        "You need nothing but {name} and about {minutes} minutes to follow this guide.",
        "{name} does one thing: {what}. This guide shows how, in {minutes} minutes.",
    ),
    "first": (
        "Run `{name} init` in an empty folder. It writes `{name}.toml`, which holds every setting with its default.",
        "Begin with `{name} init`; look at `{name}.toml` afterwards, where each setting is explained.",
    ),
    "second": (
        "Then run `{name} check`. It reads the settings and says what it does not understand, without changing anything.",
        "`{name} check` tells you within a second whether the settings make sense.",
    ),
    "help": (
        "When something goes wrong, run it again with `--verbose` and open an issue with what it says.",
        "If you are stuck, open an issue; the output of `{name} --version` helps us to help you.",
    ),
}


def readme(
    name: str, description: str, language: str, version: str, port: int, licence: str
) -> str:
    """Writes the README of a release."""
    upper = name.upper()
    return (
        f"# {name}\n\n{description}. Written in {language}.\n\n## Install\n\n"
        f"Download version {version}, or build it from source with `make`.\n\n```\n{USES[language].format(name=name)}\n```\n\n"
        f"## Settings\n\nThe default port is {port}. Set `{upper}_HOME` to change the data folder.\n\n"
        f"| Variable | Meaning |\n| --- | --- |\n| `{upper}_HOME` | the data folder |\n| `{upper}_LOG` | what is logged: *error*, *info* or *debug* |\n\n"
        "## Contributing\n\n1. Open an issue first, so that nobody works in vain.\n2. Add a test to `tests/`.\n"
        "3. Open a merge request; **two** of us read it.\n\nSee [the guide](docs/guide.md) for more.\n\n"
        f"## License\n\n{licence}\n"
    )


def changes(releases: Sequence[tuple[str, Sequence[str]]], news: Sequence[str]) -> str:
    """Writes the change log: the releases with their changes, newest first."""
    sections = [*([("Unreleased", news)] if news else []), *releases]
    return "# Changes\n" + "".join(
        f"\n## {name}\n\n" + "".join(f"- {item}\n" for item in items) for name, items in sections
    )


def defaults(rng: random.Random, port: int) -> str:
    """Writes the default settings."""
    return f'port = {port}\nlog = "{rng.choice(("error", "info", "debug"))}"\nkeep_days = {rng.choice((7, 14, 30, 60, 90))}\n'


def guide(rng: random.Random, name: str, description: str) -> str:
    """Writes the guide."""
    what = description[0].lower() + description[1:]
    paragraphs = [
        compose(rng, GUIDE, f"{{{r}}}", name=name, what=what, minutes=rng.randint(4, 25))
        for r in GUIDE
    ]
    return f"# Guide to {name}\n\n" + "\n\n".join(paragraphs) + "\n\n## Functions\n"


def first_readme(name: str, description: str) -> str:
    """Writes the README that a new project can start with."""
    return f"# {name}\n\n{description}\n"
