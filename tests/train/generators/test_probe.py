from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
import tiny
import torch
from some import every, full

from agentgym_train.errors import ConfigError, ModelError
from agentgym_train.generators import hf, probe, ragged_cache
from agentgym_train.generators.hf import HF
from agentgym_train.models.policy import token_logps
from agentgym_train.protocols import ActionSample, GeneratorSession, SamplingOptions

SAMPLING = SamplingOptions(temperature=0.7, max_new_tokens=100, stop_ids=frozenset(range(20)))
IDS = range(300)


@pytest.fixture(scope="module")
def model():
    return tiny.model()


@pytest.fixture(scope="module")
def generator(model):
    return HF(model)


def check(generator, model, dtype="float32", rewinds=False):
    forward = partial(token_logps, model, temperature=SAMPLING.temperature)
    length = probe.length(model.config)
    probe.check_logps(
        generator,
        lambda batch: forward(batch),
        sampling=SAMPLING,
        ids=IDS,
        length=length,
        dtype=dtype,
        rewinds=rewinds,
    )


class Wrapped:
    """A generator that delegates to another one and adds one fault."""

    def __init__(self, inner):
        self.inner = inner

    def session(self, seeds, sampling):
        self.now = self.inner.session(seeds, sampling)
        return self

    def submit(self, row, ids):
        self.now.submit(row, ids)

    def poll(self, timeout=None):
        return self.now.poll(timeout)

    def restart(self, row):
        self.now.restart(row)

    def rewind(self, row, length):
        self.now.rewind(row, length)

    def finish(self, row):
        self.now.finish(row)

    def close(self):
        self.now.close()


class IgnoresTemperature(Wrapped):
    def session(self, seeds, sampling):
        return super().session(seeds, replace(sampling, temperature=1.0))


class LogpsOffByOne(Wrapped):
    def poll(self, timeout=None):
        return {r: replace(s, logps=[0.0, *s.logps[:-1]]) for r, s in super().poll(timeout).items()}


class KeepsTheHistoryAfterRestart(Wrapped):
    def restart(self, row):
        pass


class ForgetsTheLastTokenOfATurn(Wrapped):
    """A cache that never stores the last sampled token."""

    def submit(self, row, ids):
        self.now._history[row] = self.now._history[row][:-1]
        self.now._memory.known[row] = len(self.now._history[row])
        super().submit(row, ids)


class KeepsTheTokensAfterRewind(Wrapped):
    def rewind(self, row, length):
        pass


class ForgetsTheRowAtRewind(Wrapped):
    def rewind(self, row, length):
        self.now.rewind(row, 0)


class OnlyGrows(Wrapped):
    def rewind(self, row, length):
        GeneratorSession.rewind(self.now, row, length)


class AnswersForOneRow(Wrapped):
    def poll(self, timeout=None):
        return dict(list(super().poll(timeout).items())[:1])


class AnswersForOneRowAgainAndAgain(Wrapped):
    def poll(self, timeout=None):
        self.first = getattr(self, "first", None) or dict(list(super().poll(timeout).items())[:1])
        return self.first


class SaysNothing(Wrapped):
    def poll(self, timeout=None):
        return {row: ActionSample([], [], 0) for row in super().poll(timeout)}


class HasALogpTooMany(Wrapped):
    def poll(self, timeout=None):
        return {r: replace(s, logps=[*s.logps, 0.0]) for r, s in super().poll(timeout).items()}


class NotesPrompts(Wrapped):
    def submit(self, row, ids):
        self.seen = [*getattr(self, "seen", []), *ids]
        super().submit(row, ids)


@pytest.mark.parametrize("dtype", [*full("float32"), "bfloat16"])
@pytest.mark.parametrize("kind", every(3, tiny.ARCHITECTURES))
def test_the_embedded_generator_passes_with_every_architecture(kind, dtype):
    model = tiny.model(kind).eval().to(getattr(torch, dtype))
    check(HF(model, allow_slower=True), model, dtype)


@pytest.mark.parametrize("dtype", ["bfloat16", *full("float32")])
@pytest.mark.parametrize(
    "fault",
    [IgnoresTemperature, LogpsOffByOne, KeepsTheHistoryAfterRestart, ForgetsTheLastTokenOfATurn],
)
def test_a_generator_with_a_fault_is_refused(fault, dtype):
    model = tiny.model().to(getattr(torch, dtype))
    generator = HF(model)
    check(Wrapped(generator), model, dtype)
    with pytest.raises(ModelError, match=rf"in {dtype} they differ by \d+\.\d+ nats"):
        check(fault(generator), model, dtype)


@pytest.mark.parametrize("dtype", ["bfloat16", *full("float32")])
@pytest.mark.parametrize("fault", [KeepsTheTokensAfterRewind, ForgetsTheRowAtRewind])
def test_a_fault_in_rewind_is_refused_if_rows_are_cut_back(fault, dtype):
    model = tiny.model().to(getattr(torch, dtype))
    generator = HF(model)
    check(Wrapped(generator), model, dtype, rewinds=True)
    check(fault(generator), model, dtype)
    with pytest.raises(ModelError, match=rf"in {dtype} they differ by \d+\.\d+ nats"):
        check(fault(generator), model, dtype, rewinds=True)


def test_a_generator_without_rewind_is_refused_only_if_rows_are_cut_back(generator, model):
    check(OnlyGrows(generator), model)
    with pytest.raises(ConfigError, match="has no method 'rewind'"):
        check(OnlyGrows(generator), model, rewinds=True)


def test_rows_that_are_cut_back_begin_a_sample_with_half_of_the_one_before(generator, model):
    never = replace(SAMPLING, max_new_tokens=4, stop_ids=frozenset())
    play = partial(probe.play, generator.session, never, ids=IDS, length=48)
    grown, cut = play(), play(rewinds=True)
    assert [len(row.samples) for row in cut] == [1, 1, 1, 3, 2]

    def tokens(calls):
        return [token for call in calls for token in call.prompt_ids + call.action_ids]

    assert [tokens(row.calls) for row in cut[:3]] == [tokens(row.calls) for row in grown[:3]]
    for row in cut[3:]:
        for before, after in pairwise(row.samples):
            half = len(tokens(before)) // 2
            assert after[0].prompt_ids[:half] == tokens(before)[:half]
            assert 1 <= len(after[0].prompt_ids) - half <= 8


@pytest.mark.parametrize("method", [0, 1, 3])
def test_the_embedded_generator_tries_each_memory_with_rewinds(method, monkeypatch):
    kind = hf.METHODS[method].memory
    monkeypatch.setattr(hf, "METHODS", hf.METHODS[method : method + 1])
    assert HF(tiny.model(), allow_slower=True).method.memory is kind
    rewind = kind.rewind
    only_to_0 = lambda self, row, length: length or rewind(self, row, 0)  # noqa: E731
    monkeypatch.setattr(kind, "rewind", only_to_0)
    with pytest.raises(ModelError, match="cannot be sampled from"):
        HF(tiny.model())


@pytest.mark.parametrize(
    ("kind", "method"),
    [("mistral", 0), ("gemma3_text", 0), ("mistral", 1), ("gemma3_text", 1), ("mpt", 1)],
)
def test_a_cache_that_ignores_windows_or_counts_padding_is_refused(kind, method, monkeypatch):
    model = tiny.model(kind).eval()
    generator = HF(model)
    generator.method = hf.METHODS[method]
    monkeypatch.setattr(ragged_cache, "attention", lambda model: None)
    with pytest.raises(ModelError, match="off-policy"):
        check(generator, model)


def test_weights_that_were_not_loaded_are_noticed(generator, model):
    other = tiny.model(seed=1)
    with pytest.raises(ModelError, match="weights, temperature or cache"):
        check(generator, other)
    fresh = HF(tiny.model(seed=2))
    fresh.load(other.named_parameters(), 1)
    check(fresh, other)


def test_dropout_in_the_training_forward_is_noticed():
    model = tiny.model("gpt2")
    generator = HF(tiny.model("gpt2"))
    check(generator, model.eval())
    with pytest.raises(ModelError, match="off-policy"):
        check(generator, model.train())


@pytest.mark.parametrize(
    "fault", [AnswersForOneRow, AnswersForOneRowAgainAndAgain, SaysNothing, HasALogpTooMany]
)
def test_samples_that_break_the_protocol_are_refused(fault, generator, model):
    with pytest.raises(ModelError, match="1 to 4 tokens and one log-probability per token"):
        check(fault(generator), model)


def test_prompts_hold_no_stop_tokens(generator, model):
    notes = NotesPrompts(generator)
    check(notes, model)
    assert len(notes.seen) > 50
    assert not SAMPLING.stop_ids & set(notes.seen)


def test_the_conversation_is_ragged_and_long_enough_and_speaks_of_known_tokens(generator, model):
    length = probe.length(tiny.model("mistral").config)
    allowed = [i for i in IDS if i % 3 and i not in SAMPLING.stop_ids]
    never = replace(SAMPLING, max_new_tokens=4, stop_ids=frozenset())
    rows = probe.play(generator.session, never, ids=allowed, length=length)
    lengths = [row.length for row in rows]
    assert [len(row.turns) for row in rows] == [1, 3, 3, 3, 3]
    assert tiny.WINDOW + 8 < max(lengths) <= length
    assert len({len(row.calls[0].prompt_ids) for row in rows[1:]}) > 1
    assert {token for row in rows for call in row.calls for token in call.prompt_ids} <= set(
        allowed
    )


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        ({}, 48),
        ({"sliding_window": 16}, 48),
        ({"sliding_window": 100}, 200),
        ({"sliding_window": 4096}, 256),
        ({"sliding_window": 4096, "max_position_embeddings": 128}, 128),
        ({"max_position_embeddings": 32}, 32),
    ],
)
def test_its_length_exceeds_small_windows_and_stays_short(config, tokens):
    shape = tiny.CONFIG_MAPPING["mistral"](
        **({"sliding_window": None, "max_position_embeddings": 4096} | config)
    )
    assert probe.length(shape) == tokens
