"""Names of people, written for this package."""

import random
from collections.abc import Iterator

_FIRST = (
    "Ada Bruno Carla Dario Elin Farid Greta Hugo Ines Jonas Kira Levi Mira Nils Olga Pavel Runa"
    " Sami Tilda Uma Viktor Wanda Yara Zeno Anouk Bela Cosmo Dina Emil Flora"
)
_LAST = (
    "Abel Berger Costa Dahl Ekman Fischer Grau Hansen Ivers Jansen Keller Lund Moor Nowak Okafor"
    " Petrov Quist Rossi Silva Tamm Ueda Vogel Weiss Young Zander Amsel Brandt Corti Duval Engel"
)


def names(rng: random.Random) -> Iterator[str]:
    """Yields 30 full names that share no part."""
    first, last = _FIRST.split(), _LAST.split()
    for one, other in zip(rng.sample(first, len(first)), rng.sample(last, len(last)), strict=True):
        yield f"{one} {other}"
