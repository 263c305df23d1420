"""Twenty Questions: answers beside the facts' own rows, checked answers, and games that the oracle always wins."""

import random

import gymnasium
import pytest

from agentgym_envs import make_aec
from agentgym_envs.envs.search.world import facts
from agentgym_envs.envs.twenty_questions.things import topics
from agentgym_envs.multi.match import Match
from agentgym_envs.registry import make_game

ID = "agentgym/TwentyQuestions-v1"
CHILE, IRON = ("country-chile", "element-iron")


def begun(task_id, seats="all", **keywords):
    env = gymnasium.make(ID, seats=seats, max_episode_steps=-1, **keywords)
    return env, env.reset(options={"task_id": task_id})[0]


def test_there_is_a_task_for_every_country_and_element():
    tasks = make_game(ID).make_tasks()
    ids = [i for split in ("train", "dev", "test") for i in tasks.ids(split)]
    assert len(ids) == len(set(ids)) == len(facts()["countries"]) + len(facts()["elements"])
    assert all(len(tasks.ids(split)) >= 30 for split in ("dev", "test"))


@pytest.mark.parametrize(
    ("task_id", "question", "answer"),
    [
        (CHILE, "ask continent is South America", "yes"),
        (CHILE, "ASK Continent IS south america?", "yes"),
        (CHILE, "ask continent is Asia", "no"),
        (CHILE, "ask neighbour is Peru", "yes"),
        (CHILE, "ask neighbour is France", "no"),
        (CHILE, "ask neighbours above 2", "yes"),
        (CHILE, "ask neighbours above 3", "no"),
        (CHILE, "ask neighbours is 3", "yes"),
        (CHILE, "ask capital begins with san", "yes"),
        (CHILE, "ask area above 756949", "yes"),
        (CHILE, "ask area above 756950", "no"),
        (CHILE, "ask currency is Peso", "yes"),
        (IRON, "ask number is 26", "yes"),
        (IRON, "ask symbol is fe", "yes"),
        (IRON, "ask block is d", "yes"),
        (IRON, "ask period above 4", "no"),
        (IRON, "ask year above 0", "no"),
    ],
)
def test_true_answers_count_and_others_are_named(task_id, question, answer):
    env, _ = begun(task_id)
    observation, *_, info = env.step(question)
    assert "Answer yes or no." in observation
    assert (info["agent"], info["invalids"]["asker_0"]) == ("answerer_0", False)
    wrong = {"yes": "no", "no": "yes"}[answer]
    observation, *_, info = env.step(wrong)
    assert observation.startswith("That is inconsistent with the facts: ask ")
    assert (info["agent"], info["invalids"]) == ("answerer_0", {"asker_0": False, "answerer_0": True})
    observation, *_, info = env.step(f" {answer.title()}. ")
    assert observation == f"answerer_0: {answer}. Questions left: 19."
    assert (info["agent"], info["invalid"]) == ("asker_0", False)


def test_the_facts_that_answers_are_checked_against_are_those_of_the_rows():
    chile = next(c for c in facts()["countries"].values() if c.name == "Chile")
    iron = next(e for e in facts()["elements"] if e.name == "Iron")
    told = {"continent": chile.continent, "capital": chile.capital, "currency": chile.currency, "area": chile.area}
    assert topics()["country"].find("chile").facts == {
        **{"name": "Chile", "neighbour": tuple(chile.neighbours), "neighbours": 3},
        **told,
    }
    assert iron.year is None
    assert topics()["element"].find("Iron").facts == {
        **{"name": "Iron", "symbol": "Fe", "number": 26, "period": 4, "block": "d", "year": None},
    }


@pytest.mark.parametrize(
    "words",
    ["", "is it big", "ask", "ask continent", "ask colour is red", "ask continent above 3", "ask area above big", "guess Atlantis"],
)
def test_what_is_no_question_costs_none(words):
    env, _ = begun(CHILE)
    observation, *_, info = env.step(words)
    assert "Attributes: name, continent, capital, currency, area, neighbour, neighbours." in observation
    assert (info["agent"], info["invalids"]["asker_0"]) == ("asker_0", True)
    env.step("ask continent is Asia")
    assert env.step("no")[0].endswith("Questions left: 19.")
    env.step("ask continent is Asia")
    observation, *_, info = env.step("perhaps")
    assert observation == "Not an answer: perhaps\nAnswer yes or no."


def test_a_right_guess_wins_for_both_and_a_wrong_one_costs_a_question():
    env, _ = begun(CHILE)
    assert env.step("guess peru.")[0] == "No, it is not Peru. Questions left: 19."
    observation, reward, over, _, info = env.step("guess chile")
    assert (observation, reward, over, info["success"]) == ("asker_0 guesses Chile: right.", 1.0, True, True)
    assert info["rewards"] == {"asker_0": 1.0, "answerer_0": 1.0}


def test_after_twenty_questions_it_is_lost_and_told():
    env, _ = begun(IRON, seats="asker_0", others="oracle")
    for n in range(19):
        observation, _, over, _, _ = env.step(["ask block is p", "guess Gold"][n % 2])
        assert observation.endswith(f"Questions left: {19 - n}.")
        assert not over
    observation, _, over, _, info = env.step("ask block is p")
    assert observation == "answerer_0: no. That was the last question. The element is Iron."
    assert (over, info["score"], info["success"]) == (True, 0.0, False)


def test_only_the_answerer_is_told_the_thing():
    env = make_aec(ID)
    env.reset(options={"task_id": CHILE})
    assert "Chile" not in env.observe("asker_0")["text"]
    told = env.observe("answerer_0")["text"]
    assert "The country is Chile. Its facts:\n- name: Chile\n- continent: South America\n" in told
    assert "- neighbour: Peru, Bolivia, Argentina\n" in told or "- neighbour: " in told


def test_the_answerers_seat_is_one_too():
    env, seen = begun(CHILE, seats="answerer_0", others="oracle")
    assert "The country is Chile." in seen
    assert "Answer yes or no." in seen
    over = False
    while not over:
        *_, over, _, info = env.step(next(env.unwrapped.oracle()))
    assert info["success"]


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.full)])
def test_the_oracle_finds_everything_within_twenty_questions(every):
    game = make_game(ID)
    tasks = game.make_tasks()
    for task_id in [i for split in ("train", "dev", "test") for i in tasks.ids(split)][::every]:
        match, asked = Match(game, tasks.get(task_id), random.Random(0)), 0
        while not match.over:
            (seat,) = match.waiting
            match.say(seat, game.oracle(seat))
            asked += seat == "asker_0"
        assert match.outcomes["asker_0"].success, task_id
        assert asked <= 12, f"{task_id}: halving 244 things takes 8 questions and a guess, unevenly a few more"
