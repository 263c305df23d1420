"""Sphinx configuration of the documentation.

The pages that come from the code are made before each build.
"""

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

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
]
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


def setup(app: Any) -> None:
    """Makes the generated pages, and points the links of other pages to pages of the site."""
    import generate

    def relink(_: Any, name: str, content: list[str]) -> None:
        page = generate.DOCS / f"{name}.md"
        if not content[0].startswith(generate.HEAD):
            content[0] = generate.relinked(content[0], page, page)

    app.connect("builder-inited", lambda _: generate.main())
    app.connect("source-read", relink)
