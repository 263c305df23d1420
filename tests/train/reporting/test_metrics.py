"""The lines of metrics.jsonl: metrics of a step's episodes and of the machine."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import small_run
import tiny

from agentgym_envs.pool import EnvDescription
from agentgym_train import config as configuration
from agentgym_train.data.types import Call, EpisodeStatus, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.protocols import StepPlan
from agentgym_train.reporting import metrics
from agentgym_train.rollout.pipeline import CollectedStep, TrainingEnv
from agentgym_train.scorers.penalty import Penalty
from agentgym_train.trainer import PolicyTrainer


def turn(tokens, *, invalid=False, **more):
    return Turn("seen", [Call([1, 2], [7] * tokens, [-1.0] * tokens, **more)], invalid=invalid)


PLAN = StepPlan(0, 9, range(1))
GROUPS = [
    Group(
        0,
        [
            Trajectory(
                "easy", 0, [turn(3), turn(5, invalid=True, cut=True)], score=1.0, success=True
            ),
            Trajectory("easy", 0, [turn(4)]),
        ],
    ),
    Group(
        1,
        [
            Trajectory("hard", 1, [turn(8, version=2, cut=True)], EpisodeStatus.TRUNCATED_HORIZON),
            Trajectory("elsewhere", 1, [turn(0)], late=3),
        ],
    ),
]
LEVELS = {"easy": 1, "hard": 4, "elsewhere": 3}


def test_means_by_hand():
    totals = metrics.totals(GROUPS, Distributed(), LEVELS, version=3)
    means = metrics.means(totals | metrics.failed([]))
    assert means == {
        **{
            "episodes": 4,
            "tokens": 30,
            "action_tokens": 20,
            "filtered_tokens": 0,
            "turns": 1.25,
            "samples": 1.0,
            "action_length": 4.0,
            "invalid": 0.2,
            "cut_actions": 0.4,
            "off_policy": (12 * 3 + 8 * 1) / 20,
        },
        **{
            "success": 0.25,
            "score": 0.25,
            "return": 0.0,
            "truncated_horizon": 0.25,
            "truncated_context": 0.0,
            "mixed_groups": 0.0,
        },
        **{"env_failures": 0, "given_up": 0, "difficulty": 2.25, "late": 3},
    }


@pytest.mark.parametrize("learns", [False, True])
def test_attempts_are_counted_for_an_agent_that_learns(learns):
    again = Trajectory("easy", 0, [turn(3), replace(turn(2), lesson=True), turn(4)])
    totals = metrics.totals([Group(0, [again]), *GROUPS], Distributed(), learns=learns)
    means = metrics.means(totals | metrics.failed([]))
    assert means.get("attempts") == (6 / 5 if learns else None)
    assert means["turns"] == (5 + 3) / 5


def test_calls_and_samples_by_hand():
    """Two turns with three calls in two samples, and an episode with one call."""
    calls = [
        Call([1, 2], [7] * 3, [-1.0] * 3),
        Call([1], [7], [-1.0], version=2, cut=True, sample=1),
        Call([1, 2, 3], [7] * 2, [-1.0] * 2, version=1),
    ]
    several = Trajectory("easy", 0, [Turn("seen", calls[:2]), Turn("seen", calls[2:])])
    groups = [Group(0, [several], filtered=[Trajectory("easy", 0, [turn(6)])])]
    means = metrics.means(metrics.totals(groups, Distributed(), version=2) | metrics.failed([]))
    wanted = {"samples": 1.5, "action_length": 12 / 3, "cut_actions": 1 / 3, "action_tokens": 12}
    wanted |= {"tokens": 20, "filtered_tokens": 8, "off_policy": (9 * 2 + 2 * 1) / 12}
    assert {name: means[name] for name in wanted} == wanted


@pytest.mark.parametrize("task_difficulty", [None, {}, {"easy": 1, "hard": 4}])
def test_without_the_difficulty_of_each_task_there_is_no_mean_of_them(task_difficulty):
    assert "difficulty" not in metrics.means(
        metrics.totals(GROUPS, Distributed(), task_difficulty) | metrics.failed([])
    )


@pytest.mark.parametrize(
    ("difficulties", "expected"), [([1, 4, 3], {"difficulty": 2.25}), (None, {})]
)
def test_the_trainer_takes_difficulties_from_the_training_environment(
    tmp_path, difficulties, expected
):
    trainer = PolicyTrainer.__new__(PolicyTrainer)
    training = EnvDescription("", [*LEVELS], difficulties, {}, text_env=True)
    config = configuration.load(small_run.write(tmp_path))
    trainer.distributed, trainer.envs = (
        Distributed(),
        [TrainingEnv(config, training, tiny.tokenizer(), range(2))],
    )
    row = trainer.summarise(
        0, [GROUPS], [[]], collected=[CollectedStep(PLAN, GROUPS, [])], version=2
    )
    assert {name: row[name] for name in row if name == "difficulty"} == expected


def test_a_replaced_group_does_not_make_its_successor_a_mixed_one():
    def episodes(seed, *rewards):
        return [Trajectory("easy", seed, [replace(turn(3), reward=r)]) for r in rewards]

    groups = [
        Group(0, episodes(1, 1.0, 1.0), filtered=episodes(2, 0.0, 0.0)),
        Group(1, episodes(3, 1.0, 0.0), filtered=episodes(4, 0.0, 0.0)),
    ]
    assert metrics.totals(groups, Distributed())["mixed_groups"] == 1


def test_what_is_not_learned_from_was_played_all_the_same(tmp_path):
    """A step whose episodes are all filtered still reports tokens, failures and success."""
    paid = [Trajectory("easy", 0, [replace(turn(3), reward=reward)]) for reward in (1.0, 0.0)]
    played = [*GROUPS, Group(2, paid)]
    dropped = [Group(g.number, g.trajectories[2:], filtered=g.trajectories[:2]) for g in played]
    halves = [Group(g.number, g.trajectories[:1], filtered=g.trajectories[1:]) for g in played]
    everything, nothing, half = (
        metrics.totals(groups, Distributed(), LEVELS) for groups in (played, dropped, halves)
    )
    excluded = [sums.pop("filtered_tokens") for sums in (everything, nothing, half)]
    assert excluded[0] == 0
    assert (
        excluded[1] + sum(t.length for group in dropped for t in group.trajectories)
        == everything["tokens"]
    )
    assert 0 < excluded[2] < everything["tokens"]
    assert everything == nothing == half
    assert everything["mixed_groups"] == 1
    costly = [Penalty(turn=0.5).score(groups) for groups in (played, halves)]
    every, part = (metrics.totals(groups, Distributed()) for groups in costly)
    assert every == part | {"filtered_tokens": 0}, "scorers see them too"
    trainer = PolicyTrainer.__new__(PolicyTrainer)
    config = configuration.load(small_run.write(tmp_path))
    training = EnvDescription("", [*LEVELS], None, {}, text_env=True)
    trainer.distributed, trainer.envs = (
        Distributed(),
        [TrainingEnv(config, training, tiny.tokenizer(), range(2))],
    )
    row = trainer.summarise(
        0, [dropped], [[]], collected=[CollectedStep(PLAN, dropped, [])], version=2
    )
    assert row["episodes"] == 6


def test_rates_are_of_what_the_policy_played():
    """Episodes and tokens of a teacher count, but rates are the policy's.

    Without episodes of the policy, rates are the teacher's.
    """
    taught = [
        Group(2, [Trajectory("easy", 0, [turn(6)], score=1.0, success=True)], from_dataset=True)
    ]
    alone, mixed, only = (
        metrics.means(metrics.totals(g, Distributed()) | metrics.failed([]))
        for g in (GROUPS, GROUPS + taught, taught)
    )
    assert mixed == alone | {"episodes": 5, "tokens": 38, "action_tokens": 26}
    assert (only["success"], only["episodes"]) == (1.0, 1)
    lost = metrics.means(
        metrics.totals([Group(0, []), *taught], Distributed()) | metrics.failed([])
    )
    assert "success" not in lost, "what the policy played has failed, and says nothing of it"
    trainer, seen = PolicyTrainer.__new__(PolicyTrainer), []
    budget = SimpleNamespace(observe=lambda **metrics: None)
    curriculum = SimpleNamespace(observe=seen.append)
    trainer.envs = [SimpleNamespace(name="one", curriculum=curriculum, budget=budget)]
    trainer.observe({}, lost, [PLAN])
    trainer.observe({}, mixed, [PLAN])
    assert seen == [mixed], "nor is a curriculum shown it"


def test_memory_is_the_peak_that_linux_tells():
    held = b"x" * 50_000_000
    told = metrics.memory()
    del held
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])
    assert told["process"] == pytest.approx(peak / 2**20, rel=0.02)
