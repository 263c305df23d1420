"""Measures policies that ignore the task: the success of each of them on a test split.

    python benchmarks/shortcuts.py agentgym/Maze-v1
    python benchmarks/shortcuts.py agentgym/MiniWoB-v1 --tasks 250

A task measures a skill only if such policies stay far below the oracle. Every environment is played
with the generic policies of this file and with those of ``shortcut_policies/<family>.py``. The
table replaces the one in the README of the family, between the marks ``<!-- shortcuts ID -->`` and
``<!-- end -->``. ``results/shortcuts.csv`` also has the success by difficulty.
"""

import csv
import importlib
import inspect
import random
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import typer

from agentgym_envs import registry
from agentgym_envs.tasks import spread

Policy = Callable[[str, Mapping[str, Any], random.Random], str]
"""Returns an action from the observation, the info of the environment and a random generator."""

COLUMNS = 4
"""Largest number of columns; more difficulties are joined to ranges with similar task counts."""
UNIFORM = "uniform over listed actions"
SOME = 0.05
"""Smallest success of a policy in the table of a README."""
CSV = Path(__file__).parent / "results" / "shortcuts.csv"
OPEN_ENDED = 100
"""Turn limit for environments that are registered without one."""

GENERIC: dict[str, Policy] = {
    "no action (empty text)": lambda observation, info, rng: "",
    "copy of the observation": lambda observation, info, rng: observation,
}
LISTED: dict[str, Policy] = {
    "first listed action": lambda observation, info, rng: info["admissible_actions"][0],
    "last listed action": lambda observation, info, rng: info["admissible_actions"][-1],
    UNIFORM: lambda observation, info, rng: rng.choice(info["admissible_actions"]),
}


def family_of(env_id: str) -> tuple[str, Path]:
    """Returns the name of the folder that holds an environment, and its README."""
    plugin = registry.discover(registry.ENVIRONMENTS)[env_id]
    folder = Path(inspect.getfile(plugin.load())).parent
    while not (folder / "README.md").exists():
        folder = folder.parent
    return folder.name.removeprefix("agentgym_"), folder / "README.md"


def policies_of(env_id: str, family: str) -> dict[str, Policy]:
    """Returns ``POLICIES[id]`` of the family's file, or an empty dictionary without one."""
    path = Path(__file__).parent / "shortcut_policies" / f"{family}.py"
    if not path.exists():
        return {}
    policies: dict[str, dict[str, Policy]] = importlib.import_module(
        f"shortcut_policies.{family}"
    ).POLICIES
    return policies.get(env_id, {})


class Played(NamedTuple):
    """The end of an episode."""

    success: bool
    score: float


def play(env: Any, task_id: str, policy: Policy | None, seed: int) -> Played:
    """Plays one episode; the oracle plays if the policy is None."""
    observation, info = env.reset(seed=seed, options={"task_id": task_id})
    rng = random.Random(f"{task_id}:{seed}")
    limit = env.spec.max_episode_steps or OPEN_ENDED
    actions = islice(env.unwrapped.oracle(), limit) if policy is None else None
    for _ in range(limit):
        action = next(actions, None) if actions else policy(observation, info, rng)  # type: ignore[misc]
        if action is None:
            break
        observation, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            break
    return Played(info["success"], info["score"])


def columns(env: Any, task_ids: list[str]) -> dict[str, list[str]]:
    """Returns the tasks in at most ``COLUMNS`` ranges of neighbouring difficulties."""
    by_difficulty: dict[int, list[str]] = defaultdict(list)
    for task_id in task_ids:
        by_difficulty[env.unwrapped.task_set.difficulty(task_id)].append(task_id)
    if len(by_difficulty) <= COLUMNS:
        return {str(d): by_difficulty[d] for d in sorted(by_difficulty)}
    groups: list[list[int]] = [[] for _ in range(COLUMNS)]
    before = 0
    for difficulty in sorted(by_difficulty):
        groups[before * COLUMNS // len(task_ids)].append(difficulty)
        before += len(by_difficulty[difficulty])
    return {
        _range(group): [i for d in group for i in by_difficulty[d]] for group in groups if group
    }


def _range(difficulties: list[int]) -> str:
    low, high = difficulties[0], difficulties[-1]
    return str(low) if low == high else f"{low}–{high}"


def row(
    name: str, env: Any, policy: Policy | None, groups: dict[str, list[str]], plays: int
) -> list[str]:
    """Plays a policy; returns its name and its figures.

    These are the success over all tasks, the success in each group and the mean score.
    """
    played = [
        [play(env, i, policy, seed) for seed in range(plays) for i in ids]
        for ids in groups.values()
    ]
    everything = [episode for group in played for episode in group]
    shares = [sum(e.success for e in group) / len(group) for group in (everything, *played)]
    score = sum(e.score for e in everything) / len(everything)
    cells = [name, *(f"{share:.2f}" for share in shares), f"{score:.2f}"]
    typer.echo(" | ".join(cells), err=True)
    return cells


def table(env_id: str, tasks: int, plays: int, policies: dict[str, Policy]) -> list[list[str]]:
    """Plays every policy on the test split; returns the cells of the table, names first."""
    plain = registry.make(env_id, split="test")
    listing = registry.make(env_id, split="test", admissible=True)
    ids = list(plain.unwrapped.task_ids)
    ids = spread(ids, tasks) if tasks else ids
    if hasattr(plain.unwrapped, "prepare"):
        registry.make(env_id, split="test", tasks=ids).unwrapped.prepare(
            workers=2, on_item=lambda: None
        )
    groups = columns(plain, ids)
    try:
        rows = [row("oracle", plain, None, groups, 1)]
        rows += [
            row(name, plain, policy, groups, 1) for name, policy in {**GENERIC, **policies}.items()
        ]
        rows += [
            row(name, listing, p, groups, plays if name.startswith("uniform") else 1)
            for name, p in LISTED.items()
        ]
    finally:
        plain.close()
        listing.close()
    counts = ["tasks", str(len(ids)), *(str(len(g)) for g in groups.values()), ""]
    return [["policy", "success", *groups, "mean score"], *rows, counts]


def shown(cells: list[list[str]]) -> list[str]:
    """Returns the table of a README: policies that solve some tasks, over all difficulties."""
    rows = [[name, success, score] for name, success, *_, score in cells[1:]]
    always = ("oracle", UNIFORM, "tasks")
    solving = [line for line in rows if line[0] in always or float(line[1]) >= SOME]
    lines = ["| policy | success | mean score |", "|---|---|---|"]
    lines += [f"| {' | '.join(line)} |" for line in solving]
    if none := len(rows) - len(solving):
        lines += [
            "",
            f"{none} other policies solve less than {SOME} (`benchmarks/results/{CSV.name}`).",
        ]
    return lines


def keep(env_id: str, cells: list[list[str]]) -> None:
    """Replaces an environment's rows in the CSV file, which has all columns."""
    known = list(csv.reader(CSV.read_text(encoding="utf-8").splitlines())) if CSV.exists() else []
    others = [line for line in known if line[0] != env_id]
    with CSV.open("w", newline="", encoding="utf-8") as file:
        rows = [*others, *([env_id, *line] for line in cells)]
        csv.writer(file, lineterminator="\n").writerows(sorted(rows, key=lambda line: line[0]))


def replace(text: str, env_id: str, lines: list[str]) -> str:
    """Returns a README with a new table between the marks of an environment.

    Raises:
        typer.BadParameter: the README has no such marks.
    """
    mark = re.compile(rf"(<!-- shortcuts {re.escape(env_id)} -->\n).*?(\n<!-- end -->)", re.DOTALL)
    if not mark.search(text):
        raise typer.BadParameter(
            f"the README has no marks for {env_id}; add '<!-- shortcuts {env_id} -->' and '<!-- end"
            " -->'"
        )
    return mark.sub(lambda found: found[1] + "\n".join(lines) + found[2], text)


def main(env_id: str, tasks: int = 0, plays: int = 3, write: bool = True) -> None:
    """Measures one environment.

    Args:
        env_id: a registered id.
        tasks: number of test tasks, spread evenly over the split; 0 plays all.
        plays: episodes per task of the uniform policy; the other policies play one.
        write: replaces the table of the README.
    """
    family, readme = family_of(env_id)
    policies = policies_of(env_id, family)
    command = (
        f"python benchmarks/shortcuts.py {env_id}"
        + (f" --tasks {tasks}" if tasks else "")
        + (f" --plays {plays}" * (plays != 3))
    )
    cells = table(env_id, tasks, plays, policies)
    lines = [f"`{command}`", "", *shown(cells)]
    typer.echo("\n".join(lines))
    if write:
        keep(env_id, cells)
        readme.write_text(
            replace(readme.read_text(encoding="utf-8"), env_id, lines), encoding="utf-8"
        )


if __name__ == "__main__":
    typer.run(main)
