"""Whole runs with an adapter: critic, reference, checkpoints, sleep."""

import actor_critic
import peft
import pytest
import small_run
import torch
from raised import raises
from trainers import make
from transformers import AutoModelForCausalLM

from agentgym_train.engine import checkpoint
from agentgym_train.errors import CheckpointError
from agentgym_train.reporting import metrics

pytestmark = [
    pytest.mark.slow,
    # peft's own class asks transformers for a property that has another name now.
    pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning"),
]


def settings(home, kind, stage, steps, *, rank=4, sleep=False):
    shared = {name: small_run.HASH[name] for name in ("env", "eval")}
    options = shared | small_run.with_critic(kind)
    options["algorithm"] |= {"kl_coef": 0.1}
    zero = {"stage3_param_persistence_threshold": 0} if stage == 3 else {}
    return options | {
        "run": {"folder": str(home / "run"), "steps": steps, "save_every": 2},
        "model": {
            "path": str(home / "model"),
            "max_context": 512,
            "lora": {"rank": rank, "targets": ["q_proj", "down_proj"]},
        },
        "engine": {"zero_stage": stage, "zero": zero, "lr": 1e-2, "sleep": sleep},
    }


def play(home, *args, **more):
    """Trains up to some step; returns metrics and all weights."""
    trainer, rows = make(home, settings(home, *args, **more)), []
    trainer.train(
        lambda row, groups: rows.append(
            {k: v for k, v in row.items() if k not in metrics.MEASURED}
        ),
        lambda step: None,
    )
    weights = [actor_critic.full_parameters(engine) for engine in trainer.engines]
    trainer.close()
    return rows, weights


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "stage"),
    [
        ("head", 0),
        ("model", 2),
        ("head", 3),
        ("model", 3),
    ],
)
def test_it_goes_on_as_if_it_had_never_stopped(tmp_path, kind, stage):
    """The first part sleeps while the generator works, and the second does not."""
    rows, weights = play(tmp_path / "whole", kind, stage, 3)
    early, _ = play(tmp_path / "parts", kind, stage, 2, sleep=True)
    late, ours = play(tmp_path / "parts", kind, stage, 3)
    assert early + late == rows
    assert [row["step"] for row in late] == [3], "it did go on"
    assert rows[0]["kl"] == pytest.approx(0, abs=1e-6)
    assert rows[2]["kl"] > 1e-5, "the reference is the initial policy"
    assert all(row["logp_drift"] < 1e-3 for row in rows), "the generator has the adapter"
    for mine, theirs in zip(ours, weights, strict=True):
        assert all(torch.equal(weight, theirs[name]) for name, weight in mine.items())
        bases = {name: weight for name, weight in mine.items() if ".base_layer." in name}
        first = AutoModelForCausalLM.from_pretrained(tmp_path / "parts" / "model").state_dict()
        assert bases
        for name, weight in bases.items():
            plain = name.replace(".base_layer.", ".")
            assert any(
                torch.equal(weight, first[key])
                for key in first
                if plain.endswith(key.removeprefix("model."))
            ), name
    newest = checkpoint.latest(tmp_path / "parts" / "run")
    (states,) = (newest / "engine").glob("*model_states.pt")
    stored = torch.load(states, weights_only=False)["module"]
    frozen = [name for name in stored if "lora_" not in name and "value_head" not in name]
    # DeepSpeed knows a tied weight by its first name only, and keeps the second.
    assert {name.removeprefix("model.") for name in frozen} <= {"lm_head.weight"}
    saved = AutoModelForCausalLM.from_pretrained(newest / "model")
    base = AutoModelForCausalLM.from_pretrained(tmp_path / "parts" / "model")
    adapted = peft.PeftModel.from_pretrained(base, newest / "model" / "adapter").merge_and_unload()
    for name, weight in adapted.named_parameters():
        torch.testing.assert_close(saved.get_parameter(name), weight, atol=1e-6, rtol=0)


def test_a_checkpoint_of_another_adapter_is_refused_in_one_line(tmp_path):
    play(tmp_path, "head", 2, 2)
    newest = checkpoint.latest(tmp_path / "run")
    state = checkpoint.read_state(newest)
    assert state.model["lora"] == {"rank": 4, "alpha": 32.0, "targets": ["down_proj", "q_proj"]}
    for adapter, words in (
        (state.model["lora"] | {"rank": 8}, "an adapter of rank 8, alpha 32 on down_proj, q_proj"),
        (None, "no adapter"),
    ):
        with raises(CheckpointError, "rank 4, alpha 32", words) as caught:
            checkpoint.check_fits(
                state, newest, model=state.model | {"lora": adapter}, zero_stage=2, processes=1
            )
        assert "\n" not in str(caught.value)
