"""The trial of a method converts few layers of a large model to float32."""

import pytest
import tiny
import torch
from raised import raises
from some import every

from agentgym_train.errors import ModelError
from agentgym_train.generators import float32, hf
from agentgym_train.generators.float32 import first_layers, in_float32, layers_of_every_kind
from agentgym_train.generators.hf import HF
from agentgym_train.generators.ragged_cache import RaggedCache

SIX = ["full_attention"] * 6


def tensors(model):
    return {id(t): t for t in (*model.parameters(), *model.buffers())}


def wide_bytes(model):
    return sum(4 * t.numel() for t in tensors(model).values() if t.dtype == torch.float32)


@pytest.fixture
def large(monkeypatch):
    """Every model counts as large."""
    monkeypatch.setattr(float32, "LARGE", 0)


def test_the_copy_is_small_and_the_model_stays_as_it_was(large):
    model = tiny.model(num_hidden_layers=40, tie_word_embeddings=False).to(torch.bfloat16)
    before = {name: (t, t.clone()) for name, t in model.state_dict(keep_vars=True).items()}
    layer = sum(p.numel() for p in model.model.layers[0].parameters())
    outer = sum(p.numel() for p in model.parameters()) - 40 * layer
    with in_float32(model) as tried:
        buffers = sum(b.numel() for b in model.buffers())
        assert wide_bytes(tried) <= 4 * (2 * layer + outer + buffers)
        assert tried.config.num_hidden_layers == len(tried.model.layers) == 2
        assert {t.dtype for t in tried.parameters()} == {torch.float32}
    assert len(model.model.layers) == model.config.num_hidden_layers == 40
    for name, tensor in model.state_dict(keep_vars=True).items():
        assert tensor is before[name][0], "it is not even moved"
        assert torch.equal(tensor, before[name][1])


def test_the_first_layers_are_those_of_the_model():
    model = tiny.model(num_hidden_layers=4).to(torch.bfloat16).eval()
    copy, ids, read = first_layers(model, 2), torch.arange(12)[None], []
    assert copy.lm_head.weight is copy.model.embed_tokens.weight, "it stays tied"
    whole = tiny.model(num_hidden_layers=4).to(torch.bfloat16).float().eval()
    whole.model.layers[1].register_forward_hook(lambda layer, given, out: read.append(out))
    with torch.no_grad():
        whole(ids)
        logits = whole.lm_head(whole.model.norm(read[0]))
        torch.testing.assert_close(copy(ids).logits, logits)


@pytest.mark.parametrize(
    ("kind", "shape", "layers"),
    [
        ("qwen2", {}, 2),
        ("mistral", {}, 2),
        ("gpt2", {}, 2),
        ("bloom", {}, 2),
        ("gemma3_text", {"layer_types": ["sliding_attention"] * 4 + SIX[:2]}, 5),
        ("lfm2", {"layer_types": ["conv", "conv", "conv", "full_attention", *SIX[:2]]}, 4),
        ("qwen2", {"layer_types": [*SIX[:5], "sliding_attention"], "sliding_window": 16}, 6),
    ],
)
def test_it_has_every_kind_of_layer(kind, shape, layers):
    count = {"gpt2": "n_layer", "bloom": "n_layer"}.get(kind, "num_hidden_layers")
    model = tiny.model(kind, **{count: 6, "use_sliding_window": True} | shape)
    assert layers_of_every_kind(model) == layers


def test_a_layer_with_a_setting_that_differs_is_another_kind():
    model = tiny.model(num_hidden_layers=6)
    model.model.layers[3].self_attn.use_rope = False
    assert layers_of_every_kind(model) == 4


@pytest.mark.parametrize("kind", every(3, tiny.ARCHITECTURES))
def test_it_finds_the_method_that_the_whole_model_finds(kind, monkeypatch):
    model = tiny.model(kind).to(torch.bfloat16)
    whole = HF(model, allow_slower=True).method
    monkeypatch.setattr(float32, "LARGE", 0)
    assert HF(model, allow_slower=True).method is whole


class Shifted(RaggedCache):
    """Forgets nothing but reads the previous token."""

    def append(self, new):
        return super().append({row: [max(0, i - 1) for i in ids] for row, ids in new.items()})


def test_a_broken_method_is_still_found(large, monkeypatch):
    broken = hf.MemoryMethod("a broken cache", Shifted, lasts=True, joins=True)
    model = tiny.model(num_hidden_layers=8).to(torch.bfloat16)
    monkeypatch.setattr(hf, "METHODS", (broken, hf.METHODS[1]))
    assert HF(model, allow_slower=True).method is hf.METHODS[1]
    monkeypatch.setattr(hf, "METHODS", (broken,))
    with raises(ModelError, "a broken cache", "float32"):
        HF(model)
