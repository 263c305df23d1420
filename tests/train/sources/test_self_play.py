"""Episodes with several agents: turns, rewards and groups by agent; frozen models; faults."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import small_run
import tiny
from raised import raises
from rich.console import Console
from scripted import ScriptedGenerator, collect
from trainers import make

from agentgym_envs.evaluate import read_rows, record
from agentgym_envs.pool import PoolResult, describe
from agentgym_train import config as configuration
from agentgym_train import plugins
from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.config import EnvConfig, ScratchConfig
from agentgym_train.data.types import Call, EpisodeFailure, EpisodeStatus, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.errors import ConfigError, ModelError
from agentgym_train.evaluation import episodes, evaluate
from agentgym_train.generators.hf import HF
from agentgym_train.models import scratch
from agentgym_train.protocols import RunContext
from agentgym_train.rollout import build
from agentgym_train.rollout.episode import AgentState, Episode
from agentgym_train.rollout.pipeline import make_training_envs
from agentgym_train.rollout.tasks import EpisodeStart
from agentgym_train.run.prepare import check
from agentgym_train.run.work import evaluate_checkpoint
from agentgym_train.testing import check_source

NIM = "foreign/Nim-v0"
SEATS = ["player_0", "player_1"]
NINE = EpisodeStart(0, 5, "pile-9")
TWO = {"id": NIM, "kwargs": {"seats": "all"}, "groups": 2, "group_size": 2, "workers": 1}


def said(moves):
    """Returns a script for one episode: row 0 has the first player's moves, row 1 the second's."""
    return lambda row, turn: moves[row][turn]


def played(moves, *, starts=(NINE,), **options):
    keywords = {"seats": "all", "split": "train", "agents": SEATS} | options
    return collect(NIM, list(starts), said(moves), **keywords)


def test_each_agent_has_a_trajectory_of_what_it_saw_and_said():
    """Nine stones: 1, 3, 3, 2, worked out by hand; the second player takes the last one."""
    groups, *_ = played([["1", "3"], ["3", "2"]])
    first, second = (group.trajectories[0] for group in groups)
    assert (first.agent, second.agent) == ("player_0", "player_1")
    assert [t.action for t in first.turns] == ["1", "3"]
    assert [t.action for t in second.turns] == ["3", "2"]
    assert "There are 9 stones" in first.turns[0].observation
    assert "There are 8 stones" in second.turns[0].observation
    assert "player_1 takes 3. There are 5 stones." in first.turns[1].observation
    assert "There are 2 stones" in second.turns[1].observation
    assert (first.success, first.score, [t.reward for t in first.turns]) == (False, 0.0, [0.0, 0.0])
    assert (second.success, second.score, [t.reward for t in second.turns]) == (
        True,
        1.0,
        [0.0, 1.0],
    )
    assert {t.status for t in (first, second)} == {EpisodeStatus.COMPLETED}
    assert {t.task_id for t in (first, second)} == {"pile-9"}


def test_what_another_does_in_the_end_reaches_the_loser():
    """The first player wins with its third move, after the second player's last turn."""
    groups, *_ = played([["1", "1", "3"], ["2", "2"]])
    assert [g.trajectories[0].success for g in groups] == [True, False]
    assert [len(g.trajectories[0].turns) for g in groups] == [3, 2]


def test_what_a_turn_has_earned_stays_when_others_go_on():
    """Rewards and invalid actions stay with the latest turn of their agent.

    Later steps of other agents do not change that.
    """
    turns = {agent: [Turn("", [Call([])]), Turn("", [Call([])])] for agent in SEATS}
    agents = {
        agent: AgentState(n, Trajectory("t", 0, turns=turns[agent], agent=agent), None)
        for n, agent in enumerate(SEATS)
    }
    episode = Episode(0, NINE, agents)
    for rewards, invalids in (
        ((0.25, 0.0), (True, False)),
        ((0.0, 0.5), (False, False)),
        ((0.5, 0.0), (False, True)),
    ):
        brought = {
            "rewards": rewards,
            "invalids": invalids,
            "scores": (0.75, 0.5),
            "successes": (False, True),
        }
        info = {key: dict(zip(SEATS, values, strict=True)) for key, values in brought.items()}
        episode.credit(PoolResult(0, info=info))
    assert [[(t.reward, t.invalid) for t in turns[agent]] for agent in SEATS] == [
        [(0.0, False), (0.75, True)],
        [(0.0, False), (0.5, True)],
    ]
    assert [(state.trajectory.score, state.trajectory.success) for state in agents.values()] == [
        (0.75, False),
        (0.5, True),
    ]


def test_only_the_speaker_is_misunderstood():
    groups, *_ = played([["1", "3"], ["nine", "3", "2"]])
    assert [t.invalid for t in groups[1].trajectories[0].turns] == [True, False, False]
    assert [t.invalid for t in groups[0].trajectories[0].turns] == [False, False]


def test_groups_are_those_of_one_agent():
    starts = [NINE, NINE, EpisodeStart(2, 6, "pile-6")]
    moves = [["1", "3"], ["1", "3"], ["3"], ["3", "2"], ["3", "2"], ["3"]]
    groups, *_ = played(moves, starts=starts)
    assert [(g.number, [t.agent for t in g.trajectories]) for g in groups] == [
        (0, ["player_0"] * 2),
        (0, ["player_1"] * 2),
        (2, ["player_0"]),
        (2, ["player_1"]),
    ]


def test_the_horizon_counts_the_turns_of_an_agent():
    groups, *_ = played([["1"] * 9, ["1"] * 9], max_turns=2)
    assert [[t.action for t in g.trajectories[0].turns] for g in groups] == [["1", "1"]] * 2
    assert {g.trajectories[0].status for g in groups} == {EpisodeStatus.TRUNCATED_HORIZON}


def test_the_agent_that_would_act_next_has_the_prompt_after_a_cut():
    """Both have had their two turns, and the first player would act."""
    groups, *_ = played([["1", "1"], ["1", "1"]], max_turns=2, keep_next=True)
    longer, *_ = played([["1", "1", "3"], ["1", "1", "2"]])
    first, second = (g.trajectories[0] for g in groups)
    assert first.next_call == Call(longer[0].trajectories[0].calls[2].prompt_ids)
    assert second.next_call is None
    assert [len(t.turns) for t in (first, second)] == [2, 2]


def test_a_frozen_player_speaks_for_its_agent_alone():
    frozen = ScriptedGenerator(lambda row, turn: ["3", "2"][turn])
    groups, _, generator, _ = played([["1", "3"]], opponents={"player_1": frozen})
    assert [t.action for t in groups[1].trajectories[0].turns] == ["3", "2"]
    assert [c.version for c in groups[1].trajectories[0].calls] == [0, 0], "the policy's is 4"
    assert len(generator.seeds) == len(frozen.seeds) == 1
    assert generator.seeds != frozen.seeds, "each agent has separate noise"


def test_a_failure_is_nobodys_loss():
    """The environment fails at the second player's turn: both restart.

    Once no retries are left, neither has an episode.
    """
    moves = said([["1"] * 9, ["raise", *["1"] * 8]])
    groups, collector, *_ = collect(
        "faulty_game:support/FaultyNim-v0", [NINE], moves, agents=SEATS, retries=1
    )
    assert [g.trajectories for g in groups] == [[], []]
    assert [(f.turn, f.given_up) for f in collector.failures] == [(2, False), (2, True)]


@pytest.fixture(scope="module")
def described_once():
    """Each environment is described in one process for all tests of a refusal."""
    describe, known = build.pool.describe, {}

    def once(*args, **kwargs):
        key = repr((args, kwargs))
        if key not in known:
            known[key] = describe(*args, **kwargs)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build.pool, "describe", once)
        yield


def config(tmp_path, **sections):
    """Returns the configuration of a run of Nim."""
    env = {"id": NIM, "kwargs": {"seats": "all"}, "groups": 4, "group_size": 2, "workers": 1}
    given = {
        "env": env,
        "source": {"name": "self_play"},
        "eval": {"kwargs": {"seats": "player_0"}, "episodes": 2, "horizon": 4},
    }
    return configuration.load(small_run.write(tmp_path, **(given | sections)))


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"source": {"name": "rollout"}}, "source.name=self_play"),
        ({"source": {"name": "rejection_sampling"}}, "source.name=self_play"),
        (
            {"source": {"name": "dataset", "folders": ["x"]}, "algorithm": {"name": "sft"}},
            "source 'dataset' plays one agent",
        ),
        (
            {
                "source": {
                    "name": "mixture",
                    "weights": [1.0, 1.0],
                    "parts": [{"name": "self_play"}, {"name": "rollout"}],
                }
            },
            "source 'rollout' plays one agent",
        ),
        (
            {
                "source": {
                    "name": "mixture",
                    "weights": [1.0, 3.0],
                    "parts": [{"name": "self_play"}] * 2,
                }
            },
            "env.groups=1",
        ),
        ({"source": {"name": "self_play", "frozen": {"player_9": "x"}}}, "player_9"),
        (
            {"source": {"name": "self_play", "frozen": {"player_0": "x", "player_1": "x"}}},
            "at least one agent must be trained",
        ),
        (
            {"env": {"id": NIM, "kwargs": {"seats": "all"}, "groups": 3, "group_size": 2}},
            "env.groups=3",
        ),
        ({"env": {"id": NIM, "groups": 4, "group_size": 2}}, "env.kwargs.seats"),
        (
            {
                "env": {"id": "agentgym/Maze-v1", "groups": 4, "group_size": 2},
                "eval": {"episodes": 1},
            },
            "several agents",
        ),
        (
            {"env": {"id": NIM, "kwargs": {"seats": "all"}, "groups": 2, "tokens_per_step": 9}},
            "tokens_per_step=9",
        ),
    ],
)
def test_what_cannot_be_played_is_refused_before_any_work(
    described_once, tmp_path, sections, message
):
    with pytest.raises(ConfigError, match=message):
        check(config(tmp_path, **sections))


@pytest.mark.full
def test_processes_share_the_tasks_whatever_their_number(tmp_path):
    made = config(
        tmp_path,
        env={"id": NIM, "kwargs": {"seats": "all"}, "groups": 6, "group_size": 2, "workers": 1},
    )
    plugin, training = plugins.make(plugins.SOURCE, made.source), describe(NIM, seats="all")
    script = ScriptedGenerator(lambda row, turn: "1")
    context = RunContext(
        made, Distributed(), script, tiny.chat(), training, range(6), algorithm=GRPO()
    )
    assert check_source(
        lambda distributed: plugin.build(replace(context, distributed=distributed)), groups=6
    )


def test_the_policy_learns_from_both_agents_and_from_each_beside_its_own(tmp_path):
    env = {"id": NIM, "kwargs": {"seats": "all"}, "groups": 4, "group_size": 2, "workers": 1}
    options = {"env": env, "source": {"name": "self_play"}, "run": {"steps": 1}}
    trainer = make(tmp_path, options)
    seen = []
    trainer.train(lambda row, groups: seen.extend(groups), lambda step: None)
    trainer.close()
    assert sorted(g.number for g in seen) == [0, 1, 2, 3]
    assert [[t.agent for t in g.trajectories] for g in sorted(seen, key=lambda g: g.number)] == [
        [agent] * 2 for agent in SEATS * 2
    ]
    tasks = {g.number: {t.task_id for t in g.trajectories} for g in seen}
    assert tasks[0] == tasks[1]
    assert tasks[2] == tasks[3]


@pytest.mark.full
def test_beside_a_frozen_model_one_agent_learns(tmp_path, monkeypatch):
    closed = []
    monkeypatch.setattr(HF, "close", lambda generator: closed.append(generator))
    model = tiny.save(tmp_path / "other", template=tiny.CHATML)
    trainer = make(
        tmp_path,
        {
            "env": {
                "id": NIM,
                "kwargs": {"seats": "all"},
                "groups": 2,
                "group_size": 2,
                "workers": 1,
            },
            "source": {"name": "self_play", "frozen": {"player_0": model}},
            "run": {"steps": 2},
        },
    )
    seen = []
    trainer.train(lambda row, groups: seen.extend(groups), lambda step: None)
    assert len(closed) == 1
    assert closed[0] is not trainer.generator, "the frozen model's is closed with its source"
    trainer.close()
    assert closed[1] is trainer.generator
    assert [g.number for g in seen] == [0, 1] * 2
    assert {t.agent for g in seen for t in g.trajectories} == {"player_1"}


def test_held_out_episodes_are_of_each_agent_and_count_once(tmp_path):
    """Four games in which both players always take two: each agent sees only its turns.

    Records, means and counts are of the same games.
    """
    eval_ = {"kwargs": {"seats": "all", "split": "test"}, "episodes": 4, "horizon": 20}
    made, held_out = config(tmp_path, eval=eval_), describe(NIM, seats="all", split="test")
    held_out = held_out._replace(difficulties=[*range(1, 1 + len(held_out.task_ids))])
    envs = make_training_envs(made, [held_out], tiny.tokenizer())
    played = evaluate.evaluate(
        made, ScriptedGenerator(lambda row, turn: "2"), envs[0].chat.tokenizer, held_out
    ).trajectories
    assert [t.agent for t in played] == SEATS * 4
    assert all("You are player_1" not in turn.observation for t in played[::2] for turn in t.turns)
    told = evaluate.summary(played)
    assert told["episodes"] == 4
    assert told["success"] == sum(t.success for t in played) / 8
    rows = episodes.rows(made, played, held_out, step=3)
    record.write(tmp_path / "after", {"agent": "policy"}, rows)
    kept = record.episodes(record.read(tmp_path / "after")[0])
    assert [row["success"] for row in kept] == [t.success for t in played], (
        "none stands in for another"
    )
    assert {turn["seat"] for row in kept for turn in row["turns"]} == set(SEATS)
    assert {row["family"] for row in kept} == {f"{NIM}/{agent}" for agent in SEATS}
    task_difficulty = dict(zip(held_out.task_ids, held_out.difficulties, strict=True))
    assert [row["difficulty"] for row in kept] == [task_difficulty[t.task_id] for t in played]
    failures = [
        EpisodeFailure(task_id, 0, 2, "lost", given_up=task_id == "other")
        for task_id in (played[0].task_id, "other")
    ]
    lost = episodes.faults(rows, failures, held_out)
    assert {row["task_id"] for row in lost} == {"other"}
    episodes.write(tmp_path / "episodes" / "last", made, step=3, rows=[*rows, *lost])
    (run,) = read_rows(tmp_path / "episodes" / "last").runs
    assert (run["episodes"], run["planned"], run["faults"]) == (8, 10, 2)
    assert run["least"] == run["success"] * 4 / 5 < run["most"]
    again = episodes.rows(made, played, held_out, step=3, part="other")
    assert not {record.EpisodeKey.of(row) for row in again} & {
        record.EpisodeKey.of(row) for row in rows
    }


def test_games_and_episodes_of_one_agent_are_counted_together():
    games = [Trajectory("t", 0, [], agent=agent) for agent in SEATS * 10]
    others = [Trajectory("t", 0, [], agent=agent) for agent in ("buyer", "seller") * 7]
    told = evaluate.overall(
        {"Nim": games, "Maze": [Trajectory("t", 0, [])] * 11, "Negotiation": others}
    )
    assert told["episodes"] == 28
    assert [row["episodes"] for row in told["env"].values()] == [10, 11, 7]


@pytest.mark.full
def test_a_saved_model_is_evaluated_in_every_seat(tmp_path, monkeypatch):
    eval_ = {"kwargs": {"seats": "all", "split": "test"}, "episodes": 4, "horizon": 20}
    model = tiny.save(tmp_path / "run" / "model", template=tiny.CHATML)
    config(tmp_path, eval=eval_, model={"path": model, "max_context": 512})
    seen, overall = [], evaluate.overall
    monkeypatch.setattr(
        evaluate, "overall", lambda played: seen.extend(*played.values()) or overall(played)
    )
    evaluate_checkpoint(tmp_path / "run", tmp_path / "run.toml", [], Console(quiet=True))
    assert [t.agent for t in seen] == SEATS * 4


def test_a_frozen_model_that_is_none_is_refused_before_any_work(tmp_path):
    with raises(ModelError, "source.frozen.player_1='runs/not-there/model'"):
        check(
            config(
                tmp_path,
                source={"name": "self_play", "frozen": {"player_1": "runs/not-there/model"}},
                env=TWO,
            )
        )


def test_a_frozen_model_with_other_tokens_is_refused(tmp_path):
    other = tiny.save(tmp_path / "other", template=tiny.CHATML)
    told = json.loads((Path(other) / "tokenizer.json").read_text())
    told["added_tokens"].append(
        {**told["added_tokens"][-1], "id": len(told["model"]["vocab"]) + 900, "content": "<|new|>"}
    )
    (Path(other) / "tokenizer.json").write_text(json.dumps(told))
    source = {"name": "self_play", "frozen": {"player_0": other}}
    with raises(ConfigError, "source.frozen.player_0="):
        make(tmp_path, {"env": TWO, "source": source, "run": {"steps": 2}})


def test_random_play_for_a_small_model_is_one_agents_at_a_time():
    env = EnvConfig(id=NIM, action_format="plain", kwargs={"seats": "all"}, workers=1)
    each = scratch._seated(env)
    assert [e.kwargs["seats"] for e in each] == SEATS
    (episode,) = scratch.random_play(
        each[1], ScratchConfig(episodes=1), seed=0, progress=lambda *args: None
    )
    assert "You are player_1" in episode[0]["content"]
