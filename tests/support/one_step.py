"""Two updates on fixed trajectories for each case.

    one_step.py MODEL FOLDER CASE…

FOLDER/1.pt holds the metrics and weights of a run with one process, FOLDER/2.pt those with two.
"""

import itertools
import sys
from dataclasses import replace

import processes
import torch

from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.config import EngineConfig, ModelConfig
from agentgym_train.data.batching import ForwardOutput, pack
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.engine.deepspeed import TrainingEngine, loading
from agentgym_train.learning.update import update
from agentgym_train.models import chunked_head
from agentgym_train.models.loading import load_policy

GROUPS = 8
SHARES = (range(6), range(6, 8))
"""Groups of two processes. The second has fewer micro-batches, and none in the first minibatch."""
CONFIG = EngineConfig(lr=3e-4, weight_decay=0.01, micro_batch_tokens=64)
CASES = {
    **{
        f"stage {s} {d}": (s, d, 1, GROUPS, 0)
        for s, d in itertools.product(range(4), ("float32", "bfloat16"))
    },
    **{f"stage {s} minibatches": (s, "float32", 2, GROUPS, 0) for s in range(4)},
    # Two of eight groups have episodes, both in the second process. Two of the four minibatches are
    # empty on all processes.
    **{f"stage {s} almost empty": (s, "float32", 4, 2, 0) for s in (0, 3)},
    **{f"stage {s} last layer": (s, "float32", 1, GROUPS, 1) for s in range(4)},
}
"""Name → ZeRO stage, precision, minibatches, groups with episodes, trained layers (0: all)."""
CHECKPOINTED = " checkpointed"
CASES |= {f"{name}{CHECKPOINTED}": case for name, case in CASES.items()}
SLICE = 2000
"""Logits in memory at a time: five tokens of the tiny model, far fewer than a micro-batch has."""


def groups(played=GROUPS):
    """Returns groups of uneven trajectories with synthetic samples; other groups are empty."""
    rng = torch.Generator().manual_seed(0)

    def ids(most):
        return torch.randint(
            4, 290, (int(torch.randint(1, most, (1,), generator=rng)),), generator=rng
        ).tolist()

    def turn():
        action = ids(5)
        return Turn(
            "",
            [Call(ids(9), action, [-5.0] * len(action))],
            reward=float(torch.rand(1, generator=rng)),
        )

    made = [
        Group(g, [Trajectory("", g, [turn() for _ in range(1 + (g + t) % 4)]) for t in range(3)])
        for g in range(GROUPS)
    ]
    return (
        made
        if played == GROUPS
        else [g if g.number in (5, 7) else Group(g.number, []) for g in made]
    )


FEW = ("stage 0 float32", "stage 2 bfloat16", f"stage 3 minibatches{CHECKPOINTED}")
"""Cases outside ``tox run -e full``. Each stage shares work differently."""


def plain(model, batch, temperature=1.0):
    """Returns the forward of a transformers model by all its logits, in plain torch."""
    logits = model(input_ids=batch.id_BT, attention_mask=batch.valid_BT.long()).logits[:, :-1]
    logp = (logits.float() / temperature).log_softmax(-1)
    logp_BT = torch.zeros(batch.id_BT.shape)
    logp_BT[:, 1:] = logp.gather(2, batch.id_BT[:, 1:, None])[..., 0]
    return ForwardOutput(logp_BT.where(batch.action_BT, 0.0))


def _model_config(name, dtype, layers):
    on = name.endswith(CHECKPOINTED)
    return ModelConfig(dtype=dtype, last_layers=layers, checkpointing="on" if on else "off")


def work(rank, model, out, *cases):
    chunked_head.NUMBERS = SLICE
    results = {}
    for name in cases:
        stage, dtype, minibatches, played, layers = CASES[name]
        zero = {"stage3_param_persistence_threshold": 0} if stage == 3 else {}
        config = replace(CONFIG, zero_stage=stage, zero=zero, minibatches=minibatches)
        with loading(config, dtype):
            policy = load_policy(_model_config(name, dtype, layers), model, seed=0)
        engine = TrainingEngine(policy, config, dtype=dtype, temperature=1.0)
        share = range(GROUPS) if engine.distributed.size == 1 else SHARES[rank]
        mine = [g for g in groups(played) if g.number in share]
        batch = GRPO().compute_advantages(pack(mine), mine, engine.distributed)
        metrics = [update(engine, GRPO(), batch, groups=GROUPS, config=config) for _ in range(2)]
        results[name] = {"metrics": metrics, "weights": {n: w.clone() for n, w in engine.weights()}}
        engine.close()
    assert "torch._inductor.compile_fx" not in sys.modules, (
        "torch's compiler takes seconds to load and is not needed here"
    )
    if rank == 0:
        torch.save(results, out)


def main(model, folder, *cases):
    for number in (1, 2):
        assert processes.fork(number, work, model, f"{folder}/{number}.pt", *cases) == 0


if __name__ == "__main__":
    main(*sys.argv[1:])
