"""Training defects of AgentGym-RL, the system whose idea this project follows.

The tests have the order of its list: 1 to 7, and 13. The other defects are in
``test_seed_defects_envs.py``. "There" is AgentGym-RL, "here" is this project.
"""

import re
import time
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import get_args

import gymnasium
import one_step
import pytest
import tiny
import torch
from scripted import collect, play
from small_run import HASH
from trainers import make

from agentgym_envs.plugins import discover, distribution
from agentgym_envs.pool import EnvPool
from agentgym_train import plugins
from agentgym_train.algorithms.policy_gradient import PolicyGradient
from agentgym_train.curricula.schedules import ScalingInter
from agentgym_train.data.batching import ForwardOutput, pack
from agentgym_train.data.types import Call, EpisodeStatus, Group, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.engine import checkpoint, critic
from agentgym_train.models import scratch
from agentgym_train.models.loading import load_model
from agentgym_train.reporting import metrics
from agentgym_train.rollout.tasks import EpisodeStart

pytestmark = pytest.mark.slow
OURS = [
    name
    for name, found in discover(plugins.ALGORITHM.group).items()
    if distribution(found) == plugins.OURS
]
GRADIENTS = [
    name for name in OURS if isinstance(plugins.make_algorithm({"name": name}), PolicyGradient)
]
FAULTY = "faulty_envs:support/Faulty-v0"


@pytest.fixture(scope="module")
def trainer(tmp_path_factory):
    env = HASH["env"] | {"groups": 2, "group_size": 2}
    made = make(tmp_path_factory.mktemp("defects"), {"env": env, "eval": HASH["eval"]})
    yield made
    made.engine.close()


@pytest.fixture(scope="module")
def faulty():
    """A pool of two environments of five turns; the action "raise" raises an exception."""
    with EnvPool(FAULTY, 2, workers=1, max_episode_steps=-1) as pool:
        yield pool


@pytest.fixture(scope="module")
def one_of_three():
    """A group in which the first episode is a success; each episode ends with an observation."""
    env = gymnasium.make("agentgym/Maze-v1", rooms=[4])
    env.reset(seed=5)
    plan = [*env.unwrapped.oracle()]
    (group,), *_, chat = collect(
        "agentgym/Maze-v1",
        [EpisodeStart(0, 5)] * 3,
        lambda row, turn: "look" if row else plan[turn],
        max_turns=len(plan),
        rooms=[4],
    )
    for t in group.trajectories:
        t.turns.append(Turn("The end.", [Call(chat.between(t.calls[-1].action_ids, "The end."))]))
    return group


# 1


@pytest.mark.parametrize("name", GRADIENTS)
def test_01_a_success_is_credited_though_its_episode_ends_with_an_observation(name, one_of_three):
    """There, the reward was on the last token, an observation whose mask is 0.

    Here, it is on the last token of the last action.
    """
    batch = pack([one_of_three])
    batch = batch.with_streams(value=torch.zeros_like(batch.logp_BT))
    assert [t.success for t in one_of_three.trajectories] == [True, False, False]
    assert not batch.action_BT[0, batch.valid_BT[0].sum() - 1], "an observation is last"
    (at,) = batch.reward_BT[0].nonzero()[:, 0].tolist()
    assert (at, batch.reward_BT[0, at]) == (batch.action_BT[0].nonzero().max(), 1.0)
    advantage = (
        plugins.make_algorithm({"name": name})
        .compute_advantages(batch, [one_of_three], Distributed())
        .streams["advantage"]
    )
    assert (advantage[0][batch.action_BT[0]] > 0).all()
    assert (advantage[1:][batch.action_BT[1:]] < 0).all()


# 2


def collected(trainer, step):
    """Returns the groups of a step, in episodes of four turns."""
    env = trainer.envs[0]
    with closing(env.open(trainer.distributed, trainer.generator, trainer.algorithm)) as source:
        return source.next(replace(env.plan(step), horizon=4))


def test_02_every_algorithm_that_is_named_trains(trainer):
    """There, the constructor rejected RLOO, which the documentation names.

    Here, all named algorithms change the weights.
    """
    page = (Path(__file__).parents[2] / "docs" / "guides" / "algorithms.md").read_text()
    table = page.partition("| `algorithm.name`")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == sorted(OURS)
    groups = collected(trainer, 0)
    for group in groups:
        group.trajectories.sort(key=lambda t: -t.total_reward)
    for name in OURS:
        trainer.algorithm = plugins.make_algorithm({"name": name})
        model = trainer.config.model
        kind = critic.kind(trainer.config, trainer.algorithm.required_streams)
        made = critic.engines(
            trainer.config, load_model(model.path, model.dtype), model.path, kind, universal=False
        )
        trainer.critic = next(iter(made[1:]), None)
        trainer.producers = trainer._producers(trainer.config.model.path)
        before = {n: w.clone() for n, w in trainer.engine.weights()}
        assert trainer.update(0, groups)["grad_norm"] > 0, name
        assert not any(torch.equal(before[n], w) for n, w in trainer.engine.weights()), name
        for engine in made:
            engine.close()
    trainer.critic = None


CONTEXT = {
    "constant": {"loss_reduction": "constant"},
    "kl_estimator": {"kl_coef": 0.1},
    "kl_in": {"kl_coef": 0.1},
}
"""Other options that an option needs to have an effect."""


def others(field):
    """Returns values of an option that differ from its default."""
    if isinstance(field.default, bool):
        return [not field.default]
    if isinstance(field.default, str):
        return [value for value in get_args(field.type) if value != field.default]
    return [field.default + 3] if isinstance(field.default, int) else [0.37]


def outcome(options):
    """Returns an algorithm's results for fixed trajectories: weight, loss, sums of gradients."""
    algorithm = plugins.make_algorithm(options)
    groups = [
        Group(g.number, g.trajectories[: 2 if options["name"] == "dpo" else 3])
        for g in one_step.groups()
    ]
    batch = pack(groups)
    wave_BT = torch.sin(batch.id_BT.float())
    batch = algorithm.compute_advantages(
        batch.with_streams(
            reference=batch.logp_BT + wave_BT / 3,
            old=batch.logp_BT + wave_BT / 2,
            value=wave_BT,
            next_value=wave_BT / 4,
        ),
        groups,
        Distributed(),
    )
    logp_BT = (batch.logp_BT + 0.5 * torch.cos(batch.id_BT.float())).requires_grad_()
    bonus_BT = logp_BT**2 if "entropy" in algorithm.required_streams else None
    loss, _ = algorithm.loss(
        ForwardOutput(logp_BT, logp_BT, bonus_BT, wave_BT + torch.cos(3 * wave_BT)), batch
    )
    loss.backward()
    return (
        algorithm.weight(batch),
        loss.item(),
        float(logp_BT.grad.abs().sum()),
        float((logp_BT.grad * wave_BT).sum()),
    )


@pytest.mark.parametrize("name", OURS)
def test_02_no_option_is_without_effect(name):
    """There, ``ppo_epochs`` did nothing.

    Here, another value of any option gives another weight, loss or gradient.
    """
    for field in (f for f in fields(plugins.make_algorithm({"name": name})) if f.init):
        beside = {"name": name} | CONTEXT.get(field.name, {})
        plain = [{"name": name}] if field.name in CONTEXT else []
        seen = [
            *map(outcome, [*plain, beside]),
            *(outcome(beside | {field.name: value}) for value in others(field)),
        ]
        assert len(set(seen)) == len(seen), field.name


def test_02_a_collection_is_split_into_as_many_steps_as_is_said(trainer):
    """There, the number of passes of an update did nothing.

    Here, ``engine.minibatches`` is the number of optimizer steps.
    """
    trainer.algorithm = plugins.make_algorithm({"name": "rloo"})
    groups = collected(trainer, 1)
    assert trainer.update(1, groups)["updates"] == 1
    config = trainer.config.engine
    object.__setattr__(config, "minibatches", 2)
    try:
        assert trainer.update(1, groups)["updates"] == 2
    finally:
        object.__setattr__(config, "minibatches", 1)


# 3


@pytest.mark.full
def test_03_going_on_in_the_middle_of_a_stage_keeps_its_length(tmp_path):
    """There, the middle stage lasted one step after resuming.

    Here, horizons are those of a run that was never interrupted.
    """
    options = {
        "run": {"steps": 7, "save_every": 4},
        "env": HASH["env"] | {"groups": 1, "group_size": 2},
        "eval": HASH["eval"],
        "curriculum": {"name": "scaling_inter", "rounds": [1, 2, 3], "every": 3},
    }

    def interrupt(row, groups):
        if row["step"] == 5:
            raise InterruptedError

    for log in (interrupt, lambda row, groups: None):
        made = make(tmp_path, options)
        with pytest.raises(InterruptedError) if log is interrupt else closing(made.engine):
            made.train(log, lambda step: None)
        made.engine.close()
    assert made.start == 4
    assert [row["horizon"] for row in metrics.read(tmp_path / "run" / "metrics.jsonl")] == [
        1,
        1,
        1,
        2,
        2,
        2,
        3,
    ]
    assert checkpoint.read_state(checkpoint.latest(tmp_path / "run")).step == 7


def test_03_its_own_settings_go_on_from_step_100():
    """There, [10, 20, 30] every 100 steps changed to 30 at step 102 after resuming from 100.

    Here, 20 lasts to step 200.
    """
    resumed = ScalingInter(rounds=(10, 20, 30), every=100)
    resumed.load_state_dict(ScalingInter(rounds=(10, 20, 30), every=100).state_dict())
    assert [resumed.horizon(step) for step in (99, 100, 101, 199, 200)] == [10, 20, 20, 20, 30]


# 4

INST = (
    "{{ bos_token or '' }}{% for m in messages %}{% if m['role'] == 'user' %}[INST] {{ m['content']"
    " }} [/INST] {% elif m['role'] == 'assistant' %}{{ m['content'] }}<|im_end|>{% else %}{{"
    " raise_exception('no such role') }}{% endif %}{% endfor %}"
)
"""A template in the style of Mistral: no system role, and no token before assistant messages."""


@pytest.mark.parametrize(
    "template", [tiny.CHATML, INST, scratch.TEMPLATE], ids=["chatml", "inst", "scratch"]
)
def test_04_what_was_sampled_is_what_is_trained(faulty, template):
    """There, episodes were decoded and encoded again with Qwen's template.

    Here, ids stay as sampled, with any template.
    """
    chat = tiny.chat(None if template is scratch.TEMPLATE else template)
    vocabulary = chat.tokenizer.get_vocab()
    letters = [vocabulary[c] for c in "go"] + [vocabulary["Ġ"]] + [vocabulary[c] for c in "north"]
    assert chat.text(letters) == "go north"
    assert chat.tokenizer("go north", add_special_tokens=False)["input_ids"] != letters, (
        "encoded again, it would be others"
    )
    (group,), *_ = play(
        faulty, [EpisodeStart(0, 1)], lambda row, turn: list(letters), chat=chat, max_turns=3
    )
    (end,) = {call.action_ids[-1] for call in group.trajectories[0].calls}
    batch = pack([group])
    assert batch.id_BT[batch.action_BT].tolist() == [*letters, end] * 3
    observations = [turn.observation for turn in group.trajectories[0].turns]
    full = chat.render(chat.messages(observations, ["go north"] * 3))
    assert full.startswith(chat.tokenizer.decode(batch.id_BT[0])), (
        "and what lies between is the template's"
    )


# 5


def test_05_a_hanging_environment_delays_no_other():
    """There, every environment waited for the slowest one.

    Here, the others end long before the hung one is given up.
    """
    began, times = time.monotonic(), []
    groups, collector, *_ = collect(
        FAULTY,
        [EpisodeStart(0, 1), EpisodeStart(1, 2), EpisodeStart(2, 3)],
        lambda row, turn: times.append((time.monotonic(), row)) or "ok",
        workers=3,
        timeout=1.5,
        batch_wait=0.02,
        retries=0,
        fault="hang",
        at=1,
        seeds=[2],
        length=6,
    )
    assert [len(g.trajectories) for g in groups] == [1, 0, 1]
    assert [f.seed for f in collector.failures] == [2]
    assert time.monotonic() - began > 1.5, "it did hang"
    acted = [at for at, row in times if row != 1]
    assert len(acted) == 12
    assert acted[-1] - acted[0] < 1.0


# 6


def test_06_an_exception_is_no_reward(faulty):
    """There, any exception in a step became a score of 0 in the loss.

    Here, such an episode is in no batch.
    """
    groups, collector, *_ = play(
        faulty, [EpisodeStart(0, 1)] * 2, lambda row, turn: "ok" if row else "raise", retries=1
    )
    (group,) = groups
    assert [(t.success, t.score) for t in group.trajectories] == [(True, 1.0)]
    assert len(pack(groups).group_B) == 1
    assert [f.given_up for f in collector.failures] == [False, True]
    assert (
        metrics.means(metrics.totals(groups, Distributed()) | metrics.failed([]))["success"] == 1.0
    )


def test_06_the_score_is_the_return():
    """There, the score of an episode was its last step's reward; here, it is the sum of all."""
    (group,), *_ = collect(
        "hash_env:support/Hash-v0", [EpisodeStart(0, 3)], lambda row, turn: f"go {turn}", length=4
    )
    (t,) = group.trajectories
    assert len({turn.reward for turn in t.turns}) == 4
    assert t.score == t.total_reward == sum(turn.reward for turn in t.turns)
    assert float(pack([group]).return_B()) == pytest.approx(t.score)


# 7


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        ({"max_turns": 3}, EpisodeStatus.TRUNCATED_HORIZON),
        ({"max_turns": 50, "max_context": 80}, EpisodeStatus.TRUNCATED_CONTEXT),
    ],
)
def test_07_an_episode_that_is_cut_off_says_so_and_keeps_every_token(faulty, limits, status):
    """There, a horizon looked like an end, and long episodes were cut silently.

    Here, both are marked, and no token is cut.
    """
    groups, *_ = play(faulty, [EpisodeStart(0, 1)], lambda row, turn: "ok", **limits)
    (t,) = groups[0].trajectories
    assert t.status is status
    batch = pack(groups)
    shown = [token for call in t.calls for token in call.prompt_ids + call.action_ids]
    assert batch.id_BT[batch.valid_BT].tolist() == shown
    assert len(shown) <= limits.get("max_context", 1000)
    means = metrics.means(metrics.totals(groups, Distributed()) | metrics.failed([]))
    assert means["truncated_horizon"] == (status is EpisodeStatus.TRUNCATED_HORIZON)
    assert means["truncated_context"] == (status is EpisodeStatus.TRUNCATED_CONTEXT)


# 13


def test_13_training_and_evaluation_in_between_run_without_a_gpu(trainer, monkeypatch):
    """There, imports needed CUDA, and there was no evaluation during training.

    Here, training runs on the CPU too, and evaluates as often as configured.
    """
    assert (trainer.engine.device.type == "cpu") is not torch.accelerator.is_available()
    monkeypatch.setattr(trainer, "algorithm", plugins.make_algorithm({"name": "grpo"}))
    object.__setattr__(trainer.config.eval, "every", 1)
    seen = []
    trainer.train(
        lambda row, groups: seen.append(row["step"]), lambda step: seen.append(f"evaluated {step}")
    )
    assert seen == [1, "evaluated 1", 2, "evaluated 2", 3, "evaluated 3", 4]
