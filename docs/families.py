"""The pages of the families of environments, and their index.

A family's page is the ``README.md`` of its folder, which begins with an episode. The index has the
columns of the table in the README of the repository.
"""

import re
from collections.abc import Callable
from pathlib import Path

import speed

from agentgym_envs.describe import description
from agentgym_envs.plugins import ENVIRONMENTS, discover

ROOT = Path(__file__).parents[1]
GROUPS = {
    "Mazes, crafting and grids": ("maze", "textcraft", "babyai"),
    "Houses, laboratories and adventures": ("household", "scienceworld", "textworld"),
    "Search, shopping and services": ("search", "shop", "tools"),
    "Web pages": ("web", "websites"),
    "Games of several seats": ("connect4", "twenty_questions", "negotiation", "debate"),
    "For special purposes": ("two_attempts", "lmrl"),
}
"""The families of each section of the index."""
PREFIX = "agentgym/"
INTRODUCTION = f"""\
All ids begin with `{PREFIX}`. The page of a family begins with an episode. The last column names \
the extra of `agentgym-envs` that an environment needs."""


def own_environments() -> dict[str, list[str]]:
    """Returns the ids of our environments by family, sorted by family."""
    families: dict[str, list[str]] = {}
    for env_id, plugin in discover(ENVIRONMENTS).items():
        if found := re.match(r"agentgym_envs\.envs\.(\w+)|agentgym_(websites)\b", plugin.target):
            families.setdefault(found[1] or found[2], []).append(env_id)
    return dict(sorted(families.items()))


def readme_of(family: str) -> Path:
    """Returns the ``README.md`` of a family."""
    if family == "websites":
        return ROOT / "plugins/agentgym-websites/src/agentgym_websites/README.md"
    return ROOT / "agentgym_envs/src/agentgym_envs/envs" / family / "README.md"


def page(family: str, readme: str) -> str:
    """Returns the page of a family.

    Args:
        family: the family.
        readme: its ``README.md``, with links and pictures for the site.
    """
    facts = "\n".join(demoted(description(env_id), 1) for env_id in own_environments()[family])
    return f"{readme}\n{speed.speed(family)}\n{facts}"


def demoted(text: str, levels: int) -> str:
    """Returns Markdown with its headings some levels lower."""
    fenced, lines = False, []
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        lines.append("#" * levels + line if line.startswith("#") and not fenced else line)
    return "\n".join(lines) + "\n"


def index(relinked: Callable[[str], str]) -> str:
    """Returns the index: a section for each group, with a row for each environment.

    Args:
        relinked: changes the links of the repository's README for the index.

    Raises:
        ValueError: an environment is missing in the README, or a row's family has no group.
    """
    head, rows, notes = readme_table()
    family_of = {env_id: f for f, members in own_environments().items() for env_id in members}
    parts = ["# Environments", INTRODUCTION, relinked(notes)]
    shown = set()
    for title, members in GROUPS.items():
        own = [env_id for f in members for env_id in rows if family_of[env_id] == f]
        links = {i: f"[`{i.removeprefix(PREFIX)}`]({family_of[i]}.md)" for i in own}
        table = [relinked(rows[i]).replace(f"`{i}`", links[i]) for i in own]
        parts += [f"## {title}", "\n".join([*head, *table])]
        shown.update(own)
    if missing := sorted(family_of.keys() - shown):
        raise ValueError(f"no row in the README, or no group in docs/families.py: {missing}")
    names = "\n".join(family for members in GROUPS.values() for family in members)
    return "\n\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"])


def readme_table() -> tuple[list[str], dict[str, str], str]:
    """Returns the head, the row of each id and the notes of the table in the main README."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Environments\n")[2]
    table, notes = section.strip().split("\n\n")[:2]
    head, line, *rows = table.splitlines()
    return [head, line], {row.split("`")[1]: row for row in rows}, notes
