"""Invariants of one real trainer: environments, generator and DeepSpeed included."""

import json
import random
from collections import Counter
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import actor_critic
import gymnasium
import pytest
import small_run
import torch
from raised import raises
from trainers import make
from transformers import AutoModelForCausalLM

from agentgym_envs.errors import BrokenPlugin, EnvFailure
from agentgym_train.data.batching import pack
from agentgym_train.data.load_balancing import share_out
from agentgym_train.data.types import EpisodeFailure
from agentgym_train.distributed import Distributed
from agentgym_train.engine import checkpoint
from agentgym_train.errors import ConfigError, FaultBudgetError, ModelError, TrainingError
from agentgym_train.evaluation import evaluate
from agentgym_train.reporting import metrics
from agentgym_train.rollout import build

pytestmark = pytest.mark.slow


def opened(trainer):
    return trainer.envs[0].open(trainer.distributed, trainer.generator, trainer.algorithm)


def train(trainer, log=lambda row, groups: None):
    trainer.train(log, lambda step: None)


@pytest.fixture(scope="module")
def trainer(tmp_path_factory):
    """One trainer for many tests: each continues from the weights of the test before."""
    made = make(tmp_path_factory.mktemp("trainer"), {})
    yield made
    made.engine.close()


@pytest.fixture
def special(tmp_path, request):
    made = make(tmp_path, request.param)
    yield made
    made.engine.close()


def collect(trainer, step=0, max_turns=4):
    trainer.generator.load(trainer.engine.weights(), trainer.engine.steps)
    with closing(opened(trainer)) as source:
        return source.next(replace(trainer.envs[0].plan(step), horizon=max_turns))


def spread_rewards(groups):
    """Rewards every second trajectory, so there is something to learn with any actions."""
    for group in groups:
        for number, t in enumerate(group.trajectories):
            t.turns[-1].reward = float(number % 2)
    return groups


def test_the_training_forward_reproduces_the_sampling_log_probabilities(trainer):
    batch = pack(collect(trainer))
    assert batch.action_tokens > 50
    with torch.no_grad():
        for micro, _ in share_out(batch, trainer.distributed, 300):
            logp_BT = trainer.engine.forward(micro).logp_BT
            ratio = (logp_BT - micro.logp_BT)[micro.action_BT].exp()
            torch.testing.assert_close(ratio, torch.ones_like(ratio), atol=1e-4, rtol=0)


def test_a_step_moves_every_parameter_and_the_next_ratio_is_not_one(trainer):
    before = {n: w.clone() for n, w in trainer.engine.weights()}
    groups = spread_rewards(collect(trainer))
    metrics = trainer.update(0, groups)
    assert metrics["logp_drift"] < 1e-4
    assert metrics["grad_norm"] > 0
    after = dict(trainer.engine.weights())
    assert [n for n in before if torch.equal(before[n], after[n])] == []
    assert trainer.update(0, groups)["logp_drift"] > 1e-4


@pytest.mark.parametrize("special", [{}], indirect=True)
def test_groups_without_spread_move_nothing(special):
    """The trainer is new: Adam's state from other tests would move the weights."""
    before = {n: w.clone() for n, w in special.engine.weights()}
    groups = collect(special)
    for group in groups:
        for t in group.trajectories:
            t.turns[-1].reward = 1.0
    assert special.update(0, groups)["grad_norm"] == 0.0
    for name, weight in special.engine.weights():
        assert torch.equal(weight, before[name])


@pytest.mark.full
@pytest.mark.parametrize("special", [{}], indirect=True)
def test_full_successes_by_different_ways_move_nothing(special):
    """Each episode has other scores on its way, in hundredths: their sums differ by rounding."""
    before = {n: w.clone() for n, w in special.engine.weights()}
    groups = collect(special, max_turns=5)
    for group in groups:
        for number, t in enumerate(group.trajectories):
            draw = random.Random(8 * group.number + number)
            scores = [0.0, *(draw.randrange(101) / 100 for _ in t.turns[1:]), 1.0]
            for turn, low, high in zip(t.turns, scores, scores[1:], strict=False):
                turn.reward = high - low
    episodes = [t for group in groups for t in group.trajectories]
    assert [t.total_reward for t in episodes] == pytest.approx([1.0] * 16, abs=1e-12)
    single = {float(torch.tensor([turn.reward for turn in t.turns]).sum()) for t in episodes}
    assert len(single) > 1, "in float32 the sums differ"
    row = special.update(0, groups)
    assert (row["grad_norm"], row["advantage_size"], row["skipped"]) == (0.0, 0.0, 15.0)
    means = metrics.means(metrics.totals(groups, Distributed()) | metrics.failed([]))
    assert (means["mixed_groups"], means["return"]) == (0.0, pytest.approx(1.0))
    for name, weight in special.engine.weights():
        assert torch.equal(weight, before[name])


def test_observation_tokens_have_no_influence_on_the_loss(trainer):
    groups = spread_rewards(collect(trainer))
    batch = trainer.algorithm.compute_advantages(pack(groups), groups, trainer.distributed)
    loss = lambda b: trainer.algorithm.loss(trainer.engine.forward(b), b)[0].item()  # noqa: E731
    garbage = torch.where(batch.action_BT, batch.logp_BT, torch.full_like(batch.logp_BT, -1e6))
    advantage_BT = batch.streams["advantage"]
    huge = torch.where(batch.action_BT, advantage_BT, torch.full_like(advantage_BT, 1e6))
    assert loss(batch) == loss(replace(batch, logp_BT=garbage).with_streams(advantage=huge))


@pytest.mark.full
@pytest.mark.parametrize(
    "special", [{"algorithm": {"name": "grpo", "kl_coef": 0.1}}], indirect=True
)
def test_the_divergence_starts_at_zero_and_grows(special):
    groups = spread_rewards(collect(special))
    first = special.update(0, groups)["kl"]
    assert abs(first) < 1e-6
    for _ in range(3):
        latest = special.update(0, groups)["kl"]
    assert latest > 1e-5


def test_the_generator_follows_the_policy(trainer):
    trainer.update(0, spread_rewards(collect(trainer)))
    batch = pack(collect(trainer, step=1))
    with torch.no_grad():
        drift = (trainer.engine.forward(batch).logp_BT - batch.logp_BT)[batch.action_BT].abs().max()
    assert drift < 1e-4


@pytest.mark.parametrize("special", [{"rollout": {"max_new_tokens": 510}}], indirect=True)
def test_a_context_that_fits_no_episode_is_an_error_and_not_an_empty_step(special):
    with raises(ConfigError, "max_new_tokens=510", "max_context=512"):
        train(special)


def starts(trainer, source, step):
    return source.starts(trainer.envs[0].plan(step), source._numbers)


def test_tasks_are_a_function_of_seed_and_step(trainer):
    with closing(opened(trainer)) as source:
        zero, three, again, four = (starts(trainer, source, step) for step in (0, 3, 3, 4))
        assert three == again
        assert three != four
        assert len(zero) == 16
        assert len(set(zero)) == 4
        assert [start.group for start in zero] == [g for g in range(4) for _ in range(4)]


EVEN = {
    "env": {
        "id": "agentgym/Maze-v1",
        "kwargs": {"rooms": [3, 5, 7]},
        "groups": 6,
        "group_size": 2,
        "workers": 1,
    },
    "source": {"name": "rollout", "even_difficulties": True},
}


@pytest.mark.parametrize("special", [EVEN], indirect=True)
def test_the_groups_of_a_step_spread_evenly_over_the_difficulties(special):
    known = special.envs[0].task_difficulty
    with closing(opened(special)) as source:
        for step in range(5):
            found = starts(special, source, step)
            assert found[::2] == found[1::2], "a group plays one task"
            assert Counter(known[start.task_id] for start in found) == {3: 4, 5: 4, 7: 4}
        zero = starts(special, source, 0)
        assert zero != starts(special, source, 1)
        assert source.starts(special.envs[0].plan(0), [4]) == zero[8:10]


CHOOSING = {
    "env": {
        "id": "agentgym/Maze-v1",
        "kwargs": {"rooms": [3, 5]},
        "groups": 4,
        "group_size": 2,
        "workers": 1,
    },
    "curriculum": {
        "name": "composed",
        "parts": [
            {"name": "fixed", "turns": 2},
            {"name": "task_difficulty", "stages": [[3, 3], [5, 9], [3, 5]], "every": 1},
        ],
    },
}


@pytest.mark.full
@pytest.mark.parametrize("special", [CHOOSING], indirect=True)
def test_what_is_played_is_as_difficult_as_the_curriculum_asks(special):
    distributed = gymnasium.make("agentgym/Maze-v1", rooms=[3, 5]).unwrapped
    source = opened(special)
    for step, allowed in ((0, {3}), (1, {5}), (2, {3, 5})):
        groups = source.next(special.envs[0].plan(step))
        assert [len(group.trajectories) for group in groups] == [2] * 4
        played = [{t.task_id for t in group.trajectories} for group in groups]
        assert all(len(ids) == 1 for ids in played), "a group plays one task"
        assert {distributed.task_set.get(i).difficulty for ids in played for i in ids} <= allowed
        assert [start.task_id for start in starts(special, source, step)] == [
            t.task_id for g in groups for t in g.trajectories
        ]
        assert len(set().union(*played)) > 1
        whole = starts(special, source, step)
        second = Distributed()
        second.rank, second.size = 1, 2
        alone, source._numbers = source._numbers, replace(source._context, distributed=second).mine
        assert starts(special, source, step) == whole[2:4] + whole[6:8], (
            "a second process plays the same tasks in its groups"
        )
        source._numbers = alone
    source.close()


DYING = {
    "env": {
        "id": "faulty_envs:support/Faulty-v0",
        "kwargs": {"fault": "die", "at": 2, "length": 3},
        "groups": 2,
        "group_size": 2,
        "timeout": 5.0,
    },
    "eval": {"kwargs": {}},
}


@pytest.mark.parametrize("special", [DYING], indirect=True)
def test_a_training_step_completes_over_dying_environments(special, tmp_path):
    marker = tmp_path / "died"
    object.__setattr__(
        special.config.env, "kwargs", special.config.env.kwargs | {"marker": str(marker)}
    )
    rows = []
    train(special, lambda row, groups: rows.append((row, groups)))
    assert marker.exists(), "nothing failed: the test tested nothing"
    assert rows[0][0]["env_failures"] >= 1
    assert [r["episodes"] for r, _ in rows] == [4.0] * 4
    assert all(not t.status.is_error for _, groups in rows for g in groups for t in g.trajectories)
    assert Path(special.folder / "metrics.jsonl").read_text().count("\n") == 4


FAILING = {
    "env": {
        "id": "faulty_envs:support/Faulty-v0",
        "kwargs": {"fault": "raise", "at": 1, "length": 3},
        "groups": 2,
        "group_size": 2,
        "retries": 1,
        "failure_budget": 9,
    },
    "run": {"steps": 4, "save_every": 50},
    "curriculum": {"name": "responsive"},
    "eval": {"kwargs": {}},
}


@pytest.mark.parametrize(
    "special",
    [
        FAILING,
        pytest.param(FAILING | {"rollout": {"ahead": 1}}, marks=pytest.mark.full),
    ],
    indirect=True,
)
def test_a_run_goes_on_without_groups_until_its_failures_exceed_the_budget(special):
    """All four episodes of every step are given up: at the third step there are more than nine."""
    rows = []
    with raises(
        FaultBudgetError, "12 episodes", "step 3", "budget=9", "2 × seed", "broken on purpose"
    ):
        train(special, lambda row, groups: rows.append(row))
    assert [(r["given_up"], r["env_failures"], r["episodes"], r["updates"]) for r in rows] == [
        (4, 8, 0, 0)
    ] * 2
    assert not any("success" in r for r in rows), "a step without episodes has no success rate"
    assert special.envs[0].curriculum.state_dict() == {"turns": 1}, "nor seen by the curriculum"
    lines = [
        json.loads(line) for line in (special.folder / "failures.jsonl").read_text().splitlines()
    ]
    assert [line["step"] for line in lines] == [1] * 8 + [2] * 8 + [3] * 8
    assert checkpoint.latest(special.folder).name == "step-000002", (
        "a larger budget can go on from here"
    )


@pytest.mark.parametrize("special", [{"engine": {"lr": 1e30}}], indirect=True)
def test_a_policy_that_is_not_finite_stops_the_run_with_its_episodes(special, monkeypatch):
    """An enormous learning rate breaks the weights in the first step.

    The second step cannot be trained on, and nothing of it is saved.
    """
    groups = spread_rewards(collect(special))
    special.update(0, groups)
    with raises(TrainingError, "step 2", "not-finite-step-000002.json"):
        special.update(1, groups)
    (file,) = special.folder.glob("not-finite-*.json")
    episodes = json.loads(file.read_text())
    assert len(episodes) == 16
    assert episodes[0]["turns"][0]["observation"] == groups[0].trajectories[0].turns[0].observation


def with_critic(home, kind, steps, **options):
    """A run of PPO up to some step; returns its metrics and all its weights."""
    engine = {"zero_stage": 2, "lr": 1e-3, "minibatches": 2}
    run = {"folder": str(home / "run"), "steps": steps, "save_every": 2}
    shared = {name: small_run.HASH[name] for name in ("env", "eval")}
    trainer, rows = (
        make(
            home, {"run": run, "engine": engine} | shared | small_run.with_critic(kind, **options)
        ),
        [],
    )
    train(
        trainer,
        lambda row, groups: rows.append(
            {k: v for k, v in row.items() if k not in metrics.MEASURED}
        ),
    )
    weights = [actor_critic.full_parameters(engine) for engine in trainer.engines]
    trainer.close()
    return rows, weights


@pytest.mark.full
@pytest.mark.parametrize("kind", ["model", "head"])
def test_a_run_with_a_critic_goes_on_as_if_it_had_never_stopped(tmp_path, kind):
    rows, weights = with_critic(tmp_path / "whole", kind, 3)
    early, _ = with_critic(tmp_path / "parts", kind, 2)
    late, ours = with_critic(tmp_path / "parts", kind, 3)
    assert early + late == rows
    assert [row["step"] for row in late] == [3], "it did go on"
    assert (
        [len(parts) for parts in ours]
        == [len(parts) for parts in weights]
        == ([26, 28] if kind == "model" else [28])
    )
    for mine, theirs in zip(ours, weights, strict=True):
        assert all(torch.equal(weight, theirs[name]) for name, weight in mine.items())
    heads = [
        weight
        for part in ours
        for name, weight in part.items()
        if name.endswith("value_head.weight")
    ]
    assert len(heads) == 1
    assert heads[0].any(), "something was learned"
    assert all(row["value"] != 0 for row in rows[1:]), "the next step's values include the update"
    newest = checkpoint.latest(tmp_path / "parts" / "run")
    assert (newest / "critic").is_dir() == (kind == "model")
    assert checkpoint.read_state(newest).model["critic"] == kind
    saved = AutoModelForCausalLM.from_pretrained(newest / "model").state_dict()
    policy = {name.removeprefix("model."): weight for name, weight in ours[0].items()}
    assert all(
        torch.equal(saved[name], weight)
        for name, weight in policy.items()
        if "value_head" not in name
    )
    assert ("critic_grad_norm" in rows[0]) == (kind == "model")


@pytest.mark.full
def test_a_bootstrapped_value_changes_targets_and_counts_as_no_turn_or_token(tmp_path):
    """Values start at 0, so the first steps are equal; then only what the update reports differs.

    At a horizon of three turns every episode of four to six turns is cut.
    """
    plain, _ = with_critic(tmp_path / "plain", "model", 2)
    ours, _ = with_critic(tmp_path / "ours", "model", 2, bootstrap=True)
    assert ours[0] == plain[0]
    assert ours[0]["truncated_horizon"] == 1.0
    assert ours[1]["value_target"] != plain[1]["value_target"]
    for name in ("horizon", "invalid", *metrics.PER_EPISODE, *metrics.COUNTS):
        assert ours[1].get(name) == plain[1].get(name), name
    assert ours[1]["turns"] == 3.0


NAIVE = {
    "generator": {"name": "naive"},
    "run": {"steps": 2, "save_every": 2},
    "env": small_run.HASH["env"],
    "eval": small_run.HASH["eval"] | {"every": 1},
}


@pytest.mark.full
@pytest.mark.parametrize("special", [NAIVE], indirect=True)
def test_a_generator_that_is_not_ours_drives_the_whole_trainer_and_sleeps_while_the_policy_learns(
    special, monkeypatch
):
    rows, events, versions = [], [], []

    def note(where, name):
        method = getattr(where, name)
        monkeypatch.setattr(
            where, name, lambda *args: events.append((name, *args[1:])) or method(*args)
        )

    def log(row, groups):
        rows.append(row)
        versions.append({call.version for g in groups for t in g.trajectories for call in t.calls})

    for name in ("load", "session", "sleep", "wake"):
        note(special.generator, name)
    note(special, "update")
    special.train(log, lambda step: events.append(("evaluate",)))
    step = ["session", "sleep", "update", "wake", "load"]
    assert [event[0] for event in events] == [*step, "evaluate", *step]
    assert [event[1] for event in events if event[0] == "load"] == [1, 2], "optimizer steps"
    assert versions == [{0}, {1}]
    assert [r["step"] for r in rows] == [1, 2]
    assert rows[0]["grad_norm"] > 0, "the second step samples from other weights than the first"
    assert all(r["logp_drift"] < 1e-4 for r in rows)
    AutoModelForCausalLM.from_pretrained(checkpoint.latest(special.folder) / "model")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        (
            "hollow",
            BrokenPlugin,
            "lacks in_background, method_name, load, session, sleep, wake, close of",
        ),
        ("stale", ModelError, "not those of the training forward"),
    ],
)
def test_a_generator_is_checked_before_it_is_used(tmp_path, name, error, message):
    with pytest.raises(error, match=message):
        make(tmp_path, {"generator": {"name": name}})


@pytest.mark.parametrize("construct", ["hang", "die"])
def test_a_constructor_that_hangs_or_ends_the_process_is_found_before_any_work(
    tmp_path, construct, monkeypatch
):
    monkeypatch.setattr(build.pool, "describe", partial(build.pool.describe, start_timeout=3.0))
    env = {
        "id": "faulty_envs:support/Faulty-v0",
        "kwargs": {"construct": construct},
        "timeout": 2.0,
    }
    with pytest.raises(EnvFailure, match=r"no answer within|with status 7"):
        make(tmp_path, {"env": env, "eval": {"kwargs": {}}})


@pytest.mark.full
@pytest.mark.parametrize(
    "special", [FAILING | {"eval": {"kwargs": {"fault": "raise"}, "episodes": 2}}], indirect=True
)
def test_failures_of_an_evaluation_are_told_and_not_charged_to_the_budget(special):
    env = special.envs[0]
    played = evaluate.evaluate(env.config, special.generator, env.chat.tokenizer, env.training)
    assert played.trajectories == []
    special.note_failures(0, env, played.failures, evaluation=True)
    rows = metrics.read(special.folder / "failures.jsonl")
    assert [(row["step"], row["evaluation"], row["given_up"]) for row in rows] == [
        (0, True, False)
    ] * 2 + [(0, True, True)] * 2
    special.check_failures(0)
    special.note_failures(1, env, [EpisodeFailure("", 5, 0, "while training", given_up=True)] * 10)
    with raises(FaultBudgetError, "10 episodes", "Faulty", "10 × seed 5: while training"):
        special.check_failures(0)


def test_the_policy_is_told_the_rules_of_the_held_out_environment(tmp_path):
    with closing(
        make(tmp_path, {"eval": {"kwargs": {"split": "test"}, "episodes": 1, "horizon": 1}})
    ) as trainer:
        env = trainer.envs[0]
        held_out = env.training._replace(rules="Other rules.")
        (t,) = evaluate.evaluate(
            env.config, trainer.generator, env.chat.tokenizer, held_out
        ).trajectories
        assert "Other rules." in env.chat.text(t.calls[0].prompt_ids)


@pytest.mark.full
def test_the_share_of_pairs_that_are_right_is_one_of_pairs(tmp_path):
    """There are at most four pairs, so twelve times the share is a whole number.

    A share of tokens would be close to 0.
    """
    env = small_run.HASH["env"] | {"groups": 4, "group_size": 2}
    rows = []
    options = {key: small_run.HASH[key] for key in ("engine", "curriculum", "eval")}
    with closing(
        make(tmp_path, {**options, "env": env, "algorithm": {"name": "dpo"}, "run": {"steps": 4}})
    ) as trainer:
        trainer.train(lambda row, groups: rows.append(row), lambda step: None)
    shares = [12 * row["pairs_right"] for row in rows]
    assert any(shares)
    assert shares == pytest.approx([round(share) for share in shares])


def test_an_environment_that_cannot_be_played_is_no_success_of_zero():
    with pytest.raises(FaultBudgetError, match="not one held-out episode could be played"):
        evaluate.summary([])
