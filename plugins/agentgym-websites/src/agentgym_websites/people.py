"""Invented names of people, towns and words for several sites; any likeness is a coincidence."""

import random

FIRST = [
    "Ada", "Alma", "Amir", "Anya", "Arlo", "Asha", "Basil", "Bea", "Boris", "Bruno", "Carla", "Cedric", "Chidi", "Clara", "Cora",
    "Dalia", "Damon", "Della", "Dmitri", "Edith", "Elio", "Elsa", "Emeka", "Enzo", "Esme", "Farah", "Felix", "Fiona", "Freya",
    "Gemma", "Gideon", "Greta", "Hamid", "Hana", "Hugo", "Ibrahim", "Ida", "Imani", "Ines", "Ivan", "Jana", "Jonas", "June",
    "Kaia", "Karim", "Kira", "Lars", "Leila", "Lena", "Leon", "Livia", "Luca", "Mabel", "Malik", "Mara", "Marta", "Mateo",
    "Mina", "Nadia", "Nils", "Noor", "Odette", "Omar", "Orla", "Otto", "Pablo", "Petra", "Priya", "Quinn", "Rafael", "Rania",
    "Remy", "Rosa", "Ruben", "Sadie", "Samir", "Selma", "Silas", "Simone", "Soren", "Stella", "Tara", "Theo", "Tilda", "Tomas",
    "Una", "Vera", "Viktor", "Wanda", "Willa", "Yara", "Yusuf", "Zora",
]  # fmt: skip
LAST = [
    "Abbott", "Adeyemi", "Alvarez", "Andersen", "Barlow", "Beckett", "Bianchi", "Bishop", "Calder", "Castellano", "Chaudhry",
    "Cole", "Costa", "Dahl", "Delgado", "Duarte", "Ekström", "Ellery", "Fairchild", "Ferrante", "Fisk", "Gallagher", "Grant",
    "Haddad", "Halvorsen", "Hargrove", "Hoang", "Ibarra", "Ingram", "Jensen", "Kaplan", "Keller", "Kimura", "Kowalski",
    "Laurent", "Lindqvist", "Lockwood", "Marchetti", "Mbeki", "Mercer", "Moreau", "Nakagawa", "Novak", "Okafor", "Ortega",
    "Osborne", "Palmer", "Park", "Petrov", "Quill", "Ramsay", "Reyes", "Rowan", "Sandoval", "Sato", "Schreiber", "Silva",
    "Sorensen", "Tanaka", "Thorne", "Ueda", "Vance", "Varga", "Vega", "Walsh", "Whitlock", "Winslow", "Yamada", "Zeller", "Zhou",
]  # fmt: skip
TOWNS = (
    ("Portland", "OR"), ("Duluth", "MN"), ("Savannah", "GA"), ("Boise", "ID"), ("Tucson", "AZ"), ("Madison", "WI"), ("Asheville", "NC"),
    ("Burlington", "VT"), ("Santa Fe", "NM"), ("Tacoma", "WA"), ("Omaha", "NE"), ("Ann Arbor", "MI"), ("Galveston", "TX"), ("Eugene", "OR"),
    ("Providence", "RI"), ("Boulder", "CO"),
)  # fmt: skip


def full_names(rng: random.Random, count: int) -> list[str]:
    """Returns different names of people."""
    names = [f"{first} {last}" for first in FIRST for last in LAST]
    return rng.sample(names, count)
