"""Rows that are cut back to a prefix: against the plain model, and the tokens it costs."""

import random

import pytest
import tiny
import torch
from raised import raises
from some import full

from agentgym_train.errors import ConfigError
from agentgym_train.generators.building_blocks import choose, noise
from agentgym_train.generators.hf import METHODS, HFSession
from agentgym_train.generators.probe import ask
from agentgym_train.protocols import GeneratorSession, SamplingOptions

KINDS = {"qwen2": 0, "bloom": 1, "gemma3_text": 0, "lfm2": 2, "mistral": 0, "mamba": 3, "gpt2": 0}
"""The number of the method of each architecture."""
SAMPLING = SamplingOptions(temperature=0.8, max_new_tokens=6, stop_ids=frozenset(range(40)))


def started(kind, rows, sampling=SAMPLING):
    model = tiny.model(kind).eval()
    return model, HFSession(model, METHODS[KINDS[kind]], range(rows), sampling)


@torch.inference_mode()
def assert_is_plain(model, ids, sample, seed, turn):
    """The sample is drawn by the plain model, after these ids and with the noise of the turn."""
    logit_TV = model(input_ids=torch.tensor([ids + sample.ids]), use_cache=False).logits[0]
    logit_AV = logit_TV[len(ids) - 1 : -1]
    noise_A = [noise(seed, turn, place) for place in range(len(sample.ids))]
    tokens, logps = choose(logit_AV, noise_A, temperature=SAMPLING.temperature)
    assert tokens == sample.ids
    assert sample.logps == pytest.approx(logps, abs=1e-4)


@pytest.mark.parametrize("kind", [*KINDS][:3] + full(*[*KINDS][3:]))
def test_actions_follow_the_prefix_and_the_noise_goes_on(kind):
    model, session = started(kind, rows=4)
    rng, held, turns = random.Random(0), {row: [] for row in range(4)}, dict.fromkeys(range(4), 0)
    longest = 0
    for _ in range(12):
        prompts = {}
        for row in rng.sample(range(4), rng.randint(1, 4)):
            if rng.random() < 0.6:
                has = len(held[row])
                length = rng.choice((rng.randint(0, has), has, max(has - 1, 0)))
                session.rewind(row, length)
                del held[row][length:]
            count = rng.randint(0, 6) if held[row] else 3
            prompts[row] = [rng.randrange(300) for _ in range(count)]
        for row, sample in ask(session, prompts).items():
            held[row] += prompts[row]
            assert_is_plain(model, held[row], sample, seed=row, turn=turns[row])
            held[row] += sample.ids
            turns[row] += 1
        longest = max(longest, *map(len, held.values()))
    assert longest > 2 * tiny.WINDOW
    session.restart(1)
    sample = ask(session, {1: [50, 51]})[1]
    assert_is_plain(model, [50, 51], sample, seed=1, turn=0)


@pytest.mark.parametrize(
    ("kind", "rows", "computed"),
    [("qwen2", 1, 5), ("qwen2", 3, 5), ("bloom", 1, 5), ("lfm2", 1, 24), ("mamba", 1, 24)],
)
def test_only_the_last_token_of_the_prefix_is_computed_again(kind, rows, computed):
    """The methods that compute the whole history do so here, too."""
    once = SamplingOptions(temperature=1.0, max_new_tokens=1, stop_ids=frozenset())
    model, session = started(kind, rows, once)
    ask(session, {row: [*range(50, 80)] for row in range(rows)})
    tokens = []
    model.register_forward_pre_hook(
        lambda _, args, given: tokens.append(given["input_ids"].numel()), with_kwargs=True
    )
    session.rewind(0, 20)
    ask(session, {0: [90, 91, 92, 93]})
    assert tokens == [computed]
    session.rewind(0, 20)
    ask(session, {0: []})
    assert tokens[1:] == [computed - 4]


@pytest.mark.parametrize("length", [-1, 4])
def test_a_length_that_the_row_does_not_have_is_named_and_changes_nothing(length):
    once = SamplingOptions(temperature=1.0, max_new_tokens=1, stop_ids=frozenset())
    model, session = started("qwen2", 2, once)
    session.rewind(1, 0)
    first = ask(session, {1: [50, 51]})[1].ids
    with raises(ValueError, "row 1", f"length={length}", "3 tokens", "from 0 to 3"):
        session.rewind(1, length)
    sample = ask(session, {1: [60]})[1]
    logit_1V = model(torch.tensor([[50, 51, *first, 60]])).logits[0, -1:]
    assert sample.ids == choose(logit_1V, [noise(1, 1, 0)], temperature=1.0)[0]


def test_a_session_without_the_method_says_what_is_missing_and_what_to_do():
    class Growing(GeneratorSession):
        def submit(self, row, ids): ...
        def poll(self, timeout=None): ...
        def restart(self, row): ...

    with raises(ConfigError, "Growing", "'rewind'", "drops or rewrites", "'hf' or 'vllm'"):
        Growing().rewind(0, 0)
