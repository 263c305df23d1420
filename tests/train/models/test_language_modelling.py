"""Language modelling: the tokens of an episode, their weights, and micro-batches."""

import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import Qwen2ForCausalLM

from agentgym_train.config import ScratchConfig
from agentgym_train.models import pretraining, scratch
from agentgym_train.models.chat import ChatTokens

TEXTS = ["go", "go west and then east", "go north, take the lamp, and then go far away"]


def episode(*texts):
    return [{"role": role, "content": text} for text in texts for role in scratch.ROLES]


@pytest.fixture(scope="module")
def tokenizer():
    return scratch.train_tokenizer(TEXTS, 270)


def test_an_episode_has_the_tokens_of_its_rendered_text(tokenizer):
    talk = episode(*TEXTS)
    (row,) = pretraining.encode(tokenizer, [talk], max_context=1000, observations=0.2)
    text = ChatTokens(tokenizer).render(talk)
    assert tokenizer.decode(row.ids) == text
    assert row.ids == tokenizer(text, add_special_tokens=False)["input_ids"]
    (cut,) = pretraining.encode(tokenizer, [talk], max_context=9, observations=0.2)
    assert (cut.ids, cut.weights) == (row.ids[:9], row.weights[:9])


def test_the_words_of_an_action_and_its_end_have_the_weight_one(tokenizer):
    (row,) = pretraining.encode(
        tokenizer, [episode("go", "west")], max_context=1000, observations=0.2
    )
    heavy = [i for i, w in zip(row.ids, row.weights, strict=True) if w == 1.0]
    light = [i for i, w in zip(row.ids, row.weights, strict=True) if w == 0.2]
    assert tokenizer.decode(heavy) == "go<|end|>west<|end|>"
    assert tokenizer.decode(light) == "<|user|>go<|assistant|><|user|>west<|assistant|>"
    assert len(heavy) + len(light) == len(row.ids)


def model_of(tokenizer, config):
    torch.manual_seed(0)
    return Qwen2ForCausalLM(scratch.shape(config, vocab=len(tokenizer), max_context=128))


def test_the_loss_is_the_weighted_mean_of_the_rows_without_padding(tokenizer):
    """One step of plain SGD-free torch, row by row, has the same gradient."""
    config = ScratchConfig(hidden=16, layers=1)
    rows = pretraining.encode(
        tokenizer, [episode(text) for text in TEXTS], max_context=128, observations=0.3
    )
    model, plain = model_of(tokenizer, config), model_of(tokenizer, config)
    pretraining._episode_loss(model, rows).backward()
    for row in rows:
        ids = torch.tensor([row.ids])
        losses = cross_entropy(plain(input_ids=ids).logits[0, :-1], ids[0, 1:], reduction="none")
        (losses * torch.tensor(row.weights[1:])).sum().backward()
    for one, other in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-4)


def test_training_does_not_depend_on_the_size_of_micro_batches(tokenizer, monkeypatch):
    """A limit of 40 tokens makes several passes of a step; 8192 makes one."""
    config = ScratchConfig(hidden=16, layers=1, steps=3, batch=3)
    rows = pretraining.encode(
        tokenizer, [episode(text) for text in TEXTS], max_context=128, observations=1.0
    )

    def trained(limit):
        monkeypatch.setattr(pretraining, "MICRO_BATCH_TOKENS", limit)
        model = model_of(tokenizer, config)
        pretraining.learn_episodes(model, rows, config, seed=0, progress=lambda done: None)
        return model.state_dict()

    one, several = trained(8192), trained(40)
    for name, value in one.items():
        torch.testing.assert_close(several[name], value, rtol=1e-3, atol=1e-4)
