"""Self-contained web pages: a template with one style, one script and a content security policy.

The policy allows no other style or script.
"""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from string import Template

STYLE = "style.css"
SCRIPTS = ("elements.js", "turns.js")
"""Shared by all pages; a page's own scripts come after them."""


def page(template: str, *, style: str, script: str, **more: str) -> str:
    """Returns a page with its style and script inlined, and a policy that allows only these two.

    Args:
        template: HTML with places for ``$policy``, ``$style`` and ``$script``.
        style: CSS.
        script: JavaScript.
        **more: more directives of the policy, such as ``connect_src="'self'"``.
    """
    rules = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style),
        "img-src": "data:",
    }
    rules |= {"base-uri": "'none'", "form-action": "'none'"} | {
        name.replace("_", "-"): source for name, source in more.items()
    }
    policy = "; ".join(f"{name} {source}" for name, source in rules.items())
    return Template(template).substitute(policy=policy, style=style, script=script)


def resource(name: str, package: str = "agentgym_envs.pages") -> str:
    """Returns the text of a file of a package; the default package holds the shared files."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
