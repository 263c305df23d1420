"""One optimizer step on fixed trajectories: ``one_step.py MODEL STAGE OUT [DTYPE]``; process 0 writes loss and weights to OUT."""

import sys

import torch
from transformers import AutoModelForCausalLM

from agentgym_train.algorithms.grpo import GRPO
from agentgym_train.batching import pack
from agentgym_train.config import EngineConfig
from agentgym_train.engine.deepspeed import Engine, end_process
from agentgym_train.types import Group, Trajectory, Turn


def groups():
    """Eight groups of uneven trajectories with made-up samples."""
    rng = torch.Generator().manual_seed(0)

    def ids(most):
        return torch.randint(4, 290, (int(torch.randint(1, most, (1,), generator=rng)),), generator=rng).tolist()

    def turn():
        action = ids(5)
        return Turn("", ids(9), action, [-5.0] * len(action), reward=float(torch.rand(1, generator=rng)))

    return [Group(g, [Trajectory("", g, [turn() for _ in range(1 + (g + t) % 4)]) for t in range(3)]) for g in range(8)]


def main(model, stage, out):
    zero = {"stage3_param_persistence_threshold": 0} if stage == "3" else {}
    config = EngineConfig(zero_stage=int(stage), lr=3e-4, zero=zero, weight_decay=0.01)
    engine = Engine(AutoModelForCausalLM.from_pretrained(model), config, dtype="float32", temperature=1.0)
    algorithm = GRPO()
    losses = []
    for _ in range(2):
        # The second process gets fewer micro-batches than the first.
        share = groups() if engine.world_size == 1 else (groups()[:6] if engine.rank == 0 else groups()[6:])
        batch = algorithm.advantages(pack(share))
        (tokens,) = engine.total(batch.action_tokens)
        micros = batch.micro_batches(64)
        count = engine.most(len(micros))
        total = 0.0
        for micro in [*micros, *[batch.idle()] * (count - len(micros))]:
            loss, _ = algorithm.loss(engine.forward(micro).logp_BT, micro)
            engine.backward(loss * engine.world_size / tokens)
            total += loss.item()
        norm = engine.step()
        losses.append((engine.total(total)[0] / tokens, norm))
    weights = {name: tensor.clone() for name, tensor in engine.weights()}
    if engine.rank == 0:
        torch.save({"losses": losses, "weights": weights}, out)
    engine.close()
    end_process()


if __name__ == "__main__":
    main(*sys.argv[1:])
