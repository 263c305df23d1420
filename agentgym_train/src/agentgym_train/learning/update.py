"""The update of a policy from one collection: streams for its advantages, then optimizer steps.

Examples of streams are log-probabilities under other policies, and values of a critic. Each
mini-batch has one optimizer step.

Shapes: B rows, T tokens. A row is a sample; an episode can have several.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from agentgym_train.config import EngineConfig
from agentgym_train.data.batching import Batch, pack
from agentgym_train.data.load_balancing import Origin, SharedBatch, share_out
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.engine.deepspeed import TrainingEngine
from agentgym_train.learning.episodes import rows_with_loss, unit
from agentgym_train.protocols import Algorithm

Producer = Callable[[Batch], Tensor]
"""Computes a stream of a micro-batch, shape (B, T), on the device of its model."""


def fill_streams(
    batch: Batch,
    required_streams: Collection[str],
    producers: Mapping[str, Producer],
    *,
    distributed: Distributed,
    max_tokens: int,
    groups: Sequence[Group] = (),
) -> Batch:
    """Returns the batch with the required streams that have a producer.

    "next_value" comes from the producer of "value". All processes call it.

    Args:
        batch: the episodes of this process.
        required_streams: names of streams.
        producers: a function per name; every process calls it equally often.
        distributed: the processes.
        max_tokens: maximum padded tokens per micro-batch.
        groups: the groups of the batch; only "next_value" needs them.
    """
    filled = {}
    # Sorted, since all processes must compute the streams in the same order.
    names = sorted(required_streams & producers.keys())
    # One pass of the critic reads both the values and the next values.
    longer, ends = _with_next(batch, groups) if "next_value" in required_streams else (batch, [])
    apart = ["value"] if longer is not batch else []
    for read, own in ((batch, [name for name in names if name not in apart]), (longer, apart)):
        # The tokens cross processes once for all streams that are computed from them.
        shares = share_out(read, distributed, max_tokens) if own else []
        for name in own:
            stream_BT = _produced(producers[name], read, shares, distributed)
            rows, width = batch.id_BT.shape
            filled[name] = stream_BT[:rows, :width].where(batch.action_BT, 0.0)
            if read is not batch:
                filled["next_value"] = _next_values(stream_BT, batch, longer, ends)
    return batch.with_streams(**filled)


def _produced(
    producer: Producer, batch: Batch, shares: Sequence[SharedBatch], distributed: Distributed
) -> Tensor:
    """Returns a stream of the batch, float32, shape (B, T).

    Each process computes its share of the rows of all and returns the results.
    """
    results: list[list[tuple[int, Tensor]]] = [[] for _ in range(distributed.size)]
    for micro, origins in shares:
        with torch.no_grad():
            part_BT = producer(micro).float().cpu()
        for (process, row), stream_T, valid_T in zip(
            origins, part_BT, micro.valid_BT, strict=bool(origins)
        ):
            results[process].append((row, stream_T[valid_T]))
    stream_BT = torch.zeros_like(batch.logp_BT)
    for theirs in distributed.exchange(results):
        for row, stream_T in theirs:
            stream_BT[row, : len(stream_T)] = stream_T
    return stream_BT


def _with_next(batch: Batch, groups: Sequence[Group]) -> tuple[Batch, list[tuple[int, int]]]:
    """Returns the batch with the prompts after the last actions, and where they are.

    A prompt that extends a sample follows the sample's last token. Any other prompt is a new row
    after the others. One more token follows the prompt: column t of a value stream is the value
    before token t. No token attends to it, so any id will do.

    Returns:
        The longer batch. For each prompt, the row of the episode's last call, and the row that ends
        with the prompt.
    """
    trajectories = [t for group in groups for t in group.trajectories]
    rows: dict[int, list[int]] = {}
    for row, episode in enumerate(batch.episode_B.tolist()):
        rows.setdefault(episode, []).append(row)
    opening_B, newest_B = batch.call_BT[:, 0].tolist(), batch.call_BT.amax(1).tolist()
    tails: list[list[int]] = [[] for _ in batch.group_B]
    apart: list[Turn] = []
    ends: list[tuple[int, int]] = []
    for episode, own in rows.items():
        if (prompt := trajectories[episode].next_call) is None:
            continue
        calls = trajectories[episode].calls
        of_sample = {calls[opening_B[row]].sample: row for row in own}
        if prompt.sample in of_sample:
            end = of_sample[prompt.sample]
            tails[end] = [*prompt.prompt_ids, 0]
        else:
            end = len(tails) + len(apart)
            # A sample without an action has no row; the prompt can extend it all the same.
            before = [i for c in calls if c.sample == prompt.sample for i in c.prompt_ids]
            apart.append(Turn("", [Call([*before, *prompt.prompt_ids], [0], [0.0])]))
        ends.append((max(own, key=newest_B.__getitem__), end))
    longer = replace(batch.extended(tails), streams={})
    if apart:
        fresh = pack([Group(0, [Trajectory("", 0, [turn]) for turn in apart])])
        longer = Batch.join([longer, fresh])
    return longer, ends


def _next_values(
    value_BT: Tensor, batch: Batch, longer: Batch, ends: Sequence[tuple[int, int]]
) -> Tensor:
    """Returns the values after the next prompts, each on the last action token of its episode.

    Args:
        value_BT: the values of ``longer``.
        batch: the batch.
        longer: see :func:`_with_next`.
        ends: see :func:`_with_next`.

    Returns:
        float32, of the shape of ``batch``; 0 for all other tokens.
    """
    end_B, longer_end_B = (each.valid_BT.sum(1) - 1 for each in (batch, longer))
    last_P, prompt_P = torch.tensor(ends, dtype=torch.int64).reshape(-1, 2).T
    next_BT = torch.zeros_like(batch.logp_BT)
    next_BT[last_P, end_B[last_P]] = value_BT[prompt_P, longer_end_B[prompt_P]]
    return next_BT


class NotFiniteError(ArithmeticError):
    """A loss or gradient is not finite on one of the processes. All processes raise it.

    Args:
        what: name of the number that is not finite.
        episodes: this process's episodes that caused it, by their index in the collection.
    """

    def __init__(self, what: str, episodes: list[int]):
        super().__init__(f"the {what} is not finite")
        self.what, self.episodes = what, sorted(set(episodes))


def update(
    engine: TrainingEngine,
    algorithm: Algorithm,
    batch: Batch,
    *,
    groups: int,
    config: EngineConfig,
    critic: TrainingEngine | None = None,
) -> dict[str, float]:
    """Takes the optimizer steps of one collection.

    All processes call it, including those without episodes.

    Args:
        engine: the policy.
        algorithm: computes the loss.
        batch: the episodes of this process, with advantages.
        groups: number of groups over all processes. They are split into ``config.minibatches``
            parts; a part of weight 0 is skipped. The rows of a part are distributed over the
            processes anew, and those without loss are not run.
        config: sizes of mini-batches and micro-batches.
        critic: a separate critic model, which learns from the same loss.

    Returns:
        ``loss``, divided by the algorithm's weight; the sums that the algorithm logs, divided by
        the number of action tokens that were run, or by the weight for those of ``per_weight``; the
        mean ``grad_norm`` before clipping; with a critic ``critic_grad_norm``; the learning rate
        ``lr`` of the last step; the number of ``updates``; the number of ``skipped`` episodes, of
        which no row was run. Sums are over all processes.

    Raises:
        NotFiniteError: a loss or gradient is not finite.
    """
    sums: dict[str, float] = {}
    distributed = engine.distributed
    learners = {"": engine} if critic is None else {"": engine, "critic_": critic}
    norms: dict[str, list[float]] = {name: [] for name in learners}
    tokens = weights = skipped = 0.0
    for mini in batch.mini_batches(config.minibatches, groups):
        # The weight is summed over processes, so all of them skip the part or none does.
        (weight,) = distributed.sum(algorithm.weight(mini))
        if not weight:
            continue
        run = _with_loss(mini, algorithm, distributed)
        run_tokens, left_out = distributed.sum(
            run.action_tokens, len(mini.episode_B.unique()) - len(run.episode_B.unique())
        )
        weights, tokens, skipped = weights + weight, tokens + run_tokens, skipped + left_out
        blamed: list[Origin] = []
        for share in share_out(run, distributed, config.micro_batch_tokens, unit=unit(algorithm)):
            _add(sums, _accumulate(engine, critic, algorithm, share, weight, blamed))
        _check_finite(blamed, run, distributed)
        for name, learner in learners.items():
            norms[name].append(learner.step())
            if not math.isfinite(norms[name][-1]):
                raise NotFiniteError(
                    "gradient" if learner is engine else "critic's gradient",
                    mini.episode_B.tolist(),
                )
    totals = zip(sums, distributed.sum(*sums.values()), strict=True)
    by_weight = {"loss", *algorithm.per_weight}
    means = {
        name: value / (weights if name in by_weight else max(tokens, 1.0)) for name, value in totals
    }
    means |= {f"{name}grad_norm": sum(each) / max(len(each), 1) for name, each in norms.items()}
    return means | {"lr": engine.lr, "updates": float(len(norms[""])), "skipped": skipped}


def _with_loss(mini: Batch, algorithm: Algorithm, distributed: Distributed) -> Batch:
    """Returns the rows that must be run, without those whose loss is 0.

    If all are without loss, the episode of each process's shortest row is run: the optimizer needs
    gradients, though they are 0, and the metrics need tokens.
    """
    rows = rows_with_loss(mini, algorithm)
    if not any(distributed.sum(len(rows))):
        shortest = mini.valid_BT.sum(1).argsort(stable=True)[:1]
        rows = torch.isin(mini.episode_B, mini.episode_B[shortest]).nonzero()[:, 0].tolist()
    return mini.take(rows)


def _check_finite(blamed: list[Origin], run: Batch, distributed: Distributed) -> None:
    """Raises an error on all processes if one of them has found a row to blame.

    A process that raised alone would leave the others waiting in ``step``.

    Args:
        blamed: origins of rows that this process has computed.
        run: the rows that this process has.
        distributed: the processes.
    """
    everywhere = [origin for theirs in distributed.gather(blamed) for origin in theirs]
    if everywhere:
        own = [row for process, row in everywhere if process == distributed.rank]
        raise NotFiniteError("loss", run.episode_B[own].tolist())


def _accumulate(
    engine: TrainingEngine,
    critic: TrainingEngine | None,
    algorithm: Algorithm,
    share: SharedBatch,
    weight: float,
    blamed: list[Origin],
) -> dict[str, Tensor]:
    """Accumulates a micro-batch's gradients; returns sums over its action tokens.

    A separate critic has a separate graph. The loss therefore sees a detached copy of its values,
    and the copy's gradient is then propagated through the critic.

    Args:
        engine: the policy.
        critic: a separate critic model, or None.
        algorithm: computes the loss.
        share: the micro-batch.
        weight: the algorithm's weight of the mini-batch, over all processes.
        blamed: gets the origins of rows whose numbers are not finite.
    """
    micro = share.micro.to(engine.device)
    forward = engine.forward(micro, entropy=True, bonus="entropy" in algorithm.required_streams)
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
        # If only the loss is not finite, no row shows the cause: all rows are suspects.
        suspects_B = ~finite_B if not finite_B.all() else torch.ones_like(finite_B)
        blamed += [origin for origin, bad in zip(share.origins, suspects_B, strict=False) if bad]
    assert forward.entropy_BT is not None
    entropy = forward.entropy_BT.where(micro.action_BT, 0.0).sum()
    drift = (logp_BT - micro.logp_BT).abs().where(micro.action_BT, 0.0).sum()
    return {"loss": loss, "entropy": entropy, "logp_drift": drift, **extra}


def _add(sums: dict[str, float], more: Mapping[str, Tensor]) -> None:
    for key, value in more.items():
        sums[key] = sums.get(key, 0.0) + float(value.detach())
