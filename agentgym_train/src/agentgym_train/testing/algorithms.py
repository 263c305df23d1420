"""The check for authors of algorithms.

Shapes: B trajectories, T tokens.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from agentgym_train import plugins
from agentgym_train.data.batching import Batch, pack
from agentgym_train.data.types import Group, Trajectory, Turn
from agentgym_train.engine.distributed import Distributed
from agentgym_train.engine.logps import Forward
from agentgym_train.protocols import Algorithm
from agentgym_train.testing.failures import Fail, failing, told

PLAYS = 4  # collections


def check_algorithm(name_or_options: str | Mapping[str, Any], *, group_size: int = 3) -> list[str]:
    """Checks what the trainer relies on in an algorithm, on made-up trajectories.

    Args:
        name_or_options: its registered name, or a configuration's table: its ``name`` and its
            options.
        group_size: trajectories of a group; 2 for an algorithm of pairs.

    Returns:
        One line for each property that holds.

    Raises:
        UnknownName: no such algorithm.
        ConfigError: an option that it does not have, or a value that it cannot have.
        BrokenPlugin: it cannot be made, lacks methods, or needs a stream that nobody fills.
        ConformanceError: the first property that does not hold, with what was seen.
    """
    options = {"name": name_or_options} if isinstance(name_or_options, str) else name_or_options
    algorithm = plugins.make_algorithm(options)
    fail = failing(plugins.title(algorithm))
    for seed in range(PLAYS):
        groups = _groups(seed, group_size)
        _check(algorithm, groups, seed, fail)
    with told(fail, "what nobody played"):
        nothing = algorithm.compute_advantages(
            _needed(pack([Group(0, [])]), algorithm, 0), [Group(0, [])], Distributed()
        )
        if algorithm.weight(nothing):
            fail(f"its weight of nothing is {algorithm.weight(nothing)}, not 0")
    return [
        "credit leaves tokens and rows as they are, and its streams are finite and fit them",
        "the loss is finite, and its gradient is finite and lies on action tokens alone",
        "losses and weights of parts add up to those of the whole: it is a sum, not a mean",
        "an idle micro-batch has a loss that can be derived, and no weight",
        "a process without episodes is no error",
    ]


def _check(algorithm: Algorithm, groups: Sequence[Group], seed: int, fail: Fail) -> None:
    before = _needed(pack(groups), algorithm, seed)
    with told(fail, "credit"):
        batch = algorithm.compute_advantages(before, groups, Distributed())
    for name, old in vars(before).items():
        if name != "streams" and not torch.equal(old, getattr(batch, name)):
            fail(f"credit changed {name}")
    for name, stream in batch.streams.items():
        if stream.shape != batch.id_BT.shape or not stream.isfinite().all():
            fail(
                f"credit's stream {name!r} has the shape {tuple(stream.shape)} or numbers that are"
                " not finite"
            )
    whole, gradients = _loss(algorithm, batch, seed, fail)
    for what, gradient_BT in gradients.items():
        if outside := int((gradient_BT.abs() * ~batch.action_BT).count_nonzero()):
            fail(f"its loss pushes the {what} of {outside} tokens that the policy did not sample")
    parts = batch.micro_batches(1, whole_groups=algorithm.whole_groups)
    sums = [_loss(algorithm, part, seed, fail)[0] for part in parts]
    for what, total, added in (
        ("loss", whole, sum(sums)),
        ("weight", algorithm.weight(batch), sum(map(algorithm.weight, parts))),
    ):
        if abs(total - added) > 1e-3 * (1 + abs(total)):
            fail(
                f"its {what} of the whole is {total:g}, and those of its parts add up to {added:g}"
            )
    _loss(algorithm, batch.idle(), seed, fail)
    if algorithm.weight(batch.idle()):
        fail("an idle micro-batch has a weight")


def _loss(
    algorithm: Algorithm, batch: Batch, seed: int, fail: Fail
) -> tuple[float, dict[str, Tensor]]:
    """Returns the loss and its gradients by token, under a policy and a critic that are the same for the same token."""
    shift_BT = 0.1 * torch.sin(batch.id_BT.float() + seed)
    logp_BT = (batch.logp_BT + shift_BT).where(batch.valid_BT, 0.0).requires_grad_()
    bonus_BT = torch.ones_like(logp_BT) if "entropy" in algorithm.required_streams else None
    value_BT = (5 * shift_BT).requires_grad_() if "value" in algorithm.required_streams else None
    with told(fail, "loss"):
        loss, sums = algorithm.loss(
            Forward(logp_BT, torch.ones_like(logp_BT), bonus_BT, value_BT), batch
        )
        if not loss.requires_grad:
            fail(
                "its loss does not depend on the log-probabilities, on an idle micro-batch perhaps"
            )
        loss.backward()
    gradients = {}
    for what, stream_BT in {"log-probabilities": logp_BT, "values": value_BT}.items():
        if stream_BT is not None:
            if stream_BT.grad is None:
                fail(f"its loss does not depend on the {what}, on an idle micro-batch perhaps")
            gradients[what] = stream_BT.grad
    if (
        loss.dim()
        or not loss.isfinite()
        or not all(gradient_BT.isfinite().all() for gradient_BT in gradients.values())
    ):
        fail(f"its loss is {loss.detach()}, or its gradient is not finite")
    if odd := next((name for name, value in sums.items() if value.numel() != 1), None):
        fail(f"what it logs as {odd!r} is no number")
    return float(loss.detach()), gradients


def _needed(batch: Batch, algorithm: Algorithm, seed: int) -> Batch:
    """Fills the streams that the algorithm needs."""
    names = [name for name in sorted(algorithm.required_streams) if name != "entropy"]
    made = {
        name: batch.logp_BT + 0.2 * torch.cos(batch.id_BT + seed + n)
        for n, name in enumerate(names)
    }
    return batch.with_streams(
        **{name: stream.where(batch.action_BT, 0.0) for name, stream in made.items()}
    )


def _groups(seed: int, size: int) -> list[Group]:
    """Makes up groups of uneven trajectories; the second of three is empty on this process."""
    rng = torch.Generator().manual_seed(seed)

    def number(most: int) -> int:
        return int(torch.randint(1, most, (1,), generator=rng))

    def turn() -> Turn:
        ids = [number(99) for _ in range(number(5))]
        seen = f"room {number(3)}"
        return Turn(
            seen,
            [number(99) for _ in range(number(6))],
            ids,
            [-number(30) / 10 for _ in ids],
            reward=number(9) / 8,
        )

    def trajectory(group: int) -> Trajectory:
        return Trajectory(f"task {group}", group, [turn() for _ in range(number(5))])

    return [Group(n, [] if n == 1 else [trajectory(n) for _ in range(size)]) for n in range(3)]
