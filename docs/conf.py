"""Sphinx configuration of the documentation.

The pages that come from the code are made before each build.
"""

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from docutils import nodes

sys.path.insert(0, str(Path(__file__).parent))

project = "AgentGym"
author = "The AgentGym authors"
copyright = f"2026, {author}"
release = metadata.version("agentgym-envs")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
]
copybutton_selector = "div:not(.highlight-text) > div.highlight pre"  # none at episodes
exclude_patterns = ["_build"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # docstrings name errors and types by their short names

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures stay readable; the docstrings name units and shapes

html_theme = "furo"
pygments_dark_style = "monokai"  # the default underlines the names of imported modules
html_title = "AgentGym"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}


def name_cells(_: Any, document: nodes.document) -> None:
    """Marks tables of prose, and puts the column's name into each of their cells.

    On a phone the style sheet stacks the cells of their rows and shows these names.
    """
    for table in document.findall(nodes.table):
        head, *body = ([*row.findall(nodes.entry)] for row in table.findall(nodes.row))
        texts = [[cell.astext() for cell in column] for column in zip(*body, strict=True)]
        if not is_prose(texts):
            continue
        table["classes"].append("stacked")
        for title, column, cells in zip(head, texts, zip(*body, strict=True), strict=True):
            for cell in cells:
                if max(map(len, column)) < SHORT:
                    cell["classes"].append("short")
                if not cell.astext():
                    cell["classes"].append("blank")
                elif title is not head[0]:
                    name = nodes.inline("", f"{title.astext()}: ", classes=["column"])
                    cell.children[0].insert(0, name)


PROSE, SHORT = 40, 25
"""Characters of a cell: a table with a cell of prose is stacked; short cells share a line."""


def is_prose(texts: list[list[str]]) -> bool:
    """Returns whether a table with these columns has texts too wide for a phone."""
    words = [word for text in next(iter(texts), []) for word in text.split()]
    sentences = len(texts) > 2 and any(len(text) >= PROSE for column in texts for text in column)
    return len(texts) < 7 and (sentences or max(map(len, words), default=0) > SHORT)


def setup(app: Any) -> None:
    """Makes the generated pages, and points the links of other pages to pages of the site."""
    import generate

    def relink(_: Any, name: str, content: list[str]) -> None:
        page = generate.DOCS / f"{name}.md"
        if not content[0].startswith(generate.HEAD):
            content[0] = generate.relinked(content[0], page, page)

    app.connect("builder-inited", lambda _: generate.main())
    app.connect("source-read", relink)
    app.connect("doctree-read", name_cells)
