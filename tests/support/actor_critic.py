"""Two PPO updates on fixed trajectories, in one or several processes.

    actor_critic.py MODEL OUT PROCESSES CASE…

A case is KIND-STAGE-DTYPE, with -bootstrap at its end if the horizon cut every second trajectory.
OUT holds the metrics and all weights of each case.
"""

import sys
from contextlib import closing
from dataclasses import replace

import deepspeed
import one_step
import processes
import torch

from agentgym_train.algorithms.ppo import PPO
from agentgym_train.config import (
    Config,
    CriticConfig,
    EngineConfig,
    EnvConfig,
    ModelConfig,
    RunConfig,
)
from agentgym_train.data.batching import pack
from agentgym_train.data.types import Call
from agentgym_train.engine import critic
from agentgym_train.engine.deepspeed import loading
from agentgym_train.learning.update import fill_streams, update
from agentgym_train.models.loading import load_policy

PLAYED = PPO(gamma=0.9, lam=0.8, value_clip=0.3)
BOOTSTRAPPED = replace(PLAYED, bootstrap=True)
LR = 3e-3  # learning rate of the critic, ten times that of the policy


def config(kind, stage=0, dtype="float32", minibatches=2):
    zero = {"stage3_param_persistence_threshold": 0} if stage == 3 else {}
    options = {
        "lr": 3e-4,
        "weight_decay": 0.01,
        "micro_batch_tokens": 512,
        "minibatches": minibatches,
    }
    return Config(
        run=RunConfig(folder="unused", steps=1),
        envs=(EnvConfig(id="unused"),),
        # Odd stages with checkpointing, even stages without.
        model=ModelConfig(dtype=dtype, checkpointing="on" if stage % 2 else "off"),
        engine=EngineConfig(zero_stage=stage, zero=zero, **options),
        critic=CriticConfig(kind=kind, lr=LR),
    )


def engines(model, of):
    """Returns the engines; the caller closes them."""
    with loading(of.engine, of.model.dtype):
        policy = load_policy(of.model, model, seed=0)
    return critic.engines(of, policy, model, of.critic.kind, universal=False)


def groups(*, cut):
    """Returns the groups of ``one_step``; with ``cut`` a prompt follows every second trajectory."""
    made = one_step.groups()
    for number, t in enumerate(t for group in made for t in group.trajectories):
        if cut and number % 2:
            t.next_call = Call([4 + (number * 7 + place) % 280 for place in range(number)])
    return made


def step(engines, of, groups, algorithm=PLAYED):
    """Returns the metrics of one update."""
    distributed, judge = engines[0].distributed, engines[-1]
    filled = fill_streams(
        pack(groups),
        algorithm.required_streams,
        {"value": judge.values},
        distributed=distributed,
        max_tokens=512,
        groups=groups,
    )
    batch = algorithm.compute_advantages(filled, groups, distributed)
    other = judge if len(engines) > 1 else None
    return update(
        engines[0], algorithm, batch, groups=one_step.GROUPS, config=of.engine, critic=other
    )


def full_parameters(engine):
    """Returns all parameters, gathered from all processes, with those of a value head."""
    found = {}
    for name, parameter in engine._engine.module.named_parameters():
        with deepspeed.zero.GatheredParameters([parameter]):
            found[name] = parameter.detach().clone()
    return found


def play(model, kind, stage, dtype, cut=""):
    """Returns the metrics of two updates and the weights of each engine after them."""
    algorithm = BOOTSTRAPPED if cut else PLAYED
    of = config(kind, int(stage), dtype)
    made = engines(model, of)
    with closing(made[0]), closing(made[-1]):
        distributed = made[0].distributed
        share = (
            range(one_step.GROUPS) if distributed.size == 1 else one_step.SHARES[distributed.rank]
        )
        own = [g for g in groups(cut=cut) if g.number in share]
        return [step(made, of, own, algorithm) for _ in range(2)], [
            full_parameters(engine) for engine in made
        ]


def work(rank, model, out, cases):
    results = {case: play(model, *case.split("-")) for case in cases}
    if rank == 0:
        torch.save(results, out)


def main(model, out, number, *cases):
    assert processes.fork(int(number), work, model, out, cases) == 0


if __name__ == "__main__":
    main(*sys.argv[1:])
