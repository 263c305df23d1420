"""Checks of determinism over processes, of side effects and of leftovers."""

import os
import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Protocol, TypeVar

import gymnasium
import numpy as np

from agentgym_envs import registry
from agentgym_envs.testing.process_state import changes, shared_state
from agentgym_envs.testing.resources import children, marked, threads
from agentgym_envs.testing.side_effects import SideEffects
from agentgym_envs.testing.subject import TestedEnv, expect
from agentgym_envs.testing.subprocesses import compare_subprocesses
from agentgym_envs.testing.transcripts import record

T = TypeVar("T")
_SHOWN = ("observation", "reward", "terminated", "truncated")
VECTOR_TURNS = 6
ENDING_S = 1.0  # seconds in which threads and processes must end after close


class CheckSubject(Protocol):
    """The environment or the game under test."""

    evidence: SideEffects


def determinism(subject: TestedEnv) -> str:
    """The same seed and actions give the same bytes in every process.

    The processes have different hash seeds, time zones, languages, folders, users, HOME folders,
    host names, numbers of CPUs and clocks, and one runs with ``python -O``.
    """
    setup = {"env_id": subject.env_id, "kwargs": subject.kwargs, "game": False}
    return compare_subprocesses(lambda: record(subject.shown), setup, subject.evidence)


def vector(subject: TestedEnv) -> str:
    """Make_vec plays the same episodes as single environments."""
    played = [_play(subject, seed) for seed in (11, 12)]
    given = deepcopy(subject.kwargs) | {"admissible": True}
    many = gymnasium.make_vec(registry.spec(subject.env_id), num_envs=2, **given)
    try:
        observations, infos = many.reset(seed=11)
        for i, (_, single) in enumerate(played):
            turn = {"observation": observations[i], "info": _info_of(i, infos)}
            _expect_same(turn, single[0], f"environment {i} of the vector began differently")
        for n in range(1, VECTOR_TURNS + 1):
            turns = many.step(
                [actions[n - 1] if n <= len(actions) else "look" for actions, _ in played]
            )
            for i, (_, single) in enumerate(played):
                if n < len(single):
                    turn = dict(zip(_SHOWN, (column[i] for column in turns[:4]), strict=True)) | {
                        "info": _info_of(i, turns[4])
                    }
                    _expect_same(
                        turn,
                        single[n],
                        f"environment {i} of the vector went on differently at turn {n}",
                    )
    finally:
        many.close()
    return f"2 environments, {VECTOR_TURNS} turns"


def _play(subject: TestedEnv, seed: int) -> tuple[list[str], list[dict[str, Any]]]:
    """Returns the first actions of an episode, and the results of reset and of each step."""
    observation, info = subject.shown.reset(seed=seed)
    actions: list[str] = []
    shown: list[dict[str, Any]] = [{"observation": observation, "info": info}]
    for n in range(VECTOR_TURNS):
        listed = info["admissible_actions"]
        expect(bool(listed), f"turn {n + 1}: info['admissible_actions'] is {listed!r}")
        actions.append(listed[(seed + 3 * n) % len(listed)])
        *turn, info = subject.shown.step(actions[-1])
        shown.append(dict(zip(_SHOWN, turn, strict=True)) | {"info": info})
        if turn[2] or turn[3]:
            break
    return actions, shown


def _info_of(index: int, infos: dict[str, Any]) -> dict[str, Any]:
    """Returns the infos of one environment of a vector; masks mark the keys that it has."""
    held = {
        key: value for key, value in infos.items() if f"_{key}" in infos and infos[f"_{key}"][index]
    }
    return {
        key: _info_of(index, value) if isinstance(value, dict) else value[index]
        for key, value in held.items()
    }


def _expect_same(vector: dict[str, Any], single: dict[str, Any], message: str) -> None:
    """Compares two results of a turn, key by key."""
    one, other = ({**turn.pop("info"), **turn} for turn in (dict(vector), dict(single)))
    for key in sorted(one.keys() | other.keys()):
        same = key in one and key in other and np.array_equal(one[key], other[key])
        expect(
            same,
            f"{message}: {key} is {str(one.get(key))[:100]!r}, not {str(other.get(key))[:100]!r}",
        )


def untouched(subject: CheckSubject) -> None:
    """The global state of the process stays the same.

    This covers random generators, environment variables, ``sys.path``, the working folder, time
    zone, locale, umask, signal handlers, hooks, the garbage collector, logging and warnings.
    """
    found = changes(subject.evidence.state, shared_state())
    expect(
        not found,
        f"{'; '.join(found)}. The whole process shares this state; keep it in the environment's"
        " object, restore it before the call returns, or use a child process",
    )


def silence(subject: CheckSubject) -> None:
    """Nothing is printed, and no connection leaves this machine.

    Output of C code and during imports counts too.
    """
    connections = list(subject.evidence.connections)
    expect(not connections, f"the environment tried to connect to {connections[:5]}")
    for text in (
        subject.evidence.printed(),
        *(played.printed for played in subject.evidence.subprocesses),
    ):
        expect(not text, f"the environment printed {text[:300]!r}")


def leftovers(subject: TestedEnv) -> None:
    """After close, no process, thread, open file or new file is left.

    A second call of close must do nothing.
    """
    subject.close()
    subject.close()
    subject.make().close()  # without any reset
    remains(subject)
    expect(
        not subject.left_open,
        f"a second environment left files open: {', '.join(sorted(subject.left_open))}",
    )


def remains(subject: CheckSubject) -> None:
    """No process, thread, temporary file or file in the working folder is left."""
    evidence = subject.evidence
    new = set(os.listdir()) - evidence.files
    expect(not new, f"the working folder has new files: {sorted(new)}")
    for played in evidence.subprocesses:
        expect(not played.left, f"a finished process left the temporary files {played.left[:5]}")
    running = _after_a_while(
        lambda: {thread for thread in threads() - evidence.threads if thread.is_alive()}
    )
    expect(
        not running, f"threads are left after close: {sorted(thread.name for thread in running)}"
    )
    more = _after_a_while(lambda: {*children(), *marked(evidence.mark)} - evidence.processes)
    expect(not more, f"processes {sorted(more)} are left after close")


def _after_a_while(held: Callable[[], set[T]]) -> set[T]:
    """Returns the remaining items, after waiting up to ``ENDING_S`` seconds for none."""
    end = time.monotonic() + ENDING_S
    while (still := held()) and time.monotonic() < end:
        time.sleep(0.02)
    return still
