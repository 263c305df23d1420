"""Speed and memory of the shop, beside the original's code.

    WEBSHOP_SOURCE=CHECKOUT python benchmarks/shop_speed.py

``CHECKOUT`` is a clone of princeton-nlp/WebShop. The packages are those of ``tox run -e shop``. The
original searches with our engine, and its tagger is replaced, so the table compares pages and
rewards only. Both play the same episodes. Writes ``benchmarks/results/shop.md``.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import environment_memory
import typer

ROOT = Path(__file__).parents[1]
EPISODES = 40


def main(repeats: int = 5) -> None:
    """Measures and writes the page."""
    sys.path.insert(0, str(ROOT / "tests/support"))
    from webshop_original import Original

    from agentgym_envs import registry
    from agentgym_envs.envs.shop.catalogue import embedded

    made = timed(lambda _: embedded(), None)
    indexed = timed(lambda query: embedded().search(query, 1), "lamp")
    env: Any = registry.make("agentgym/Shop-v0", split="test").unwrapped
    with tempfile.TemporaryDirectory() as folder:
        original: Any = Original(embedded(), embedded().goals[:EPISODES], Path(folder))
    episodes = [list(plan(env, number)) for number in range(EPISODES)]
    here, there = [], []
    for _ in range(repeats):
        here.append(rates(lambda number: begin(env, number), env.step, episodes))
        there.append(rates(original.reset, original.step, episodes))
    write(made, indexed, here, there)


def begin(env: Any, number: int) -> None:
    """Resets to the goal with a number."""
    env.reset(options={"task_id": env.task_ids[number]})


def plan(env: Any, number: int) -> Iterator[str]:
    """Yields the oracle's actions, and before the purchase every page of the product."""
    begin(env, number)
    for action in env.oracle():
        if action == "click[buy now]":
            for name in ("description", "features", "reviews"):
                yield from (f"click[{name}]", "click[< prev]")
        env.step(action)
        yield action


def rates(
    reset: Callable[[int], Any], step: Callable[[str], Any], episodes: list[list[str]]
) -> dict[str, float]:
    """Returns the median CPU microseconds per call of each kind."""
    spent: dict[str, list[float]] = {"reset": [], "search": [], "click": [], "buy": []}
    for number, actions in enumerate(episodes):
        spent["reset"].append(timed(reset, number))
        for action in actions:
            kind = "buy" if "buy now" in action else action.partition("[")[0]
            spent[kind].append(timed(step, action))
    return {name: 1e6 * median(values) for name, values in spent.items()}


def timed(call: Callable[[Any], Any], argument: Any) -> float:
    """Returns the CPU seconds of a call."""
    start = time.process_time()
    call(argument)
    return time.process_time() - start


def write(
    made: float, indexed: float, here: list[dict[str, float]], there: list[dict[str, float]]
) -> None:
    """Writes the results of all repeats."""
    lines = [
        "# The shop: speed and memory",
        "",
        f"`python benchmarks/shop_speed.py --repeats {len(here)}`, one process, beside WebShop's"
        " code with our search engine and without its tagger. Times are CPU times.",
        "",
        "| call | here, µs, median (lowest–highest) | WebShop, µs | ratio |",
        "|---|---|---|---|",
    ]
    for name in here[0]:
        ours, theirs = ([repeat[name] for repeat in repeats] for repeats in (here, there))
        ratio = median(theirs) / median(ours)
        lines.append(f"| {name} | {spread(ours)} | {spread(theirs)} | {ratio:.0f} |")
    lines += [
        "",
        f"The first episode of a process makes the catalogue in {made:.2f} s of CPU time, and the"
        f" first search indexes it in {indexed:.2f} s.",
        "",
        *environment_memory.table("agentgym/Shop-v0"),
    ]
    target = ROOT / "benchmarks/results/shop.md"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def spread(values: list[float]) -> str:
    """Returns the median with the range."""
    return f"{median(values):,.0f} ({min(values):,.0f}–{max(values):,.0f})"


if __name__ == "__main__":
    typer.run(main)
