"""Gradient checkpointing computes layers twice and changes no number."""

import logging

import one_step
import pytest
import tiny
import torch
from transformers import CONFIG_MAPPING, AutoModelForCausalLM
from transformers.modeling_layers import GradientCheckpointingLayer

from agentgym_train.config import ModelConfig
from agentgym_train.data.batching import pack
from agentgym_train.models import loading
from agentgym_train.models.loading import (
    checkpoint_layers,
    load_model,
    load_policy,
    load_reward_model,
)
from agentgym_train.models.policy import PolicyModel, token_logps

DROPOUT = {
    "gpt2": {"attn_pdrop": 0.5, "resid_pdrop": 0.5, "embd_pdrop": 0.5},
    "qwen2": {"attention_dropout": 0.5},
    "opt": {"dropout": 0.5, "layerdrop": 0.5, "word_embed_proj_dim": 32, "ffn_dim": 64},
    "falcon": {"hidden_dropout": 0.5, "attention_dropout": 0.5},
    "mixtral": {"num_local_experts": 4, "router_jitter_noise": 0.5},
}
"""Layers that behave differently in train mode, by modules and by functions."""
MODELS = {kind: {} for kind in tiny.ARCHITECTURES} | DROPOUT


def gradients(model, batch):
    logp_BT = token_logps(model, batch, 1.0).logp_BT
    model.zero_grad()
    logp_BT.sum().backward()
    return [logp_BT.detach(), *(p.grad.clone() for p in model.parameters() if p.grad is not None)]


@pytest.mark.parametrize("kind", MODELS)
def test_log_probabilities_and_gradients_stay_equal(kind):
    shape = tiny.SHAPE | tiny.ARCHITECTURES.get(kind, {}) | MODELS[kind]
    torch.manual_seed(0)
    config = CONFIG_MAPPING[kind](vocab_size=300, **shape)
    model = PolicyModel(AutoModelForCausalLM.from_config(config).eval())
    batch, calls = pack(one_step.groups()[:2]), []
    inner = next(m for m in model.modules() if isinstance(m, GradientCheckpointingLayer))
    next(inner.children()).register_forward_hook(lambda *_: calls.append(1))
    wanted = gradients(model, batch)
    assert checkpoint_layers(model) == 2
    calls.clear()
    torch.testing.assert_close(gradients(model, batch), wanted)
    assert len(calls) == 2, "once forward and once again in the backward pass"
    calls.clear()
    with torch.no_grad():
        assert torch.equal(token_logps(model, batch, 1.0).logp_BT, wanted[0])
    assert len(calls) == 1


def test_layers_keep_only_their_inputs():
    """A tensor of a layer's inside, such as an attention's output, is not saved."""
    model, batch = tiny.model().eval(), pack(one_step.groups()[:2])

    def saved():
        sizes = []
        keep = torch.autograd.graph.saved_tensors_hooks(
            lambda t: sizes.append(t.numel()) or t, lambda t: t
        )
        with keep:
            token_logps(model, batch, 1.0)
        return sum(sizes)

    before = saved()
    checkpoint_layers(model)
    assert saved() < before / 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize(
    ("path", "value", "on"),
    [
        ("scratch", "auto", False),
        ("scratch", "on", True),
        ("some/model", "auto", True),
        ("some/model", "off", False),
    ],
)
def test_it_is_on_for_pretrained_models(path, value, on):
    assert ModelConfig(path=path, checkpointing=value).checkpoints is on


def recomputes(model):
    return any(
        isinstance(m, GradientCheckpointingLayer) and "forward" in vars(m) for m in model.modules()
    )


def test_policies_and_reward_models_are_loaded_with_it(folder):
    for value, on in (("auto", True), ("off", False)):
        config = ModelConfig(path=folder, checkpointing=value)
        assert recomputes(load_policy(config, folder, seed=0)) is on
        model = load_reward_model(config, tiny.tokenizer(), seed=0)
        assert recomputes(model) is on
        assert not any(m.training for m in model.modules())


def test_a_model_without_layers_warns(folder, monkeypatch, caplog):
    monkeypatch.setattr(loading, "checkpoint_layers", lambda model: 0)
    with caplog.at_level(logging.WARNING, loading.__name__):
        load_policy(ModelConfig(path=folder), folder, seed=0)
    assert "model.checkpointing has no effect" in caplog.text


def test_attention_is_the_named_one(folder):
    model = load_model(folder, "float32", attn_implementation="eager")
    assert model.config._attn_implementation == "eager"
    model = load_reward_model(
        ModelConfig(path=folder, attn_implementation="eager"), tiny.tokenizer(), seed=0
    )
    assert model.config._attn_implementation == "eager"
