"""The knowledge of the forum's people, and the layouts and rules of their posts and comments.

The texts are in the data files beside this module.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from agentgym_websites.grammar import Rules
from agentgym_websites.tables import tables


class Subject(NamedTuple):
    """Facts and opinions about a subject.

    Attributes:
        tips: what to do, in the imperative.
        troubles: what goes wrong, as sentences.
        measure: what people count: follows a number.
        low: the least of it.
        high: the most of it.
    """

    tips: tuple[str, ...]
    troubles: tuple[str, ...]
    measure: str
    low: int
    high: int


class Lore(NamedTuple):
    """Facts and opinions about a community.

    Attributes:
        doer: one of its people.
        shop: where they buy.
        gear: things, with their least and highest price.
        flairs: of its own.
        rules: of its own.
        subjects: by name.
    """

    doer: str
    shop: str
    gear: tuple[tuple[str, int, int], ...]
    flairs: tuple[str, str]
    rules: tuple[str, str]
    subjects: dict[str, Subject]


def _lore(subjects: dict[str, dict[str, Any]], **rest: Any) -> Lore:
    return Lore(**rest, subjects={name: Subject(**of) for name, of in subjects.items()})


LORE = {community: _lore(**of) for community, of in tables("forum/lore").items()}

_TOPICS_TABLES = tables("forum/topics")
COMMUNITIES: Mapping[str, tuple[Any, ...]] = _TOPICS_TABLES["communities"]
TITLES: tuple[tuple[str, ...], ...] = _TOPICS_TABLES["titles"]
"""The forms of a title, by kind of post."""

_PHRASES_TABLES = tables("forum/phrases")
SPOTS: tuple[str, ...] = _PHRASES_TABLES["spots"]
TOP: Mapping[str, tuple[str, ...]] = _PHRASES_TABLES["top"]
GROUPS: tuple[str, ...] = _PHRASES_TABLES["groups"]
REPLIES: Mapping[str, tuple[str, ...]] = _PHRASES_TABLES["replies"]
BIOS = (
    "{doer} in {town}. {n} {measure} and counting.", "From {town}. Mostly here for {x}.", "{weeks} weeks without a new {gear}. Proud of it.", "Tell me everything about {x}.",
    "{doer} by night, in {town}.", "I came for {x} and stayed for the people.", "My {gear} has a name.", "Slow and steady, in {town}: {x}.",
)  # fmt: skip
RULE_POOL = (
    "Be kind to beginners.", "One question for each post.", "Search before you ask.", "No advertising.", "Choose a flair for your post.", "Name your sources.",
    "No politics.", "Titles say what it is about.", "Write so that others can follow.", "Sell and buy elsewhere.",
)  # fmt: skip
FLAIRS: tuple[str, ...] = _PHRASES_TABLES["flairs"]
"""Of a post, by the number of its title."""
FEWER: tuple[str, ...] = _PHRASES_TABLES["fewer"]
"""Of these a person wants few, of all other figures many."""

_POSTS_TABLES = tables("forum/posts")
POST_RULES: Rules = _POSTS_TABLES["rules"]
POSTS: tuple[tuple[str, ...], ...] = _POSTS_TABLES["posts"]
"""Layouts of a post, by the number of its title's kind."""

_REPLIES_TABLES = tables("forum/replies")
REPLY_RULES: Rules = _REPLIES_TABLES["rules"]
COMMENTS: Mapping[str, tuple[str, ...]] = _REPLIES_TABLES["comments"]
"""Layouts of each kind."""
