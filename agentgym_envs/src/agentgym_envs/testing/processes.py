"""What an environment does in other processes, and what it leaves behind."""

import json
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium
import numpy as np

from agentgym_envs.processes import module_folders, python_command, python_environment
from agentgym_envs.testing.subject import Subject, children, expect
from agentgym_envs.testing.transcripts import record

_SHOWN = ("observation", "reward", "terminated", "truncated")
HASH_SEEDS = ("0", "4242")
VECTOR_TURNS = 6


def determinism(subject: Subject) -> None:
    """The same seed and actions give the same bytes, here and in processes with other hash seeds."""
    compare_elsewhere(lambda: record(subject.shown), {"env_id": subject.env_id, "kwargs": subject.kwargs, "game": False})


def compare_elsewhere(transcript: Callable[[], list[str]], setup: dict[str, Any]) -> None:
    """Expects that a transcript is the same a second time, and as the second process of the kit has it."""
    with ThreadPoolExecutor(len(HASH_SEEDS)) as pool:
        jobs = {hash_seed: pool.submit(_elsewhere, setup, hash_seed) for hash_seed in HASH_SEEDS}
        here = transcript()
        again = transcript()
        elsewhere = {f"with PYTHONHASHSEED={hash_seed}": job.result() for hash_seed, job in jobs.items()}
    for which, there in {"again in one process": again, **elsewhere}.items():
        where = next((a, b) for a, b in zip(here, there, strict=False) if a != b) if here != there else ("", "")
        expect(here == there, f"played {which}, {where[0][:200]} became {where[1][:200]}")


def _elsewhere(setup: dict[str, Any], hash_seed: str) -> list[str]:
    argument = json.dumps(setup | {"path": module_folders()[1]})
    command, environ = python_command("agentgym_envs.testing", argument), python_environment(PYTHONHASHSEED=hash_seed)
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=300)
    expect(done.returncode == 0, f"a second process failed: {done.stderr[-500:]}")
    lines: list[str] = json.loads(done.stdout.splitlines()[-1])
    return lines


def vector(subject: Subject) -> None:
    """Make_vec gives the same episodes as single environments."""
    played = [_play(subject, seed) for seed in (11, 12)]
    many = gymnasium.make_vec(subject.env_id, num_envs=2, **(subject.kwargs | {"admissible": True}))
    try:
        observations, infos = many.reset(seed=11)
        for i, (_, single) in enumerate(played):
            turn = {"observation": observations[i], "info": _info_of(i, infos)}
            _expect_same(turn, single[0], f"environment {i} of the vector began differently")
        for n in range(1, VECTOR_TURNS + 1):
            turns = many.step([actions[n - 1] if n <= len(actions) else "look" for actions, _ in played])
            for i, (_, single) in enumerate(played):
                if n < len(single):
                    turn = dict(zip(_SHOWN, (column[i] for column in turns[:4]), strict=True)) | {"info": _info_of(i, turns[4])}
                    _expect_same(turn, single[n], f"environment {i} of the vector went on differently at turn {n}")
    finally:
        many.close()


def _play(subject: Subject, seed: int) -> tuple[list[str], list[dict[str, Any]]]:
    """Returns the actions of an episode's beginning, and everything that its start and its turns show."""
    observation, info = subject.shown.reset(seed=seed)
    actions: list[str] = []
    shown: list[dict[str, Any]] = [{"observation": observation, "info": info}]
    for n in range(VECTOR_TURNS):
        actions.append(info["admissible_actions"][(seed + 3 * n) % len(info["admissible_actions"])])
        *turn, info = subject.shown.step(actions[-1])
        shown.append(dict(zip(_SHOWN, turn, strict=True)) | {"info": info})
        if turn[2] or turn[3]:
            break
    return actions, shown


def _info_of(index: int, infos: dict[str, Any]) -> dict[str, Any]:
    """Returns one environment's part of a vector's infos, whose masks say which keys it has."""
    held = {key: value for key, value in infos.items() if f"_{key}" in infos and infos[f"_{key}"][index]}
    return {key: _info_of(index, value) if isinstance(value, dict) else value[index] for key, value in held.items()}


def _expect_same(vector: dict[str, Any], single: dict[str, Any], message: str) -> None:
    """Compares what both show of a turn, key by key."""
    one, other = ({**turn.pop("info"), **turn} for turn in (dict(vector), dict(single)))
    for key in sorted(one.keys() | other.keys()):
        same = key in one and key in other and np.array_equal(one[key], other[key])
        expect(same, f"{message}: {key} is {str(one.get(key))[:100]!r}, not {str(other.get(key))[:100]!r}")


def leftovers(subject: Subject) -> None:
    """After close, which may be called twice, no process and no file in the working folder is left."""
    subject.close()
    subject.close()
    new = set(os.listdir()) - subject.files
    expect(not new, f"the working folder has new files: {sorted(new)}")
    more = set(children()) - subject.processes
    expect(not more, f"processes {sorted(more)} are left after close")
