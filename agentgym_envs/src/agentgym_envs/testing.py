"""The conformance kit: :func:`check_text_env` proves that an environment keeps the contract of ``agentgym_envs.core``.

Plugin authors run it in one line of a test; the built-in environments pass the same checks.
"""

import json
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium.utils.env_checker import check_env

from agentgym_envs import registry
from agentgym_envs.errors import ConformanceError
from agentgym_envs.hostile import hostile_actions
from agentgym_envs.spaces import Unicode
from agentgym_envs.tasks import SPLITS

INFO_KEYS = {"task_id": str, "goal": str, "score": float, "success": bool, "invalid": bool, "turn": int}
SAMPLED_TASKS = 5  # oracle runs a split
_TRANSCRIBE = """
import sys, json
from agentgym_envs.testing import transcript
print(json.dumps(transcript(sys.argv[1], json.loads(sys.argv[2]))))
"""


def check_text_env(env_id: str, **kwargs: Any) -> list[str]:
    """Checks everything that the contract promises.

    Args:
        env_id: a registered id, or "module:id".
        **kwargs: constructor keywords, JSON-able.

    Returns:
        One line for each property that holds.

    Raises:
        ConformanceError: the first property that does not, with what was seen.
    """
    make = _maker(env_id, kwargs)
    held = []
    for check in _CHECKS:
        try:
            check(env_id, kwargs, make)
        except ConformanceError as error:
            raise ConformanceError(f"{env_id}: {_title(check)}: {error}") from error
        except Exception as error:
            raise ConformanceError(f"{env_id}: {_title(check)}: {type(error).__name__}: {error}") from error
        held.append(_title(check))
    return held


Make = Callable[..., gymnasium.Env[str, str]]


def _spec_and_spaces(env_id: str, kwargs: dict[str, Any], make: Make) -> None:
    """The spec round-trips through JSON and pickle; both spaces are Unicode; instructions exist."""
    env = make()
    assert env.spec is not None
    _expect(env.spec.max_episode_steps is not None, "no default max_episode_steps is registered")
    again = gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json())
    _expect(again.id == env.spec.id and again.kwargs == env.spec.kwargs, "spec.to_json() does not round-trip")
    _expect(pickle.loads(pickle.dumps(env.spec)).id == env.spec.id, "the spec does not pickle")
    _expect(isinstance(env.observation_space, Unicode) and isinstance(env.action_space, Unicode), "spaces must be Unicode")
    _expect(bool(_world(env).instructions), "unwrapped.instructions is empty")
    env.close()
    env.close()


def _gymnasium_check(env_id: str, kwargs: dict[str, Any], make: Make) -> None:
    """Gymnasium's own check_env passes without a warning."""
    env = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
    env.close()


def _splits(env_id: str, kwargs: dict[str, Any], make: Make) -> None:
    """The splits exist, share no task, and are the same every time."""
    seen: dict[str, str] = {}
    for split in SPLITS:
        ids = _world(make(split=split)).task_ids
        _expect(isinstance(ids, tuple) and len(ids) > 0, f"split {split!r}: task_ids must be a tuple that is not empty")
        _expect(ids == _world(make(split=split)).task_ids, f"split {split!r}: task_ids changed between two environments")
        for task_id in ids:
            _expect(task_id not in seen, f"task {task_id!r} is in {split!r} and in {seen.get(task_id)!r}")
            seen[task_id] = split
    try:
        make(tasks=["no such task"])
    except ValueError:
        return
    raise ConformanceError("tasks=['no such task'] must raise TaskError")


def _info_and_reward(env_id: str, kwargs: dict[str, Any], make: Make) -> None:
    """Info has the contract's keys and types, is JSON-able, and rewards are the changes of the score."""
    env = make(admissible=True)
    observation, info = env.reset(seed=1)
    _check_info(info)
    total = info["score"]
    for turn, action in enumerate(_play(env, info, limit=30), 1):
        observation, reward, terminated, truncated, info = env.step(action)
        _expect(isinstance(observation, str), f"the observation is a {type(observation).__name__}, not a str")
        _expect(isinstance(truncated, bool) and isinstance(terminated, bool), "terminated and truncated must be bool")
        _check_info(info)
        total += reward
        _expect(abs(total - info["score"]) < 1e-9, f"the rewards add up to {total}, the score is {info['score']}")
        _expect(info["turn"] == turn, f"turn is {info['turn']} after {turn} actions")
        _expect(isinstance(info.get("admissible_actions"), list), "admissible=True must give info['admissible_actions']")
        if terminated:
            break
    env.close()
    plain = make()
    _expect("admissible_actions" not in plain.reset(seed=1)[1], "admissible_actions must be absent unless asked for")
    plain.close()


def _determinism(env_id: str, kwargs: dict[str, Any], make: Make) -> None:
    """The same seed and actions give the same bytes, here and in processes with other hash seeds."""
    here = transcript(env_id, kwargs)
    _expect(transcript(env_id, kwargs) == here, "two runs in one process differ")
    for hash_seed in ("0", "1", "4242"):
        environ = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        command = [sys.executable, "-c", _TRANSCRIBE, env_id, json.dumps(kwargs)]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=300)
        _expect(done.returncode == 0, f"a second process failed: {done.stderr[-500:]}")
        there = json.loads(done.stdout.splitlines()[-1])
        where = next((i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), None)
        _expect(there == here, f"PYTHONHASHSEED={hash_seed} differs at line {where}")


def _named_tasks(env_id: str, kwargs: dict[str, Any], make: Make) -> None:
    """A task can be named; its episode is the same every time; an unknown id or option is an error."""
    env = make()
    task_id = _world(env).task_ids[-1]
    first = env.reset(options={"task_id": task_id})
    _expect(first[1]["task_id"] == task_id, f"asked for {task_id!r}, got {first[1]['task_id']!r}")
    _expect(env.reset(options={"task_id": task_id}) == first, "the same named task began differently")
    for bad in ({"task_id": "no such task"}, {"no_such_option": 1}):
        try:
            env.reset(options=bad)
        except ValueError:
            continue
        raise ConformanceError(f"reset(options={bad}) must raise a ValueError")
    env.close()


def _hostile_actions(env_id: str, kwargs: dict[str, Any], make: Make) -> None:
    """No action of 2,000 hostile ones raises, and every observation is valid Unicode of a sane length."""
    env = make()
    env.reset(seed=3)
    for action in hostile_actions(_world(env).actions()):
        observation, _, terminated, truncated, info = env.step(action)
        observation.encode("utf-8")
        _expect(len(observation) < 20_000, f"{action[:40]!r} gave an observation of {len(observation)} characters")
        json.dumps(info)
        if terminated or truncated:
            env.reset(seed=3)
    env.close()


def _leftovers(env_id: str, kwargs: dict[str, Any], make: Make) -> None:
    """After close, which may be called twice, no process and no file in the working folder is left."""
    processes, files = set(_children()), set(os.listdir())
    env = make(admissible=True)
    _, info = env.reset(seed=4)
    env.step(info["admissible_actions"][0])
    _expect(_world(env).reset(seed=4)[1]["turn"] == 0, "a second reset does not begin anew")
    env.close()
    env.close()
    _expect(set(os.listdir()) == files, f"the working folder has new files: {sorted(set(os.listdir()) - files)}")
    _expect(set(_children()) <= processes, f"processes {sorted(set(_children()) - processes)} are left after close")


def _oracle(env_id: str, kwargs: dict[str, Any], make: Make) -> None:
    """The oracle solves a sample of tasks of every split, also from the middle of an episode."""
    for split in SPLITS:
        env = make(split=split)
        ids = _world(env).task_ids
        for task_id in ids[:: max(1, len(ids) // SAMPLED_TASKS)][:SAMPLED_TASKS]:
            for skip in (0, 1):
                env.reset(options={"task_id": task_id})
                _expect(_solve(env, skip), f"the oracle does not solve {task_id!r} of {split!r} after {skip} of its own steps")
        env.close()


def _episode_end(env_id: str, kwargs: dict[str, Any], make: Make) -> None:
    """A step after the end, or before the first reset, is an error rather than a reward."""
    for start in (False, True):
        env = make()
        if start:
            env.reset(seed=5)
            _expect(_solve(env, 0), "the oracle does not solve the task of seed 5")
        try:
            env.unwrapped.step("look")
        except gymnasium.error.ResetNeeded:
            env.close()
            continue
        raise ConformanceError(f"step {'after the end' if start else 'before reset'} must raise gymnasium.error.ResetNeeded")


def _vector(env_id: str, kwargs: dict[str, Any], make: Make) -> None:
    """Make_vec gives the same episodes as single environments."""
    vector = gymnasium.make_vec(env_id, num_envs=2, **kwargs)
    observations, _ = vector.reset(seed=11)
    for i in range(2):
        env = make()
        _expect(env.reset(seed=11 + i)[0] == observations[i], f"environment {i} of the vector began differently")
        env.close()
    vector.step(("look", "look"))
    vector.close()


_CHECKS: Sequence[Callable[[str, dict[str, Any], Make], None]] = (
    _spec_and_spaces,
    _gymnasium_check,
    _splits,
    _info_and_reward,
    _determinism,
    _named_tasks,
    _hostile_actions,
    _leftovers,
    _oracle,
    _episode_end,
    _vector,
)


def transcript(env_id: str, kwargs: dict[str, Any], *, seeds: Sequence[int] = (0, 1, 2), turns: int = 15) -> list[str]:
    """Returns everything that a few short episodes show, as lines of JSON."""
    env = _maker(env_id, kwargs)(admissible=True)
    lines = []
    for seed in seeds:
        observation, info = env.reset(seed=seed)
        lines.append(json.dumps([observation, info]))
        for turn in range(turns):
            actions = info["admissible_actions"]
            action = "an odd action" if turn == 3 or not actions else actions[(seed * 7 + turn * 3) % len(actions)]
            observation, reward, terminated, truncated, info = env.step(action)
            lines.append(json.dumps([action, observation, reward, terminated, truncated, info]))
            if terminated or truncated:
                break
    env.close()
    return lines


def _maker(env_id: str, kwargs: dict[str, Any]) -> Make:
    registry.spec(env_id)

    def make(**more: Any) -> gymnasium.Env[str, str]:
        return gymnasium.make(env_id, **(kwargs | more))

    return make


def _play(env: gymnasium.Env[str, str], info: dict[str, Any], *, limit: int) -> Iterator[str]:
    """Yields a nonsensical action, an admissible one, then the oracle's."""
    yield "qwertz 123"
    yield info["admissible_actions"][0]
    yield from islice(_world(env).oracle(), limit - 2)


def _solve(env: gymnasium.Env[str, str], skip: int) -> bool:
    world = _world(env)
    for action in islice(world.oracle(), skip):
        *_, info = world.step(action)
        if info["success"]:
            return True
    success = False
    for action in world.oracle():  # which has to end with the episode
        success = world.step(action)[4]["success"]
    return success


def _children() -> list[int]:
    """Returns the process ids of this process's living children."""
    if Path("/proc/self/stat").exists():
        lines = [text for path in Path("/proc").glob("[0-9]*/stat") if (text := _read(path))]
        heads = [(line.partition(" ")[0], *line.rpartition(")")[2].split()[:2]) for line in lines]
        rows = [(pid, parent, state) for pid, state, parent in heads]
    else:
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
        rows = [(pid, parent, state[0]) for pid, parent, state in map(str.split, listed.splitlines())]
    return [int(pid) for pid, parent, state in rows if int(parent) == os.getpid() and state != "Z"]


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # the process ended meanwhile
        return ""


def _check_info(info: dict[str, Any]) -> None:
    for key, kind in INFO_KEYS.items():
        _expect(type(info.get(key)) is kind, f"info[{key!r}] is {info.get(key)!r}, not a {kind.__name__}")
    _expect(0.0 <= info["score"] <= 1.0, f"the score {info['score']} is not in [0, 1]")
    json.dumps(info)


def _world(env: gymnasium.Env[str, str]) -> Any:
    return env.unwrapped


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise ConformanceError(message)


def _title(check: Callable[..., None]) -> str:
    return (check.__doc__ or "").strip().rstrip(".")
