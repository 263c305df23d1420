"""Plans against counts by hand, properties, and the peaks of real engines and generators."""

import gc
import json
from dataclasses import replace
from pathlib import Path

import processes
import pytest
import qwen
import torch
from phases import PROMPT
from transformers import AutoConfig, AutoModelForCausalLM

from agentgym_train import config as configuration
from agentgym_train.config import EngineConfig, ModelConfig
from agentgym_train.errors import ModelError
from agentgym_train.planning import card_memory, plan
from agentgym_train.planning.card_memory import GeneratorRows, TrainingCards, engine_memory
from agentgym_train.planning.trace import (
    LiveBytes,
    ParameterSize,
    TraceSetting,
    fake_batch,
    learn,
    trace,
)

SUPPORT = Path(processes.__file__).parent
GIB = 2**30
LAYER = 8 * 8 + 8 + 2 * (8 * 4 + 4) + 8 * 8 + 3 * 8 * 16 + 2 * 8
"""Parameters of a layer: queries, keys, values, outputs, feed-forward, norms."""
TINY = 10 * 8 + 2 * LAYER + 8
"""Parameters of the tiny model: tied embedding, two layers, norm."""


def setting(folder, *, rows=1, tokens=64, critic=None, bonus=False, **model):
    shape = AutoConfig.from_pretrained(folder)
    config = ModelConfig(path=folder, **({"checkpointing": "off"} | model))
    return TraceSetting(shape, shape.to_json_string(), config, critic, bonus, rows, tokens)


@pytest.fixture
def tiny(tmp_path):
    return qwen.save(tmp_path, "tiny")


def test_live_bytes_are_those_of_tensors_that_are_not_freed():
    with LiveBytes() as live:
        a = torch.zeros(100)
        assert live.now == 400
        b = a + 1
        view, c = b[:50], b.double()
        assert (live.now, live.peak) == (400 + 400 + 800, 1600)
        del a, c
        gc.collect()
        assert (live.now, live.peak) == (400, 1600)
        live.restart()
        del b  # the view keeps the storage
        assert (live.now, live.peak, len(view)) == (400, 400, 50)


def test_the_parameters_are_those_counted_by_hand(tiny):
    traced = trace(setting(tiny))
    assert sum(w.numel for w in traced.model) == sum(w.numel for w in traced.policy) == TINY
    assert sum(w.numel for w in trace(setting(tiny, critic="head")).policy) == TINY + 8 + 1
    last = trace(setting(tiny, last_layers=1)).policy
    assert sum(w.numel for w in last if w.trained) == LAYER


def test_the_bytes_of_an_engine_are_those_counted_by_hand():
    weights = [ParameterSize(TINY, True)]
    two = TrainingCards(2)

    def of(stage, dtype):
        config = EngineConfig(
            zero_stage=stage,
            zero={"stage3_param_persistence_threshold": 0, "reduce_bucket_size": 9},
        )
        each = engine_memory(weights, config, dtype, two)
        return each.weights, each.optimizer, each.gradients, each.gradients_kept, each.buckets

    moments, master = 8 * TINY, 4 * TINY
    assert of(0, "float32") == (4 * TINY, moments, 4 * TINY, 0, 0)
    assert of(1, "float32") == (4 * TINY, (moments + master) / 2, 4 * TINY, 0, 0)
    assert of(2, "float32") == (4 * TINY, (moments + master) / 2, 2 * TINY, 0, 0)
    assert of(3, "float32") == (2 * TINY, (moments + master) / 2, 2 * TINY, 2 * TINY, 36)
    # In bfloat16 the weights are half as large, and stages 0 and 1 run as 2.
    for stage in (0, 1, 2):
        assert of(stage, "bfloat16") == (2 * TINY, (moments + master) / 2, 2 * TINY, 0, 0)
    assert of(3, "bfloat16") == (TINY, (moments + master) / 2, 2 * TINY, 2 * TINY, 18)


def test_small_weights_stay_whole_under_stage_3():
    config = EngineConfig(zero_stage=3, zero={"stage3_param_persistence_threshold": 50})
    weights = [ParameterSize(100, True), ParameterSize(40, True)]
    assert engine_memory(weights, config, "float32", TrainingCards(4)).weights == 4 * (100 / 4 + 40)


def test_an_offloaded_state_is_in_main_memory_and_not_on_a_card():
    weights = [ParameterSize(1000, True)]
    zero = {"offload_optimizer": {"device": "cpu"}, "stage3_param_persistence_threshold": 0}
    moved = engine_memory(
        weights, EngineConfig(zero_stage=2, zero=zero), "bfloat16", TrainingCards(4)
    )
    assert (moved.optimizer, moved.gradients, moved.host) == (0, 0, (12 + 4) * 1000)
    both = zero | {"offload_param": {"device": "cpu"}}
    moved = engine_memory(
        weights, EngineConfig(zero_stage=3, zero=both), "bfloat16", TrainingCards(4)
    )
    assert (moved.weights, moved.optimizer, moved.host) == (0, 0, (12 + 4 + 2) * 1000)


def test_the_cache_is_that_counted_by_hand(tiny):
    shape = AutoConfig.from_pretrained(tiny)
    # Keys and values of two layers, one head of size 4, in bfloat16.
    by_hand = 2 * 2 * (3 * 100) * 1 * 4 * 2
    assert (
        card_memory.generator_cache(shape, GeneratorRows(3, 100), 2) == card_memory.GROWTH * by_hand
    )


def test_the_cache_of_32_episodes_of_a_7b_model(tmp_path):
    shape = AutoConfig.from_pretrained(qwen.save(tmp_path, "7b"))
    assert (
        card_memory.generator_cache(shape, GeneratorRows(32, 32768), 2) / GIB
        == 56 * card_memory.GROWTH
    )


@pytest.mark.parametrize(
    "critic", [*(pytest.param(c, marks=pytest.mark.full) for c in (None, "head")), "model"]
)
def test_fake_tensors_need_what_real_ones_need(tmp_path, critic):
    """The same passes over real weights, counted in the same way."""
    folder = qwen.save(tmp_path, "small")
    asked = setting(folder, rows=2, tokens=96, critic=critic)
    from agentgym_train.engine.critic import ValueHeadPolicy

    def model():
        return AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder)).eval()

    policy, second = model(), ValueHeadPolicy(model(), trunk=True) if critic == "model" else None
    policy = ValueHeadPolicy(policy) if critic == "head" else policy
    micro = fake_batch(2, 96)
    micro.action_BT[:, 1 : 1 + 28] = True  # 30 %, rounded as in the plan
    micro.action_BT[0, 40] = True
    with LiveBytes() as live:
        for p in [p for m in (policy, second) if m for p in m.parameters()]:
            live.see(p)
            p.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
        start = live.now
        learn(policy, second, micro, bonus=False)
    assert trace(asked).activations == pytest.approx(live.peak - start, rel=0.01)


@pytest.mark.full
def test_activations_grow_with_tokens_layers_and_the_bonus(tmp_path):
    folder = qwen.save(tmp_path, "small")
    short, long = (trace(setting(folder, tokens=n)).activations for n in (500, 1000))
    assert long == pytest.approx(2 * short, rel=0.03)  # the slices of the head do not grow
    assert trace(setting(folder, rows=2, tokens=500)).activations == pytest.approx(long, rel=0.03)
    assert trace(setting(folder, tokens=500, bonus=True)).activations > short
    assert trace(setting(folder, tokens=500, dtype="bfloat16")).activations < short
    eager = trace(setting(folder, tokens=1000, attn_implementation="eager")).activations
    # Each of four layers keeps the scores of four heads at least once, in float32.
    assert eager > long + 4 * 4 * 1000**2 * 4


def test_training_the_last_layers_needs_less(tmp_path):
    folder = qwen.save(tmp_path, "small")
    one, whole = (trace(setting(folder, tokens=500, last_layers=n)).activations for n in (1, 0))
    assert one < whole / 2


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("zero", [{}, {"offload_optimizer": {"device": "cpu"}}])
def test_more_cards_and_higher_stages_never_hold_more(dtype, zero):
    weights = [ParameterSize(10**6, True), ParameterSize(10**5, False)]

    def state(stage, count):
        each = engine_memory(
            weights, EngineConfig(zero_stage=stage, zero=zero), dtype, TrainingCards(count)
        )
        return each.weights, each.optimizer + each.gradients, each.step

    for stage in range(4):
        for fewer, more in ((1, 2), (2, 3), (3, 8), (8, 64)):
            assert all(b <= a for a, b in zip(state(stage, fewer), state(stage, more), strict=True))
    for count in (1, 2, 8):
        for stage in range(3):
            if not (zero and stage == 0) and not (dtype == "float32" and stage == 0):
                low, high = state(stage, count)[:2], state(stage + 1, count)[:2]
                assert all(b <= a for a, b in zip(low, high, strict=True))


@pytest.mark.full
def test_a_plan_falls_with_every_measure(tmp_path):
    config = configuration.load(qwen.written(tmp_path))
    base = plan.make(config, TrainingCards(2))

    def peak(**sections):
        changed = replace(
            config,
            **{name: replace(getattr(config, name), **keys) for name, keys in sections.items()},
        )
        return plan.make(changed, TrainingCards(2))

    assert plan.make(config, TrainingCards(4)).total("generating") < base.total("generating")
    assert peak(model={"max_context": 80}).total("generating") < base.total("generating")
    assert peak(engine={"micro_batch_tokens": 160}).total("updating") < base.total("updating")
    kl = replace(config, algorithm={"name": "grpo", "kl_coef": 0.1})
    assert plan.make(kl, TrainingCards(2)).total("updating") > base.total("updating")
    asleep = peak(engine={"sleep": True})
    assert asleep.total("generating") < base.total("generating")
    assert asleep.phases == ["generating", "updating", "loading"]
    assert asleep.host > base.host == 0


def test_the_micro_batch_is_at_least_one_trajectory_or_group(tmp_path):
    config = configuration.load(qwen.written(tmp_path))
    assert plan.micro_batch(config, whole_groups=False) == (2, 160)
    longer = replace(config, model=replace(config.model, max_context=1000))
    assert plan.micro_batch(longer, whole_groups=False) == (1, 1000)
    assert plan.micro_batch(config, whole_groups=True) == (2, 160)


def test_a_model_that_does_not_run_on_fake_tensors_is_one_clear_error(tiny, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no value\nmore")

    monkeypatch.setattr("agentgym_train.planning.trace.token_logps", broken)
    message = r"qwen2 models cannot be planned: .* fake tensors \(RuntimeError: no value\)"
    with pytest.raises(ModelError, match=message):
        trace(setting(tiny, tokens=65))


CASES = {
    1: [["engine.zero_stage=0"], ["engine.zero_stage=3"]],
    2: [
        ["engine.zero_stage=1"],
        ["engine.zero_stage=2", "model.dtype=bfloat16"],
        ["engine.zero_stage=3", "model.dtype=bfloat16"],
        ["engine.zero_stage=2", "algorithm.name=ppo"],
        ["engine.zero_stage=3", "algorithm.name=ppo", "critic.kind=head"],
    ],
}


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.full)])
def test_real_engines_and_generators_peak_where_the_plan_says(number, warm, tmp_path, monkeypatch):
    """Every tensor of one process is counted. The plan is within 10 %."""
    file = qwen.written(tmp_path)
    AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(tmp_path)).save_pretrained(tmp_path)
    result, cases = tmp_path / "peaks.json", CASES[number]
    warm.play(SUPPORT / "phases.py", tmp_path, number, result, file, json.dumps(cases))
    monkeypatch.setattr(card_memory, "PROMPT", PROMPT)
    for case, measured in zip(cases, json.loads(result.read_text()), strict=True):
        planned = plan.make(configuration.load(file, case), TrainingCards(number, cpu=True))
        for phase, peak in measured.items():
            assert planned.total(phase) == pytest.approx(peak, rel=0.1), (case, phase)
