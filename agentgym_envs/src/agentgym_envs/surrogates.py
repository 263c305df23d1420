"""Halves of surrogate pairs: JSON can hold them, but UTF-8 cannot, so most software fails at them.

A model that is cut inside a character, or that spells an escape wrongly, writes them.
"""

import json
from typing import Any


def whole(text: str) -> str:
    r"""Returns a text with a question mark for each half of a pair; both halves stay a character.

    >>> whole("half \ud83d, both \ud83d\ude00")
    'half ?, both 😀'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return joined.encode("utf-8", "replace").decode()
    return text


def whole_json(data: Any) -> Any:
    """Returns JSON data whose texts and keys are :func:`whole`; other data is returned as it is."""
    text = json.dumps(data, ensure_ascii=False)
    clean = whole(text)
    return data if clean is text else json.loads(clean)
