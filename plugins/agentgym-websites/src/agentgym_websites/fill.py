"""The functions that fill the sites' databases, and the list of packed databases."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence

from agentgym_websites.code.data import fill as fill_code
from agentgym_websites.forum.data import fill as fill_forum
from agentgym_websites.map.data import fill as fill_map
from agentgym_websites.shop.data import fill as fill_shop

FILL: Mapping[str, Callable[[sqlite3.Connection], None]] = {
    "shop": fill_shop,
    "forum": fill_forum,
    "code": fill_code,
    "map": fill_map,
}
"""The function that fills a database, by the name of its tables."""

# A file of the shop would be as large as the others, and its data is filled faster.
PACKED: Sequence[str] = ("forum", "code", "map")
"""The databases that are read from files of the package."""
