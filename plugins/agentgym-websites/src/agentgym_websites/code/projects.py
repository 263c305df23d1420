"""The projects of the code host, the topics of their work, their READMEs and guides."""

import random
from collections.abc import Mapping, Sequence

from agentgym_websites.grammar import Rules, compose
from agentgym_websites.tables import tables

# The signed-in person and the projects that this person owns.
ME, MINE = (
    1,
    ("tidepool", "inkwell", "glasswing", "osprey"),
)
_PROJECTS_TABLES = tables("code/projects")
PROJECTS: tuple[tuple[str, ...], ...] = _PROJECTS_TABLES["projects"]
PARTS: tuple[str, ...] = _PROJECTS_TABLES["parts"]
COMMITS = (
    "Fix off-by-one error in the {p}", "Make the {p} faster for large inputs", "Remove dead code from the {p}", "Document the {p}", "Add tests for the {p}",
    "Rename variables in the {p}", "Handle empty input in the {p}", "Cache results in the {p}", "Report errors of the {p} with context", "Split the {p} into modules",
)  # fmt: skip
ISSUES: tuple[str, ...] = _PROJECTS_TABLES["issues"]
LABELS: tuple[tuple[str, ...], ...] = _PROJECTS_TABLES["labels"]
# Labels in addition to the one that an issue's title demands.
FURTHER = ("good first issue", "security")
ROLES = ("Guest", "Reporter", "Developer", "Maintainer", "Owner")

_PAPERS_TABLES = tables("code/papers")
USES: Mapping[str, str] = _PAPERS_TABLES["uses"]
GUIDE: Rules = _PAPERS_TABLES["guide"]


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
