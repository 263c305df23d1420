"""Agents that learn between attempts: the turns, samples and credit of their episodes."""

from types import SimpleNamespace

import gymnasium
import pytest
import tiny
import torch
from raised import raises
from scripted import collect

from agentgym_envs import agents
from agentgym_envs.agents.chat import ASK_LESSON, ReflectAgent
from agentgym_envs.errors import AgentFailure
from agentgym_envs.pool import describe
from agentgym_envs.wrappers import FORMATS
from agentgym_train import config as configuration
from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.algorithms.ppo import PPO
from agentgym_train.data.batching import pack
from agentgym_train.data.types import EpisodeStatus, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.evaluation import episodes
from agentgym_train.learning.episodes import add_advantages
from agentgym_train.models.chat import ChatTokens
from agentgym_train.rollout.build import player_maker
from agentgym_train.rollout.episode import AgentState
from agentgym_train.rollout.tasks import EpisodeStart

MAZE, FAULTY, NIM = "agentgym/Maze-v1", "faulty_envs:support/Faulty-v0", "foreign/Nim-v0"
ODD = "faulty_envs:support/Odd-v0"
ROOMS = {"rooms": [4]}
WAIT = "Thought: hm.\nAction: look"
LESSON = "<think>I stood still.</think>Walk."
LEARNED = "Lessons from earlier attempts at this task:\n- Walk."


class Plain(ReflectAgent):
    format = "plain"


@pytest.fixture(scope="module")
def described():
    kinds = {
        MAZE: ("react", ROOMS),
        FAULTY: ("plain", {}),
        ODD: ("plain", {}),
        NIM: ("plain", {"seats": "all"}),
    }
    return {
        name: describe(name, action_format=form, **options)
        for name, (form, options) in kinds.items()
    }


@pytest.fixture(scope="module")
def plan():
    env = gymnasium.make(MAZE, **ROOMS)
    env.reset(seed=5)
    return [f"Thought: on.\nAction: {action}" for action in env.unwrapped.oracle()]


START = EpisodeStart(0, 5)


def played(described, env_id, script, *, agent=Plain, starts=(START,), **options):
    """Plays episodes with two attempts each; ``script(row, number of the call)``.

    Returns:
        The groups, the collector, the generator and the chat.
    """
    factory = agents.AgentFactory(agent.__name__, agent, {})
    chat = ChatTokens(tiny.tokenizer(tiny.CHATML), described[env_id].instructions, must_grow=False)
    options = {"attempts": 2, "max_context": 100_000} | options
    return collect(
        env_id,
        list(starts),
        script,
        chat=chat,
        make_player=player_maker(factory, described[env_id], chat),
        **options,
    )


def in_the_maze(described, script, **options):
    options |= {"agent": ReflectAgent, "action_format": "react", "max_turns": 4}
    return played(described, MAZE, script, **options, **ROOMS)


def rows(trajectory):
    """The tokens of each sample."""
    return [
        [token for call in sample for token in [*call.prompt_ids, *call.action_ids]]
        for sample in trajectory.samples
    ]


def test_the_lesson_of_a_failed_attempt_is_in_the_prompt_of_the_next_one(described, plan):
    assert len(plan) <= 4
    script = [*[WAIT] * 4, LESSON, *plan]
    (group,), _, generator, chat = in_the_maze(described, lambda _, n: script[n])
    (t,) = group.trajectories
    env = gymnasium.make(MAZE, **ROOMS)
    first, info = env.reset(seed=5)
    last = env.step("look")[0]
    assert [turn.action for turn in t.turns] == [*[WAIT] * 4, "Walk.", *plan]
    assert [turn.observation for turn in t.turns[:6]] == [first, *[last] * 4, first]
    assert t.task_id == info["task_id"]
    assert [len(turn.calls) for turn in t.turns] == [1] * len(t.turns)
    assert [turn.lesson for turn in t.turns] == [n == 4 for n in range(len(t.turns))]
    assert [turn.reward for turn in t.turns] == [0.0] * (len(t.turns) - 1) + [1.0]
    assert (t.status, t.score, t.success) == (EpisodeStatus.COMPLETED, 1.0, True)
    assert (t.attempts, t.last_attempt) == (2, t.turns[5:])
    # The question extends the first conversation, and the second attempt has another prompt.
    assert [call.sample for call in t.calls] == [0] * 5 + [1] * len(plan)
    before, after = (chat.tokenizer.decode(row) for row in rows(t))
    assert ASK_LESSON.format(observation=last) in before
    assert LESSON in before
    assert "Lessons" not in before
    assert LEARNED in after
    assert "stood still" not in after
    # The generator's row goes on: what it keeps and what follows are the sample so far.
    row, samples = [], {}
    for prompts, kept, call in zip(generator.prompts, generator.kept, t.calls, strict=True):
        row = row[:kept] + prompts[0]
        samples[call.sample] = samples.get(call.sample, []) + call.prompt_ids
        assert row == samples[call.sample]
        row, samples[call.sample] = row + call.action_ids, samples[call.sample] + call.action_ids
    assert generator.kept[5] > 0, "both prompts begin with the rules"


def test_a_solved_attempt_has_no_lesson(described, plan):
    (group,), *_ = in_the_maze(described, lambda _, n: plan[n])
    assert [t.action for t in group.trajectories[0].turns] == plan
    assert group.trajectories[0].attempts == 1


def test_the_horizon_is_that_of_an_attempt(described):
    (group,), *_ = played(
        described, FAULTY, lambda _, n: "Wait." if n == 3 else "ok", max_turns=3, keep_next=True
    )
    (t,) = group.trajectories
    assert [turn.lesson for turn in t.turns] == [False] * 3 + [True] + [False] * 3
    assert (t.status, t.success) == (EpisodeStatus.TRUNCATED_HORIZON, False)
    assert t.next_call.sample == 1, "the last attempt alone can go on"
    (group,), *_ = played(described, FAULTY, lambda _, n: "ok", max_turns=3, attempts=3)
    assert [turn.lesson for turn in group.trajectories[0].turns] == ([False] * 3 + [True]) * 2 + [
        False
    ] * 3


@pytest.mark.parametrize("room", [True, False])
def test_the_score_is_that_of_the_last_attempt(described, room):
    """Without room for the lesson in a prompt, the last attempt has no turn."""
    script = ["reward 0.5", "Better." * (1 if room else 999), "reward 0.25"]
    (group,), *_ = played(described, ODD, lambda _, n: script[n], max_turns=1, max_context=1500)
    (t,) = group.trajectories
    expected = ("truncated_horizon", 0.25, 0.25, 1) if room else ("truncated_context", 0.0, 0.0, 0)
    assert (t.status, t.score, t.total_reward, len(t.last_attempt)) == expected
    assert t.attempts == 2


class Stubborn(Plain):
    async def end(self, ending):
        raise AssertionError("there is no next attempt")


def test_the_last_attempt_has_no_lesson(described):
    options = {"agent": Stubborn, "max_turns": 3}
    (group,), *_ = played(described, FAULTY, lambda _, n: "ok", attempts=1, **options)
    assert len(group.trajectories[0].turns) == 3
    with raises(AgentFailure, "Stubborn", "'end'", "there is no next attempt"):
        played(described, FAULTY, lambda _, n: "ok", **options)


def test_a_failure_in_the_second_attempt_starts_again_from_the_first(described):
    def episode(fails):
        faults = iter([fails])

        def script(_, n):
            said = ["ok", "ok", "Hurry.", "ok", "ok"][n]
            return "raise" if n == 4 and next(faults, False) else said

        (group,), collector, *_ = played(described, FAULTY, script, max_turns=2)
        return group.trajectories[0], collector.failures

    failed, failures = episode(True)
    sound, none = episode(False)
    assert failed == sound
    assert [(f.turn, f.given_up) for f in failures] == [(4, False)]
    assert not none


def test_a_lesson_that_does_not_fit_is_left_out(described):
    def episode(limit):
        (group,), *_, chat = played(
            described, FAULTY, lambda _, n: "ok", max_turns=3, max_context=limit
        )
        return group.trajectories[0], [
            chat.tokenizer.decode(row) for row in rows(group.trajectories[0])
        ]

    full, _ = episode(100_000)
    asked, lesson = full.calls[2], full.calls[3]
    until = len(rows(full)[0]) - len(lesson.prompt_ids + lesson.action_ids)
    t, (first, second) = episode(until + len(lesson.prompt_ids) - 1)
    assert [turn.lesson for turn in t.turns] == [False] * 3 + [True] + [False] * 3
    assert (t.turns[3].calls, t.turns[3].action) == ([], "")
    assert first == second, "the same conversation, without a lesson"
    assert (t.status, asked) == (EpisodeStatus.TRUNCATED_HORIZON, t.calls[2])


class Unspeakable(Plain):
    async def end(self, ending):
        return {1, 2}


def test_a_lesson_is_json(described):
    with raises(AgentFailure, "Unspeakable", "no JSON"):
        played(described, FAULTY, lambda _, n: "ok", agent=Unspeakable, max_turns=1)


def test_each_seat_has_its_own_lesson(described):
    """Nine stones. The first player loses, is asked for a lesson, and then wins."""
    moves = [["1", "3", "Take two.", "3", "1", "1"], ["3", "2", "2", "2"]]
    groups, *_, chat = played(
        described,
        NIM,
        lambda row, n: moves[row][n],
        starts=[EpisodeStart(0, 5, "pile-9")],
        agents=["player_0", "player_1"],
        split="train",
        seats="all",
    )
    first, second = (group.trajectories[0] for group in groups)
    assert [turn.action for turn in first.turns] == moves[0]
    assert [turn.action for turn in second.turns] == ["3", "2", "", "2", "2"]
    assert [turn.reward for turn in first.turns] == [0.0] * 5 + [1.0]
    # Its win of the first game is taken back with the reset.
    assert [turn.reward for turn in second.turns] == [0.0] * 5
    assert second.turns[2].calls == [], "the winner has nothing to learn"
    assert [(t.success, t.score) for t in (first, second)] == [(True, 1.0), (False, 0.0)]
    texts = [[chat.tokenizer.decode(row) for row in rows(t)] for t in (first, second)]
    assert [["- Take two." in text for text in own] for own in texts] == [
        [False, True],
        [False] * 2,
    ]


def two_episodes(described, plan):
    """Returns a group of two: one is solved in its second attempt, the other one never."""

    def script(row, n):
        return (LESSON if n == 4 else WAIT) if row or n < 5 else plan[n - 5]

    groups, *_ = in_the_maze(described, script, starts=[START] * 2)
    return groups


def lessons(groups, algorithm):
    """Returns the advantages of the lessons' tokens in each episode."""
    batch = pack(groups)
    value_BT = torch.zeros(batch.id_BT.shape)
    batch = add_advantages(batch.with_streams(value=value_BT), algorithm, groups, Distributed())
    at_BT = batch.action_BT & (batch.turn_BT == 4)
    return [
        set(batch.streams["advantage"][(batch.episode_B == n)[:, None] & at_BT].tolist())
        for n in range(2)
    ]


def test_a_lesson_is_credited_with_the_attempt_that_follows(described, plan):
    """Returns 1 and 0: their mean is 1/2, and their standard deviation 1/√2."""
    groups = two_episodes(described, plan)
    (solved,), (failed,) = lessons(groups, GRPO())
    assert solved == pytest.approx(0.5 * 2**0.5, abs=1e-4)
    assert failed == pytest.approx(-0.5 * 2**0.5, abs=1e-4)


def test_rewards_of_the_next_attempt_are_discounted_by_turns(described, plan):
    """Without a critic, λ = 1 gives the return: γ for each turn from the lesson to the reward."""
    groups = two_episodes(described, plan)
    ppo = PPO(gamma=0.5, lam=1.0, normalise=False)
    assert lessons(groups, ppo) == [{0.5 ** len(plan)}, {0.0}]


def test_results_have_the_turns_of_the_last_attempt(described, plan):
    (group,) = two_episodes(described, plan)
    config = configuration.of(
        {
            "env": {"id": MAZE},
            "agent": {"name": "reflect"},
            "curriculum": {"name": "fixed", "turns": 4},
            "run": {"folder": "x", "steps": 1},
        }
    )
    solved, failed = episodes.rows(config, group.trajectories, described[MAZE], step=0)
    reader = FORMATS["react"](described[MAZE].tools)
    assert [turn["action"] for turn in solved["turns"]] == [reader.parse(text) for text in plan]
    assert (solved["success"], failed["success"]) == (True, False)
    assert not any(turn["invalid"] for turn in solved["turns"])
    assert solved["usage"]["calls"] == 5 + len(plan)


def test_a_further_attempt_begins_with_the_score_of_a_reset():
    """Partial successes of a failed attempt are given back, so its return is that of the last."""
    turns = [Turn("a", reward=0.25), Turn("b", reward=0.5)]
    player = SimpleNamespace(end=lambda ending: ending)
    state = AgentState(0, Trajectory("t", 0, turns=turns, score=0.75), player)
    state.begin_lesson("c", truncated=True)
    assert [turn.reward for turn in state.trajectory.turns] == [0.25, -0.25, 0.0]
    assert state.steps.score == 0.75
