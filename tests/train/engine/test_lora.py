"""LoRA on every ZeRO stage takes the steps of peft in plain torch, and saves what was trained.

The reference is ``peft.get_peft_model`` on one process, with torch's AdamW on float32 weights.
"""

from functools import cache
from itertools import product

import lora_step
import one_step
import peft
import pytest
import tiny
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.data.batching import pack
from agentgym_train.distributed import Distributed
from agentgym_train.models.policy import token_logps

pytestmark = [
    pytest.mark.slow,
    # peft's own class asks transformers for a property that has another name now.
    pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning"),
]

FEW = ("3-float32",)
REST = tuple(
    "-".join(c) for c in product("0123", ("float32", "bfloat16")) if "-".join(c) not in FEW
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def play(model, warm, tmp_path_factory):
    """Runs the cases once; returns their folder."""

    @cache
    def played(*cases):
        out = tmp_path_factory.mktemp("out")
        warm.play(lora_step.__file__, out, model, out, *cases)
        return out

    return played


def plain(model, dtype):
    """Two updates of peft's model: metrics, merged weights, the adapter at the start and after."""
    base = AutoModelForCausalLM.from_pretrained(model, dtype=getattr(torch, dtype)).eval()
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", task_type="CAUSAL_LM")
    torch.manual_seed(0)
    policy = peft.get_peft_model(base, config, autocast_adapter_dtype=False)
    learning = {n: p for n, p in policy.named_parameters() if p.requires_grad}
    start = {n: p.detach().clone() for n, p in learning.items()}
    masters = [p.detach().float().requires_grad_() for p in learning.values()]
    optimizer = torch.optim.AdamW(masters, lr=lora_step.RATE, weight_decay=0.01)
    groups, metrics = one_step.groups(), []
    batch = GRPO().compute_advantages(pack(groups), groups, Distributed())
    for _ in range(2):
        loss = GRPO().loss(token_logps(policy, batch, 1.0), batch)[0] / batch.action_tokens
        policy.zero_grad()
        loss.backward()
        for master, p in zip(masters, learning.values(), strict=True):
            master.grad = p.grad.float()
        norm = torch.nn.utils.clip_grad_norm_(masters, 1.0).item()
        optimizer.step()
        with torch.no_grad():
            for master, p in zip(masters, learning.values(), strict=True):
                p.copy_(master)
        metrics.append({"loss": loss.item(), "grad_norm": norm})
    after = {n: p.detach().clone() for n, p in learning.items()}
    merged = policy.merge_and_unload()
    return metrics, {n: p.detach() for n, p in merged.named_parameters()}, start, after


@pytest.mark.parametrize("number", [1, 2], ids=["one process", "two processes"])
@pytest.mark.parametrize(
    "case", [*FEW, *(pytest.param(case, marks=pytest.mark.full) for case in REST)]
)
def test_it_takes_the_steps_of_plain_peft(model, play, number, case):
    folder, dtype = play(*(FEW if case in FEW else REST)), case.split("-")[1]
    result = torch.load(folder / f"{number}.pt")[case]
    metrics, weights, start, after = plain(model, dtype)
    exact = dtype == "float32"
    for got, wanted in zip(result["metrics"], metrics, strict=True):
        for key, value in wanted.items():
            assert got[key] == pytest.approx(
                value, rel=1e-4 if exact else 0.02, abs=1e-5 if exact else 0.02
            ), key
    close = {"atol": 5e-5, "rtol": 0} if exact else {"atol": 4e-3, "rtol": 0.01}
    assert result["weights"].keys() == weights.keys()
    for name, weight in result["weights"].items():
        torch.testing.assert_close(
            weight, weights[name], **close, msg=lambda m, n=name: f"{n}: {m}"
        )
    saved = folder / f"{case}-{number}"
    adapter = load_file(saved / "adapter" / "adapter_model.safetensors")
    assert adapter.keys() == result["adapter"]
    off = moved = 0.0
    for name, weight in after.items():
        got = adapter[name.replace(".default.", ".")]
        assert not torch.equal(got, start[name]), f"{name} has not moved"
        off += (got.float() - weight.float()).abs().sum().item()
        moved += (weight.float() - start[name].float()).abs().sum().item()
    # Adam divides by the size of the gradient. Near 0, rounding decides the sign of a step.
    assert off < (1e-3 if exact else 0.1) * moved
    for name, weight in AutoModelForCausalLM.from_pretrained(saved).named_parameters():
        assert torch.equal(weight, result["weights"][name])
    base = AutoModelForCausalLM.from_pretrained(model, dtype=getattr(torch, dtype))
    with torch.no_grad():
        wanted = token_logps(base, pack(one_step.groups()[:2]), 1.0).logp_BT
    for logp_BT in result["reference"]:
        torch.testing.assert_close(
            logp_BT, wanted, atol=1e-5 if exact else 0.05, rtol=0, msg="the reference has moved"
        )


def test_a_saved_adapter_is_the_saved_model(model, play):
    folder = play(*FEW) / "3-float32-2"
    base = AutoModelForCausalLM.from_pretrained(model)
    adapted = peft.PeftModel.from_pretrained(base, folder / "adapter")
    merged, batch = AutoModelForCausalLM.from_pretrained(folder), pack(one_step.groups()[:2])
    with torch.no_grad():
        ours, theirs = (token_logps(m, batch, 1.0).logp_BT for m in (adapted, merged))
        first = token_logps(AutoModelForCausalLM.from_pretrained(model), batch, 1.0).logp_BT
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=0)
    assert (ours - first).abs().max() > 0.01
