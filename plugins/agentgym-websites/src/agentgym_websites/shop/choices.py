"""A customer's choice of a product's options, stored as text: ``Size: Large, Color: Navy``."""

import sqlite3

from agentgym_websites.site import field, rows

EXTRA = """
(SELECT coalesce(sum(extra), 0) FROM options o WHERE o.product_id = l.product_id
 AND instr(', ' || l.options || ',', ', ' || o.name || ': ' || o.value || ','))
"""
"""SQL: the sum that the options of a line ``l`` add to its product's price."""


def choices(product: int) -> dict[str, list[sqlite3.Row]]:
    """Returns the values of each option, in the catalogue's order."""
    found: dict[str, list[sqlite3.Row]] = {}
    for value in rows("SELECT * FROM options WHERE product_id = ? ORDER BY id", product):
        found.setdefault(value["name"], []).append(value)
    return found


def chosen(product: int) -> tuple[str, list[str]]:
    """Reads a form.

    Returns:
        The choice as text, and the options without a valid choice.
    """
    texts, missing = list[str](), list[str]()
    for name, values in choices(product).items():
        preset = next((v["value"] for v in values if v["chosen"]), "")
        wanted = field(f"option {name}") or preset
        if wanted in [v["value"] for v in values]:
            texts.append(f"{name}: {wanted}")
        else:
            missing.append(name)
    return ", ".join(texts), missing
