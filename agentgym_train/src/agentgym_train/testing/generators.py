"""The check for authors of generators.

Shapes: V vocabulary.
"""

import math
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel, Qwen2Config, Qwen2ForCausalLM

from agentgym_envs.tasks import stable_hash
from agentgym_train import plugins
from agentgym_train.distributed import Distributed
from agentgym_train.errors import ModelError
from agentgym_train.generators import probe
from agentgym_train.models import loading
from agentgym_train.models.policy import token_logps
from agentgym_train.protocols import (
    ActionSample,
    Generator,
    GeneratorContext,
    GeneratorSession,
    SamplingOptions,
)
from agentgym_train.testing.failures import Fail, failing, reporting

VOCABULARY, STOPS = 100, 10
SAMPLING = SamplingOptions(temperature=0.7, max_new_tokens=6, stop_ids=frozenset(range(STOPS)))
IDS = range(STOPS, VOCABULARY)  # token ids of prompts
ROWS, TURNS = 4, 3  # size of the conversation
CONTEXT = 512  # maximum tokens of a row
PATIENCE = 10.0  # seconds of a poll without time
DRAWS = 400  # number of first tokens whose frequencies are compared with probabilities
TOGETHER = [range(ROWS)] * TURNS
WAYS: dict[str, Sequence[Sequence[int]]] = {
    "where they are played again": TOGETHER,
    "where rows are submitted backwards": [range(ROWS)[::-1]] * TURNS,
    "where rows are played one after another": [[row] for row in range(ROWS) for _ in range(TURNS)],
    "where rows begin one after another": [
        [row for row in range(ROWS) if 0 <= turn - row < TURNS] for turn in range(ROWS + TURNS - 1)
    ],
}
"""Ways to play the same conversation: the rows of each batch of submits."""

Conversation = dict[tuple[int, int], ActionSample]
"""The samples of a conversation, by row and turn."""


@dataclass
class _Tested:
    """A generator under test, and the model whose weights it should have."""

    name: str
    generator: Generator
    fail: Fail
    model: PreTrainedModel
    version: int = 0
    open: GeneratorSession | None = None

    def session(
        self, seeds: Sequence[int], sampling: SamplingOptions = SAMPLING
    ) -> GeneratorSession:
        """Closes the session before and starts another one."""
        self.end()
        with reporting(self.fail, "session"):
            session = self.generator.session(seeds, sampling)
        plugins.verify(session, GeneratorSession, f"session of {self.name}")
        self.open = session
        return session

    def end(self) -> None:
        """Closes the session in progress, if there is one."""
        if self.open is not None:
            with reporting(self.fail, "close of a session"):
                self.open.close()
        self.open = None

    def rewinds(self) -> bool:
        """Whether the sessions implement ``rewind``, which they need not."""
        session = self.session([0])
        self.end()
        return getattr(session.rewind, "__func__", None) is not GeneratorSession.rewind

    def load(self, model: PreTrainedModel, version: int) -> None:
        """Loads copies of a model's weights, then sets the copies to 0.

        The weights of a policy change after ``load`` too, so a generator must not keep references.
        """
        self.end()
        weights = _weights(model)
        with reporting(self.fail, "load"):
            self.generator.load(iter(weights.items()), version)
        self.model, self.version = model, version
        for weight in weights.values():
            weight.zero_()

    def ask(
        self,
        session: GeneratorSession,
        prompts: Mapping[int, Sequence[int]],
        sampling: SamplingOptions = SAMPLING,
    ) -> dict[int, ActionSample]:
        """Submits prompts, polls and checks the samples."""
        with reporting(self.fail, "submit or poll"):
            samples = probe.ask(session, prompts)
        if samples.keys() != prompts.keys():
            self.fail(
                f"the rows {sorted(prompts)} were submitted, but poll returned the rows"
                f" {sorted(samples)}"
            )
        for sample in samples.values():
            if wrong := _wrong(sample, sampling, self.version):
                self.fail(f"{wrong}: {sample}")
        return samples


def check_generator(name_or_options: str | Mapping[str, Any]) -> list[str]:
    """Checks the properties of a generator on which the trainer relies, with a tiny random model.

    The model runs on the accelerator if there is one.

    Args:
        name_or_options: a registered name, or a table of a configuration: ``name`` and options.

    Returns:
        One line for each property that holds.

    Raises:
        UnknownName: no generator has the name.
        ConfigError: an option is unknown, or its value is not allowed.
        BrokenPlugin: the generator cannot be built, or lacks methods.
        ConformanceError: the first property that does not hold, with the values that show it.
    """
    options = {"name": name_or_options} if isinstance(name_or_options, str) else name_or_options
    plugin = plugins.make(plugins.GENERATOR, options)
    fail = failing(plugin.label)
    model = _model(0)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        context = GeneratorContext(
            model_folder=folder,
            device=loading.device(),
            dtype=torch.float32,
            max_context=CONTEXT,
            max_rows=0,
            sampling=SAMPLING,
            seed=0,
            distributed=Distributed(),
        )
        with reporting(fail, "build"):
            generator = plugin.build(context)
        name = f"generator {options['name']!r}"
        plugins.verify(generator, Generator, name)
        tested = _Tested(name, generator, fail, model.to(loading.device()))
        return [check(tested) for check in CHECKS]


def _actions(tested: _Tested) -> str:
    """Requests many actions: some end with a stop token, others at the limit.

    Without a submitted row, before and after, ``poll`` must return nothing.
    """
    rows = range(24)
    session = tested.session(rows)
    for prompts in ({}, {row: _prompt(row, 0) for row in rows}):
        tested.ask(session, prompts)
        with reporting(tested.fail, "poll"):
            samples = session.poll()
        if samples != {}:
            tested.fail(f"poll returned {samples} although nothing was submitted")
    return (
        "an action has at least one token, ends with the first stop token or at the limit, and poll"
        " returns it once"
    )


def _logps(tested: _Tested) -> str:
    forward = partial(token_logps, tested.model, temperature=SAMPLING.temperature)
    length, device = probe.length(tested.model.config), tested.model.device
    rewinds = tested.rewinds()
    with reporting(tested.fail, "a conversation"):
        drift = probe.measure(
            tested.generator.session,
            lambda batch: forward(batch.to(device)),
            sampling=SAMPLING,
            ids=IDS,
            length=length,
            rewinds=rewinds,
        )
    if not drift.fits("float32"):
        tested.fail(
            f"its log-probabilities differ from those of the weights of version {tested.version} by"
            f" {drift.mean:.4f} nats in the mean and by {drift.worst:.4f} at most"
        )
    return (
        "log-probabilities equal those of a forward pass over the whole row at the temperature,"
        f" also after a restart{' and a rewind' if rewinds else ''}"
    )


def _frequencies(tested: _Tested) -> str:
    """Compares the frequencies of first tokens with their probabilities.

    The tolerance is five standard errors plus three draws; the three draws are for rare tokens.
    """
    prompt, sampling = _prompt(0, 0), replace(SAMPLING, max_new_tokens=1)
    with torch.no_grad():
        logits_V = (
            tested.model(torch.tensor([prompt], device=tested.model.device)).logits[0, -1].cpu()
        )
    p_V = (logits_V / sampling.temperature).softmax(-1)
    samples = tested.ask(
        tested.session(range(DRAWS), sampling), dict.fromkeys(range(DRAWS), prompt), sampling
    )
    count_V = torch.bincount(
        torch.tensor([sample.ids[0] for sample in samples.values()]), minlength=VOCABULARY
    )
    excess_V = (count_V - DRAWS * p_V).abs() - 5 * (DRAWS * p_V * (1 - p_V)).sqrt()
    if float(excess_V.max()) > 3:
        token = int(excess_V.argmax())
        tested.fail(
            f"{DRAWS} episodes begin {int(count_V[token])} times with a token of probability"
            f" {float(p_V[token]):.3f}"
        )
    return "over many seeds, the frequencies of tokens match their probabilities"


def _reproducible(tested: _Tested) -> str:
    together = _converse(tested, tested.session(_seeds()), TOGETHER)
    for how, rounds in WAYS.items():
        _compare(tested, together, _converse(tested, tested.session(_seeds()), rounds), how)
    _compare(
        tested,
        together,
        _as_they_come(tested),
        "where rows are submitted again as soon as they are polled",
    )
    for row, seed in enumerate(_seeds()):
        session = tested.session([seed])
        alone: Conversation = {
            (row, turn): tested.ask(session, {0: _prompt(row, turn)})[0] for turn in range(TURNS)
        }
        _compare(tested, {key: together[key] for key in alone}, alone, "where the row is alone")
    return (
        "the same seeds give the same samples, whatever other rows do and in whichever order rows"
        " are submitted"
    )


def _restarts(tested: _Tested) -> str:
    together = _converse(tested, tested.session(_seeds()), TOGETHER)
    session = tested.session(_seeds())
    with reporting(tested.fail, "restart of a row that was not yet submitted"):
        session.restart(0)
    _converse(tested, session, TOGETHER[1:])
    with reporting(tested.fail, "restart"):
        session.restart(0)
        session.restart(2)
    again = _converse(tested, session, [[0, 2]] * TURNS)
    _compare(tested, {key: together[key] for key in again}, again, "where the row was restarted")
    unrestarted = {
        (row, TURNS - 1): tested.ask(session, {row: _prompt(row, TURNS - 1)})[row] for row in (1, 3)
    }
    _compare(
        tested,
        {key: together[key] for key in unrestarted},
        unrestarted,
        "where other rows were restarted",
    )
    return "a restarted row behaves like a new one; its noise starts again"


def _rewinds(tested: _Tested) -> str:
    """Rows 0 and 2 take detours, and are cut back to where they left the conversation.

    Their noise must be that of the next turn, so each turn without a detour must be as it was.
    """
    if not tested.rewinds():
        return "rewind is not implemented, so conversations can only grow"
    together = _converse(tested, tested.session(_seeds()), TOGETHER)
    session = tested.session(_seeds())
    with reporting(tested.fail, "rewind to 0 of a row that was not yet submitted"):
        session.rewind(0, 0)
    detour = {
        0: _history(together, 0, 1),
        2: _prompt(2, 0) + [IDS[0]] * 3 * SAMPLING.max_new_tokens,
    }
    tested.ask(session, {row: _prompt(row, 0) for row in range(ROWS)} | detour)
    # Row 0 is submitted without ids in the second turn. In the third, both rows lose tokens of the
    # second.
    again: Conversation = {}
    for turn, kept in ((1, {0: len(detour[0]), 2: len(_prompt(2, 0))}), (2, {0: 3, 2: 3})):
        for row, length in kept.items():
            with reporting(tested.fail, f"rewind(row={row}, length={length})"):
                session.rewind(row, length)
        prompts = {
            row: _history(together, row, turn)[kept[row] :] if row in kept else _prompt(row, turn)
            for row in range(ROWS)
        }
        samples = tested.ask(session, prompts)
        again |= {(row, turn): sample for row, sample in samples.items()}
    _compare(
        tested,
        {key: together[key] for key in again},
        again,
        "where rows 0 and 2 were cut back and continued in the same way: rewind(row, length) must"
        " keep the first length tokens of one row, and must not change the number of its next turn,"
        " from which the noise follows",
    )
    tokens = len(_history(together, 1, TURNS - 1)) + len(again[1, TURNS - 1].ids)
    for length in (-1, tokens + 1):
        try:
            session.rewind(1, length)
        except ValueError:
            continue
        except Exception as error:
            tested.fail(
                f"rewind(1, {length}) of {tokens} tokens raised {error!r} instead of ValueError"
            )
        tested.fail(
            f"rewind(1, {length}) of {tokens} tokens was accepted; it must raise ValueError, as"
            " agentgym_train.cut_back does"
        )
    return "a row that is cut back continues from its prefix; its noise goes on"


def _finishes(tested: _Tested) -> str:
    together = _converse(tested, tested.session(_seeds()), TOGETHER)
    session = tested.session(_seeds())
    with reporting(tested.fail, "finish of a row that was not yet submitted"):
        session.finish(0)
    first = _converse(tested, session, [[1, 2, 3]])
    with reporting(tested.fail, "finish"):
        session.finish(2)
    rest = {
        (row, turn): tested.ask(session, {row: _prompt(row, turn)})[row]
        for turn in range(1, TURNS)
        for row in (1, 3)
    }
    _compare(
        tested,
        {key: together[key] for key in (*first, *rest)},
        first | rest,
        "where other rows were finished",
    )
    with reporting(tested.fail, "finish"):
        session.finish(1)
        session.finish(3)
    return "finishing a row does not change other rows"


def _aborts(tested: _Tested) -> str:
    together = _converse(tested, tested.session(_seeds()), TOGETHER)
    long = replace(SAMPLING, max_new_tokens=CONTEXT - 8, stop_ids=frozenset())
    session = tested.session(range(DRAWS), long)
    with reporting(tested.fail, "submit or poll"):
        for row in range(DRAWS):
            session.submit(row, _prompt(row, 0))
        began = time.monotonic()
        if samples := session.poll(timeout=0.0):
            tested.fail(f"poll with a timeout of 0 returned {samples} before it could be sampled")
    if (seconds := time.monotonic() - began) > PATIENCE:
        tested.fail(f"poll with a timeout of 0 took {seconds:.1f} s")
    with reporting(tested.fail, "close of a session at work, or a second close"):
        session.close()
        session.close()
    _compare(
        tested,
        together,
        _converse(tested, tested.session(_seeds()), TOGETHER),
        "where a session was closed at work before",
    )
    return "poll keeps its time limit, and a session can be closed at work"


def _loads(tested: _Tested) -> str:
    tested.load(_model(1).to(tested.model.device), 7)
    _converse(tested, tested.session(_seeds()), TOGETHER)
    _logps(tested)
    return "load copies other weights, and samples have their version"


def _refuses(tested: _Tested) -> str:
    good = _weights(tested.model)
    name = list(good)[-1]
    wrong = {
        "one is missing": {n: weight for n, weight in good.items() if n != name},
        "one is of another shape": good | {name: torch.zeros(1, 1)},
        "one is unknown": good | {"nonsense.weight": torch.zeros(1)},
    }
    for fault, weights in wrong.items():
        try:
            tested.generator.load(iter(weights.items()), tested.version)
        except ModelError:
            continue
        except Exception as error:
            tested.fail(f"load raised {error!r} instead of ModelError for weights of which {fault}")
        tested.fail(f"load accepted weights of which {fault}")
    return "weights that are missing, of another shape or unknown are rejected"


def _sleeps(tested: _Tested) -> str:
    """Sleeps and wakes twice, since a run does so in every step."""
    tested.load(tested.model, tested.version)
    before = _converse(tested, tested.session(_seeds()), TOGETHER)
    for version in (8, 9):
        for name in ("sleep", "wake"):
            tested.end()
            with reporting(tested.fail, name):
                getattr(tested.generator, name)()
        tested.load(tested.model, version)
        _compare(
            tested,
            before,
            _converse(tested, tested.session(_seeds()), TOGETHER),
            "where it slept, woke and loaded",
        )
    return "after sleep, wake and load it samples as before"


def _closes(tested: _Tested) -> str:
    tested.end()
    with reporting(tested.fail, "close, or a second close"):
        tested.generator.close()
        tested.generator.close()
    return "it can be closed, also twice"


CHECKS: tuple[Callable[[_Tested], str], ...] = (
    *(_actions, _logps, _frequencies, _reproducible, _restarts, _rewinds, _finishes, _aborts),
    *(_loads, _refuses, _sleeps, _closes),  # these change the weights or the generator
)


def _converse(
    tested: _Tested, session: GeneratorSession, rounds: Sequence[Sequence[int]]
) -> Conversation:
    """Plays a conversation in rounds, one turn of some rows per round; returns its samples."""
    conversation: Conversation = {}
    for rows in rounds:
        turns = {row: sum(r == row for r, _ in conversation) for row in rows}
        samples = tested.ask(session, {row: _prompt(row, turn) for row, turn in turns.items()})
        conversation |= {(row, turns[row]): sample for row, sample in samples.items()}
    return conversation


def _history(conversation: Conversation, row: int, turn: int) -> list[int]:
    """Returns the tokens of a row before its action of a turn."""
    earlier = [(*_prompt(row, t), *conversation[row, t].ids) for t in range(turn)]
    return [token for tokens in earlier for token in tokens] + _prompt(row, turn)


def _as_they_come(tested: _Tested) -> Conversation:
    """Submits a row's next turn while other rows are still being sampled."""
    session, conversation = tested.session(_seeds()), Conversation()
    turns = dict.fromkeys(range(ROWS), 0)
    with reporting(tested.fail, "submit or poll"):
        for row in turns:
            session.submit(row, _prompt(row, 0))
        while turns and (samples := session.poll()):
            for row, sample in samples.items():
                conversation[row, turns[row]] = sample
                turns[row] += 1
                if turns[row] < TURNS:
                    session.submit(row, _prompt(row, turns[row]))
                else:
                    del turns[row]
    return conversation


def _compare(tested: _Tested, expected: Conversation, found: Conversation, how: str) -> None:
    for (row, turn), one in expected.items():
        other = found.get((row, turn))
        if (
            other is None
            or one.ids != other.ids
            or max(abs(a - b) for a, b in zip(one.logps, other.logps, strict=True)) > 1e-3
        ):
            tested.fail(
                f"turn {turn + 1} of row {row} is {one} together with others, and {other} {how}"
            )


def _wrong(sample: ActionSample, sampling: SamplingOptions, version: int) -> str:
    """Returns the first fault of a sample; empty if there is none."""
    ids, logps = sample.ids, sample.logps
    if (
        type(ids) is not list
        or type(logps) is not list
        or not all(type(i) is int and 0 <= i < VOCABULARY for i in ids)
    ):
        return "a sample's ids are not a list of token ids, or its log-probabilities are not a list"
    if not 1 <= len(ids) == len(logps) <= sampling.max_new_tokens:
        return (
            f"a sample must have 1 to {sampling.max_new_tokens} tokens and one log-probability per"
            " token"
        )
    if any(token in sampling.stop_ids for token in ids[:-1]):
        return "a sample continues after a stop token"
    if len(ids) < sampling.max_new_tokens and ids[-1] not in sampling.stop_ids:
        return f"a sample ends before {sampling.max_new_tokens} tokens without a stop token"
    if not all(type(logp) is float and math.isfinite(logp) and logp <= 0 for logp in logps):
        return "a log-probability is not a finite float of at most 0"
    return "" if sample.version == version else f"a sample's version is not {version}"


def _seeds() -> list[int]:
    return [stable_hash(f"check {row}") for row in range(ROWS)]


def _prompt(row: int, turn: int) -> list[int]:
    return [
        IDS[stable_hash(f"check {row} {turn} {place}") % len(IDS)]
        for place in range(1 + (3 * row + turn) % 5)
    ]


def _weights(model: PreTrainedModel) -> dict[str, Tensor]:
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def _model(seed: int) -> PreTrainedModel:
    """Returns a model whose choices are far from uniform."""
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=128,  # heads of 64, the smallest that some engines accept
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=CONTEXT,
        initializer_range=0.1,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Qwen2ForCausalLM(config).eval().requires_grad_(False)
