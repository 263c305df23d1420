"""The language model's loop of the guide: its loss, its samples, its failures, and it learns."""

from itertools import pairwise
from pathlib import Path

import pytest
import tiny
import torch
from raised import raises
from scripts import load

EXAMPLE = Path(__file__).parents[2] / "docs/examples/reinforce.py"
ALWAYS = {"env_id": "seventh_env:support/Seventh-v0", "keywords": {"every": 10**9}}


@pytest.fixture(scope="module")
def reinforce():
    return load(EXAMPLE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model whose own settings would sample the most probable token only."""
    made = tmp_path_factory.mktemp("model")
    tiny.save(made, template=tiny.CHATML)
    (made / "generation_config.json").write_text('{"do_sample": true, "top_k": 1}')
    return made


def test_it_is_short():
    assert len(EXAMPLE.read_text().splitlines()) <= 165


def test_the_loss_and_its_gradient_are_those_of_one_token_at_a_time(reinforce, folder):
    tokenizer, model = reinforce.load(reinforce.Args(str(folder)))
    turns = [([5, 6, 7, 8], [9], 0.5), ([9, 8], [7, 6, 5], -2.0), ([30], [31, 32], 1.0)]
    expected = 0.0
    for prompt, ids, advantage in turns:
        for i, token in enumerate(ids):
            logits = model(torch.tensor([prompt + ids[:i]])).logits[0, -1]
            expected -= advantage * logits.log_softmax(0)[token]
    expected.backward()
    gradients = [weight.grad.clone() for weight in model.parameters()]
    model.zero_grad()
    found = reinforce.loss(tokenizer, model, turns)
    found.backward()
    torch.testing.assert_close(found, expected)
    for weight, gradient in zip(model.parameters(), gradients, strict=True):
        torch.testing.assert_close(weight.grad, gradient, rtol=1e-4, atol=1e-4)


def test_samples_are_those_of_the_policy_and_end_with_its_stop_token(reinforce, folder):
    """Uneven prompts: of many samples, their shares are the probabilities."""
    tokenizer, model = reinforce.load(reinforce.Args(str(folder), max_new_tokens=1))
    torch.manual_seed(0)
    rows = reinforce.sample(tokenizer, model, [[5, 6, 7], [8]] * 2000)
    for prompt, found in (([5, 6, 7], rows[::2]), ([8], rows[1::2])):
        with torch.no_grad():
            probability_V = model(torch.tensor([prompt])).logits[0, -1].softmax(0)
        share_V = torch.bincount(torch.tensor(found)[:, 0], minlength=len(probability_V)) / 2000
        assert (share_V - probability_V).abs().sum() < 2 * len(probability_V) ** 0.5 / 2000**0.5
    model.generation_config.max_new_tokens = 200
    stop = tokenizer.eos_token_id
    ended = reinforce.sample(tokenizer, model, [[5]] * 20)
    assert any(stop in row for row in ended)
    assert all(stop not in row[:-1] for row in ended)


def test_a_failure_is_in_no_baseline_and_no_loss(reinforce):
    def episode(total, error=None):
        return reinforce.Episode([], [([1], [2]), ([3], [4])], total, error)

    failed = episode(0.0, RuntimeError("it broke"))
    turns = reinforce.weighted([episode(1.0), episode(0.5), failed, failed, episode(1.0)], 3)
    assert turns == [([1], [2], 0.25), ([3], [4], 0.25), ([1], [2], -0.25), ([3], [4], -0.25)]


def test_a_prompt_is_the_conversation_so_far_and_all_failures_end_the_run(
    reinforce, folder, monkeypatch
):
    prompts, sample = [], reinforce.sample

    def watched(tokenizer, model, rows):
        prompts.extend(tokenizer.decode(row) for row in rows)
        return sample(tokenizer, model, rows)

    monkeypatch.setattr(reinforce, "sample", watched)
    args = reinforce.Args(str(folder), **ALWAYS, tasks=1, group_size=1, steps=1)
    reinforce.train(args)
    assert [p.count("<|im_start|>assistant") for p in prompts] == [1, 2, 3]
    assert all(p.endswith("<|im_start|>assistant\n") for p in prompts)
    assert "seed 1<|im_end|>" in prompts[0]
    assert all(after.startswith(before) for before, after in pairwise(prompts))
    args.keywords = {"every": 1}
    with raises(Exception, "seventh step"):
        reinforce.train(args)


def test_it_learns(reinforce, folder):
    """The reward of the only turn is the action's length, modulo 5."""
    sizes = {"horizon": 1, "tasks": 1, "group_size": 32, "max_new_tokens": 1, "steps": 12}
    args = reinforce.Args(str(folder), **ALWAYS, **sizes, micro_batch=32, learning_rate=2e-2)
    history = reinforce.train(args)
    assert sum(history[-2:]) > sum(history[:2]) + 2, history
