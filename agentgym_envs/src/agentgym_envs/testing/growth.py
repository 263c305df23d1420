"""The check that neither memory nor the time of a turn grows."""

import gc
import random
import threading
import time
import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from agentgym_envs.errors import ConformanceError
from agentgym_envs.testing.checked_env import CheckedEnv
from agentgym_envs.testing.subject import TestedEnv

SECONDS = 0.2  # aim for the time of the first blocks
LONGEST_SECONDS = 2.0  # limit for the turns of a script
EPISODES = 3  # per block, if they are short enough
BLOCKS = 4
TURNS = 4  # per episode of a block
LEAST_BYTES = 200  # per episode
PARTS, STEADY = 3, 0.7  # a leak takes about as many bytes in each of PARTS further measurements
LONG = 90  # turns of a long episode
REPEATS = 3  # of the long episode; the fastest time of a turn counts
FIRST = 9  # turns, compared with the last third of an episode
SLOWER = 3.0  # times
LEAST_SECONDS = 2e-5  # by which a turn must become slower
INVALID = "qwertz 123"
CONFIRMED = 3  # measurements in a row


def growth(subject: TestedEnv) -> str:
    """Memory does not grow with each episode, nor the time of a turn with its number."""
    episodes = _memory(subject)
    turns = _turn_times(subject)
    return f"{episodes} equal episodes, {turns} turns"


def _memory(subject: TestedEnv) -> int:
    """Plays the same short episode many times."""
    script = _script(subject, TURNS)
    each = min(sum(_episode(subject, script)) for _ in range(2))  # caches fill
    episodes = max(1, min(EPISODES, int(SECONDS / BLOCKS / max(each, 1e-9))))
    before, tracing = threading.active_count(), tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    try:
        least = LEAST_BYTES * episodes * BLOCKS
        if sum(_grown(subject, script, episodes, BLOCKS + 1)[1:]) < least:
            return (BLOCKS + 1) * episodes
        # Caches fill more and more slowly; a leak goes on.
        parts = [sum(_grown(subject, script, episodes, BLOCKS)) for _ in range(PARTS)]
    finally:
        if not tracing:
            tracemalloc.stop()
    running = threading.active_count() > before  # another check finds threads that are left
    if min(parts) >= max(least, STEADY * max(parts)) and not running:
        raise ConformanceError(
            f"{episodes * BLOCKS} equal episodes take {parts[-1]} more bytes, and each repetition"
            " takes about as much. Drop the objects of an episode at the next reset"
        )
    return (PARTS * BLOCKS + BLOCKS + 1) * episodes


def _grown(subject: TestedEnv, script: list[str], episodes: int, blocks: int) -> list[int]:
    """Returns by how many bytes memory grows during each block of episodes."""
    gc.collect()
    sizes = [tracemalloc.get_traced_memory()[0]]
    for _ in range(blocks):
        for _ in range(episodes):
            _episode(subject, script)
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    return [after - before for before, after in pairwise(sizes)]


def _turn_times(subject: TestedEnv) -> int:
    """Plays the same long episode several times."""
    script = _script(subject, LONG)
    if len(script) < LONG:  # listed actions end the episode
        script = _script(subject, LONG, [INVALID])
    if len(script) < 3 * FIRST:
        return len(script)
    for _ in range(CONFIRMED):
        runs = [_episode(subject, script)[1:] for _ in range(REPEATS)]
        times = [min(turn) for turn in zip(*runs, strict=True)]
        first, last = median(times[:FIRST]), median(times[-len(times) // 3 :])
        if last < SLOWER * first or last - first < LEAST_SECONDS:
            return len(script)
    raise ConformanceError(
        f"turns take longer and longer: {first * 1e3:.3g} ms in the first {FIRST} of {len(script)}"
        f" turns, and {last * 1e3:.3g} ms in the last ones. The work of a turn must not grow with"
        " the number of earlier turns"
    )


def _script(subject: TestedEnv, turns: int, actions: Sequence[str] = ()) -> list[str]:
    """Returns actions that do not end an episode: the given ones, or random listed ones."""
    observed, rng, script = CheckedEnv(subject.plain), random.Random(0), list[str]()
    observed.reset(seed=0)
    end = time.perf_counter() + LONGEST_SECONDS
    while len(script) < turns and time.perf_counter() < end:
        script.append(rng.choice(actions or subject.actions()))
        observed.step(script[-1])
        if observed.over:
            return script[:-1]
    return script


def _episode(subject: TestedEnv, script: list[str]) -> list[float]:
    """Plays an episode; returns the seconds of the reset and of each turn."""
    env, times = subject.plain, []
    for action in (None, *script):
        began = time.perf_counter()
        _ = env.reset(seed=0) if action is None else env.step(action)
        times.append(time.perf_counter() - began)
    return times
