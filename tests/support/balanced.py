"""Updates in one or several processes, balanced and with trajectories that are not run.

    balanced.py MODEL FOLDER

FOLDER/N.pt holds the results of N processes, by stage.
"""

import sys
from contextlib import closing
from dataclasses import replace

import one_step
import processes
import torch

from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.data.batching import pack
from agentgym_train.data.load_balancing import share_out
from agentgym_train.engine.deepspeed import TrainingEngine
from agentgym_train.learning.update import NotFiniteError, fill_streams, update
from agentgym_train.models.loading import load_model

SHARES = {1: [range(8)], 2: [range(5), range(5, 8)]}
"""Groups of each process."""
EMPTY = {1: [range(8)], 2: [range(8), range(0)]}
"""Groups of each process. With two, the second has none."""
EQUAL = ((), (5, 6, 7), range(8))
"""Groups with equal returns in each of three updates: none, all of the second process, all."""
STAGES = (0, 3)
SPOILED = {
    1: [["2-0", "2-1", "2-2", "5-0", "5-1", "5-2"]],
    2: [["2-0", "2-1", "2-2"], ["5-0", "5-1", "5-2"]],
}
"""Episodes of each process whose gradient is made infinite, by group and place."""


class Full(GRPO):
    """Runs all trajectories, as an algorithm that knows nothing of ``zero_loss_B``."""

    def zero_loss_B(self, batch):
        return torch.zeros(len(batch.group_B), dtype=torch.bool)


class Spoiled(GRPO):
    """Makes the gradient of some trajectories infinite, wherever they are computed."""

    def loss(self, forward, micro):
        loss, sums = super().loss(forward, micro)
        rows = micro.streams["spoiled"].any(1)
        return loss + (forward.logp_BT[rows] * 0.0).sum().abs().sqrt() * rows.any(), sums


def groups(equal=()):
    """Returns the groups of ``one_step``; in those numbered ``equal``, all returns are the same."""
    made = one_step.groups()
    for group in made:
        for n, t in enumerate(group.trajectories):
            t.task_id = f"{group.number}-{n}"
            if group.number in equal:
                for turn in t.turns:
                    turn.reward = 0.0
    return made


def own(made, distributed, shares=SHARES):
    return [g for g in made if g.number in shares[distributed.size][distributed.rank]]


def run(engine, algorithm, mine, config):
    """Returns the metrics of an update and the number of tokens of each forward pass."""
    batch = algorithm.compute_advantages(pack(mine), mine, engine.distributed)
    passes, forward = [], engine.forward
    engine.forward = lambda micro, **more: (
        passes.append(micro.action_tokens) or forward(micro, **more)
    )
    metrics = update(engine, algorithm, batch, groups=one_step.GROUPS, config=config)
    engine.forward = forward
    every = [n for theirs in engine.distributed.gather(passes) for n in theirs]
    return metrics, every


def skipped(model, config):
    """Three updates; see ``EQUAL``. Trajectories without loss are skipped, or not."""
    results = {}
    for algorithm in (GRPO(), Full()):
        engine = TrainingEngine(load_model(model, "float32"), config, dtype="float32")
        with closing(engine):
            steps = [
                run(engine, algorithm, own(groups(equal), engine.distributed), config)
                for equal in EQUAL
            ]
            results[type(algorithm).__name__] = {
                "metrics": [metrics for metrics, _ in steps],
                "passes": [passes for _, passes in steps],
                "weights": {n: w.clone() for n, w in engine.weights()},
            }
    return results


def blamed(model, config):
    """Returns the episodes that each process blames, and the number of those that had moved."""
    engine = TrainingEngine(load_model(model, "float32"), config, dtype="float32")
    with closing(engine):
        distributed = engine.distributed
        mine = own(groups(), distributed)
        episodes = [t for g in mine for t in g.trajectories]
        batch = GRPO().compute_advantages(pack(mine), mine, distributed)
        names = SPOILED[distributed.size][distributed.rank]
        bad_B = torch.tensor([episodes[e].task_id in names for e in batch.episode_B.tolist()])
        batch = batch.with_streams(spoiled=bad_B[:, None] * torch.ones_like(batch.logp_BT))
        moved = sum(
            process != distributed.rank and bool(micro.streams["spoiled"][row].any())
            for micro, origins in share_out(batch, distributed, config.micro_batch_tokens)
            for row, (process, _) in enumerate(origins)
        )
        try:
            update(engine, Spoiled(), batch, groups=one_step.GROUPS, config=config)
        except NotFiniteError as error:
            names = [episodes[e].task_id for e in error.episodes]
            return {"names": distributed.gather(names), "moved": sum(distributed.gather(moved))}


def shared(model, config):
    """Returns the rows that each process computes, and a stream that the other one computes."""
    engine = TrainingEngine(load_model(model, "float32"), config, dtype="float32")
    with closing(engine):
        distributed = engine.distributed
        batch = pack(own(groups(), distributed, EMPTY))
        shares = share_out(batch, distributed, 64, unit="group")
        rows = [
            (origin, micro.group_B[row].item(), micro.id_BT[row, micro.valid_BT[row]].tolist())
            for micro, origins in shares
            for row, origin in enumerate(origins)
        ]
        filled = fill_streams(
            batch,
            {"old", "value"},
            {
                "old": lambda micro: engine.forward(micro).logp_BT,
                "value": lambda micro: micro.id_BT + 1000 * distributed.rank,
            },
            distributed=distributed,
            max_tokens=64,
        )
        return {
            "rows": distributed.gather(rows),
            "micros": distributed.gather(len(shares)),
            "old": filled.streams["old"],
            "value": filled.streams["value"],
        }


def work(rank, model, out):
    results = {}
    for stage in STAGES:
        zero = {"stage3_param_persistence_threshold": 0} if stage == 3 else {}
        config = replace(one_step.CONFIG, zero_stage=stage, zero=zero)
        results[stage] = {part.__name__: part(model, config) for part in (skipped, blamed, shared)}
    if rank == 0:
        torch.save(results, out)


def main(model, folder):
    for number in SHARES:
        assert processes.fork(number, work, model, f"{folder}/{number}.pt") == 0


if __name__ == "__main__":
    main(*sys.argv[1:])
