"""The update: the optimizer steps of one collection, one step per mini-batch.

Shapes: B trajectories, T tokens.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from agentgym_train.config import EngineConfig
from agentgym_train.data.batching import Batch
from agentgym_train.engine.deepspeed import Engine
from agentgym_train.learning.streams import in_step
from agentgym_train.protocols import Algorithm


class NotFiniteError(ArithmeticError):
    """A loss or gradient is not finite on one of the processes. All processes raise it.

    Args:
        what: name of the number that is not finite.
        episodes: this process's episodes that caused it, by their index in the collection.
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
    critic: Engine | None = None,
) -> dict[str, float]:
    """Takes the optimizer steps of one collection.

    All processes call it, including those without episodes.

    Args:
        engine: the policy.
        algorithm: computes the loss.
        batch: the episodes of this process, with advantages.
        groups: number of groups over all processes. They are split into ``config.minibatches``
            parts; a part of weight 0 is skipped.
        config: sizes of mini-batches and micro-batches.
        critic: a separate critic model, which learns from the same loss.

    Returns:
        ``loss``, divided by the algorithm's weight; the sums that the algorithm logs, divided by
        the number of action tokens, or by the weight for those of ``per_weight``; the mean
        ``grad_norm`` before clipping; with a critic ``critic_grad_norm``; the learning rate ``lr``
        of the last step; the number of ``updates``. Sums are over all processes.

    Raises:
        NotFiniteError: a loss or gradient is not finite.
    """
    sums: dict[str, float] = {}
    learners = {"": engine} if critic is None else {"": engine, "critic_": critic}
    norms: dict[str, list[float]] = {name: [] for name in learners}
    tokens = weights = 0.0
    for mini in batch.mini_batches(config.minibatches, groups):
        weight, mini_tokens = engine.distributed.sum(algorithm.weight(mini), mini.action_tokens)
        # The weight is summed over processes, so all of them skip the part or none does.
        if not weight:
            continue
        weights, tokens = weights + weight, tokens + mini_tokens
        blamed: list[int] = []
        for micro in in_step(
            mini, engine.distributed, config.micro_batch_tokens, whole_groups=algorithm.whole_groups
        ):
            _add(
                sums,
                _accumulate(engine, critic, algorithm, micro.to(engine.device), weight, blamed),
            )
        # All processes raise together. One that raised alone would leave the others waiting in
        # step().
        if any(engine.distributed.sum(len(blamed))):
            raise NotFiniteError("loss", blamed)
        for name, learner in learners.items():
            norms[name].append(learner.step())
            if not math.isfinite(norms[name][-1]):
                raise NotFiniteError(
                    "gradient" if learner is engine else "critic's gradient",
                    mini.episode_B.tolist(),
                )
    totals = zip(sums, engine.distributed.sum(*sums.values()), strict=True)
    by_weight = {"loss", *algorithm.per_weight}
    means = {
        name: value / (weights if name in by_weight else max(tokens, 1.0)) for name, value in totals
    }
    means |= {f"{name}grad_norm": sum(each) / max(len(each), 1) for name, each in norms.items()}
    return means | {"lr": engine.lr, "updates": float(len(norms[""]))}


def _accumulate(
    engine: Engine,
    critic: Engine | None,
    algorithm: Algorithm,
    micro: Batch,
    weight: float,
    blamed: list[int],
) -> dict[str, Tensor]:
    """Accumulates a micro-batch's gradients; returns sums over its action tokens.

    A separate critic has a separate graph. The loss therefore sees a detached copy of its values,
    and the copy's gradient is then propagated through the critic.

    Args:
        engine: the policy.
        critic: a separate critic model, or None.
        algorithm: computes the loss.
        micro: the micro-batch, on the engine's device.
        weight: the algorithm's weight of the mini-batch, over all processes.
        blamed: gets the episodes whose numbers are not finite.
    """
    forward = engine.forward(micro, bonus="entropy" in algorithm.required_streams)
    live_BT = critic.values(micro) if critic else None
    if live_BT is not None:
        forward = forward._replace(value_BT=live_BT.detach().requires_grad_())
    # Gradients of the streams are kept, because their rows show which episodes are not finite.
    # After the backward pass through the model all episodes are mixed.
    watched = [
        stream_BT for stream_BT in (forward.logp_BT, forward.value_BT) if stream_BT is not None
    ]
    for stream_BT in watched:
        stream_BT.retain_grad()
    loss, extra = algorithm.loss(forward, micro)
    # DeepSpeed averages gradients over processes. The factor ``size`` turns the mean into a sum, as
    # ``weight`` is already the total of all processes.
    engine.backward(loss * engine.distributed.size / weight)
    gradients = [stream_BT.grad for stream_BT in watched if stream_BT.grad is not None]
    assert len(gradients) == len(watched)
    if critic and live_BT is not None:
        critic.backward((live_BT * gradients[-1]).sum())
    logp_BT = forward.logp_BT.detach().where(micro.action_BT, 0.0)
    finite_RB = torch.stack([stream_BT.isfinite().all(1) for stream_BT in (logp_BT, *gradients)])
    finite_B = finite_RB.all(0)
    if not finite_B.all() or not loss.isfinite():
        # If only the loss is not finite, no row shows the cause: all episodes are suspects.
        suspects_B = micro.episode_B[~finite_B if not finite_B.all() else slice(None)]
        blamed += suspects_B[suspects_B >= 0].tolist()
    entropy = forward.entropy_BT.where(micro.action_BT, 0.0).sum()
    drift = (logp_BT - micro.logp_BT).abs().where(micro.action_BT, 0.0).sum()
    return {"loss": loss, "entropy": entropy, "logp_drift": drift, **extra}


def _add(sums: dict[str, float], more: Mapping[str, Tensor]) -> None:
    for key, value in more.items():
        sums[key] = sums.get(key, 0.0) + float(value.detach())
