"""Episodes from files and from the policy's successes."""

import json
import shutil
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest
import small_run
import tiny
from hypothesis import given
from hypothesis import strategies as st
from raised import raises
from scripted import ScriptedGenerator
from typer.testing import CliRunner

from agentgym_envs.errors import AgentGymError, ArgumentError
from agentgym_envs.evaluate import record
from agentgym_envs.pool import describe
from agentgym_train import cli, plugins
from agentgym_train import config as configuration
from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.assembly import check_group_size
from agentgym_train.data.types import Call, EpisodeStatus, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.errors import ConfigError
from agentgym_train.models.chat import ChatTokens
from agentgym_train.protocols import RunContext, Source, StepPlan
from agentgym_train.reporting import metrics
from agentgym_train.rollout import tasks
from agentgym_train.sources import rollout
from agentgym_train.sources.dataset import Dataset
from agentgym_train.sources.mixture import Mixture, shares
from agentgym_train.sources.rollout import FreshEpisodes, RejectionSampling
from agentgym_train.testing import check_source

MAZE = "agentgym/Maze-v1"


def evaluate(home):
    """Writes results of the oracle and of an agent that stands still, on the same six tasks."""
    (home / "still.py").write_text("def stand(observation, info):\n    return 'look'\n")
    for name, agent in (("oracle", "oracle"), ("still", "still:stand")):
        command = [
            sys.executable,
            "-m",
            "agentgym_envs.cli",
            "eval",
            MAZE,
            "--set",
            "rooms=[4]",
            "--split",
            "train",
        ]
        command += [
            "--agent",
            agent,
            "--episodes",
            "6",
            "--horizon",
            "12",
            "--out",
            str(home / name),
        ]
        subprocess.run(command, check=True, cwd=home, capture_output=True)


@pytest.fixture(scope="module")
def folders(once, tmp_path_factory):
    """A copy of the results."""
    home = tmp_path_factory.mktemp("results")
    return shutil.copytree(once("results", evaluate), home, dirs_exist_ok=True)


def context(home, context=2048, rank=0, size=1, agent=None, **env):
    raw = {"id": MAZE, "kwargs": {"rooms": [4]}, "groups": 4, "group_size": 1} | env
    config = configuration.load(
        small_run.write(
            home,
            env=raw,
            model={"max_context": context},
            rollout={"max_new_tokens": 5},
            **({"agent": agent} if agent else {}),
        )
    )
    distributed = Distributed()
    distributed.rank, distributed.size = rank, size
    chat = tiny.chat(instructions="Find it.")
    training, groups = describe(MAZE, rooms=[4]), range(config.groups)
    return RunContext(config, distributed, None, chat, training, groups, GRPO())


def collected(source, step, horizon=1):
    """Returns the groups of a step of a source, whatever their numbers."""
    return source.next(StepPlan(step, horizon, range(1000)))


def build(home, options, **more):
    source = plugins.make(plugins.SOURCE, {"name": "dataset", **options})
    made = context(home, **more)
    source.check(made.config, made.training)
    return source.build(made)


def test_the_tokens_are_those_of_the_chat_template(folders, tmp_path):
    source = build(tmp_path, {"folders": [str(folders / "oracle")]})
    by_task = {row["task_id"]: row for row in record.read(folders / "oracle")[0]}
    chat = tiny.chat(instructions="Find it.")
    for group in collected(source, 0):
        (t,) = group.trajectories
        assert group.from_dataset
        row = by_task[t.task_id]
        assert (t.score, t.success, t.total_reward) == (1.0, True, 1.0)
        assert [turn.observation for turn in t.turns] == [
            turn["observation"] for turn in row["turns"]
        ]
        assert [chat.text(call.action_ids) for call in t.calls] == [
            turn["response"] for turn in row["turns"]
        ]
        whole = chat.render(
            chat.messages([turn.observation for turn in t.turns], [turn.action for turn in t.turns])
        )
        ids = [i for call in t.calls for i in call.prompt_ids + call.action_ids]
        assert whole.removesuffix("\n") == chat.tokenizer.decode(ids), (
            "the template as a whole, up to what follows the last action"
        )
        assert all(call.action_ids[-1] in chat.stop_ids for call in t.calls)


def dealt(units, groups, *, seed, steps, processes=1):
    """Returns the numbers of the units in the order in which a dataset draws them."""
    config = SimpleNamespace(run=SimpleNamespace(seed=seed))
    made, numbers = (
        [[Trajectory(str(n), 0)] for n in range(units)],
        [3 * place + 1 for place in range(groups)],
    )
    found = {}
    for rank in range(processes):
        distributed = SimpleNamespace(rank=rank, size=processes)
        source = Dataset(RunContext(config, distributed, None, None, None, numbers, None), made)
        for step in range(steps):
            found |= {
                (step, g.number): int(g.trajectories[0].task_id) for g in collected(source, step)
            }
    return [found[place] for place in sorted(found)]


@given(st.integers(1, 7), st.integers(1, 5), st.integers(1, 3), st.integers(0, 3))
def test_each_unit_is_dealt_once_a_pass_whatever_the_number_of_processes(
    units, groups, processes, seed
):
    alone = dealt(units, groups, seed=seed, steps=units)
    assert alone == dealt(units, groups, seed=seed, steps=units, processes=processes)
    for start in range(0, len(alone) - units + 1, units):
        assert sorted(alone[start : start + units]) == [*range(units)]


def test_each_pass_and_each_seed_has_an_order_of_its_own():
    orders = {
        tuple(dealt(7, 7, seed=seed, steps=3)[start : start + 7])
        for seed in (0, 1)
        for start in (0, 7, 14)
    }
    assert len(orders) == 6


def test_processes_share_the_files(folders, tmp_path):
    made = context(tmp_path)
    plugin = plugins.make(plugins.SOURCE, {"name": "dataset", "folders": [str(folders / "oracle")]})
    assert check_source(
        lambda distributed: plugin.build(replace(made, distributed=distributed)), groups=4
    )


def mixed(home, folders, weights, **more):
    """Fresh rollouts and recorded episodes."""
    parts = [{"name": "rollout"}, {"name": "dataset", "folders": [str(folders / "oracle")]}]
    plugin = plugins.make(plugins.SOURCE, {"name": "mixture", "parts": parts, "weights": weights})
    made = replace(context(home, **more), generator=ScriptedGenerator(lambda row, turn: "look"))
    plugin.check(made.config, made.training)
    return plugin, made


@pytest.mark.full
def test_a_mixture_gives_each_part_its_share_of_every_step(folders, tmp_path):
    plugin, made = mixed(tmp_path, folders, [1.0, 3.0])
    with closing(plugin.build(made)) as source:
        first, second = (collected(source, step, 2) for step in (0, 1))
    for groups in (first, second):
        assert sorted(group.number for group in groups) == [0, 1, 2, 3]
        recorded = [group for group in groups if group.trajectories[0].score == 1.0]
        assert len(recorded) == 3
        (fresh,) = (group for group in groups if group not in recorded)
        assert [turn.action for turn in fresh.trajectories[0].turns] == ["look", "look"]
    assert first != second
    with closing(plugin.build(replace(made, groups=[1, 3, 4, 6]))) as source:
        assert sorted(group.number for group in collected(source, 0)) == [1, 3, 4, 6], (
            "where others have the rest of a step"
        )
    assert check_source(
        lambda distributed: plugin.build(replace(made, distributed=distributed)),
        groups=4,
        horizon=2,
    )


def test_defaults_of_a_mixtures_parts_are_written_out(tmp_path):
    parts = [{"name": "rejection_sampling"}, {"name": "dataset", "folders": ["oracle"]}]
    config = configuration.load(
        small_run.write(tmp_path, source={"name": "mixture", "parts": parts, "weights": [1.0, 2.0]})
    )
    kept, dataset = plugins.resolved(config).source["parts"]
    assert kept == {"name": "rejection_sampling", "score": 1.0}
    assert dataset == {"name": "dataset", "folders": ["oracle"], "score": 1.0, "pairs": False}


def test_the_failures_of_a_mixture_are_those_of_its_parts():
    parts = [(SimpleNamespace(failures=failed), []) for failed in (["a"], [], ["b", "c"])]
    assert Mixture(parts).failures == ["a", "b", "c"]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_the_groups_of_parts_are_interleaved(counts):
    parts = tasks.interleaved(counts)
    assert [len(part) for part in parts] == counts
    assert sorted(n for part in parts for n in part) == list(range(sum(counts)))
    for stop in range(sum(counts) + 1):
        for count, part in zip(counts, parts, strict=True):
            assert abs(sum(n < stop for n in part) - stop * count / sum(counts)) <= len(counts) / 2


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=5), st.integers(0, 40))
def test_shares_are_those_of_the_weights_to_less_than_one_group(weights, count):
    divided = shares(weights, count)
    assert sum(divided) == count
    assert all(
        abs(share - count * weight / sum(weights)) < 1
        for share, weight in zip(divided, weights, strict=True)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1.0]}, r"source.weights=\[1.0\]: 2 parts need 2 weights"),
        ({"weights": [1.0, 0.01]}, r"divide env.groups=4 into \[4, 0\]: each part needs a group"),
        ({"weights": [1.0, 0.0]}, r"source.weights.1"),
        (
            {"parts": [{"name": "rolout"}, {"name": "rejection_sampling"}], "weights": [1.0, 1.0]},
            "Did you mean 'rollout'",
        ),
        (
            {"parts": [{"name": "rejection_sampling", "scor": 1.0}], "weights": [1.0]},
            r"source.parts.0.scor",
        ),
        (
            {
                "parts": [
                    {"name": "mixture", "parts": [{"name": "rejection_sampling"}], "weights": [1.0]}
                ],
                "weights": [1.0],
            },
            "is a mixture itself",
        ),
    ],
)
def test_a_mixture_that_cannot_be_is_refused(tmp_path, options, message):
    made = context(tmp_path)
    whole = {
        "name": "mixture",
        "parts": [{"name": "rollout"}, {"name": "rejection_sampling"}],
        **options,
    }
    with pytest.raises(AgentGymError, match=message):
        plugins.make(plugins.SOURCE, whole).check(made.config, made.training)


def test_pairs_have_the_better_one_first(folders, tmp_path):
    source = build(
        tmp_path, {"folders": [str(folders / "still"), str(folders / "oracle")], "pairs": True}
    )
    for group in collected(source, 0):
        better, worse = group.trajectories
        assert better.task_id == worse.task_id
        assert (better.score, worse.score) == (1.0, 0.0)


@pytest.fixture(scope="module")
def seats(folders):
    """Episodes of the oracle and of the still agent, as if two agents had played each task.

    The folder "apart" has one line per agent, "together" has one line for both.
    """
    both = [record.episodes(record.read(folders / name)[0]) for name in ("oracle", "still")]
    apart = [
        row | {"family": f"{MAZE}/{name}"}
        for rows, name in zip(both, ("player_0", "player_1"), strict=True)
        for row in rows
    ]
    record.write(folders / "apart", {"agent": "policy"}, apart)
    talk = [{**turn, "seat": f"player_{n % 2}"} for n, turn in enumerate(both[1][0]["turns"])]
    record.write(folders / "together", {"agent": "oracle"}, [both[1][0] | {"turns": talk}])
    return folders


def test_two_agents_of_a_game_are_no_pair(seats, tmp_path):
    with pytest.raises(
        ConfigError, match="not one pair of a better and a worse episode of one task"
    ):
        build(tmp_path, {"folders": [str(seats / "apart")], "pairs": True})
    both = build(tmp_path, {"folders": [str(seats / "apart"), str(seats / "oracle")]})
    assert collected(both, 0)


def test_what_several_agents_said_is_nobodys_episode(seats, tmp_path):
    with pytest.raises(
        ConfigError,
        match="each episode has several agents, and episodes of one agent are needed",
    ):
        build(tmp_path, {"folders": [str(seats / "together")], "score": 0.0})
    mixed = build(
        tmp_path, {"folders": [str(seats / "together"), str(seats / "still")], "score": 0.0}
    )
    dealt = {
        t.task_id
        for step in range(6)
        for group in collected(mixed, step)
        for t in group.trajectories
    }
    assert len(dealt) == 6
    assert len(mixed._units) == 6


def test_actions_are_written_in_the_runs_format(folders, tmp_path):
    source = build(tmp_path, {"folders": [str(folders / "oracle")]}, action_format="react")
    turn = collected(source, 0)[0].trajectories[0].turns[0]
    assert turn.action.startswith("Thought:")
    assert "\nAction: " in turn.action


@pytest.mark.parametrize(
    ("options", "env", "error", "message"),
    [
        ({"folders": ["nowhere"]}, {}, ArgumentError, "nowhere holds no results"),
        ({"folders": ["still"]}, {}, ConfigError, "not one episode with a score of 1 or more"),
        (
            {"folders": ["oracle"], "pairs": True},
            {},
            ConfigError,
            "not one pair of a better and a worse episode of one task",
        ),
        (
            {"folders": ["oracle"]},
            {"id": "agentgym/LockedMaze-v1"},
            ConfigError,
            "is of agentgym/LockedMaze-v1; they are of agentgym/Maze-v1",
        ),
        (
            {"folders": ["still"], "score": 0.0},
            {"action_format": "function"},
            ConfigError,
            "'look' is not a response in",
        ),
        (
            {"folders": ["oracle"]},
            {"context": 32},
            ConfigError,
            "not one episode fits into model.max_context=32",
        ),
    ],
)
def test_what_gives_nothing_is_refused_before_any_work(
    folders, tmp_path, monkeypatch, options, env, error, message
):
    monkeypatch.chdir(folders)
    with pytest.raises(error, match=message):
        build(tmp_path, options, **env)


RECORDED = {"name": "dataset", "folders": ["oracle"]}


def mixture(*parts):
    return {"name": "mixture", "parts": list(parts), "weights": [1.0] * len(parts)}


def sized(home, algorithm, source, size):
    """Returns a configuration with groups of that many episodes."""
    env = {"id": MAZE, "kwargs": {"rooms": [4]}, "groups": 4, "group_size": size}
    return configuration.load(
        small_run.write(home, env=env, source=source, algorithm={"name": algorithm})
    )


@pytest.mark.parametrize(
    ("source", "size", "given"),
    [
        ({"name": "rollout"}, 1, "source 'rollout' gives groups of 1"),
        ({"name": "rollout"}, 8, "source 'rollout' gives groups of 8"),
        ({"name": "rejection_sampling"}, 1, "source 'rejection_sampling' gives groups of 1"),
        (RECORDED, 2, "source 'dataset' gives groups of 1"),
        (
            mixture({"name": "rollout"}, {"name": "rejection_sampling"}),
            8,
            "source 'mixture' gives groups of 8",
        ),
        (mixture({"name": "rollout"}, RECORDED), 2, "source 'mixture' gives groups of 1 and 2"),
        (
            mixture(RECORDED | {"pairs": True}, {"name": "rejection_sampling"}),
            3,
            "source 'mixture' gives groups of 2 and 3",
        ),
    ],
)
def test_dpo_is_refused_where_there_can_be_no_pairs(tmp_path, source, size, given):
    sized(tmp_path, "dpo", source, size)
    result = CliRunner().invoke(cli.app, ["run", str(tmp_path / "run.toml")])
    assert (result.exit_code, result.output.strip().count("\n")) == (2, 0), result.output
    assert (
        f"algorithm 'dpo' learns from groups of 2 episodes, and {given}: set env.group_size=2, or"
        in result.output
    )
    assert not (tmp_path / "run").exists(), "before any work"


@pytest.mark.parametrize(
    ("algorithm", "source", "size"),
    [
        ("dpo", {"name": "rollout"}, 2),
        ("dpo", RECORDED | {"pairs": True}, 8),
        ("dpo", mixture({"name": "rollout"}, RECORDED | {"pairs": True}), 2),
        ("ppo", {"name": "rollout"}, 1),
        ("reinforce_pp", {"name": "rollout"}, 1),
        ("sft", RECORDED, 8),
        ("grpo", {"name": "rollout"}, 2),
        ("grpo", mixture({"name": "rollout"}, RECORDED), 2),
    ],
)
def test_groups_of_the_right_size_are_taken(tmp_path, algorithm, source, size):
    check_group_size(sized(tmp_path, algorithm, source, size))


@pytest.mark.parametrize("algorithm", ["grpo", "rloo", "gigpo"])
@pytest.mark.parametrize(
    ("source", "size"),
    [
        ({"name": "rollout"}, 1),
        ({"name": "rejection_sampling"}, 1),
        ({"name": "self_play"}, 1),
        (RECORDED, 8),
        (mixture({"name": "rollout"}, RECORDED), 1),
    ],
)
def test_comparisons_within_groups_of_one_are_refused(tmp_path, algorithm, source, size):
    remedy = "raise env.group_size=1 to 2 or more" if size == 1 else "use a source that plays"
    message = f"{algorithm}.*groups of 1: {remedy}"
    with pytest.raises(ConfigError, match=message):
        check_group_size(sized(tmp_path, algorithm, source, size))


def test_of_a_source_that_does_not_tell_its_sizes_none_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(RejectionSampling, "group_sizes", Source.group_sizes)
    check_group_size(sized(tmp_path, "dpo", {"name": "rejection_sampling"}, 8))
    with raises(ConfigError, "'mixture'", "1"):
        check_group_size(
            sized(tmp_path, "dpo", mixture({"name": "rejection_sampling"}, RECORDED), 8)
        )


def test_only_what_scored_is_kept(monkeypatch):
    played = [
        Group(3, [Trajectory("a", 0, score=s) for s in (0.2, 1.0, 0.5 - 1e-15)]),
        Group(4, [Trajectory("b", 0)]),
    ]
    monkeypatch.setattr(FreshEpisodes, "__init__", lambda self, context: None)
    monkeypatch.setattr(FreshEpisodes, "next", lambda self, plan: played)
    kept = collected(RejectionSampling(RejectionSampling.Options(score=0.5), None), 0)
    assert [(g.number, [t.score for t in g.trajectories]) for g in kept] == [
        (3, [1.0, 0.5 - 1e-15]),
        (4, []),
    ]
    assert [[t.score for t in g.filtered] for g in kept] == [[0.2], [0.0]]
    assert [g.trajectories for g in played] == [
        [*kept[0].filtered, *kept[0].trajectories],
        kept[1].filtered,
    ], "the given ones stay"


class Returns:
    """A collector whose episodes all return 0, except in about half of the groups."""

    def __init__(self):
        self.played, self.failures = [], []

    def stop(self):
        pass

    def collect(self, starts, *, max_turns, sampling, noise):
        self.played.append([start.group for start in starts])
        self.failures = [f"failure {len(self.played)}"]
        groups = {start: Group(start.group, []) for start in starts}
        for start in starts:
            group = groups[start].trajectories
            reward = float(start.seed % 2 and len(group) == 1)
            turn = Turn("", [Call([1, 2], [3], [-1.0])], reward=reward)
            group.append(Trajectory(start.task_id or str(start.seed), start.seed, [turn]))
        return list(groups.values())


@pytest.fixture
def returning(tmp_path, monkeypatch):
    """Returns a function that builds sources which play with :class:`Returns`."""
    monkeypatch.setattr(rollout, "make_pool", lambda *args: SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(rollout, "make_collector", lambda *args, **players: Returns())
    made = context(tmp_path, groups=12, group_size=3)

    def build(replacements, distributed=made.distributed):
        plugin = plugins.make(plugins.SOURCE, {"name": "rollout", "replacements": replacements})
        plugin.check(made.config, made.training)
        return plugin.build(replace(made, distributed=distributed))

    return build


def test_groups_that_teach_nothing_are_replaced_and_stay_in_the_metrics(returning):
    plain, source = returning(0), returning(2)
    (first,) = [collected(plain, 5, 4)]
    groups = collected(source, 5, 4)
    rounds = [sorted(set(played)) for played in source._collector.played]
    equal = [g.number for g in first if len({t.total_reward for t in g.trajectories}) == 1]
    assert rounds[:2] == [list(range(12)), equal]
    assert 0 < len(rounds[2]) < len(equal)
    assert set(rounds[2]) < set(equal)
    assert len(rounds) == 3
    assert [g.number for g in groups] == list(range(12))
    for group, before in zip(groups, first, strict=True):
        times = sum(group.number in numbers for numbers in rounds)
        assert len(group.filtered) == 3 * (times - 1)
        assert len(group.trajectories) == 3
        assert len({t.seed for t in group.played}) == times, "other tasks"
        assert (group == before) is (times == 1)
    assert source.failures == ["failure 1", "failure 2", "failure 3"]
    sums = metrics.totals(groups, Distributed())
    assert sums["episodes"] == 3 * sum(map(len, rounds))
    assert sums["filtered_tokens"] == 9 * (len(rounds[1]) + len(rounds[2]))
    different = [g for g in groups if len({t.total_reward for t in g.trajectories}) > 1]
    assert len(different) == sums["mixed_groups"] > 12 - len(equal)


def test_a_group_of_full_successes_is_replaced_though_their_sums_differ():
    def episode(*rewards):
        return Trajectory("a", 0, [Turn("", [Call([1], [2], [-1.0])], reward=r) for r in rewards])

    solved = Group(0, [episode(0.1, 0.2), episode(0.3), episode(0.1, 0.1, 0.1)])
    assert len({t.total_reward for t in solved.trajectories}) > 1
    assert not rollout._differ(solved)
    assert rollout._differ(Group(0, [episode(0.1, 0.2), episode(0.3), episode(0.301)]))


def test_overlong_filtering_excludes_what_the_context_ended(tmp_path, monkeypatch):
    class Ended(Returns):
        def collect(self, starts, **options):
            groups = super().collect(starts, **options)
            for group in groups:
                group.trajectories[0].status = EpisodeStatus.TRUNCATED_CONTEXT
                group.trajectories[0].turns[-1].reward = 5.0
            return groups

    monkeypatch.setattr(rollout, "make_pool", lambda *args: SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(rollout, "make_collector", lambda *args, **players: Ended())
    made = context(tmp_path, groups=12, group_size=3)

    def played(source, *, filtering):
        options = replace(made.config.rollout, overlong_filtering=filtering)
        own = replace(made, config=replace(made.config, rollout=options))
        return collected(plugins.make_object(plugins.SOURCE, source, own), 5, 4)

    for group in played({"name": "rollout"}, filtering=False):
        assert len(group.trajectories) == 3
        assert not group.filtered
    for group in played({"name": "rollout"}, filtering=True):
        assert [t.total_reward for t in group.filtered] == [5.0]
        assert EpisodeStatus.TRUNCATED_CONTEXT not in [t.status for t in group.trajectories]
    assert (
        metrics.totals(played({"name": "rollout"}, filtering=True), Distributed())[
            "truncated_context"
        ]
        == 12
    )
    # Groups whose other episodes are equal are replaced, and a low score excludes the others.
    replaced = played({"name": "rollout", "replacements": 1}, filtering=True)
    assert sum(len(g.filtered) == 4 for g in replaced) > 2
    for group in played({"name": "rejection_sampling", "score": 0.5}, filtering=True):
        assert (len(group.trajectories), len(group.filtered)) == (0, 3)


def test_replacements_do_not_depend_on_the_processes(returning):
    assert check_source(lambda distributed: returning(3, distributed), groups=12)


def test_replacements_of_single_episodes_are_refused(tmp_path):
    made = context(tmp_path, group_size=1)
    plugin = plugins.make(plugins.SOURCE, {"name": "rollout", "replacements": 1})
    with raises(ConfigError, "source.replacements=1", "env.group_size=1"):
        plugin.check(made.config, made.training)


def test_a_source_is_closed(folders, tmp_path):
    with closing(build(tmp_path, {"folders": [str(folders / "oracle")]})) as source:
        assert list(source.failures) == []


@pytest.mark.parametrize(
    ("options", "thoughts"), [({}, 1), ({"thoughts": "keep"}, None), ({"window": 1}, 1)]
)
def test_recorded_responses_are_the_samples_of_the_agent(folders, tmp_path, options, thoughts):
    """The template drops thoughts, or the agent drops turns: so do the samples of a file."""
    folder = write_thoughts(folders / "oracle", tmp_path / "thoughts")
    chat = ChatTokens(tiny.tokenizer(tiny.FORGETFUL), "Find it.", must_grow=False)
    rows = {row["task_id"]: row["turns"] for row in record.read(folder)[0]}
    made = context(tmp_path, agent=options)
    source = Dataset.build(Dataset.Options(folders=(str(folder),)), replace(made, chat=chat))
    for group in collected(source, 0):
        (t,) = group.trajectories
        turns = rows[t.task_id]
        assert [turn.action for turn in t.turns] == [turn["response"] for turn in turns]
        assert len(t.samples) == (len(turns) if thoughts else 1)
        last = [id for call in t.samples[-1] for id in (*call.prompt_ids, *call.action_ids)]
        assert chat.tokenizer.decode(last).count("hm") == (thoughts or len(turns))
        for call, turn in zip(t.calls, turns, strict=True):
            assert call.action_ids[-1] in chat.stop_ids
            text = chat.text(call.action_ids)
            assert "".join(text.split()) == "".join(turn["response"].split())


def write_thoughts(folder, to):
    """Copies results; each response gets a thought."""
    shutil.copytree(folder, to)
    lines = [json.loads(line) for line in (to / "episodes.jsonl").read_text().splitlines()]
    for line in lines:
        for turn in line["turns"]:
            turn["response"] = f"<think>hm</think>{turn['response']}"
    (to / "episodes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return to


def test_an_agent_with_inner_calls_cannot_learn_from_results(folders, tmp_path):
    made = context(tmp_path, action_format="react", agent={"name": "correct"})
    with raises(ConfigError, "more than once", "agent.name"):
        Dataset.build(Dataset.Options(folders=(str(folders / "oracle"),)), made)
