"""Adapters of every architecture: what is adapted, merged and rejected."""

import pytest
import tiny
import torch
from raised import raises
from some import every

from agentgym_envs.errors import MissingExtra
from agentgym_train.config import LoraConfig
from agentgym_train.errors import ModelError
from agentgym_train.models import lora

ADAPTED = [kind for kind in tiny.ARCHITECTURES if kind != "mamba"]


@pytest.mark.parametrize("kind", ADAPTED)
def test_the_merged_weights_compute_what_the_adapter_computes(kind):
    config, model, ids = LoraConfig(rank=4), tiny.model(kind).eval(), torch.arange(20)[None]
    names = [name for name, _ in model.named_parameters()]
    with torch.no_grad():
        first = model(input_ids=ids).logits
        lora.check(config, model.config)
        lora.adapt(model, config, path="unused", seed=0)
        assert torch.equal(model(input_ids=ids).logits, first), "B starts at 0"
        for layer in lora.adapted(model).values():
            layer.lora_B["default"].weight.normal_(std=0.01)
        ours = model(input_ids=ids).logits
        weights = {weight.name: weight.value() for weight in lora.merged_weights(model)}
        with lora.switched_off(model):
            assert torch.equal(model(input_ids=ids).logits, first)
    assert list(weights) == names
    plain = tiny.model(kind, seed=1).eval()
    plain.load_state_dict(weights, strict=False)
    with torch.no_grad():
        torch.testing.assert_close(plain(input_ids=ids).logits, ours, atol=1e-4, rtol=1e-4)
    assert (ours - first).abs().max() > 0.01
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert trained == {name for name, _ in model.named_parameters() if ".lora_" in name}


def test_the_seed_decides_the_initial_weights():
    made = []
    for seed in (0, 0, 1):
        model = tiny.model()
        lora.adapt(model, LoraConfig(rank=4), path="unused", seed=seed)
        made.append(next(iter(lora.adapted(model).values())).lora_A["default"].weight)
    assert torch.equal(made[0], made[1])
    assert not torch.equal(made[0], made[2])


def test_a_model_that_peft_rejects_is_one_line():
    with raises(ModelError, "mamba") as caught:
        lora.check(LoraConfig(rank=4), tiny.model("mamba").config)
    assert "\n" not in str(caught.value)


def test_a_missing_extra_names_the_command(monkeypatch):
    monkeypatch.setattr(lora, "find_spec", lambda name: None)
    with raises(MissingExtra, "model.lora", "agentgym-train[lora]"):
        lora.check(LoraConfig(rank=4), tiny.model().config)


EXPERTS = {
    "mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "qwen2_moe": {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16},
    "qwen3_moe": {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16},
    "deepseek_v3": {
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 16,
        "first_k_dense_replace": 1,
        "n_group": 1,
        "topk_group": 1,
        "kv_lora_rank": 8,
        "q_lora_rank": 8,
        "qk_rope_head_dim": 8,
        "qk_nope_head_dim": 8,
        "v_head_dim": 8,
        "num_key_value_heads": 4,
        "head_dim": 8,
    },
}


@pytest.mark.parametrize("kind", every(3, EXPERTS))
def test_a_mixture_of_experts_has_adapters_on_its_linear_layers(kind, caplog, monkeypatch):
    monkeypatch.setitem(tiny.ARCHITECTURES, kind, EXPERTS[kind])
    model = tiny.model(kind).eval()
    lora.check(LoraConfig(rank=4), model.config)
    assert f"the experts of a {kind} model are not linear layers" in caplog.text
    names = [name for name, _ in model.named_parameters()]
    linear = {name for name, m in model.named_modules() if isinstance(m, torch.nn.Linear)}
    lora.adapt(model, LoraConfig(rank=4), path="unused", seed=0)
    adapted = set(lora.adapted(model))
    assert adapted <= linear
    assert any(name.endswith("o_proj") for name in adapted)
    if kind != "deepseek_v3":  # peft takes its dense layers for the experts
        assert adapted == linear - {"lm_head"}
    assert [weight.name for weight in lora.merged_weights(model)] == names
    ids = torch.arange(20)[None]
    for layer in lora.adapted(model).values():
        layer.lora_B["default"].weight.data.normal_(std=0.01)
    plain = tiny.model(kind, seed=1).eval()
    weights = {weight.name: weight.value() for weight in lora.merged_weights(model)}
    plain.load_state_dict(weights, strict=False)
    with torch.no_grad():
        ours, theirs = model(input_ids=ids).logits, plain(input_ids=ids).logits
    torch.testing.assert_close(theirs, ours, atol=1e-4, rtol=1e-4)


def test_a_target_that_peft_takes_for_the_experts_names_those_that_work(monkeypatch):
    monkeypatch.setitem(tiny.ARCHITECTURES, "deepseek_v3", EXPERTS["deepseek_v3"])
    shape = tiny.model("deepseek_v3").config
    with pytest.raises(ModelError, match="to some of") as caught:
        lora.check(LoraConfig(rank=4, targets=("gate_proj",)), shape)
    named = str(caught.value).rpartition("some of ")[2].split(", ")
    assert "o_proj" in named
    assert "gate_proj" not in named
    lora.check(LoraConfig(rank=4, targets=tuple(named)), shape)
