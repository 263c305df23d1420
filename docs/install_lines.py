"""Writes the line of each page that installs a plugin by its name, which is not published yet.

    python docs/install_lines.py

The line stands below the title and installs the page's plugins from a clone. Once the packages are
published, set ``PUBLISHED`` and run this: the lines go away.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PUBLISHED = False
ROOT = Path(__file__).resolve().parents[1]
MARK = "> **Not on PyPI yet.** "


def pages() -> Iterator[Path]:
    """Yields the pages that can have the line."""
    yield from sorted((ROOT / "docs/guides").glob("*.md"))
    yield from sorted((ROOT / "plugins").glob("*/README.md"))


def with_line(text: str) -> str:
    """Returns a page with the line that it needs, or without the line."""
    text = re.sub(rf"^{re.escape(MARK)}.*\n\n", "", text, flags=re.MULTILINE)
    names = dict.fromkeys(re.findall(r"pip install (agentgym-[a-z]+)$", text, re.MULTILINE))
    if PUBLISHED or not names:
        return text
    title, _, rest = text.partition("\n\n")
    commands = [
        f"`python -m pip install {' '.join(f'-e ./{f}' for f in folders_of(n))}`" for n in names
    ]
    line = f"{MARK}Install from a clone: {', or '.join(commands)}."
    return f"{title}\n\n{line}\n\n{rest}"


def folders_of(name: str) -> Iterator[str]:
    """Yields the folders of the packages of ours that a plugin needs, and its own."""
    project = tomllib.loads((ROOT / "plugins" / name / "pyproject.toml").read_text())["project"]
    for requirement in project["dependencies"]:
        if needed := re.match(r"agentgym-(envs|train)\b", requirement):
            yield f"agentgym_{needed[1]}"
    yield f"plugins/{name}"


def main() -> None:
    """Writes the pages."""
    for page in pages():
        page.write_text(with_line(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
