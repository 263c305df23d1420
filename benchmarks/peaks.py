"""Peak memory of a run's phases, measured on one process of it.

    python benchmarks/peaks.py CONFIG [KEY=VALUE …]
    torchrun --nproc_per_node 2 benchmarks/peaks.py CONFIG [KEY=VALUE …]

Prints the peaks of the first process as JSON, in bytes. ``memory.py`` and ``gpu.py`` call it. On a
GPU it asks torch's allocator. On the CPU it counts the storage of all tensors, since the resident
memory of a process also has libraries and pages that were freed.
"""

import gc
import json
import os
import sys
from collections.abc import Callable

import torch

from agentgym_train import config as configuration
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.data.batching import pack
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.engine import critic
from agentgym_train.engine.deepspeed import TrainingEngine
from agentgym_train.generators.hf import HF
from agentgym_train.learning.episodes import add_advantages
from agentgym_train.learning.update import fill_streams, update
from agentgym_train.models.loading import choose_trained, load_model
from agentgym_train.planning.card_memory import PROMPT as PROMPT_TOKENS
from agentgym_train.planning.plan import episodes
from agentgym_train.planning.trace import LiveBytes
from agentgym_train.protocols import Generator, SamplingOptions

PROMPT, ACTION = 7, 3
"""Tokens of a turn: 30 % are actions, as a plan assumes."""


class Peaks:
    """The peak of each phase, in bytes."""

    def __init__(self) -> None:
        self.phases: dict[str, int] = {}
        gc.collect()
        self._live = None if torch.accelerator.is_available() else LiveBytes()
        self._before = 0 if self._live else torch.get_device_module().memory_allocated()

    def __enter__(self) -> "Peaks":
        """Starts to count."""
        if self._live:
            self._live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Stops counting."""
        if self._live:
            self._live.__exit__(*error)

    def see(self, tree: object) -> None:
        """Counts tensors that exist already."""
        if self._live:
            self._live.see(tree)

    def of(self, phase: str, work: Callable[[], object]) -> None:
        """Does the work of a phase and notes its peak."""
        gc.collect()
        if self._live:
            self._live.restart()
            work()
            self.phases[phase] = self._live.peak
            return
        device = torch.get_device_module()
        device.reset_peak_memory_stats()
        work()
        self.phases[phase] = device.max_memory_allocated() - self._before


def groups(config: Config, processes: int) -> list[Group]:
    """Returns this process's groups of two trajectories, as long as the context.

    One succeeds: trajectories without an advantage would not be run.
    """
    turns = config.model.max_context // (PROMPT + ACTION)

    def trajectory(number: int, reward: float) -> Trajectory:
        turn = Turn("", [Call([5] * PROMPT, [6] * ACTION, [-5.0] * ACTION)], reward=reward)
        return Trajectory("", number, [turn] * turns)

    count = max(1, config.groups // processes)
    return [Group(n, [trajectory(n, reward) for reward in (0.0, 1.0)]) for n in range(count)]


def learn(config: Config, engines: list[TrainingEngine]) -> None:
    """Takes the optimizer steps of a collection."""
    engine, second = engines[0], next(iter(engines[1:]), None)
    algorithm = plugins.make_algorithm(config.algorithm)
    played = groups(config, engine.distributed.size)
    values = second.values if second else engine.values
    producers: dict[str, update.Producer] = {
        "value": lambda micro: values(micro.to(engine.device)),
        "old": lambda micro: engine.forward(micro.to(engine.device)).logp_BT,
    }
    batch = fill_streams(
        pack(played),
        algorithm.required_streams,
        producers,
        distributed=engine.distributed,
        max_tokens=config.engine.micro_batch_tokens,
    )
    batch = add_advantages(batch, algorithm, played, engine.distributed)
    update(engine, algorithm, batch, groups=config.groups, config=config.engine, critic=second)


def play(config: Config, generator: Generator, processes: int) -> None:
    """Fills the context of all episodes that one process plays at the same time."""
    rows, context = range(episodes(config, processes)), config.model.max_context
    new = config.rollout.max_new_tokens
    session = generator.session(
        list(rows), SamplingOptions(temperature=1.0, max_new_tokens=new, stop_ids=frozenset())
    )
    prompt = min(PROMPT_TOKENS, context // 2)
    for _ in range(context // (prompt + new)):
        for row in rows:
            session.submit(row, [5] * prompt)
        session.poll()


def measure(config: Config) -> dict[str, int]:
    """Returns the peaks of generation and update, in the second of two steps."""
    path, dtype = config.model.path, config.model.dtype
    kind = critic.kind(config, plugins.make_algorithm(config.algorithm).required_streams)
    with Peaks() as peaks:
        policy = load_model(path, dtype)
        choose_trained(policy, config.model)
        peaks.see(list(policy.parameters()))
        engines = critic.engines(config, policy, path, kind, universal=False)
        del policy
        processes = engines[0].distributed.size
        generator = HF(load_model(path, dtype).to(engines[0].device))
        for _ in range(2):
            generator.wake()
            generator.load(engines[0].weights(), engines[0].steps)
            peaks.of("generating", lambda: play(config, generator, processes))
            generator.sleep()
            peaks.of("updating", lambda: learn(config, engines))
        for engine in engines:
            engine.close()
    return peaks.phases


if __name__ == "__main__":
    measured = measure(configuration.load(sys.argv[1], sys.argv[2:]))
    if int(os.environ.get("RANK", "0")) == 0:
        print(json.dumps(measured), flush=True)
    sys.stdout.flush()
    os._exit(0)  # gloo's threads abort an interpreter that shuts down
