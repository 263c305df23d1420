"""Derives ``facts.json`` from the facts of the ``alfworld`` package.

``alfworld`` is by Mohit Shridhar and others (MIT).

    python -m pip install --no-deps alfworld==0.4.2
    python -m agentgym_envs.envs.household.derive PACKAGE facts.json

PACKAGE is the folder ``alfworld`` of the installed package.
"""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

PROVENANCE = {
    "source": "https://github.com/alfworld/alfworld, gen/constants.py and gen/layouts, PyPI 0.4.2",
    "licence": "MIT; tables and layouts as facts",
    "command": "python -m agentgym_envs.envs.household.derive",
}
BURNERS = 4
"""Stove burners of a kitchen. The layouts do not have their places."""
AFFORDANCES = ("Heatable", "Coolable", "Cleanable", "Sliceable")


def whole(names: Any) -> list[str]:
    """Returns the names without slices, which no action makes."""
    return sorted(name for name in names if not name.endswith("Sliced"))


def receptacle_type(key: str) -> str:
    """Returns the type of a receptacle of the layouts, such as ``Cabinet|+00.68|+00.50|-02.20``."""
    name = key.partition("|")[0]
    return f"{name}Basin" if name in ("Sink", "Bathtub") else name


def receptacles(points: dict[str, list[float]], seen: set[str], known: set[str]) -> list[str]:
    """Returns the receptacles of a floor plan, each with the number of its place.

    The order is the engine's: that of the ids in lower case, with words for their signs.

    Args:
        points: the layout's receptacles, each with the point in front of it.
        seen: the types of the floor plan.
        known: the types that hold objects and stay where they are.
    """
    places: dict[tuple[float, ...], int] = {}
    found = []
    for key in sorted(points, key=_engine_id):
        if receptacle_type(key) in known:
            place = places.setdefault(tuple(points[key]), len(places))
            found.append(f"{receptacle_type(key)}:{place}")
    placed = {one.partition(":")[0] for one in found}
    for name in sorted((seen & known) - placed):
        for _ in range(BURNERS if name == "StoveBurner" else 1):
            found.append(f"{name}:{len(places)}")
            places[(float(len(places)),)] = len(places)
    return found


def _engine_id(key: str) -> str:
    for sign, word in (("-", "_minus_"), ("|", "_bar_"), ("+", "_plus_"), (".", "_dot_")):
        key = key.replace(sign, word)
    return key.lower()


def main(package: str, target: str) -> None:
    """Reads the package and writes the data file."""
    root = Path(package)
    constants = runpy.run_path(str(root / "gen/constants.py"))
    movable = set(constants["MOVABLE_RECEPTACLES"])
    holds = {
        name: whole(objects)
        for name, objects in sorted(constants["VAL_RECEPTACLE_OBJECTS"].items())
        if name not in movable and whole(objects)
    }
    carried = {name for objects in holds.values() for name in objects} | {"DeskLamp"}
    rooms = []
    for path in sorted(root.glob("gen/layouts/*-objects.json"), key=_number):
        seen = set(json.loads(path.read_text()))
        points = json.loads(path.with_name(f"FloorPlan{_number(path)}-openable.json").read_text())
        rooms.append(
            [
                _number(path),
                " ".join(receptacles(points, seen, set(holds))),
                " ".join(sorted(seen & carried)),
            ]
        )
    actions = constants["VAL_ACTION_OBJECTS"]
    table = {
        "provenance": PROVENANCE,
        "openable": sorted(set(constants["OPENABLE_CLASS_LIST"]) - movable),
        "movable": sorted(movable),
        **{name.lower(): whole(actions[name]) for name in AFFORDANCES},
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in table.items()]
    lines.append(f'"holds": {_rows(f"{json.dumps(n)}: {json.dumps(o)}" for n, o in holds.items())}')
    text = ",\n".join(lines) + ',\n"rooms": [\n' + ",\n".join(map(json.dumps, rooms)) + "\n]"
    Path(target).write_text(f"{{{text}}}\n", encoding="utf-8")


def _rows(rows: Any) -> str:
    return "{\n" + ",\n".join(rows) + "\n}"


def _number(path: Path) -> int:
    return int(path.name.removeprefix("FloorPlan").partition("-")[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
