"""Time of a collection under a virtual clock, with the real collector and the real ``hf`` session.

    python benchmarks/rollout_schedule.py

The clock is virtual: a call of the model takes ``CALL`` seconds for any number of rows, and each
environment has its own core. Nothing else takes time. The model of a session is replaced by a
script of action lengths; the schedule of its rows is not. New prompts have a call of their own. The
second table is for prompts that take no time.

- lock-step: a poll samples all submitted rows until the last one is done, as ``hf`` did until
  2026-11-25;
- continuous: a row that is done leaves the batch. Counts and order decide when it joins again;
- by the clock: the same with ``batch_wait = 0``. A row joins when its environment has responded;
- bound: the time of the longest episode by itself, which no schedule can beat.

The third table is for whole steps, in the order of the trainer's pipeline. The update takes a share
of the mean time of a collection. The generator and the trainer do not slow each other down, as on
cards of their own:

- in turns: ``rollout.ahead = 0``;
- ahead: ``rollout.ahead = 1``, which waits at a checkpoint every ``SAVE_EVERY`` steps;
- bound: the longer one of all collections and all updates, one after the other.

Writes ``benchmarks/results/rollout_schedule.md``.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import long_tables
import torch
import typer
from runs import table
from torch import Tensor

from agentgym_envs.pool import PoolResult
from agentgym_train.generators.hf import HFSession, MemoryMethod
from agentgym_train.protocols import SamplingOptions
from agentgym_train.rollout.collector import EpisodeCollector
from agentgym_train.rollout.pipeline import RolloutPipeline
from agentgym_train.rollout.tasks import EpisodeStart

CALL = 0.03  # seconds of a call of the model
EPISODES, TURNS, LONGEST = 64, (5, 20), 256  # episodes, turns of an episode, tokens of an action
GOES_ON, STOP = 0, 1  # the tokens of the scripted model
STEPS, SAVE_EVERY = 100, 50  # of a run, and between its checkpoints
UPDATES = (0.1, 0.5, 1.0, 2.0)  # time of an update, in mean collections
SAMPLING = SamplingOptions(temperature=1.0, max_new_tokens=LONGEST, stop_ids=frozenset({STOP}))

ACTIONS: dict[str, Callable[[random.Random], int]] = {
    "even: 60 tokens": lambda rng: 60,
    "uneven: exponential, mean 60": lambda rng: min(LONGEST, 1 + int(rng.expovariate(1 / 60))),
    "uneven: 10 tokens, or 250 in a quarter of the turns": lambda rng: rng.choice(
        [10, 10, 10, 250]
    ),
}
"""The number of tokens of an action."""
ENVIRONMENTS: dict[str, Callable[[random.Random], float]] = {
    "0.01 s": lambda rng: 0.01,
    "0.1 s": lambda rng: 0.1,
    "exponential, mean 0.1 s": lambda rng: rng.expovariate(1 / 0.1),
    "1 s": lambda rng: 1.0,
    "3 s": lambda rng: 3.0,
}
"""The seconds of a step of an environment."""


@dataclass(frozen=True)
class Episode:
    """The script of an episode, by turn."""

    tokens: Sequence[int]
    seconds: Sequence[float]
    """Of the reset and of each step of the environment."""

    def alone(self, prompt: float) -> float:
        """Returns the episode's time without other episodes; ``prompt``: seconds of a prompt."""
        turns = len(self.tokens)
        return prompt * turns + CALL * (sum(self.tokens) - turns) + sum(self.seconds)


def script(
    action: Callable[[random.Random], int],
    environment: Callable[[random.Random], float],
    *,
    seed: int,
    episodes: int = EPISODES,
    turns: tuple[int, int] = TURNS,
) -> list[Episode]:
    """Returns the scripts of a collection."""
    rng = random.Random(seed)
    counts = [rng.randint(*turns) for _ in range(episodes)]
    return [
        Episode([action(rng) for _ in range(n)], [environment(rng) for _ in range(n + 1)])
        for n in counts
    ]


class World:
    """The virtual clock, and the environments and the model that it times.

    Args:
        episodes: the scripts.
        prompt: seconds of a call of the model with prompts.
    """

    def __init__(self, episodes: Sequence[Episode], *, prompt: float = CALL):
        self.episodes, self.prompt, self.now = episodes, prompt, 0.0
        self.calls: list[list[int]] = []
        """The rows of each call of the model."""
        self.turn = dict.fromkeys(range(len(episodes)), 0)
        self._due: dict[int, float] = {}

    def reset(self, slot: int, *, seed: int, options: Any) -> None:
        """Begins an episode."""
        self._due[slot] = self.now + self.episodes[slot].seconds[0]

    def send(self, slot: int, action: str) -> None:
        """Begins a step of an environment."""
        self.turn[slot] += 1
        self._due[slot] = self.now + self.episodes[slot].seconds[self.turn[slot]]

    def recv(self, *, timeout: float | None = None) -> list[PoolResult]:
        """Returns the responses that are due; waits for the earliest."""
        if not self._due:
            return []
        earliest = min(self._due.values())
        self.now = max(self.now, earliest if timeout is None else min(earliest, self.now + timeout))
        due = [slot for slot, time in self._due.items() if time <= self.now]
        return [self._result(slot) for slot in due if self._due.pop(slot) is not None]

    def _result(self, slot: int) -> PoolResult:
        over = self.turn[slot] == len(self.episodes[slot].tokens)
        return PoolResult(slot, observation="x", terminated=over, reward=float(over), info={})


class Scripted:
    """The memory of a session: it returns logits that make actions of the scripted lengths."""

    def __init__(self, world: World, rows: Iterable[int]):
        self._world, self.known = world, dict.fromkeys(rows, 0)
        self._left: dict[int, int] = {}

    def append(self, new: Mapping[int, Sequence[int]]) -> Tensor:
        """Takes the time of a call; the last token of each action is the stop token."""
        world = self._world
        world.now += CALL if all(self._left.get(row) for row in new) else world.prompt
        world.calls.append(list(new))
        ends = []
        for row, ids in new.items():
            self.known[row] += len(ids)
            if not self._left.get(row):
                self._left[row] = world.episodes[row].tokens[world.turn[row]]
            self._left[row] -= 1
            ends.append(not self._left[row])
        return torch.tensor([[-1e9, 0.0] if end else [0.0, -1e9] for end in ends])

    def forget(self, row: int) -> None:
        """Empties the row."""
        self.known[row] = 0

    def drop(self, row: int) -> None:
        """Removes the row."""
        del self.known[row]


class Generator:
    """Starts sessions of ``hf`` with a scripted memory."""

    in_background = False

    def __init__(self, world: World, *, joins: bool):
        memory: Any = lambda model, rows: Scripted(world, rows)  # noqa: E731
        self._method = MemoryMethod("scripted", memory, lasts=True, joins=joins)

    def session(self, seeds: Sequence[int], sampling: SamplingOptions) -> HFSession:
        """Starts one episode per seed."""
        model: Any = None
        return HFSession(model, self._method, seeds, sampling)


class Chat:
    """A chat of single tokens."""

    stop_ids = SAMPLING.stop_ids

    def opening(self, observation: str) -> list[int]:
        """Returns the tokens before the first action."""
        return [GOES_ON]

    def between(self, action_ids: Sequence[int], observation: str) -> list[int]:
        """Returns the tokens between two actions."""
        return [GOES_ON]

    def text(self, ids: Sequence[int]) -> str:
        """Returns the text of an action."""
        return "x"


def collect(
    episodes: Sequence[Episode],
    *,
    prompt: float = CALL,
    joins: bool = True,
    batch_wait: float = 10.0,
) -> World:
    """Plays the episodes with the real collector; returns the world at the end."""
    world: Any = World(episodes, prompt=prompt)
    chat: Any = Chat()
    generator: Any = Generator(world, joins=joins)
    collector = EpisodeCollector(world, generator, chat, max_context=10**9, batch_wait=batch_wait)
    starts = [EpisodeStart(n, n) for n in range(len(episodes))]
    groups = collector.collect(starts, max_turns=10**9, sampling=SAMPLING, noise="")
    for episode, group in zip(episodes, groups, strict=True):
        played = [len(call.action_ids) for call in group.trajectories[0].calls]
        assert played == list(episode.tokens)
    return world


def row(
    action: Callable[[random.Random], int],
    environment: Callable[[random.Random], float],
    *,
    prompt: float,
    seeds: int,
) -> list[str]:
    """Returns the numbers of a row of the table."""
    scripts = [script(action, environment, seed=seed) for seed in range(seeds)]
    bound = fmean(max(episode.alone(prompt) for episode in episodes) for episodes in scripts)
    worlds = [
        [collect(episodes, prompt=prompt, **options) for episodes in scripts]
        for options in ({"joins": False}, {}, {"batch_wait": 0.0})
    ]
    lock, ours, clock = (fmean(world.now for world in of) for of in worlds)
    batch = [fmean(fmean(map(len, world.calls)) for world in of) for of in worlds]
    return [
        *(f"{value:.0f}" for value in (lock, ours, clock, bound)),
        *(f"{value:.2f}" for value in (lock / bound, ours / bound, ours / clock)),
        f"{batch[0]:.0f}, {batch[1]:.0f}",
    ]


class Timeline:
    """The virtual clock of a run: a collection goes on beside the caller until it is awaited.

    Args:
        seconds: of the collection of each step.
    """

    in_background = True

    def __init__(self, seconds: Sequence[float]):
        self.seconds, self.now, self._end = seconds, 0.0, 0.0

    def start(self, step: int) -> None:
        """Begins the collection of a step."""
        self._end = self.now + self.seconds[step]

    def finish(self) -> list[Any]:
        """Waits for the collection."""
        self.now = max(self.now, self._end)
        return []

    def sleep(self) -> None:
        """Takes no time."""

    def wake(self) -> None:
        """Takes no time."""


def train(seconds: Sequence[float], update: float, *, ahead: bool, save_every: int) -> float:
    """Returns the seconds of a run in the order of the pipeline.

    Args:
        seconds: of the collection of each step.
        update: seconds of an update.
        ahead: the next step is collected while the policy learns.
        save_every: steps between checkpoints.
    """
    timeline: Any = Timeline(seconds)
    pipeline = RolloutPipeline(timeline, timeline, lambda: None, ahead=ahead)
    for step in range(len(seconds)):
        pipeline.collect(step)
        last = step + 1 == len(seconds)
        pipeline.begin_update(step, pause=(step + 1) % save_every == 0 or last)
        timeline.now += update
        pipeline.end_update()
    return float(timeline.now)


def step_rows(seeds: int) -> list[list[str]]:
    """Returns the rows of the table of whole steps; collections take one of ``seeds`` times."""
    rows = []
    for actions, action in ACTIONS.items():
        scripts = [script(action, ENVIRONMENTS["0.1 s"], seed=seed) for seed in range(seeds)]
        played = [collect(episodes).now for episodes in scripts]
        seconds = [played[step % seeds] for step in range(STEPS)]
        for share in UPDATES:
            update = share * fmean(seconds)
            turns, ahead = (
                train(seconds, update, ahead=ahead, save_every=SAVE_EVERY) / STEPS
                for ahead in (False, True)
            )
            bound = max(fmean(seconds), update)
            times = [f"{value:.0f}" for value in (turns, ahead, bound)]
            rows.append([actions, f"{share:g}", *times, f"{turns / ahead:.2f}"])
            print(rows[-1], flush=True)
    return rows


def main(seeds: int = 2) -> None:
    """Writes the tables."""
    head = [
        *("action", "step of the environment", "lock-step, s", "continuous, s"),
        *("by the clock, s", "bound, s", "lock-step / bound", "continuous / bound"),
        *("continuous / by the clock", "rows per call, lock-step and continuous"),
    ]
    text = [
        "# Schedules of a collection under a virtual clock",
        "",
        (
            f"`python benchmarks/rollout_schedule.py --seeds {seeds}`: {EPISODES} episodes of"
            f" {TURNS[0]} to {TURNS[1]} turns, actions of at most {LONGEST} tokens, {CALL} s per"
            f" call of the model. Means of {seeds} seeds. The script explains the columns."
        ),
    ]
    for prompt in (CALL, 0.0):
        rows = []
        for actions, action in ACTIONS.items():
            for environments, environment in ENVIRONMENTS.items():
                numbers = row(action, environment, prompt=prompt, seeds=seeds)
                rows.append([actions, environments, *numbers])
                print(rows[-1], flush=True)
        text += ["", f"## A call with prompts takes {prompt} s", "", table(head, rows)]
    steps = [
        *("action", "update / collection", "in turns, s per step", "ahead, s per step"),
        *("bound, s per step", "in turns / ahead"),
    ]
    text += [
        "",
        f"## Whole steps: environments of 0.1 s, {STEPS} steps, a checkpoint every {SAVE_EVERY}",
        "",
        table(steps, step_rows(seeds)),
    ]
    target = Path(__file__).parent / "results" / "rollout_schedule.md"
    shown = ("1 s", "1")  # the others are in the CSV file
    print(long_tables.write(target, "\n".join(text), lambda cells: cells[1] in shown))


if __name__ == "__main__":
    typer.run(main)
