"""The page of `suite.py`: success in each family, cloned and trained, over seeds."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import runs
from compare_report import paired, signed

from agentgym_envs.evaluate.metrics import wilson

COMMON = "all"
"""Name of the policy that is trained on all families."""
Row = dict[str, Any]


def shown(cells: Sequence[str]) -> bool:
    """Returns whether the written page has a row: the means do, the single seeds do not."""
    return len(cells) > 5


def page(rows: Sequence[Row], command: str) -> str:
    """Returns the report.

    Args:
        rows: a row per policy, seed, model (cloned or trained) and family.
        command: the command that made them.
    """
    families = list(dict.fromkeys(row["family"] for row in rows))
    seeds = sorted({row["seed"] for row in rows})
    return f"""# One policy for five families

`{command}`

One policy learns LockedMaze, BabyAI, TextCraft, Search and Household. A separate policy learns one
family. It has the same layers, its own tokenizer, as many steps of copying as the common policy,
its family's share of the steps of cloning, and about as many tokens of reinforcement learning as
its family has in the common training. *Cloned* is a policy before reinforcement learning, and
*trained* after it.

Success on held-out tasks, the mean of {len(seeds)} seeds. A difference is paired by seed; ± is
half of its 95 % interval by Student's t distribution.

{runs.table(HEAD, [[family, *_means(rows, family)] for family in families])}

Each seed, with 95 % intervals over tasks (Wilson's), and the share of invalid actions:

{runs.table(["family", "policy", *(f"seed {seed}" for seed in seeds)], _seeds(rows, families))}
"""


HEAD = [
    *("family", "tasks", "cloned", "trained", "trained − cloned"),
    *("separate, cloned", "separate, trained"),
    *("common − separate, cloned", "common − separate, trained"),
    "tokens of reinforcement learning, common and separate",
]


def _success(rows: Sequence[Row], family: str, model: str, *, common: bool) -> list[float]:
    """Returns the success of one policy in a family, by seed."""
    own = _chosen(rows, family, model, common=common)
    return [row["success"] for row in own]


def _chosen(rows: Sequence[Row], family: str, model: str, *, common: bool) -> list[Row]:
    name = COMMON if common else family
    wanted = {"policy": name, "family": family, "model": model}
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    return sorted(found, key=lambda row: row["seed"])


def _means(rows: Sequence[Row], family: str) -> list[str]:
    cloned, trained, own_cloned, own_trained = (
        _success(rows, family, model, common=common)
        for common in (True, False)
        for model in ("cloned", "trained")
    )
    tokens = [
        fmean(row["training_tokens"] for row in _chosen(rows, family, "trained", common=common))
        for common in (True, False)
    ]
    return [
        str(_chosen(rows, family, "cloned", common=True)[0]["episodes"]),
        f"{fmean(cloned):.2f}",
        f"{fmean(trained):.2f}",
        _difference(trained, cloned),
        f"{fmean(own_cloned):.2f}",
        f"{fmean(own_trained):.2f}",
        _difference(cloned, own_cloned),
        _difference(trained, own_trained),
        ", ".join(f"{number:,.0f}" for number in tokens),
    ]


def _difference(a: list[float], b: list[float]) -> str:
    return signed(paired([x - y for x, y in zip(a, b, strict=True)]))


def _seeds(rows: Sequence[Row], families: Sequence[str]) -> list[list[str]]:
    return [
        [family, f"{kind}, {model}", *map(_cell, _chosen(rows, family, model, common=common))]
        for family in families
        for kind, common in (("common", True), ("separate", False))
        for model in ("cloned", "trained")
    ]


def _cell(row: Row) -> str:
    low, high = wilson(round(row["success"] * row["episodes"]), row["episodes"])
    return f"{row['success']:.2f} ({low:.2f}–{high:.2f}), {row['invalid']:.0%}"
