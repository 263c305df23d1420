"""ZeRO stages, precisions, mini-batches and process counts do not change the mathematics.

Neither do slices of the head and gradient checkpointing. The reference is a plain torch loop.
"""

from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import product

import one_step
import pytest
import tiny
import torch
from deepspeed.runtime.zero.partitioned_param_coordinator import PartitionedParameterCoordinator
from some import full
from transformers import CONFIG_MAPPING, AutoModelForCausalLM

from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.config import EngineConfig, ModelConfig
from agentgym_train.data.batching import pack
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.engine.deepspeed import TrainingEngine
from agentgym_train.engine.zero_config import check_zero
from agentgym_train.errors import ConfigError
from agentgym_train.learning.update import NotFiniteError, update
from agentgym_train.models import chunked_head
from agentgym_train.models.loading import load_model, load_policy

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("model"))


def credited(groups):
    return GRPO().compute_advantages(pack(groups), groups, Distributed())


def reference(model, dtype, minibatches, played, layers):
    """Two updates without DeepSpeed: torch's AdamW and clipping on float32 weights.

    Gradients are those of whole mini-batches.
    """
    policy = AutoModelForCausalLM.from_pretrained(model, dtype=getattr(torch, dtype))
    learning = list((policy.model.layers[-layers:] if layers else policy).parameters())
    masters = [p.detach().float().requires_grad_() for p in learning]
    optimizer = torch.optim.AdamW(masters, lr=3e-4, weight_decay=0.01)
    metrics = []
    for _ in range(2):
        batch = credited(one_step.groups(played))
        losses, norms, tokens = 0.0, [], 0
        for part in range(minibatches):
            rows = [
                r
                for r, g in enumerate(batch.group_B.tolist())
                if g * minibatches // one_step.GROUPS == part
            ]
            if not rows:
                continue
            mini = batch.take(rows)
            loss = GRPO().loss(one_step.plain(policy, mini), mini)[0]
            policy.zero_grad()
            (loss / mini.action_tokens).backward()
            for master, p in zip(masters, learning, strict=True):
                master.grad = p.grad.float()
            norms.append(torch.nn.utils.clip_grad_norm_(masters, 1.0).item())
            optimizer.step()
            with torch.no_grad():
                for master, p in zip(masters, learning, strict=True):
                    p.copy_(master)
            losses, tokens = losses + loss.item(), tokens + mini.action_tokens
        metrics.append(
            {"loss": losses / tokens, "grad_norm": sum(norms) / len(norms), "updates": len(norms)}
        )
    return metrics, {n: p.detach() for n, p in policy.named_parameters()}


@pytest.fixture(scope="module")
def play(model, warm, tmp_path_factory):
    """Runs the cases once; returns the results for a number of processes."""

    @cache
    def played(*cases):
        out = tmp_path_factory.mktemp("out")
        warm.play(one_step.__file__, out, model, out, *cases)
        return out

    return lambda number, *cases: torch.load(played(*cases) / f"{number}.pt")


REST = tuple(case for case in one_step.CASES if case not in one_step.FEW)


@pytest.mark.parametrize("number", [1, 2], ids=["one process", "two processes"])
@pytest.mark.parametrize(
    "case", [*one_step.FEW, *(pytest.param(case, marks=pytest.mark.full) for case in REST)]
)
def test_it_takes_the_steps_of_plain_torch(model, play, number, case):
    results = play(number, *(one_step.FEW if case in one_step.FEW else REST))
    _, dtype, minibatches, played, layers = one_step.CASES[case]
    metrics, weights = reference(model, dtype, minibatches, played, layers)
    exact = dtype == "float32"
    start = dict(
        AutoModelForCausalLM.from_pretrained(model, dtype=getattr(torch, dtype)).named_parameters()
    )
    for got, wanted in zip(results[case]["metrics"], metrics, strict=True):
        assert got["updates"] == wanted["updates"]
        for key in ("loss", "grad_norm"):
            assert got[key] == pytest.approx(
                wanted[key], rel=1e-4 if exact else 0.02, abs=1e-5 if exact else 0.02
            ), key
    assert weights.keys() == results[case]["weights"].keys()
    for name, weight in results[case]["weights"].items():
        # Adam divides by the size of the gradient. Near 0, rounding to bfloat16 decides the sign of
        # a step.
        torch.testing.assert_close(
            weight,
            weights[name],
            atol=5e-5 if exact else 2e-3,
            rtol=0 if exact else 0.01,
            msg=lambda m, n=name: f"{n}: {m}",
        )
    moved = [n for n in start if (results[case]["weights"][n] != start[n]).any()]
    # In bfloat16 a weight of 1 is too coarse to show two small steps.
    learning = [n for n in start if not layers or n.startswith("model.layers.1.")]
    assert moved == [n for n in learning if exact or (weights[n] != start[n]).any()], (
        "every trainable parameter moves"
    )
    assert len(moved) > (10 if layers else 20)


def norm(model, *, micro_batch_tokens, dtype="bfloat16", trajectories=192):
    """The gradient norm of one update over many small trajectories."""
    rng = torch.Generator().manual_seed(0)
    ids = torch.randint(4, 290, (trajectories, 3), generator=rng).tolist()
    rows = [
        Trajectory("", 0, [Turn("", [Call(i[:2], i[2:], [-5.0])], reward=float(n % 2))])
        for n, i in enumerate(ids)
    ]
    config = EngineConfig(lr=0.0, micro_batch_tokens=micro_batch_tokens)
    engine = TrainingEngine(load_model(model, dtype), config, dtype=dtype, temperature=1.0)
    try:
        return update(engine, GRPO(), credited([Group(0, rows)]), groups=1, config=config)[
            "grad_norm"
        ]
    finally:
        engine.close()


@pytest.mark.full
def test_the_number_of_micro_batches_does_not_matter_in_bfloat16(model):
    whole = norm(model, micro_batch_tokens=10**6, dtype="float32")
    assert norm(model, micro_batch_tokens=10**6) == pytest.approx(whole, rel=0.02)
    assert norm(model, micro_batch_tokens=1) == pytest.approx(whole, rel=0.02)


@pytest.mark.full
@pytest.mark.parametrize("stage", [*(pytest.param(s, marks=pytest.mark.full) for s in (0, 2)), 3])
def test_small_gradients_add_up_in_bfloat16(model, stage):
    """bfloat16 cannot add 1/512 of a number to it; 128 such parts are a quarter of it."""
    engine = TrainingEngine(
        load_model(model, "bfloat16"),
        replace(one_step.CONFIG, zero_stage=stage),
        dtype="bfloat16",
        temperature=1.0,
    )
    batch = pack(one_step.groups()[:1])

    def norm(*shares):
        for share in shares:
            engine.backward(engine.forward(batch).logp_BT.sum() * share)
        return engine.step()

    once = norm(1.0)
    assert norm(1.0, *[1 / 512] * 128) == pytest.approx(1.25 * once, rel=0.05)
    engine.close()


class Planted(GRPO):
    """Spoils the loss or the gradient of one trajectory."""

    def loss(self, forward, micro):
        loss, sums = super().loss(forward, micro)
        concerned = (micro.episode_B == 4).any()
        if concerned and self.gamma == 0.5:
            loss = loss + torch.inf
        if concerned and self.gamma == 0.25:  # it is finite, but its derivative is not
            loss = loss + (forward.logp_BT[micro.episode_B == 4] * 0.0).sum().abs().sqrt()
        return loss, sums


@pytest.mark.parametrize("gamma", [0.5, 0.25])
@pytest.mark.parametrize("stage", [2, *full(0)])
def test_what_is_not_finite_names_its_episode(model, stage, gamma):
    config = replace(one_step.CONFIG, zero_stage=stage, micro_batch_tokens=1)
    engine = TrainingEngine(load_model(model, "float32"), config, dtype="float32", temperature=1.0)
    batch = credited(one_step.groups())
    before = {n: w.clone() for n, w in engine.weights()}
    with pytest.raises(NotFiniteError, match="the loss is not finite") as caught:
        update(engine, Planted(gamma=gamma), batch, groups=one_step.GROUPS, config=config)
    assert caught.value.episodes == [4]
    assert all(torch.equal(w, before[n]) for n, w in engine.weights()), "no step was taken"
    engine.close()


NOT_FINITE = [
    (2, "bfloat16", torch.inf),
    (3, "float32", torch.nan),
    *[
        pytest.param(stage, dtype, planted, marks=pytest.mark.full)
        for stage, dtype, planted in product(
            (0, 2, 3), ("float32", "bfloat16"), (torch.inf, torch.nan)
        )
    ],
]


@pytest.mark.parametrize(("stage", "dtype", "planted"), NOT_FINITE)
def test_a_gradient_that_is_not_finite_stops(model, stage, dtype, planted):
    config = replace(one_step.CONFIG, zero_stage=stage)
    policy = load_model(model, dtype)
    engine = TrainingEngine(policy, config, dtype=dtype, temperature=1.0)
    batch = credited(one_step.groups())
    policy.get_input_embeddings().register_forward_hook(
        lambda *a: a[-1].register_hook(lambda g: g * planted) and None
    )
    with pytest.raises(NotFiniteError, match="the gradient is not finite"):
        update(engine, GRPO(), batch, groups=one_step.GROUPS, config=config)
    engine.close()


def test_the_policy_trains_without_dropout(tmp_path):
    """The trained policy is the sampled one: GPT-2 has dropout 0.1 by default."""
    from transformers import GPT2Config, GPT2LMHeadModel

    GPT2LMHeadModel(GPT2Config(vocab_size=300, n_embd=32, n_layer=2, n_head=2)).save_pretrained(
        tmp_path
    )
    engine = TrainingEngine(
        load_model(str(tmp_path), "float32"), EngineConfig(), dtype="float32", temperature=1.0
    )
    batch = pack(one_step.groups())
    once, again = (engine.forward(batch).logp_BT.detach() for _ in range(2))
    assert torch.equal(once, again)
    engine.save_model(tmp_path / "saved")
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "saved").config.attn_pdrop == 0.1, (
        "the file keeps its own"
    )
    engine.close()


@pytest.mark.parametrize("stage", [0, 3])
def test_a_saved_model_is_the_policy(model, stage, tmp_path):
    config = EngineConfig(
        zero_stage=stage, zero={"stage3_param_persistence_threshold": 0} if stage == 3 else {}
    )
    engine = TrainingEngine(load_model(model, "float32"), config, dtype="float32", temperature=1.0)
    weights = {n: w.clone() for n, w in engine.weights()}
    engine.save_model(tmp_path)
    saved = dict(AutoModelForCausalLM.from_pretrained(tmp_path).named_parameters())
    assert weights.keys() == saved.keys()
    assert all(torch.equal(w, saved[n]) for n, w in weights.items())
    engine.close()


@pytest.mark.parametrize(
    ("zero", "message"),
    [
        ({"stage": 2}, "'engine.zero.stage': the stage is set by engine.zero_stage=0"),
        ({"nonsense": 1}, "'engine.zero.nonsense'"),
        ({"reduce_bucket_size": "many"}, "'engine.zero.reduce_bucket_size'.*not 'many'"),
    ],
)
def test_what_deepspeed_does_not_take_is_refused(zero, message):
    with pytest.raises(ConfigError, match=message):
        check_zero(EngineConfig(zero_stage=0, zero=zero))
    check_zero(EngineConfig(zero={"reduce_bucket_size": 1000}))


@pytest.fixture
def gathers(monkeypatch):
    """Returns the list of parameters that ZeRO-3 gathers, in order."""
    name = "_PartitionedParameterCoordinator__all_gather_params"
    seen, gather = [], getattr(PartitionedParameterCoordinator, name)

    def record(coordinator, params, forward):
        seen.extend(p for p in params if p.ds_status.name == "NOT_AVAILABLE")
        return gather(coordinator, params, forward)

    monkeypatch.setattr(PartitionedParameterCoordinator, name, record)
    return seen


@pytest.mark.parametrize("numbers", [300, *full(10**9)])
@pytest.mark.parametrize("checkpointing", [False, True])
def test_zero_3_gathers_the_head_once_each_way(
    tmp_path, monkeypatch, gathers, numbers, checkpointing
):
    """That holds for one slice and for a slice for each token.

    In later passes DeepSpeed keeps a parameter that is needed again soon.
    """
    monkeypatch.setattr(chunked_head, "NUMBERS", numbers)
    tiny.model("llama").save_pretrained(tmp_path)
    config = EngineConfig(zero_stage=3, zero={"stage3_param_persistence_threshold": 0})
    model = ModelConfig(path=str(tmp_path), checkpointing="on" if checkpointing else "off")
    policy = load_policy(model, model.path, seed=0)
    with closing(TrainingEngine(policy, config, dtype="float32", temperature=1.0)) as engine:
        head, batch, counts = policy.lm_head.weight, pack(one_step.groups()[:2]), []
        for _ in range(3):
            made = engine.forward(batch, entropy=True, bonus=True)
            counts.append(sum(p is head for p in gathers))
            engine.backward(made.logp_BT.sum() + made.bonus_BT.sum())
            counts.append(sum(p is head for p in gathers))
        assert counts[:2] == [1, 2]
        assert counts[-1] <= 6


@pytest.mark.parametrize("checkpointing", [False, True])
def test_a_model_that_changes_its_logits_trains_under_zero_3(tmp_path, checkpointing):
    """Its logits cannot come in slices: Gemma 2 bounds them after the head."""
    bounded = {"final_logit_softcapping": 5.0, "head_dim": 16, "sliding_window": 16}
    config = CONFIG_MAPPING["gemma2"](vocab_size=300, **(tiny.SHAPE | bounded))
    plain, batch = AutoModelForCausalLM.from_config(config).eval(), pack(one_step.groups()[:2])
    plain.save_pretrained(tmp_path)
    logp_BT = one_step.plain(plain, batch).logp_BT
    logp_BT.sum().backward()
    wanted = torch.nn.utils.get_total_norm([p.grad for p in plain.parameters()])
    zero = EngineConfig(zero_stage=3, zero={"stage3_param_persistence_threshold": 0})
    model = ModelConfig(path=str(tmp_path), checkpointing="on" if checkpointing else "off")
    policy = load_policy(model, model.path, seed=0)
    with closing(TrainingEngine(policy, zero, dtype="float32", temperature=1.0)) as engine:
        forward = engine.forward(batch)
        torch.testing.assert_close(forward.logp_BT, logp_BT)
        engine.backward(forward.logp_BT.sum())
        assert engine.step() == pytest.approx(float(wanted), rel=1e-4)
