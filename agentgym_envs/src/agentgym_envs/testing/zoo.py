"""Checks of a game's two PettingZoo forms: PettingZoo's tests, and equal episodes."""

import io
import random
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from typing import Any, NamedTuple

from agentgym_envs import make_aec, make_parallel
from agentgym_envs.testing.checked_match import TestedGame
from agentgym_envs.testing.subject import expect
from agentgym_envs.testing.subprocesses import compare_subprocesses
from agentgym_envs.testing.transcripts import game_transcript

CYCLES = 200  # per test of PettingZoo
SEEDS = (0, 1, 2**31, 2**64)
_KINDS = (  # PettingZoo warns that it expects arrays; all other warnings are errors
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be",
    "Action space for each agent probably should be",
)


class SeatView(NamedTuple):
    """A seat's view of an episode: its texts, the sum of its rewards and its last info."""

    seen: list[str]
    total: float
    info: dict[str, Any]


Shown = dict[str, SeatView]


def parallel_tests(subject: TestedGame) -> None:
    """PettingZoo's parallel_api_test and parallel_seed_test pass without a warning."""
    tests = _tests()
    with _strictly():
        tests.parallel_api_test(make_parallel(subject.game_id, **subject.kwargs), num_cycles=CYCLES)
        tests.parallel_seed_test(
            lambda: make_parallel(subject.game_id, **subject.kwargs), num_cycles=CYCLES
        )


def aec_tests(subject: TestedGame) -> None:
    """PettingZoo's api_test and seed_test pass; it only warns that strings are not arrays."""
    tests = _tests()
    with _strictly():
        tests.api_test(make_aec(subject.game_id, **subject.kwargs), num_cycles=CYCLES)
        tests.seed_test(lambda: make_aec(subject.game_id, **subject.kwargs), num_cycles=CYCLES)


def forms(subject: TestedGame) -> None:
    """The parallel and the AEC form show the same episodes.

    The rewards of a seat must add up to its score.
    """
    # One environment plays all seeds: a match must not depend on earlier ones.
    used = make_aec(subject.game_id, **subject.kwargs)
    for seed in SEEDS:
        parallel, aec = _play_parallel(subject, seed), _play_aec(used, seed)
        for seat, shown in parallel.items():
            expect(
                shown == aec[seat],
                f"seed {seed}, {seat}: the AEC form shows {aec[seat]}, not {shown}",
            )
            score = shown.info["score"]
            expect(
                abs(shown.total - score) < 1e-9,
                f"seed {seed}: the rewards of {seat} add up to {shown.total}, not {score}",
            )


def determinism(subject: TestedGame) -> str:
    """All seats see the same bytes for a seed in every process.

    The processes have different hash seeds, time zones, languages, folders, users, HOME folders,
    host names, numbers of CPUs and clocks, and one runs with ``python -O``.
    """
    return compare_subprocesses(
        lambda: game_transcript(subject.game_id, subject.kwargs),
        {"env_id": subject.game_id, "kwargs": subject.kwargs, "game": True},
        subject.evidence,
    )


def _tests() -> Any:
    """Imports PettingZoo's tests, which warn about their examples if pytest is installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("pettingzoo.test")


@contextmanager
def _strictly() -> Iterator[None]:
    """Turns warnings into errors and hides the output of PettingZoo's tests."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("error")
        for message in _KINDS:
            warnings.filterwarnings("ignore", message)
        yield


def _choose(env: Any, seat: str, turns: Counter[str]) -> str:
    """Returns a listed action that depends only on the seat and its number of turns."""
    turns[seat] += 1
    listed: list[str] = env.game.actions(seat)
    return random.Random(f"{seat} {turns[seat]}").choice(listed)


def _play_parallel(subject: TestedGame, seed: int) -> Shown:
    env, turns = make_parallel(subject.game_id, **subject.kwargs), Counter[str]()
    seen, infos = env.reset(seed=seed)
    shown = {seat: SeatView([seen[seat]], 0.0, infos[seat]) for seat in env.possible_agents}
    while env.agents:
        seen, rewards, _, _, infos = env.step(
            {seat: _choose(env, seat, turns) for seat in env.agents if infos[seat]["acts"]}
        )
        shown = {
            s: SeatView([*old.seen, seen[s]], old.total + rewards[s], infos[s])
            for s, old in shown.items()
        }
    return _joined(shown)


def _play_aec(env: Any, seed: int) -> Shown:
    turns = Counter[str]()
    env.reset(seed=seed)
    shown = {seat: SeatView([], 0.0, {}) for seat in env.possible_agents}
    for seat in env.agent_iter():
        seen, reward, over, _, info = env.last()
        shown[seat] = SeatView([*shown[seat].seen, seen["text"]], shown[seat].total + reward, info)
        env.step(None if over else _choose(env, seat, turns))
    return _joined(shown)


def _joined(shown: Shown) -> Shown:
    """Splits texts into lines, because the forms show the same lines at different times."""
    return {
        seat: was._replace(seen="\n".join(filter(None, was.seen)).splitlines())
        for seat, was in shown.items()
    }
