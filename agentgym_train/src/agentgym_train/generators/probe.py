"""The start-up probe: compares the generator with the training forward.

If the two distributions differ, every probability ratio of the first update differs from 1, and no
metric shows it. The probe plays a short conversation with rows of uneven length through the
``GeneratorSession`` protocol. It then computes the log-probabilities of the sampled tokens again.

Shapes: B trajectories, T tokens.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch

from agentgym_envs.tasks import stable_hash
from agentgym_train.data.batching import Batch, ForwardOutput, pack
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.errors import ModelError
from agentgym_train.protocols import ActionSample, Generator, GeneratorSession, SamplingOptions

SessionStart = Callable[[Sequence[int], SamplingOptions], GeneratorSession]

ROWS, TURNS, NEW_TOKENS = 4, 4, 4
REWOUND = {2, 3}  # rows that are cut back from the third turn on
LENGTH, LONGEST = 48, 256  # tokens of the longest row: usual, and upper limit


class LogprobDrift(NamedTuple):
    """Difference between sampled and recomputed log-probabilities, in nats."""

    mean: float
    worst: float
    """The largest difference of a single token."""

    def fits(self, dtype: str) -> bool:
        """Whether rounding explains the difference.

        In float32 every token agrees. In bfloat16, logits of 16 and more are an eighth apart: a
        language model of 135 M parameters differs by 0.02 to 0.06 in the mean and by 0.27 at most.
        A wrong weight, temperature or cache causes a mean difference of 0.2 or more.
        """
        return self.worst <= 1e-3 if dtype == "float32" else self.mean <= 0.1


def check_logps(
    generator: Generator,
    forward: Callable[[Batch], ForwardOutput],
    *,
    sampling: SamplingOptions,
    ids: Sequence[int],
    length: int,
    dtype: str,
    rewinds: bool = False,
) -> None:
    """Rejects a generator whose log-probabilities differ from those of the training forward.

    The forward is called once. Processes with the same samples call it with the same shapes.

    Args:
        generator: holds the weights that ``forward`` uses.
        forward: the training forward; takes a batch on the CPU.
        sampling: as in the run, but actions are cut to a few tokens.
        ids: token ids for the prompts; stop ids are left out.
        length: see :func:`length`.
        dtype: of the model: "float32" or "bfloat16".
        rewinds: cut rows back too; a generator without ``GeneratorSession.rewind`` is rejected.

    Raises:
        ConfigError: the generator has no ``rewind``, and it is needed.
        ModelError: they differ by more than rounding.
    """
    drift = measure(
        generator.session, forward, sampling=sampling, ids=ids, length=length, rewinds=rewinds
    )
    if not drift.fits(dtype):
        raise ModelError(
            f"the generator's log-probabilities are not those of the training forward: in {dtype}"
            f" they differ by {drift.mean:.4f} nats in the mean and by {drift.worst:.4f} at most."
            " Training would be off-policy from the first step. Either the generator is wrong for"
            " this model (weights, temperature or cache), or rounding is too coarse: try another"
            ' generator, or model.dtype = "float32"'
        )


def length(config: Any) -> int:
    """Returns the number of tokens of the probe's longest row.

    The row is longer than a small attention window of the model, so that the window takes effect.

    Args:
        config: the configuration of the transformers model.
    """
    text = config.get_text_config()
    window = getattr(text, "sliding_window", None) or 0
    limit = getattr(text, "max_position_embeddings", None) or LONGEST
    return int(min(max(LENGTH, 2 * window), LONGEST, limit))


def measure(
    start: SessionStart,
    forward: Callable[[Batch], ForwardOutput],
    *,
    sampling: SamplingOptions,
    ids: Sequence[int],
    length: int,
    rewinds: bool = False,
) -> LogprobDrift:
    """Plays the conversation and compares log-probabilities; see :func:`check_logps`."""
    prompts = [i for i in ids if i not in sampling.stop_ids]
    short = replace(sampling, max_new_tokens=NEW_TOKENS)
    trajectories = play(start, short, ids=prompts, length=length, rewinds=rewinds)
    batch = pack([Group(0, trajectories)])
    with torch.no_grad():
        logp_BT = forward(batch).logp_BT.float().cpu()
    difference = (logp_BT - batch.logp_BT).abs()[batch.action_BT]
    return LogprobDrift(float(difference.mean()), float(difference.max()))


def play(
    start: SessionStart,
    sampling: SamplingOptions,
    *,
    ids: Sequence[int],
    length: int,
    rewinds: bool = False,
) -> list[Trajectory]:
    """Plays a conversation with prompts of uneven length.

    One row is restarted, one skips a turn, and half of the rows finish early: the cases in which a
    memory can go wrong. With ``rewinds``, half of the rows are cut back to half of their tokens.

    Args:
        start: the generator's ``session``.
        sampling: sampling options.
        ids: token ids from which prompts are drawn.
        length: maximum number of tokens of a row.
        rewinds: cut rows back, one of them twice.

    Returns:
        One trajectory per row, preceded by the restarted row's trajectory before its restart.

    Raises:
        ModelError: the samples break the protocol.
    """
    session = start([stable_hash(f"probe {row}") for row in range(ROWS)], sampling)
    rows = [Trajectory("probe", row) for row in range(ROWS)]
    before: list[Trajectory] = []
    number = dict.fromkeys(range(ROWS), 0)  # row → its sample
    longest = length // TURNS - sampling.max_new_tokens
    for turn in range(TURNS):
        requested = set(range(ROWS))
        if turn == 1:
            session.restart(1)
            before, rows[1] = [rows[1]], Trajectory("probe", 1)
            requested -= {2}
        if turn == TURNS - 1:
            session.finish(0)
            session.finish(3)
            requested -= {0, 3}
        cut = requested & REWOUND if rewinds and turn >= 2 else set()
        kept = {row: _rewind(session, row, rows[row]) for row in sorted(cut)}
        prompts = {row: _prompt(row, turn, ids, longest) for row in sorted(requested)}
        samples = ask(session, prompts)
        for row, prompt in prompts.items():
            number[row] += row in kept
            whole = kept.get(row, []) + prompt
            rows[row].turns.append(_turn(whole, samples.get(row), sampling, number[row]))
    session.close()
    return [*before, *rows]


def ask(session: GeneratorSession, prompts: Mapping[int, Sequence[int]]) -> dict[int, ActionSample]:
    """Submits prompts in their order, and polls until no new actions come."""
    for row, ids in prompts.items():
        session.submit(row, ids)
    samples: dict[int, ActionSample] = {}
    while samples.keys() != prompts.keys() and (more := session.poll()).keys() - samples.keys():
        samples |= more
    return samples


def _prompt(row: int, turn: int, ids: Sequence[int], longest: int) -> list[int]:
    count = 1 + stable_hash(f"length {row} {turn}") % longest
    return [ids[stable_hash(f"token {row} {turn} {place}") % len(ids)] for place in range(count)]


def _rewind(session: GeneratorSession, row: int, trajectory: Trajectory) -> list[int]:
    """Cuts a row back to half of its tokens; returns these."""
    calls = trajectory.samples[-1]
    ids = [token for call in calls for token in (*call.prompt_ids, *call.action_ids)]
    kept = ids[: len(ids) // 2]
    session.rewind(row, len(kept))
    return kept


def _turn(
    prompt: list[int], sample: ActionSample | None, sampling: SamplingOptions, number: int
) -> Turn:
    if sample is None or not 1 <= len(sample.ids) == len(sample.logps) <= sampling.max_new_tokens:
        raise ModelError(
            f"the generator returned {sample}; expected 1 to {sampling.max_new_tokens} tokens and"
            " one log-probability per token"
        )
    return Turn("", [Call(prompt, sample.ids, sample.logps, sample=number)])
