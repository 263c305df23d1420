"""A policy returns the same numbers for every model, with all logits in memory only if it must."""

import logging

import one_step
import pytest
import tiny
import torch
from transformers import CONFIG_MAPPING, AutoModelForCausalLM

from agentgym_train.data.batching import pack
from agentgym_train.engine.critic import ValueHeadPolicy
from agentgym_train.models import policy as module
from agentgym_train.models.chunked_head import ChunkedHead
from agentgym_train.models.policy import PolicyModel, token_logps

BENT = {
    "gemma2": {"final_logit_softcapping": 5.0, "head_dim": 16, "sliding_window": 16},
    "granite": {"logits_scaling": 4.0},
    "cohere": {"logit_scale": 0.1},
}
"""Models that change their logits after the head."""
STRAIGHT = {
    "gemma2": {"final_logit_softcapping": None, "head_dim": 16, "sliding_window": 16},
    "granite": {},
    "cohere": {"logit_scale": 1.0},
    "qwen3_moe": {
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 16,
        "decoder_sparse_step": 1,
        "head_dim": 16,
    },
}


def made(kind, shape):
    torch.manual_seed(0)
    config = CONFIG_MAPPING[kind](vocab_size=300, **(tiny.SHAPE | shape))
    return AutoModelForCausalLM.from_config(config).eval()


@pytest.fixture
def unwarned():
    module._warn.cache_clear()


@pytest.mark.parametrize(
    ("kind", "shape", "bent"),
    [
        *((kind, shape, True) for kind, shape in BENT.items()),
        *((kind, shape, False) for kind, shape in STRAIGHT.items()),
    ],
)
def test_a_model_that_changes_its_logits_is_recognised(kind, shape, bent, unwarned, caplog):
    """The reference is the model's own logits and, for values, its last hidden states."""
    policy, batch = made(kind, shape), pack(one_step.groups()[:2])
    wanted_BT = one_step.plain(policy, batch, 0.7).logp_BT
    wanted_BT.sum().backward()
    gradient = [p.grad.clone() for p in policy.parameters() if p.grad is not None]
    policy.zero_grad()
    with caplog.at_level(logging.WARNING, module.__name__):
        ValueHeadPolicy(policy)
        valued = ValueHeadPolicy(policy)
    assert len(caplog.records) == bent, "one line for each class of models"
    assert isinstance(policy.get_output_embeddings(), ChunkedHead) is not bent
    torch.nn.init.normal_(valued.value_head.weight)
    forward = token_logps(valued, batch, 0.7, entropy=True, bonus=True)
    torch.testing.assert_close(forward.logp_BT, wanted_BT)
    hidden = policy.base_model(input_ids=batch.id_BT, use_cache=False).last_hidden_state
    torch.testing.assert_close(forward.value_BT[:, 1:], valued.value_head(hidden)[:, :-1])
    forward.logp_BT.sum().backward()
    ours = [p.grad for p in policy.parameters() if p.grad is not None]
    largest = max(float(each.abs().max()) for each in gradient)
    torch.testing.assert_close(ours, gradient, atol=1e-6 * largest, rtol=1e-4)


def test_the_check_changes_nothing(unwarned):
    """It uses no random numbers and leaves every forward as it was."""
    policy = made("gemma2", BENT["gemma2"])
    before = torch.random.get_rng_state()
    PolicyModel(policy)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not any("forward" in vars(each) for each in policy.modules())


def test_entropies_come_only_where_they_are_requested():
    policy, batch = PolicyModel(tiny.model().eval()), pack(one_step.groups()[:2])
    alone = token_logps(policy, batch, 1.0)
    assert alone.entropy_BT is alone.bonus_BT is alone.value_BT is None
    both = token_logps(policy, batch, 1.0, entropy=True, bonus=True)
    assert both.entropy_BT[batch.action_BT].all()
    assert both.bonus_BT[batch.action_BT].all()


class Wrapper(torch.nn.Module):
    """Wraps a causal LM as peft does."""

    def __init__(self, model):
        super().__init__()
        self.base_model = torch.nn.ModuleDict({"model": model})

    def get_base_model(self):
        return self.base_model["model"]

    def forward(self, **inputs):
        return self.get_base_model()(**inputs)


@pytest.mark.parametrize("bent", [False, True])
def test_a_wrapped_model_is_its_model(bent):
    policy = made("granite", (BENT if bent else STRAIGHT)["granite"])
    batch = pack(one_step.groups()[:2])
    wanted = one_step.plain(policy, batch, 1.0).logp_BT
    torch.testing.assert_close(token_logps(Wrapper(policy), batch, 1.0).logp_BT, wanted)
    assert isinstance(policy.get_output_embeddings(), ChunkedHead) is not bent
