"""Comparison of names: without accents, case and punctuation, and with synonyms."""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping

_SIGNS = re.compile(r"['’`.\"]")  # punctuation within a word
_WORD = re.compile(r"[a-z0-9]+")

COUNTRIES = {
    **dict.fromkeys(("USA", "US", "United States of America", "America"), "United States"),
    **dict.fromkeys(("UK", "Great Britain", "Britain"), "United Kingdom"),
    **dict.fromkeys(
        ("DRC", "DR Congo", "Congo-Kinshasa", "Democratic Republic of Congo"),
        "Democratic Republic of the Congo",
    ),
    **dict.fromkeys(
        ("Congo-Brazzaville", "Congo Republic", "Republic of Congo"), "Republic of the Congo"
    ),
    **dict.fromkeys(("Vatican City", "Holy See", "Vatican City State"), "Vatican"),
    **dict.fromkeys(
        ("Palestine", "State of Palestine", "Palestinian Territories"), "Palestinian Territory"
    ),
    **dict.fromkeys(("PRC", "People's Republic of China"), "China"),
    **dict.fromkeys(("DPRK", "Democratic People's Republic of Korea"), "North Korea"),
    **dict.fromkeys(("Keeling Islands", "Cocos (Keeling) Islands"), "Cocos Islands"),
    **{
        "UAE": "United Arab Emirates",
        "Czech Republic": "Czechia",
        "Burma": "Myanmar",
        "Swaziland": "Eswatini",
    },
    **{
        "Macedonia": "North Macedonia",
        "Cote d'Ivoire": "Ivory Coast",
        "Cape Verde": "Cabo Verde",
        "East Timor": "Timor Leste",
    },
    **{
        "Holland": "Netherlands",
        "Republic of Korea": "South Korea",
        "Turkiye": "Turkey",
        "Russian Federation": "Russia",
    },
    **{
        "Viet Nam": "Vietnam",
        "Brunei Darussalam": "Brunei",
        "Macau": "Macao",
        "Federated States of Micronesia": "Micronesia",
    },
    **{
        "Lao People's Democratic Republic": "Laos",
        "Syrian Arab Republic": "Syria",
        "Falklands": "Falkland Islands",
    },
    **{
        "Pitcairn Islands": "Pitcairn",
        "Bosnia": "Bosnia and Herzegovina",
        "Bosnia-Herzegovina": "Bosnia and Herzegovina",
    },
    **{
        "Trinidad": "Trinidad and Tobago",
        "Antigua": "Antigua and Barbuda",
        "Sao Tome": "Sao Tome and Principe",
    },
    **{
        "PNG": "Papua New Guinea",
        "Republic of Ireland": "Ireland",
        "The Gambia": "Gambia",
        "The Bahamas": "Bahamas",
    },
}
CAPITALS = {
    **dict.fromkeys(("Washington, D.C.", "Washington DC"), "Washington"),
    **{
        "Kiev": "Kyiv",
        "Astana": "Nur-Sultan",
        "Naypyidaw": "Nay Pyi Taw",
        "Laayoune": "El-Aaiun",
        "Ngerulmud": "Melekeok",
    },
    **{
        "Ulan Bator": "Ulaanbaatar",
        "Luxembourg City": "Luxembourg",
        "Guatemala": "Guatemala City",
        "Kuwait": "Kuwait City",
    },
}
CURRENCIES = {
    **{
        "Yuan": "Yuan Renminbi",
        "Renminbi": "Yuan Renminbi",
        "Rouble": "Ruble",
        "Riyal": "Rial",
        "Riel": "Riels",
    },
    **{"Bolivar": "Bolivar Soberano", "Sheqel": "Shekel"},
}
ELEMENTS = {
    "Aluminium": "Aluminum",
    "Caesium": "Cesium",
    "Sulphur": "Sulfur",
    "Wolfram": "Tungsten",
}
BLOCKS = {f"{letter}-block": letter for letter in "spdf"}
ATTRIBUTES = {"neighbor": "neighbour", "neighbors": "neighbours", "atomic number": "number"}


def folded(text: str) -> str:
    """Returns a text in lower case and without accents.

    >>> folded("Côte d'Ivoire")
    "cote d'ivoire"
    """
    return "".join(
        c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)
    ).casefold()


def key(name: str) -> str:
    """Returns the same text for all spellings of a name.

    >>> key("the U.S. & Saint Helena")
    'us and st helena'
    """
    found = _WORD.findall(_SIGNS.sub("", folded(name).replace("&", " and ")))
    parts = found[1:] if found[:1] == ["the"] else found
    return " ".join("st" if part == "saint" else part for part in parts)


def index(names: Iterable[str], synonyms: Mapping[str, str]) -> dict[str, str]:
    """Returns the names by their keys, and by the keys of their synonyms.

    Args:
        names: The names.
        synonyms: Names by their synonyms.
    """
    known = {key(name): name for name in names}
    return {key(synonym): name for synonym, name in synonyms.items()} | known


def similar(name: str, known: Mapping[str, str]) -> list[str]:
    """Returns up to three names of an :func:`index` that are similar to a name."""
    near = difflib.get_close_matches(key(name)[:60], known, n=3, cutoff=0.75)
    return list(dict.fromkeys(known[found] for found in near))
