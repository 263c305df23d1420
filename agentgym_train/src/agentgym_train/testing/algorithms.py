"""The check for authors of algorithms.

Shapes: B rows, T tokens.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from agentgym_train import plugins
from agentgym_train.data.batching import Batch, ForwardOutput, pack
from agentgym_train.data.load_balancing import share_out
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.learning.episodes import by_episode, rows_with_loss, unit
from agentgym_train.protocols import Algorithm
from agentgym_train.testing.failures import Fail, failing, reporting

PLAYS = 4  # number of made-up collections


def check_algorithm(name_or_options: str | Mapping[str, Any], *, group_size: int = 3) -> list[str]:
    """Checks the properties of an algorithm on which the trainer relies, with made-up trajectories.

    Args:
        name_or_options: a registered name, or a table of a configuration: ``name`` and options.
        group_size: trajectories per group; 2 for an algorithm of pairs.

    Returns:
        One line for each property that holds.

    Raises:
        UnknownName: no algorithm has the name.
        ConfigError: an option is unknown, or its value is not allowed.
        BrokenPlugin: the algorithm cannot be built, lacks methods, or requires an unknown stream.
        ConformanceError: the first property that does not hold, with the values that show it.
    """
    options = {"name": name_or_options} if isinstance(name_or_options, str) else name_or_options
    algorithm = plugins.make_algorithm(options)
    fail = failing(plugins.title(algorithm))
    for seed in range(PLAYS):
        for cut in (False, True):
            _check(algorithm, _groups(seed, group_size, cut=cut), seed, fail)
    with reporting(fail, "compute_advantages without episodes"):
        empty = algorithm.compute_advantages(
            _needed(pack([Group(0, [])]), algorithm, 0), [Group(0, [])], Distributed()
        )
        if algorithm.weight(empty):
            fail(f"its weight without episodes is {algorithm.weight(empty)}, not 0")
    return [
        "compute_advantages changes no tokens or rows; its streams are finite and of their shape",
        "the loss and its gradient are finite, and the gradient is 0 outside of action tokens",
        "the loss and the weight do not depend on the samples into which an episode is cut",
        "rows that zero_loss_B marks add nothing to the loss or its gradient",
        "losses and weights of parts add up to those of the whole batch: they are sums, not means",
        "an idle micro-batch has a differentiable loss, and its weight is 0",
        "a process without episodes works",
    ]


def _check(algorithm: Algorithm, groups: Sequence[Group], seed: int, fail: Fail) -> None:
    before, by_sample = by_episode(_needed(pack(groups), algorithm, seed))
    with reporting(fail, "compute_advantages"):
        episodes = algorithm.compute_advantages(before, groups, Distributed())
    for name, old in vars(before).items():
        if name != "streams" and not torch.equal(old, getattr(episodes, name)):
            fail(f"compute_advantages changed {name}")
    for name, stream in episodes.streams.items():
        if stream.shape != episodes.id_BT.shape or not stream.isfinite().all():
            fail(
                f"compute_advantages returned a stream {name!r} of shape {tuple(stream.shape)}, or"
                " with numbers that are not finite"
            )
    batch = by_sample(episodes)
    whole, gradients = _loss(algorithm, batch, seed, fail)
    uncut, _ = _loss(algorithm, episodes, seed, fail)
    _compare(
        {"loss": (uncut, whole), "weight": (algorithm.weight(episodes), algorithm.weight(batch))},
        "of episodes of one sample is {:g}, but {:g} for the same tokens in several samples: a row"
        " is a sample, so sum over rows of an episode, and use batch.episode_tokens_B for its"
        " number of action tokens",
        fail,
    )
    for name, gradient_BT in gradients.items():
        if outside := int((gradient_BT.abs() * ~batch.action_BT).count_nonzero()):
            fail(f"its loss has a gradient for the {name} of {outside} tokens that are not actions")
    marked_B = algorithm.zero_loss_B(batch)
    if marked_B.dtype != torch.bool or marked_B.shape != batch.group_B.shape:
        fail(f"zero_loss_B returned {marked_B.dtype} of shape {tuple(marked_B.shape)}")
    rest, _ = _loss(algorithm, batch.take(rows_with_loss(batch, algorithm)), seed, fail)
    slope = max(float(gradient_BT[marked_B].abs().sum()) for gradient_BT in gradients.values())
    if slope or abs(whole - rest) > 1e-3 * (1 + abs(whole)):
        fail(
            f"zero_loss_B marks {int(marked_B.sum())} rows, but their loss is"
            f" {whole - rest:g} and the sum of its gradient is {slope:g}"
        )
    parts = [share.micro for share in share_out(batch, Distributed(), 1, unit=unit(algorithm))]
    losses = sum(_loss(algorithm, part, seed, fail)[0] for part in parts)
    weights = sum(map(algorithm.weight, parts))
    _compare(
        {"loss": (whole, losses), "weight": (algorithm.weight(batch), weights)},
        "of a whole batch is {:g}, but its parts add up to {:g}: a loss is a sum over tokens; one"
        " that couples the samples of an episode needs whole_episodes, one that couples the"
        " episodes of a group needs whole_groups",
        fail,
    )
    _loss(algorithm, batch.idle(), seed, fail)
    if algorithm.weight(batch.idle()):
        fail("an idle micro-batch has a weight")


def _compare(pairs: Mapping[str, tuple[float, float]], message: str, fail: Fail) -> None:
    """Fails if the two numbers of a name differ by more than rounding."""
    for name, (one, other) in pairs.items():
        if abs(one - other) > 1e-3 * (1 + abs(one)):
            fail(f"its {name} {message.format(one, other)}")


def _loss(
    algorithm: Algorithm, batch: Batch, seed: int, fail: Fail
) -> tuple[float, dict[str, Tensor]]:
    """Returns the loss and its gradient for each token and stream.

    The log-probabilities and values are functions of the token id, so parts of a batch get the same
    numbers as the whole.
    """
    shift_BT = 0.1 * torch.sin(batch.id_BT.float() + seed)
    logp_BT = (batch.logp_BT + shift_BT).where(batch.valid_BT, 0.0).requires_grad_()
    bonus_BT = torch.ones_like(logp_BT) if "entropy" in algorithm.required_streams else None
    value_BT = (5 * shift_BT).requires_grad_() if "value" in algorithm.required_streams else None
    with reporting(fail, "loss"):
        loss, sums = algorithm.loss(
            ForwardOutput(logp_BT, torch.ones_like(logp_BT), bonus_BT, value_BT), batch
        )
        if not loss.requires_grad:
            fail(
                "its loss does not depend on the log-probabilities, perhaps only of an idle"
                " micro-batch"
            )
        loss.backward()
    gradients = {}
    for name, stream_BT in {"log-probabilities": logp_BT, "values": value_BT}.items():
        if stream_BT is not None:
            if stream_BT.grad is None:
                fail(f"its loss does not depend on the {name}, perhaps only of an idle micro-batch")
            gradients[name] = stream_BT.grad
    if (
        loss.dim()
        or not loss.isfinite()
        or not all(gradient_BT.isfinite().all() for gradient_BT in gradients.values())
    ):
        fail(f"its loss is {loss.detach()}, or its gradient is not finite")
    if wrong := next((name for name, value in sums.items() if value.numel() != 1), None):
        fail(f"its logged sum {wrong!r} is not a single number")
    return float(loss.detach()), gradients


def _needed(batch: Batch, algorithm: Algorithm, seed: int) -> Batch:
    """Adds the streams that the algorithm requires."""
    names = [name for name in sorted(algorithm.required_streams) if name != "entropy"]
    made = {
        name: batch.logp_BT + 0.2 * torch.cos(batch.id_BT + seed + n)
        for n, name in enumerate(names)
    }
    return batch.with_streams(
        **{name: stream.where(batch.action_BT, 0.0) for name, stream in made.items()}
    )


def _groups(seed: int, size: int, *, cut: bool) -> list[Group]:
    """Returns three groups of trajectories of uneven length; the second one is empty.

    With an odd seed, the returns of the third one are equal.

    Args:
        seed: fixes the numbers.
        size: trajectories per group.
        cut: turns have up to two calls, and trajectories have several samples.
    """
    rng = torch.Generator().manual_seed(seed)

    def number(most: int) -> int:
        return int(torch.randint(1, most, (1,), generator=rng))

    def call() -> Call:
        ids = [number(99) for _ in range(number(5))]
        return Call([number(99) for _ in range(number(6))], ids, [-number(30) / 10 for _ in ids])

    def turn() -> Turn:
        calls = [call() for _ in range(number(3) if cut else 1)]
        return Turn(f"room {number(3)}", calls, reward=number(9) / 8)

    def trajectory(group: int) -> Trajectory:
        t = Trajectory(f"task {group}", group, [turn() for _ in range(number(5))])
        for place, each in enumerate(t.calls if cut else []):
            # Two samples take turns, and the third call begins a third one.
            each.sample = 2 if place == 2 else place % 2
        return t

    groups = [Group(n, [] if n == 1 else [trajectory(n) for _ in range(size)]) for n in range(3)]
    for played in (played for t in groups[2].trajectories for played in t.turns if seed % 2):
        played.reward = 0.0
    return groups
