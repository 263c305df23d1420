"""Games as PettingZoo environments."""

import random
import sys

import gymnasium
import pettingzoo
import pytest
from raised import raises

import agentgym_envs
from agentgym_envs import errors
from agentgym_envs.multi import zoo

NIM, SUM = "foreign/Nim-v0", "foreign/Sum-v0"


def seats_env(game_id, seed):
    """What both seats see and get in the Gymnasium form, played at random."""
    env, rng = gymnasium.make(game_id, seats="all"), random.Random(seed)
    _, info = env.reset(seed=seed)
    actions, rewards, over = [], dict.fromkeys(env.unwrapped.seats, 0.0), False
    while not over:
        actions.append((info["seat"], rng.choice(env.unwrapped.actions())))
        _, _, over, _, info = env.step(actions[-1][1])
        rewards = {seat: rewards[seat] + reward for seat, reward in info["rewards"].items()}
    return info["task_id"], actions, rewards


@pytest.mark.parametrize("game_id", [NIM, SUM])
@pytest.mark.parametrize("seed", range(4))
def test_a_seed_means_the_same_game_in_all_forms(game_id, seed):
    task_id, actions, rewards = seats_env(game_id, seed)
    aec = agentgym_envs.make_aec(game_id)
    aec.reset(seed=seed)
    assert aec.task_id == task_id
    for seat, action in actions:
        assert aec.agent_selection == seat
        aec.step(action)
    assert {seat: aec.infos[seat]["score"] for seat in aec.agents} == rewards
    assert all(aec.terminations.values())
    parallel, said = agentgym_envs.make_parallel(game_id), list(actions)
    _, infos = parallel.reset(seed=seed)
    assert parallel.task_id == task_id
    while said:
        acting = [seat for seat in parallel.agents if infos[seat]["acts"]]
        *_, infos = parallel.step(dict(said.pop(0) for _ in acting))
    assert {seat: info["score"] for seat, info in infos.items()} == rewards
    assert parallel.agents == []


def test_the_parallel_form_shows_each_agent_what_it_may_see():
    env = agentgym_envs.make_parallel(SUM, render_mode="ansi")
    seen, infos = env.reset(seed=1)
    cards = env.game.cards
    assert seen == {seat: f"You are {seat}. Your card is {card}." for seat, card in cards.items()}
    assert infos["player_0"] == {
        "goal": "say the sum",
        "acts": True,
        "score": 0.0,
        "success": False,
        "invalid": False,
    }
    seen, rewards, ended, cut, infos = env.step({"player_0": "one", "player_1": "200"})
    assert (seen, rewards) == (
        {"player_0": "A number, please.", "player_1": ""},
        dict.fromkeys(cards, 0.0),
    )
    assert [infos[seat]["acts"] for seat in cards] == [True, False]
    assert [infos[seat]["invalid"] for seat in cards] == [True, False]
    assert (
        env.step({"player_0": "1", "player_1": "not heard"})[0]["player_1"]
        == "player_0 says 1. player_1 says 200."
    )
    *_, ended, cut, infos = env.step(dict.fromkeys(cards, str(sum(cards.values()))))
    assert (ended, cut, env.agents) == (dict.fromkeys(cards, True), dict.fromkeys(cards, False), [])
    assert (
        "[player_0 says] one\n[player_1 says] 200\n[player_0 sees] A number, please.\n"
        in env.render()
    )
    assert agentgym_envs.make_parallel(SUM).render() is None


def test_the_aec_form_keeps_words_that_are_said_at_once_until_all_have_spoken():
    env = agentgym_envs.make_aec(SUM)
    env.reset(seed=1)
    env.step("111")
    assert env.agent_selection == "player_1"
    assert "111" not in env.observe("player_1")["text"]
    env.step("222")
    assert (
        env.observe("player_0")
        == env.observe("player_1")
        == {"text": "player_0 says 111. player_1 says 222."}
    )
    assert env.rewards == {"player_0": 0.25, "player_1": 0.25}
    env.step("1")
    assert env.last()[1] == 0.25, "what has come since it last acted"


def test_tasks_are_named_filtered_and_split():
    env = agentgym_envs.make_parallel(NIM, split="test", tasks="pile-[12]*", most=3)
    drawn = {env.reset(seed=seed) and env.task_id for seed in range(30)}
    assert drawn <= {*gymnasium.make(NIM, split="test").unwrapped.task_ids} & {
        f"pile-{n}" for n in range(10, 32)
    }
    assert len(drawn) > 1
    assert (
        env.reset(options={"task_id": "pile-7"})[0]["player_0"]
        == "You are player_0. There are 7 stones."
    )
    with raises(errors.TaskError, "nothing"):
        agentgym_envs.make_aec(NIM, tasks="heap-*")


def test_environments_without_a_seed_play_other_tasks_and_a_seed_fixes_those_that_follow():
    def begun(seed):
        env, aec = agentgym_envs.make_parallel(NIM), agentgym_envs.make_aec(NIM)
        env.reset(seed=seed)
        aec.reset(seed=seed)
        return [
            (env.reset()[0]["player_0"], aec.reset() or aec.observe("player_0")["text"])
            for _ in range(20)
        ]

    assert begun(3) == begun(3)
    unseeded = [begun(None) for _ in range(2)]
    for form in (0, 1):
        one, other = ([texts[form] for texts in found] for found in unseeded)
        assert one != other


def test_pettingzoo_makes_games_by_their_ids():
    assert agentgym_envs.make_aec
    parallel, aec = pettingzoo.make("parallel", NIM, most=2), pettingzoo.make("aec", NIM)
    assert isinstance(parallel.unwrapped, zoo.ParallelText)
    assert isinstance(aec.unwrapped, zoo.TurnsText)
    assert parallel.unwrapped.game.most == 2
    assert parallel.reset(seed=2)[0] == agentgym_envs.make_parallel(NIM, most=2).reset(seed=2)[0]


@pytest.mark.parametrize(
    ("name", "task_id", "agent"),
    [
        ("TwentyQuestions", "element-rhenium", "asker_0"),
        ("Negotiation", "2.1.1.1.2.1-2.0.0.1.1.3-1.3.1.4.0.0", "negotiator_0"),
    ],
)
def test_no_agent_is_told_the_name_of_its_task(name, task_id, agent):
    parallel, aec = (pettingzoo.make(form, f"agentgym/{name}-v1") for form in ("parallel", "aec"))
    shown = parallel.reset(options={"task_id": task_id})
    aec.reset(options={"task_id": task_id})
    assert parallel.unwrapped.task_id == aec.unwrapped.task_id == task_id
    hidden = task_id.rpartition("-")[2]
    for told in (shown[0][agent], shown[1][agent], aec.infos[agent], aec.observe(agent)):
        assert hidden not in repr(told).lower()


def play_parallel(env):
    """Plays a game in which each agent says something at every step."""
    env.reset(seed=1)
    while env.agents:
        env.step({agent: env.unwrapped.game.actions(agent)[0] for agent in env.agents})


@pytest.mark.parametrize("name", ["Connect4", "TwentyQuestions", "Negotiation"])
def test_the_aec_form_says_truly_whether_pettingzoo_can_make_it_parallel(name):
    aec = agentgym_envs.make_aec(f"agentgym/{name}-v1")
    with pytest.raises(AssertionError, match="is not generally safe"):
        pettingzoo.utils.conversions.aec_to_parallel(aec)
    aec.metadata["is_parallelizable"] = True
    with pytest.raises(AssertionError, match="Parallel environment wrapper expects"):
        play_parallel(pettingzoo.utils.conversions.aec_to_parallel(aec))
    parallel = agentgym_envs.make_parallel(f"agentgym/{name}-v1")
    assert parallel.metadata["is_parallelizable"]
    play_parallel(parallel)


def test_wrong_actions_are_errors():
    env = agentgym_envs.make_parallel(NIM)
    env.reset(seed=1)
    with raises(errors.ArgumentError, "lacks", "player_0"):
        env.step({"player_1": "1"})
    with raises(TypeError, "player_0", "int"):
        env.step({"player_0": 1})
    aec = agentgym_envs.make_aec(NIM)
    aec.reset(seed=1)
    with raises(TypeError, "player_0", "NoneType"):
        aec.step(None)


def test_a_step_of_which_one_action_is_none_takes_none_of_them():
    one, other = (agentgym_envs.make_parallel(SUM, render_mode="ansi") for _ in range(2))
    for env in (one, other):
        env.reset(seed=1)
    with raises(TypeError, "player_1", "int"):
        one.step({"player_0": "1", "player_1": 2})
    said = {"player_0": "3", "player_1": "2"}
    assert one.step(said) == other.step(said)
    assert one.render() == other.render()


def test_an_aec_agent_whose_action_is_none_acts_again():
    env = agentgym_envs.make_aec(SUM)
    env.reset(seed=1)
    for action in ("111", "222", "1"):
        env.step(action)
    before = env.last()
    assert before[0]["text"]
    assert before[1] == 0.25
    with raises(TypeError, "player_1", "int"):
        env.step(1)
    assert (env.last(), env.agent_selection) == (before, "player_1")
    env.step("2")
    assert env.agent_selection == "player_0"


def test_a_step_outside_of_an_episode_says_so():
    parallel, aec = agentgym_envs.make_parallel(NIM), agentgym_envs.make_aec(NIM)
    for env in (parallel, aec):
        with pytest.raises(
            gymnasium.error.ResetNeeded, match="no task is played before the first reset"
        ):
            assert env.task_id
    for _ in ("before", "after"):
        for env, action in ((parallel, {"player_0": "1"}), (aec, "1")):
            with raises(gymnasium.error.ResetNeeded, "call reset()"):
                env.step(action)
        play_parallel(parallel)
        aec.reset(seed=1)
        for agent in aec.agent_iter():
            aec.step(None if aec.terminations[agent] else "1")


def test_the_missing_extra_is_the_pip_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, "agentgym_envs.multi.zoo", raising=False)
    monkeypatch.delattr("agentgym_envs.multi.zoo", raising=False)
    with raises(errors.MissingExtra, "agentgym-envs[multi]"):
        agentgym_envs.make_parallel(NIM)
    assert gymnasium.make(NIM).reset(seed=1), "a seat alone needs no PettingZoo"
