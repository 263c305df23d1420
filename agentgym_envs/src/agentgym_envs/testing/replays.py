"""Checks that replayed episodes are the same under other circumstances."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice, zip_longest
from typing import Any

from agentgym_envs.errors import ConformanceError
from agentgym_envs.testing.subject import Env, TestedEnv, expect
from agentgym_envs.testing.transcripts import record

TURNS = 15
Container = tuple[Any, Any]  # a dictionary or list, and a copy of its content
AHEAD = 3  # turns of the first environment before the second begins


def alongside(subject: TestedEnv) -> str:
    """A replayed episode is the same under other circumstances.

    The replays list no actions, run after the caller has emptied info, or alternate with another
    environment.
    """
    first, second = (record(subject.shown, seeds=[seed], turns=TURNS) for seed in (0, 1))
    _compare(_replay(subject.plain, 0, first), "without admissible=True and render_mode='ansi'")
    with _restored() as emptied:
        replay = _replay(subject.shown, 0, first, emptied)
        _compare(
            replay,
            "after the caller had emptied info, which must not be an object of the environment",
        )
    both = zip_longest(
        _replay(subject.plain, 0, first), chain([None] * AHEAD, _replay(subject.shown, 1, second))
    )
    _compare(
        (turn for turns in both for turn in turns if turn),
        "turn by turn beside another environment",
    )
    return f"{len(first) + len(second)} turns"


def closing(subject: TestedEnv) -> None:
    """Closing an environment does not change an episode of another one."""
    with going_on(subject, "after an older environment was closed"):
        subject.shown.close()


@contextmanager
def going_on(subject: TestedEnv, how: str) -> Iterator[None]:
    """Plays half an episode before the body, and expects that it goes on unchanged after it."""
    lines = record(subject.shown, seeds=[0], turns=TURNS)
    wanted = [seen for _, seen in _replay(subject.plain, 0, lines)]
    turns = (seen for _, seen in _replay(subject.plain, 0, lines))
    before = list(islice(turns, max(len(lines) // 2, 1)))
    yield
    again = (seen for _, seen in _replay(subject.plain, 0, lines))
    try:
        _compare(zip(wanted, chain(before, turns), strict=True), how)
        _compare(zip(wanted, again, strict=True), f"{how}, from a reset")
    except Exception as error:
        what = f"played {how}, an episode raises {type(error).__name__}: {error}"
        raise ConformanceError(
            f"{error if isinstance(error, ConformanceError) else what}"
            "; keep the state of an episode in its environment, and close only what this opened"
        ) from error


def _compare(turns: Iterator[tuple[Any, Any]], how: str) -> None:
    for wanted, seen in turns:
        expect(
            wanted == seen,
            f"played {how}, {json.dumps(wanted)[:300]} became {json.dumps(seen)[:300]}",
        )


def _replay(
    env: Env, seed: int, lines: Sequence[str], emptied: list[Container] | None = None
) -> Iterator[tuple[Any, Any]]:
    """Plays the actions of a transcript; yields the recorded and the new result of each turn.

    Args:
        env: the environment.
        seed: that of the transcript.
        lines: the transcript.
        emptied: if it is a list, each info is emptied, and the list gets what was in it.
    """
    shown: tuple[Any, ...] = env.reset(seed=seed)
    yield _common(json.loads(lines[0])), _common(shown)
    for line in lines[1:]:
        action, *wanted = json.loads(line)
        if emptied is not None:
            _empty(shown[-1], emptied)
        shown = env.step(action)
        yield _common(wanted), _common(shown)
        if wanted[2] or wanted[3]:
            return


def _common(shown: Sequence[Any]) -> Any:
    """Returns the part of a result that does not depend on step limit or listed actions."""
    observation, *rest, info = json.loads(json.dumps(shown))
    return [
        observation,
        *rest[:2],
        {key: value for key, value in info.items() if key != "admissible_actions"},
    ]


@contextmanager
def _restored() -> Iterator[list[Container]]:
    """Yields a list for emptied objects and fills them again at the end.

    An environment can hand out its constants. The other checks must find them unchanged.
    """
    emptied: list[Container] = []
    try:
        yield emptied
    finally:
        for value, content in reversed(emptied):
            value.clear()
            _ = value.update(content) if isinstance(value, dict) else value.extend(content)


def _empty(value: Any, emptied: list[Container]) -> None:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _empty(item, emptied)
        emptied.append((value, value.copy()))
        value.clear()
