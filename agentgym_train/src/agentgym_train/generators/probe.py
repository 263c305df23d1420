"""The start-up probe: does the generator sample from the very distribution that the training forward computes?

Where it does not, every ratio of the first update is off 1 and nothing says so. A short ragged
conversation is played through the ``Session`` protocol and its log-probabilities are computed
again.

Shapes: B trajectories, T tokens.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch

from agentgym_envs.tasks import stable_hash
from agentgym_train.data.batching import Batch, pack
from agentgym_train.data.types import Group, Trajectory, Turn
from agentgym_train.engine.logps import Forward
from agentgym_train.errors import ModelError
from agentgym_train.protocols import Generator, Sample, Sampling, Session

Start = Callable[[Sequence[int], Sampling], Session]

ROWS, TURNS, NEW_TOKENS = 4, 4, 4
LENGTH, LONGEST = 48, 256  # tokens of the longest row: usually, and for models with windows


class Drift(NamedTuple):
    """How far sampled log-probabilities are from recomputed ones, in nats."""

    mean: float
    worst: float
    """Of a single token."""

    def fits(self, dtype: str) -> bool:
        """Says whether rounding explains it.

        In float32 every token agrees. In bfloat16 logits of 16 and more are an eighth apart: a
        language model of 135 M parameters is off by 0.02 to 0.06 in the mean and by 0.27 at most.
        Wrong weights, temperatures, caches are off by 0.2 and more in the mean.
        """
        return self.worst <= 1e-3 if dtype == "float32" else self.mean <= 0.1


def check_logps(
    generator: Generator,
    forward: Callable[[Batch], Forward],
    *,
    sampling: Sampling,
    ids: Sequence[int],
    length: int,
    dtype: str,
) -> None:
    """Refuses a generator whose log-probabilities are not those of the training forward.

    The forward is called once, with the same shapes on every process that plays the same samples.

    Args:
        generator: holds the weights that ``forward`` uses.
        forward: the training forward; takes a batch on the CPU.
        sampling: as in the run; actions are cut to a few tokens.
        ids: token ids that prompts may hold; stop ids among them are left out.
        length: see :func:`length`.
        dtype: of the model: "float32" or "bfloat16".

    Raises:
        ModelError: they differ by more than rounding.
    """
    drift = measure(generator.session, forward, sampling=sampling, ids=ids, length=length)
    if not drift.fits(dtype):
        raise ModelError(
            f"the generator's log-probabilities are not those of the training forward: in {dtype}"
            f" they differ by {drift.mean:.4f} nats in the mean and by {drift.worst:.4f} at most,"
            " so training would be off-policy from the first step. Either the generator is wrong"
            " for this model (its weights, its temperature, its cache), or the model rounds too"
            ' coarsely: try another generator, or model.dtype = "float32"'
        )


def length(config: Any) -> int:
    """Returns how many tokens the longest row of the probe needs: more than a small attention window of the model holds.

    Args:
        config: the model's, as transformers has it.
    """
    text = config.get_text_config()
    window = getattr(text, "sliding_window", None) or 0
    limit = getattr(text, "max_position_embeddings", None) or LONGEST
    return int(min(max(LENGTH, 2 * window), LONGEST, limit))


def measure(
    start: Start,
    forward: Callable[[Batch], Forward],
    *,
    sampling: Sampling,
    ids: Sequence[int],
    length: int,
) -> Drift:
    """Plays the conversation and compares; see :func:`check_logps`."""
    prompts = [i for i in ids if i not in sampling.stop_ids]
    trajectories = play(
        start, replace(sampling, max_new_tokens=NEW_TOKENS), ids=prompts, length=length
    )
    batch = pack([Group(0, trajectories)])
    with torch.no_grad():
        logp_BT = forward(batch).logp_BT.float().cpu()
    off = (logp_BT - batch.logp_BT).abs()[batch.action_BT]
    return Drift(float(off.mean()), float(off.max()))


def play(start: Start, sampling: Sampling, *, ids: Sequence[int], length: int) -> list[Trajectory]:
    """Plays a conversation of uneven prompts in which one row starts again, one sits out a turn and half finish early.

    Args:
        start: the generator's ``session``.
        sampling: how to sample.
        ids: what prompts are drawn from.
        length: the most tokens a row may have.

    Returns:
        One trajectory a row, and one of what the restarted row held before.

    Raises:
        ModelError: the samples break the protocol.
    """
    session = start([stable_hash(f"probe {row}") for row in range(ROWS)], sampling)
    rows = [Trajectory("probe", row) for row in range(ROWS)]
    before: list[Trajectory] = []
    longest = length // TURNS - sampling.max_new_tokens
    for turn in range(TURNS):
        asked = set(range(ROWS))
        if turn == 1:
            session.restart(1)
            before, rows[1] = [rows[1]], Trajectory("probe", 1)
            asked -= {2}
        if turn == TURNS - 1:
            session.finish(0)
            session.finish(3)
            asked -= {0, 3}
        prompts = {row: _prompt(row, turn, ids, longest) for row in sorted(asked)}
        samples = ask(session, prompts)
        for row in asked:
            rows[row].turns.append(_turn(prompts[row], samples.get(row), sampling))
    return [*before, *rows]


def ask(session: Session, prompts: Mapping[int, Sequence[int]]) -> dict[int, Sample]:
    """Submits prompts, in their order, and polls for as long as that brings more of their actions."""
    for row, ids in prompts.items():
        session.submit(row, ids)
    samples: dict[int, Sample] = {}
    while samples.keys() != prompts.keys() and (more := session.poll()).keys() - samples.keys():
        samples |= more
    return samples


def _prompt(row: int, turn: int, ids: Sequence[int], longest: int) -> list[int]:
    count = 1 + stable_hash(f"length {row} {turn}") % longest
    return [ids[stable_hash(f"token {row} {turn} {place}") % len(ids)] for place in range(count)]


def _turn(prompt: list[int], sample: Sample | None, sampling: Sampling) -> Turn:
    if sample is None or not 1 <= len(sample.ids) == len(sample.logps) <= sampling.max_new_tokens:
        raise ModelError(
            f"the generator returned {sample} where it was asked for 1 to {sampling.max_new_tokens}"
            " tokens and a log-probability each"
        )
    return Turn("", prompt, sample.ids, sample.logps)
