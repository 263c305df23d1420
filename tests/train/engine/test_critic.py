"""The critic's mathematics under ZeRO, for a separate critic model and for a head.

The reference is plain torch on one graph.
"""

import itertools
import subprocess
import sys
from contextlib import closing
from copy import deepcopy
from dataclasses import replace

import actor_critic
import one_step
import processes
import pytest
import tiny
import torch
from actor_critic import PLAYED
from some import full
from torch import nn
from transformers import AutoModel, AutoModelForCausalLM

from agentgym_train.algorithms.ppo import PPO
from agentgym_train.data.batching import ForwardOutput, pack
from agentgym_train.data.types import Call, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.engine.critic import ValueHeadPolicy
from agentgym_train.learning.update import NotFiniteError, fill_streams
from agentgym_train.models.policy import token_logps, token_values

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("model"))


class Plain:
    """An actor and a critic in plain torch: one graph, a linear layer, AdamW, float32 weights."""

    def __init__(self, model, kind, dtype):
        kinds = {"dtype": getattr(torch, dtype)}
        self.policy = AutoModelForCausalLM.from_pretrained(model, **kinds)
        self.trunk = (
            self.policy.model if kind == "head" else AutoModel.from_pretrained(model, **kinds)
        )
        self.head = nn.Linear(32, 1, **kinds)
        for parameter in self.head.parameters():
            nn.init.zeros_(parameter)
        layers, rates = [*self.policy.parameters()], (3e-4, actor_critic.LR)
        apart = (
            [*self.head.parameters()]
            if kind == "head"
            else [*self.trunk.parameters(), *self.head.parameters()]
        )
        self.live = [*layers, *apart]
        self.masters = [p.detach().float().requires_grad_() for p in self.live]
        groups = [self.masters[: len(layers)], self.masters[len(layers) :]]
        self.clipped = [self.masters] if kind == "head" else groups
        rated = [{"params": group, "lr": lr} for group, lr in zip(groups, rates, strict=True)]
        self.optimizer = torch.optim.AdamW(rated, weight_decay=0.01)

    def forward(self, batch):
        logits = (
            self.policy(batch.id_BT, attention_mask=batch.valid_BT.long()).logits[:, :-1].float()
        )
        logp_BT = torch.zeros(batch.id_BT.shape)
        logp_BT[:, 1:] = logits.log_softmax(-1).gather(2, batch.id_BT[:, 1:, None])[..., 0]
        hidden = self.trunk(
            batch.id_BT, attention_mask=batch.valid_BT.long()
        ).last_hidden_state.float()
        value_BT = torch.zeros(batch.id_BT.shape)
        value_BT[:, 1:] = hidden[:, :-1] @ self.head.weight[0].float() + self.head.bias.float()
        return ForwardOutput(logp_BT, torch.zeros_like(logp_BT), None, value_BT)

    def next_values(self, groups):
        """Returns the value after each next prompt, one trajectory at a time; 0 without one."""
        found = []
        for t in (t for group in groups for t in group.trajectories):
            if t.next_call is None:
                found.append(0.0)
                continue
            played = [token for c in t.calls for token in (*c.prompt_ids, *c.action_ids)]
            ids = torch.tensor([[*played, *t.next_call.prompt_ids]])
            hidden = self.trunk(ids).last_hidden_state[0, -1].float()
            found.append(float(hidden @ self.head.weight[0].float() + self.head.bias.float()))
        return torch.tensor(found)

    def step(self, loss):
        for parameter in self.live:
            parameter.grad = None
        loss.backward()
        for master, parameter in zip(self.masters, self.live, strict=True):
            master.grad = parameter.grad.float()
        norms = [nn.utils.clip_grad_norm_(part, 1.0).item() for part in self.clipped]
        self.optimizer.step()
        with torch.no_grad():
            for master, parameter in zip(self.masters, self.live, strict=True):
                parameter.copy_(master)
        return norms


def reference(model, kind, dtype, cut):
    """Two updates of two mini-batches each."""
    plain, groups, metrics = Plain(model, kind, dtype), actor_critic.groups(cut=cut), []
    algorithm = actor_critic.BOOTSTRAPPED if cut else PLAYED
    for _ in range(2):
        batch = pack(groups)
        with torch.no_grad():
            value_BT = plain.forward(batch).value_BT.where(batch.action_BT, 0.0)
            next_B = plain.next_values(groups)
        next_BT = torch.zeros_like(value_BT)
        next_BT[:, -1] = next_B  # the column does not matter here
        batch = algorithm.compute_advantages(
            batch.with_streams(value=value_BT, next_value=next_BT), groups, Distributed()
        )
        losses, values, norms = 0.0, 0.0, []
        for mini in batch.mini_batches(2, one_step.GROUPS):
            loss, sums = algorithm.loss(plain.forward(mini), mini)
            norms.append(plain.step(loss / mini.action_tokens))
            losses, values = losses + loss.item(), values + sums["value_loss"].item()
        names = ("grad_norm", "critic_grad_norm")[: len(norms[0])]
        means = {
            name: sum(each) / 2 for name, each in zip(names, zip(*norms, strict=True), strict=True)
        }
        metrics.append(
            {
                "loss": losses / batch.action_tokens,
                "value_loss": values / batch.action_tokens,
                **means,
            }
        )
    head = {f"value_head.{n}": p.detach() for n, p in plain.head.named_parameters()}
    policy, trunk = (
        {f"model.{n}": p.detach() for n, p in m.named_parameters()}
        for m in (plain.policy, plain.trunk)
    )
    return metrics, [policy | head] if kind == "head" else [policy, trunk | head]


def check(model, case, metrics, weights):
    kind, _, dtype, *cut = case.split("-")
    wanted, theirs = reference(model, kind, dtype, cut)
    exact = dtype == "float32"
    for got, means in zip(metrics, wanted, strict=True):
        assert ("critic_grad_norm" in got) == (kind == "model")
        for name, mean in means.items():
            # In bfloat16 rounding decides whether a ratio is clipped.
            assert got[name] == pytest.approx(
                mean, rel=1e-4 if exact else 0.1, abs=1e-5 if exact else 0.02
            ), name
    # A bootstrapped target moves with the critic, so the loss need not fall.
    assert cut or wanted[1]["value_loss"] < wanted[0]["value_loss"]
    start = dict(AutoModelForCausalLM.from_pretrained(model).named_parameters())
    for ours, plain in zip(weights, theirs, strict=True):
        assert ours.keys() == plain.keys()
        for name, weight in ours.items():
            # Adam divides by the size of the gradient. Near 0, rounding decides the sign of a step.
            tolerance = {"atol": 5e-5, "rtol": 0} if exact else {"atol": 2e-2, "rtol": 0.02}
            torch.testing.assert_close(
                weight, plain[name], **tolerance, msg=lambda m, n=name: f"{n}: {m}"
            )
            first = start.get(name.removeprefix("model."), start.get(name))
            assert not exact or first is None or not torch.equal(weight, first), (
                f"{name} has not moved"
            )


@pytest.mark.parametrize(
    "case",
    [
        "model-0-float32",
        "head-3-float32",
        *(pytest.param(c, marks=pytest.mark.full) for c in ("model-3-float32", "head-0-float32")),
    ],
)
def test_it_takes_the_steps_of_plain_torch(model, case):
    check(model, case, *actor_critic.play(model, *case.split("-")))


@pytest.mark.full
def test_bootstrapped_steps_of_two_processes_are_those_of_plain_torch(model, warm, tmp_path):
    cases = [f"{kind}-{stage}-float32-bootstrap" for kind in ("model", "head") for stage in "03"]
    out = tmp_path / "out.pt"
    warm.play(actor_critic.__file__, tmp_path, model, out, 2, *cases)
    for case, (metrics, weights) in torch.load(out).items():
        check(model, case, metrics, weights)


@pytest.mark.full
@pytest.mark.parametrize("number", [1, 2])
def test_so_it_does_at_every_stage_and_precision(model, tmp_path, number):
    cases = [
        "-".join(case)
        for case in itertools.product(("model", "head"), "0123", ("float32", "bfloat16"))
    ]
    command = [
        sys.executable,
        actor_critic.__file__,
        model,
        str(tmp_path / "out.pt"),
        str(number),
        *cases,
    ]
    done = subprocess.run(
        command,
        env=processes.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for case, (metrics, weights) in torch.load(tmp_path / "out.pt").items():
        check(model, case, metrics, weights)


@pytest.fixture
def made(model, request):
    """Engines of one kind of critic, and their configuration."""
    kind, stage = request.param.split("-")
    of = actor_critic.config(kind, int(stage), minibatches=1)
    engines = actor_critic.engines(model, of)
    with closing(engines[0]), closing(engines[-1]):
        yield engines, of


@pytest.mark.parametrize("made", ["model-0", "head-3", *full("model-3", "head-0")], indirect=True)
def test_values_are_those_of_the_update_and_next_values_those_of_a_longer_episode(made):
    """The value after a cut is the value before the next action, had the episode gone on."""
    engines, of = made
    groups, judge = actor_critic.groups(cut=True), engines[-1]
    actor_critic.step(engines, of, groups, actor_critic.BOOTSTRAPPED)  # the head starts at 0
    batch = fill_streams(
        pack(groups),
        {"value", "next_value"},
        {"value": judge.values},
        distributed=judge.distributed,
        max_tokens=100,
        groups=groups,
    )
    longer = deepcopy(groups)
    for t in (t for group in longer for t in group.trajectories if t.next_call is not None):
        t.turns.append(Turn("", [Call(t.next_call.prompt_ids, [9], [-1.0])]))
    with torch.no_grad():
        plain_BT, longer_BT = judge.values(pack(groups)), judge.values(pack(longer))
    used_BT, next_B = batch.streams["value"], batch.streams["next_value"].sum(1)
    torch.testing.assert_close(used_BT, plain_BT.where(batch.action_BT, 0.0), atol=1e-5, rtol=1e-4)
    cut_B = torch.tensor([t.next_call is not None for group in groups for t in group.trajectories])
    ends_B = pack(longer).valid_BT.sum(1) - 1
    wanted_B = longer_BT.gather(1, ends_B[:, None])[:, 0].where(cut_B, 0.0)
    torch.testing.assert_close(next_B, wanted_B, atol=1e-5, rtol=1e-4)
    assert next_B[cut_B].abs().min() > 1e-4


class Planted(PPO):
    """Spoils the gradient of one trajectory's values; the loss itself is finite."""

    def loss(self, forward, micro):
        loss, sums = super().loss(forward, micro)
        if (micro.episode_B == 4).any():
            loss = loss + (forward.value_BT[micro.episode_B == 4] * 0.0).sum().abs().sqrt()
        return loss, sums


@pytest.mark.parametrize("made", ["model-0", "head-2"], indirect=True)
def test_values_that_spoil_the_gradient_name_their_episode(made):
    engines, of = made
    of = replace(of, engine=replace(of.engine, micro_batch_tokens=1))
    before = [actor_critic.full_parameters(engine) for engine in engines]
    with pytest.raises(NotFiniteError, match="the loss is not finite") as caught:
        actor_critic.step(engines, of, one_step.groups()[:2], Planted())
    assert caught.value.episodes == [4]
    for engine, weights in zip(engines, before, strict=True):
        assert all(
            torch.equal(weight, weights[name])
            for name, weight in actor_critic.full_parameters(engine).items()
        ), "no step was taken"


@pytest.mark.parametrize("made", ["model-0", "model-3"], indirect=True)
def test_a_critics_gradient_that_is_not_finite_stops(made):
    engines, of = made
    embedding = engines[1]._engine.module.model.get_input_embeddings()

    def spoil(module, inputs, output):
        if output.requires_grad:
            output.register_hook(lambda gradient: gradient + torch.inf)

    embedding.register_forward_hook(spoil)
    with pytest.raises(NotFiniteError, match="the critic's gradient is not finite"):
        actor_critic.step(engines, of, one_step.groups()[:2])


@pytest.mark.parametrize("kind", ["qwen2", "gpt2", "gemma3_text", "mpt"])
def test_a_head_reads_what_the_unembedding_reads(kind):
    """This holds for all architectures. A value depends only on the tokens before its token."""
    policy, batch, read = tiny.model(kind).eval(), pack(one_step.groups()[:2]), []
    hook = policy.get_output_embeddings().register_forward_pre_hook(
        lambda _, inputs: read.append(inputs[0])
    )
    torch.manual_seed(0)
    direction, offset = torch.randn(32), 0.5
    with torch.no_grad():
        policy(input_ids=batch.id_BT)
        hook.remove()
        wanted = (read[0] @ direction + offset)[:, :-1]
        for trunk in (False, True):
            valued = ValueHeadPolicy(policy, trunk=trunk)
            assert not token_values(valued, batch).any(), "it starts at 0"
            valued.value_head.weight.copy_(direction)
            valued.value_head.bias.fill_(offset)
            got = token_values(valued, batch)
            torch.testing.assert_close(got[:, 1:], wanted, atol=1e-4, rtol=1e-4)
            assert not got[:, 0].any()
            if not trunk:
                torch.testing.assert_close(token_logps(valued, batch, 1.0).value_BT, got)
                torch.testing.assert_close(
                    token_logps(valued, batch, 1.0).logp_BT, token_logps(policy, batch, 1.0).logp_BT
                )
            else:
                assert not any("lm_head" in name for name, _ in valued.named_parameters())


@pytest.mark.parametrize("kind", tiny.ARCHITECTURES)
def test_values_alone_are_those_of_the_whole_output_and_ask_no_head(kind):
    """The reference is the last hidden state of a forward with logits, and its gradient."""
    policy, batch, asked = tiny.model(kind).eval(), pack(one_step.groups()[:2]), []
    valued = ValueHeadPolicy(policy)
    torch.manual_seed(0)
    nn.init.normal_(valued.value_head.weight)
    hidden = policy(
        input_ids=batch.id_BT, use_cache=False, output_hidden_states=True
    ).hidden_states[-1]
    wanted = (hidden @ valued.value_head.weight[0] + valued.value_head.bias)[:, :-1]
    wanted.square().sum().backward()
    gradient = [p.grad.clone() for p in valued.parameters() if p.grad is not None]
    valued.zero_grad()
    hook = policy.get_output_embeddings().register_forward_hook(
        lambda head, inputs, output: asked.append(inputs[0].shape)
    )
    got = token_values(valued, batch)[:, 1:]
    assert asked == []
    torch.testing.assert_close(got, wanted)
    got.square().sum().backward()
    torch.testing.assert_close(
        [p.grad for p in valued.parameters() if p.grad is not None], gradient, atol=1e-5, rtol=1e-4
    )
    forward = token_logps(valued, batch, 1.0)
    assert len(asked) == 1, "log-probabilities and values come of one forward"
    torch.testing.assert_close(forward.value_BT[:, 1:], wanted)
    hook.remove()


def test_values_are_finer_than_bfloat16():
    valued = ValueHeadPolicy(tiny.model().to(torch.bfloat16).eval(), trunk=True)
    with torch.no_grad():
        valued.value_head.bias.fill_(1.0)
        valued.value_head.weight.fill_(2.0**-12)
        got = token_values(valued, pack(one_step.groups()[:1]))
    assert got.dtype == torch.float32
    assert not torch.equal(got, got.bfloat16().float())


@pytest.mark.parametrize("made", ["head-0"], indirect=True)
def test_a_policy_with_a_head_shows_the_policy_alone(made, model, tmp_path):
    engines, _ = made
    names = {name for name, _ in AutoModelForCausalLM.from_pretrained(model).named_parameters()}
    assert {name for name, _ in engines[0].weights()} == names
    engines[0].save_model(tmp_path)
    assert {
        name for name, _ in AutoModelForCausalLM.from_pretrained(tmp_path).named_parameters()
    } == names
