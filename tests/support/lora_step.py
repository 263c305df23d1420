"""Two updates of an adapter on fixed trajectories for each case, with the reference before each.

    lora_step.py MODEL FOLDER CASE…

A case is STAGE-DTYPE. FOLDER/1.pt holds the results of one process, FOLDER/2.pt those of two.
"""

import os
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import one_step
import processes
import torch

from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.config import LoraConfig, ModelConfig
from agentgym_train.data.batching import pack
from agentgym_train.engine.deepspeed import FrozenModel, TrainingEngine, loading
from agentgym_train.learning.update import update
from agentgym_train.models.loading import load_model, load_policy
from agentgym_train.models.lora import parts

LORA = LoraConfig(rank=4, alpha=8.0)
RATE = 3e-3


def mine(distributed):
    share = range(one_step.GROUPS) if distributed.size == 1 else one_step.SHARES[distributed.rank]
    return [group for group in one_step.groups() if group.number in share]


def made(model, stage, dtype, lora=LORA, **options):
    """Returns an engine and its configuration; the caller closes the engine."""
    zero = {"stage3_param_persistence_threshold": 0} if stage == 3 else {}
    config = replace(one_step.CONFIG, zero_stage=stage, zero=zero, lr=RATE, **options)
    with loading(config, dtype):
        policy = load_policy(ModelConfig(dtype=dtype, lora=lora), model, seed=0)
    return TrainingEngine(policy, config, dtype=dtype), config


def frozen(model, config, dtype):
    """Returns the log-probabilities of a reference without adapter."""
    with loading(config, dtype):
        loaded = load_model(model, dtype)
    with torch.no_grad():
        reference = FrozenModel(loaded, config, dtype=dtype, temperature=1.0)
        logp_BT = reference.forward(pack(one_step.groups()[:2])).logp_BT
    whole = sum(parameter.numel() for parameter in loaded.parameters())
    assert (whole == 0) == (config.zero_stage == 3), "a reference is sharded as the policy is"
    return logp_BT


def play(model, folder, stage, dtype):
    """Returns metrics, log-probabilities of references, weights and names of the adapter."""
    engine, config = made(model, stage, dtype)
    with closing(engine):
        groups = mine(engine.distributed)
        batch = GRPO().compute_advantages(pack(groups), groups, engine.distributed)
        metrics, reference = [], [frozen(model, config, dtype)]
        for _ in range(2):
            with torch.no_grad():
                reference.append(engine.reference(pack(one_step.groups()[:2])).logp_BT)
            metrics.append(update(engine, GRPO(), batch, groups=one_step.GROUPS, config=config))
        weights = {name: weight.clone() for name, weight in engine.weights()}
        engine.save_model(folder / f"{stage}-{dtype}-{engine.distributed.size}")
        adapter = {n for n, p in parts(engine._model) if p.requires_grad}
        return {"metrics": metrics, "reference": reference, "weights": weights, "adapter": adapter}


def work(rank, model, folder, cases):
    results = {}
    for case in cases:
        stage, dtype = case.split("-")
        results[case] = play(model, folder, int(stage), dtype)
    if rank == 0:
        torch.save(results, folder / f"{os.environ['WORLD_SIZE']}.pt")


def main(model, folder, *cases):
    for number in (1, 2):
        assert processes.fork(number, work, model, Path(folder), cases) == 0


if __name__ == "__main__":
    main(*sys.argv[1:])
