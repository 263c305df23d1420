"""The public names under which WebArena shows its sites to an agent."""

import re
from collections.abc import Mapping
from types import MappingProxyType

PUBLIC: Mapping[str, str] = MappingProxyType(
    {
        "SHOPPING": "http://onestopmarket.com",
        "SHOPPING_ADMIN": "http://luma.com/admin",
        "REDDIT": "http://reddit.com",
        "GITLAB": "http://gitlab.com",
        "MAP": "http://openstreetmap.org",
        "WIKIPEDIA": "http://wikipedia.org",
        "HOMEPAGE": "http://homepage.com",
    }
)
"""The names in WebArena's prompts, by the environment variables with the real addresses."""


def to_public(text: str, urls: Mapping[str, str]) -> str:
    """Replaces the sites' real addresses by their public names."""
    return _replaced(text, {url: PUBLIC[name] for name, url in urls.items()})


def to_local(text: str, urls: Mapping[str, str]) -> str:
    """Replaces the public names, with http or https, by the sites' real addresses."""
    names = {PUBLIC[name]: url for name, url in urls.items()}
    return _replaced(
        text, names | {public.replace("http:", "https:"): url for public, url in names.items()}
    )


def _replaced(text: str, table: Mapping[str, str]) -> str:
    """Replaces whole addresses, the longest first: an address can be the beginning of another."""
    if not table:
        return text
    either = "|".join(re.escape(address) for address in sorted(table, key=len, reverse=True))
    return re.sub(rf"(?:{either})(?![\w:-]|\.\w)", lambda match: table[match.group()], text)
