"""The update: one collection of all processes, split into mini-batches, each of which is an optimizer step.

Shapes: B trajectories, T tokens.
"""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor
from transformers import PreTrainedModel

from agentgym_train.batching import Batch
from agentgym_train.config import EngineConfig
from agentgym_train.engine.deepspeed import Engine
from agentgym_train.engine.logps import token_logps
from agentgym_train.protocols import Algorithm


class NotFiniteError(ArithmeticError):
    """A loss or gradient is infinite or no number, on any of the processes. All of them raise it.

    Args:
        what: was not finite.
        episodes: of this process, by their place in the collection, that are to blame.
    """

    def __init__(self, what: str, episodes: list[int]):
        super().__init__(f"the {what} is not finite")
        self.what, self.episodes = what, sorted(episodes)


def update(
    engine: Engine,
    algorithm: Algorithm,
    batch: Batch,
    *,
    groups: int,
    config: EngineConfig,
    reference: PreTrainedModel | None = None,
) -> dict[str, float]:
    """Takes the optimizer steps of one collection. All processes call it, also those that collected nothing.

    Args:
        engine: the policy.
        algorithm: gives the loss.
        batch: what this process collected, with advantages.
        groups: groups of all processes: they are split into ``config.minibatches`` parts; a part without an action is skipped.
        config: how to split.
        reference: the initial policy, where the algorithm asks for its log-probabilities.

    Returns:
        The loss and what the algorithm logs, as means over the action tokens of all processes; the mean ``grad_norm`` before
        clipping, and the number of ``updates``.

    Raises:
        NotFiniteError: a loss or gradient is not finite.
    """
    sums: dict[str, float] = {}
    norms: list[float] = []
    total = 0.0
    for mini in batch.mini_batches(config.minibatches, groups):
        (tokens,) = engine.total(mini.action_tokens)
        if not tokens:
            continue
        total += tokens
        blamed: list[int] = []
        for micro in _in_step(engine, mini, config.micro_batch_tokens):
            _add(sums, _accumulate(engine, algorithm, _with_reference(micro.to(engine.device), reference, engine), tokens, blamed))
        if any(engine.total(len(blamed))):
            raise NotFiniteError("loss", blamed)
        norms.append(engine.step())
        if not torch.isfinite(torch.tensor(norms[-1])):
            raise NotFiniteError("gradient", mini.episode_B.tolist())
    means = {k: v / total for k, v in zip(sums, engine.total(*sums.values()), strict=True)}
    return means | {"grad_norm": sum(norms) / max(len(norms), 1), "updates": float(len(norms))}


def _accumulate(engine: Engine, algorithm: Algorithm, micro: Batch, tokens: float, blamed: list[int]) -> dict[str, Tensor]:
    """Adds a micro-batch's gradient and notes the episodes that spoil it; returns sums over its action tokens."""
    forward = engine.forward(micro)
    forward.logp_BT.retain_grad()
    loss, extra = algorithm.loss(forward.logp_BT, micro)
    # DeepSpeed averages gradients over processes; what is wanted is their sum.
    engine.backward(loss * engine.world_size / tokens)
    gradient_BT = forward.logp_BT.grad
    assert gradient_BT is not None
    logp_BT = forward.logp_BT.detach().where(micro.action_BT, 0.0)
    fine_B = (logp_BT.isfinite() & gradient_BT.isfinite()).all(1)
    if not fine_B.all() or not loss.isfinite():
        suspects_B = micro.episode_B[~fine_B if not fine_B.all() else slice(None)]
        blamed += suspects_B[suspects_B >= 0].tolist()
    entropy = forward.entropy_BT.where(micro.action_BT, 0.0).sum()
    drift = (logp_BT - micro.logp_BT).abs().where(micro.action_BT, 0.0).sum()
    return {"loss": loss, "entropy": entropy, "logp_drift": drift, **extra}


def _in_step(engine: Engine, mini: Batch, max_tokens: int) -> list[Batch]:
    """Returns the micro-batches, and idle ones until every process has as many: under ZeRO each is a collective."""
    micros = mini.micro_batches(max_tokens)
    return micros + [mini.idle()] * (engine.most(len(micros)) - len(micros))


def _with_reference(micro: Batch, reference: PreTrainedModel | None, engine: Engine) -> Batch:
    if reference is None:
        return micro
    with torch.no_grad():
        return replace(micro, reference_BT=token_logps(reference, micro, engine.temperature).logp_BT)


def _add(sums: dict[str, float], more: Mapping[str, Tensor]) -> None:
    for key, value in more.items():
        sums[key] = sums.get(key, 0.0) + float(value.detach())
