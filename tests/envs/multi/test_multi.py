"""Games of several seats, with two third-party games: nim.py (in turns), sums.py (at once)."""

import asyncio
import json
import random

import gymnasium
import pytest
from raised import raises
from stub_model import StubModel, ok, policy, status
from sums import Sum
from typer.testing import CliRunner

from agentgym_envs import errors, registry
from agentgym_envs.cli import app
from agentgym_envs.core import InvalidResponse, Outcome
from agentgym_envs.multi import make_game
from agentgym_envs.multi.match import GameMatch
from agentgym_envs.pool import EnvPool

NIM, SUM = "foreign/Nim-v0", "foreign/Sum-v0"


def played(env, actions=None, *, limit=50, **reset):
    """Everything that an episode shows; by default each seat says what the oracle says."""
    observation, info = env.reset(**reset)
    shown, over = [(observation, 0.0, info)], False
    actions = iter(env.unwrapped.oracle() if actions is None else actions)
    while not over and len(shown) < limit:
        observation, reward, terminated, truncated, info = env.step(next(actions))
        over = terminated or truncated
        shown.append((observation, reward, info))
    return shown


def randomly(env, seed):
    """Endless random actions."""
    rng = random.Random(seed)
    while True:
        yield rng.choice(env.unwrapped.actions())


def test_a_game_is_an_environment_whose_spec_says_how_it_is_played():
    env = gymnasium.make(
        NIM, seats="player_1", opponents="oracle", most=2, split="test", admissible=True
    )
    assert env.spec.max_episode_steps == 30
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert again.reset(seed=3) == env.reset(seed=3)
    assert env.unwrapped.seats == ("player_1",)
    assert env.reset(seed=3)[1]["admissible_actions"] == ["1", "2"]


def test_one_seat_is_played_against_another_that_plays_by_itself():
    env = gymnasium.make(NIM)
    (first, _, info), *_, (last, reward, end) = played(env, options={"task_id": "pile-6"})
    assert first == "You are player_0. There are 6 stones."
    assert (info["seat"], info["goal"], info["score"], info["turn"]) == (
        "player_0",
        "take the last stone",
        0.0,
        0,
    )
    assert "There are 0 stones." in last
    assert (reward, end["success"], end["scores"], end["successes"]) == (
        1.0,
        True,
        {"player_0": 1.0},
        {"player_0": True},
    )


def test_the_second_seat_sees_what_happened_before_its_turn():
    env = gymnasium.make(NIM, seats="player_1", opponents="oracle")
    observation, info = env.reset(options={"task_id": "pile-6"})
    assert (
        observation
        == "You are player_1. There are 6 stones.\nplayer_0 takes 2. There are 4 stones."
    )
    assert info["seat"] == "player_1"
    observation, *_ = env.step("3")
    assert (
        observation
        == "player_1 takes 3. There are 1 stones.\nplayer_0 takes 1. There are 0 stones."
    )


def test_the_oracle_in_the_other_seat_always_wins_and_a_random_player_does_not():
    env = gymnasium.make(NIM, seats="player_1", opponents="oracle")
    assert {played(env, randomly(env, seed), seed=seed)[-1][2]["score"] for seed in range(20)} == {
        0.0
    }
    env = gymnasium.make(NIM, seats="player_1", opponents="random")
    assert {played(env, randomly(env, seed), seed=seed)[-1][2]["score"] for seed in range(20)} == {
        0.0,
        1.0,
    }


def test_a_player_of_the_games_own_plays():
    env = gymnasium.make(NIM, opponents="greedy")
    played(env, ["1"], options={"task_id": "pile-6"}, limit=2)
    assert env.step("1")[0].startswith("player_0 takes 1. There are 1 stones.")


def test_all_seats_play_one_stream_that_says_what_each_step_brings_to_each_seat():
    env = gymnasium.make(NIM, seats="all")
    shown = played(env, options={"task_id": "pile-6"})
    assert [info["seat"] for *_, info in shown] == ["player_0", "player_1", "player_0", "player_0"]
    assert [observation.partition(".")[0] for observation, *_ in shown][:2] == [
        "You are player_0",
        "You are player_1",
    ]
    end = shown[-1][2]
    assert end["rewards"] == end["scores"] == {"player_0": 1.0, "player_1": 0.0}
    assert end["successes"] == {"player_0": True, "player_1": False}
    assert (end["score"], end["success"]) == (0.5, False), (
        "the mean of the seats, and whether all succeeded"
    )
    for seat in ("player_0", "player_1"):
        assert sum(info["rewards"][seat] for *_, info in shown) == end["scores"][seat]


def test_seats_that_speak_at_once_see_each_other_when_all_have_spoken():
    env = gymnasium.make(SUM, seats="all")
    shown = played(env, seed=1)
    cards = env.unwrapped.game.cards
    told = " ".join(f"{seat} says {card}." for seat, card in cards.items())
    assert [info["seat"] for *_, info in shown][:4] == [
        "player_0",
        "player_1",
        "player_0",
        "player_1",
    ]
    assert shown[1][0] == f"You are player_1. Your card is {cards['player_1']}."
    assert [observation for observation, *_ in shown[2:4]] == [told, told]
    assert [[*info["rewards"].values()] for *_, info in shown] == [
        [0.0] * 2,
        [0.0] * 2,
        [0.25] * 2,
        [0.0] * 2,
        [0.75] * 2,
    ]
    assert shown[-1][2]["success"]


def test_what_is_not_understood_is_told_to_whom_it_concerns():
    env = gymnasium.make(SUM, seats="all")
    env.reset(seed=1)
    assert env.step("what?")[4]["invalids"] == {"player_0": False, "player_1": False}, (
        "nobody is heard before all have spoken"
    )
    observation, *_, info = env.step("5")
    assert (observation, info["seat"], info["invalids"]) == (
        "A number, please.",
        "player_0",
        {"player_0": True, "player_1": False},
    )


def test_who_is_not_understood_three_times_in_a_row_ends_the_game_for_all():
    env = gymnasium.make(NIM, seats="all")
    env.reset(options={"task_id": "pile-10"})
    over = [env.step(action)[2] for action in ("x", "y", "1", "x", "1", "x", "y", "z")]
    assert over == [False] * 7 + [True], (
        "a turn that was understood starts the count anew; each seat has its own"
    )
    observation, reward, _, _, info = (
        env.reset(options={"task_id": "pile-10"}) and [env.step("") for _ in range(3)][-1]
    )
    assert observation.endswith("player_0 was not understood 3 times in a row: the game is over.")
    assert (reward, info["scores"], info["invalids"]["player_0"]) == (
        0.0,
        {"player_0": 0.0, "player_1": 0.0},
        True,
    )


def test_seats_that_speak_at_once_and_are_not_understood_for_too_long_all_forfeit():
    env = gymnasium.make(SUM, seats="all")
    env.reset(seed=1)
    *_, over, _, info = [env.step("what?") for _ in range(6)][-1]
    assert (over, info["invalids"]) == (True, {"player_0": True, "player_1": True})
    assert all("player_" in env.unwrapped.match.outcomes[seat].text for seat in env.unwrapped.seats)
    env.reset(seed=1)
    # Player_1 is understood in the second round, and heard no more.
    for action in (
        "what?",
        "what?",
        "what?",
        "5",
        "what?",
    ):
        *_, over, _, info = env.step(action)
    assert (over, info["invalids"]) == (True, {"player_0": True, "player_1": False})


def test_each_that_forfeits_has_what_its_own_forfeit_leaves_it():
    class Stakes(Sum):
        """Who forfeits loses, and the other wins."""

        def forfeit(self, seat):
            return {
                s: Outcome(f"{seat} forfeits", float(s != seat), True, s != seat)
                for s in self.seats
            }

    def ended(one, other):
        game = Stakes()
        match = GameMatch(game, game.make_tasks().get("train-0"), random.Random(0))
        while match.waiting:
            match.say(match.waiting[0], {"player_0": one, "player_1": other}[match.waiting[0]])
        return {seat: (o.text, o.score, o.success, o.invalid) for seat, o in match.outcomes.items()}

    assert ended("x", "x") == {
        seat: (f"{seat} forfeits", 0.0, False, True) for seat in ("player_0", "player_1")
    }
    assert ended("x", "1") == {
        "player_0": ("player_0 forfeits", 0.0, False, True),
        "player_1": ("player_0 forfeits", 1.0, True, False),
    }


def test_a_response_without_an_action_is_invalid_for_who_acts():
    env = gymnasium.make(NIM, seats="all")
    env.reset(options={"task_id": "pile-6"})
    env.step("1")
    observation, *_, info = env.step(InvalidResponse("Write an action."))
    assert observation == "Write an action."
    assert (info["seat"], info["invalids"]) == ("player_1", {"player_0": False, "player_1": True})
    assert info["rewards"] == {"player_0": 0.0, "player_1": 0.0}


def test_responses_without_an_action_count_towards_the_games_patience():
    env = gymnasium.make(NIM, seats="all")
    env.reset(options={"task_id": "pile-10"})
    refused = InvalidResponse("Write an action.")
    over = [env.step(action)[2] for action in (refused, "x", "1", refused, "1", refused, "x")]
    assert over == [False] * 7, (
        "a turn that was understood starts the count anew; each seat has its own"
    )
    observation, reward, over, _, info = env.step(refused)
    assert (
        observation
        == "Write an action.\nplayer_0 was not understood 3 times in a row: the game is over."
    )
    assert (reward, over, info["success"], info["scores"]) == (
        0.0,
        True,
        False,
        {"player_0": 0.0, "player_1": 0.0},
    )
    assert (info["seat"], info["invalids"]) == ("player_0", {"player_0": True, "player_1": False})


def test_responses_without_an_action_count_where_seats_speak_at_once():
    env = gymnasium.make(SUM, seats="all")
    env.reset(seed=1)
    env.step("5")
    told = [env.step(InvalidResponse("Write an action."))[2::2] for _ in range(3)]
    assert [(over, info["seat"]) for over, info in told] == [(False, "player_1")] * 2 + [
        (True, "player_1")
    ]


def test_a_seed_fixes_the_task_what_the_game_draws_and_how_others_play():
    one, other = (gymnasium.make(NIM, seats="player_1") for _ in range(2))
    for seed in range(5):
        assert played(one, randomly(one, 1), seed=seed) == played(
            other, randomly(other, 1), seed=seed
        )
    assert len({one.reset(seed=seed)[0] for seed in range(20)}) > 5
    cards = []
    for seats in ("player_0", "player_1", "all"):
        env = gymnasium.make(SUM, seats=seats)
        env.reset(seed=4)
        cards.append(env.unwrapped.game.cards)
    assert cards[0] == cards[1] == cards[2], "the game is the same whoever plays"


def test_games_play_in_pools_and_evaluations(tmp_path):
    with EnvPool(NIM, 2, workers=1, seats="all") as pool:
        pool.reset(0, seed=1)
        assert pool.recv()[0].info["seat"] == "player_0"
    options = [
        "--agent",
        "oracle",
        "--episodes",
        "4",
        "--workers",
        "1",
        "--set",
        "opponents=greedy",
        "--out",
        str(tmp_path / "out"),
    ]
    result = CliRunner().invoke(app, ["eval", NIM, *options])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in (tmp_path / "out/episodes.jsonl").read_text().splitlines()]
    assert [row["success"] for row in rows if row["row"] == "episode"] == [True] * 4


def test_a_model_takes_a_seat(monkeypatch):
    with StubModel([ok("<think>3 or 2?</think>\nAction: 2"), ok("1")]) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        env = gymnasium.make(NIM, seats="player_1", opponents="model:stub")
        observation, _ = env.reset(options={"task_id": "pile-6"})
        assert observation.endswith("player_0 takes 2. There are 4 stones.")
        assert env.step("1")[0].endswith("player_0 takes 1. There are 2 stones.")
        env.reset(options={"task_id": "pile-5"})
    said = [[(m["role"], m["content"]) for m in request.messages] for request in model.completions]
    assert said[0] == [
        ("system", env.unwrapped.instructions),
        ("user", "You are player_0. There are 6 stones."),
    ]
    assert said[1][2:] == [
        ("assistant", "<think>3 or 2?</think>\nAction: 2"),
        ("user", "player_0 takes 2. There are 4 stones.\nplayer_1 takes 1. There are 3 stones."),
    ]
    assert len(said[2]) == 2, "it begins anew with each episode"


def test_a_model_plays_where_an_event_loop_runs(monkeypatch):
    async def main():
        env = gymnasium.make(NIM, seats="player_1", opponents="model:stub")
        return env.reset(options={"task_id": "pile-6"})[0]

    with StubModel([ok("2")]) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        assert "player_0 takes 2" in asyncio.run(main())


def test_a_model_that_is_not_understood_forfeits_even_before_anybody_else_acts(monkeypatch):
    with StubModel([ok("<think>hm"), ok("two"), ok("<think>")]) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        env = gymnasium.make(NIM, seats="player_1", opponents="model:stub", admissible=True)
        observation, info = env.reset(seed=1)
        assert "player_0 was not understood 3 times in a row" in observation
        assert info["admissible_actions"] == ["pass"]
        assert env.step("1")[1:4] == (0.0, True, False)


def test_a_server_that_fails_is_a_failure_and_no_loss(monkeypatch):
    with StubModel([status(401)]) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        with raises(errors.ProviderError, "401"):
            gymnasium.make(NIM, seats="player_1", opponents="model:stub").reset(seed=1)


def test_a_missing_key_is_told_at_once(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.example.org/v1")
    with raises(errors.ArgumentError, "OPENAI_API_KEY"):
        gymnasium.make(NIM, opponents="model:some")


def test_two_models_play_each_other(monkeypatch):
    """One behind the server, one in the caller's seat of an evaluation."""
    with StubModel(policy(lambda messages: "1")) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        env = gymnasium.make(NIM, opponents="model:stub")
        assert played(env, iter(lambda: "1", None), options={"task_id": "pile-7"})[-1][2]["success"]


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        (
            {"seats": "player_2"},
            errors.ArgumentError,
            "seats='player_2': choose at least one of player_0, player_1, or 'all'",
        ),
        ({"seats": []}, errors.ArgumentError, "choose at least one"),
        (
            {"seats": 1},
            errors.ArgumentError,
            "seats=1: choose at least one of player_0, player_1, or 'all'",
        ),
        (
            {"seats": [["player_0"]]},
            errors.ArgumentError,
            r"seats=\[\['player_0'\]\]: choose at least one",
        ),
        (
            {"opponents": 5},
            errors.ArgumentError,
            "opponents=5: name a player: random, oracle, model:NAME, greedy",
        ),
        ({"opponents": ["greedy"]}, errors.ArgumentError, r"opponents=\['greedy'\]: name a player"),
        ({"opponents": 0}, errors.ArgumentError, "opponents=0: name a player"),
        ({"opponents": ""}, errors.UnknownName, "unknown player ''"),
        (
            {"opponents": "genius"},
            errors.UnknownName,
            "unknown player 'genius'.*greedy, model:NAME, oracle, random",
        ),
        (
            {"stones": 3},
            errors.ArgumentError,
            "foreign/Nim-v0 does not take 'stones'. It takes: .*most",
        ),
        ({"split": "exam"}, errors.UnknownName, "unknown split 'exam'"),
    ],
)
def test_errors_of_keywords(keywords, error, message):
    with pytest.raises(error, match=message):
        gymnasium.make(NIM, **keywords)
    with pytest.raises(error, match=message):
        registry.make(NIM, **keywords)


def test_only_games_are_games():
    with raises(errors.UnknownName, "'agentgym/Maze-v1'", "foreign/Nim-v0"):
        make_game("agentgym/Maze-v1")
    with raises(errors.UnknownName, "'foreign/Nim-v0'"):
        make_game("foreign/Nin-v0")


def test_a_seat_whose_game_is_over_before_its_turn_has_one_that_changes_nothing():
    """The first player may win at once; random play of the other seat needs something to say."""
    env = gymnasium.make(
        "agentgym/Connect4-v1",
        seats="player_1",
        opponents="oracle",
        admissible=True,
        tasks="win1-X-*",
    )
    for seed in range(20):
        _, info = env.reset(seed=seed)
        if info["admissible_actions"] == ["pass"]:
            _, reward, over, _, info = env.step("pass")
            assert (reward, over, info["success"], info["invalid"]) == (0.0, True, False, False)
            env.reset(seed=seed)
            _, reward, over, _, info = env.step(InvalidResponse("Write an action."))
            assert (reward, over, info["success"], info["invalid"]) == (0.0, True, False, True)
            return
    raise AssertionError("no position is won in one move")
