"""Copying: only the second halves count, and a model that copies them has no loss."""

import math
from types import SimpleNamespace

import pytest
import torch

from agentgym_train.config import ScratchConfig
from agentgym_train.models import pretraining, scratch

VOCAB = 50


def learn(model, *, steps, seed=0):
    return pretraining.learn_to_copy(
        model, steps=steps, lr=1e-3, seed=seed, progress=lambda done: None
    )


class Stub(torch.nn.Module):
    """A model whose logits follow from the tokens; it remembers them."""

    def __init__(self, logits):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(()))
        self.device = torch.device("cpu")
        self.config = SimpleNamespace(vocab_size=VOCAB)
        self.logits, self.seen = logits, []

    def forward(self, input_ids):
        self.seen.append(input_ids)
        return SimpleNamespace(logits=self.logits(input_ids) * self.weight)


def copied(id_BT):
    """Logits that are sure of the token half a sequence back, and wrong in the first half."""
    half = id_BT.shape[1] // 2
    next_BT = torch.cat([(id_BT[:, 1:half] + 1) % VOCAB, id_BT[:, :half], id_BT[:, :1]], dim=1)
    return 100.0 * torch.nn.functional.one_hot(next_BT, VOCAB).float()


def test_a_model_that_copies_has_no_loss_and_one_that_guesses_has_that_of_chance(caplog):
    copies = learn(Stub(copied), steps=3)
    assert not caplog.records
    guesses = learn(Stub(lambda ids: torch.zeros(*ids.shape, VOCAB)), steps=3)
    assert "copy_steps=3 is too small: the model does not copy yet (loss 3.91 " in caplog.text
    assert copies == pytest.approx([0.0] * 3, abs=1e-6)
    assert guesses == pytest.approx([math.log(VOCAB)] * 3, rel=1e-6)


def test_sequences_are_shown_twice_use_all_tokens_and_follow_the_seed():
    one, two, other = Stub(copied), Stub(copied), Stub(copied)
    for model, seed in ((one, 0), (two, 0), (other, 1)):
        learn(model, steps=5, seed=seed)
    for ids in one.seen:
        half = ids.shape[1] // 2
        assert torch.equal(ids[:, :half], ids[:, half:])
        assert pretraining.LENGTHS[0] <= half <= pretraining.LENGTHS[1]
        assert ids.numel() <= pretraining.TOKENS
    assert set(torch.cat([ids.flatten() for ids in one.seen]).tolist()) == set(range(VOCAB))
    assert all(map(torch.equal, one.seen, two.seen))
    assert [ids.shape for ids in one.seen] != [ids.shape for ids in other.seen]


def test_a_scratch_model_learns_to_copy_before_it_reads_episodes(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(
        scratch, "random_play", lambda *args, **kwargs: [[{"role": "user", "content": "a"}]]
    )
    monkeypatch.setattr(scratch, "_seated", lambda env: [env])
    monkeypatch.setattr(
        scratch.pretraining,
        "learn_to_copy",
        lambda model, *, steps, lr, seed, progress: calls.append(("copying", steps, lr, seed)),
    )
    monkeypatch.setattr(
        scratch.pretraining, "learn_episodes", lambda *args, **kwargs: calls.append("episodes")
    )
    config = ScratchConfig(hidden=16, layers=1, copy_steps=7, lr=1e-3)
    scratch.make(
        tmp_path / "init",
        [SimpleNamespace(name="One")],
        config,
        seed=3,
        max_context=64,
        progress=lambda *args: None,
    )
    assert calls == [("copying", 7, 1e-3, 3), "episodes"]
