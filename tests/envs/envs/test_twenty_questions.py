"""Twenty Questions: answers match the facts, and the oracle always wins."""

import random
import re

import gymnasium
import pytest

from agentgym_envs import make_aec
from agentgym_envs.envs.search.world import facts
from agentgym_envs.envs.twenty_questions import words as spelling
from agentgym_envs.envs.twenty_questions.reading import UnclearQuestion, read
from agentgym_envs.envs.twenty_questions.things import topics
from agentgym_envs.multi import make_game
from agentgym_envs.multi.match import GameMatch

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
def test_true_answers_count_and_a_false_one_ends_the_game(task_id, question, answer):
    env, _ = begun(task_id)
    observation, *_, info = env.step(question)
    assert "Answer yes or no." in observation
    assert (info["seat"], info["invalids"]["asker_0"]) == ("answerer_0", False)
    assert env.unwrapped.actions() == ["yes", "no"]
    observation, *_, info = env.step(f" {answer.title()}. ")
    assert observation == f"answerer_0: {answer}. Questions left: 19."
    assert (info["seat"], info["invalid"]) == ("asker_0", False)
    env.step(question)
    observation, reward, over, _, info = env.step({"yes": "no", "no": "yes"}[answer])
    assert re.search(
        r" This answer to ask .* is false, and both lose. The (country|element) is (Chile|Iron)\.$",
        observation,
    )
    assert (reward, over, info["success"], info["invalid"]) == (0.0, True, False, False)


@pytest.mark.parametrize(
    ("topic", "action", "question"),
    [
        ("country", "ask area is above 5000", "ask area above 5000"),
        *[
            ("country", f"ask area above {number}", "ask area above 5000")
            for number in ("5,000", "5 000", "5k", "5 thousand")
        ],
        *[
            ("country", f"ask area above 5000{unit}", "ask area above 5000")
            for unit in ("km2", " km²", " sq. km", " square kilometers")
        ],
        ("country", "ask the area is above 1.5 million km2", "ask area above 1500000"),
        ("country", "ask name is the USA", "ask name is United States"),
        ("country", "ask neighbor is U.K.", "ask neighbour is United Kingdom"),
        ("country", "ask name is Côte d’Ivoire", "ask name is Ivory Coast"),
        ("country", "ask neighbour is Netherlands", "ask neighbour is Netherlands"),
        ("country", "ask name is St. Lucia", "ask name is Saint Lucia"),
        ("country", "ask currency is euros", "ask currency is Euro"),
        ("country", "ask capital is Washington, D.C.", "ask capital is Washington"),
        ("country", 'ask capital begins with the letter "s"', "ask capital begins with S"),
        ("country", "ask is_it", None),
        ("element", "ask name is Caesium", "ask name is Cesium"),
        ("element", "ask name is Aluminium?", "ask name is Aluminum"),
        ("element", "ask block is d-block", "ask block is d"),
        ("element", "ask atomic number above 20", "ask number above 20"),
    ],
)
def test_units_separators_and_other_names_are_read(topic, action, question):
    if question is None:
        with pytest.raises(UnclearQuestion):
            read(topics()[topic], action)
    else:
        assert str(read(topics()[topic], action)) == question


@pytest.mark.parametrize(
    ("topic", "question", "possible"),
    [
        (
            "country",
            "ask area above 5.000",
            "whole numbers from 0 to 17100000, in square kilometres",
        ),
        ("country", "ask area above 5000 square miles", "in square kilometres (km2)"),
        ("country", "ask area above 17100000", "from 0 to 17100000"),
        ("country", "ask area is below 5000", "ask area above NUMBER"),
        ("country", "ask area begins with 7", "ask area above NUMBER"),
        ("country", "ask area above -5", "from 0 to"),
        ("country", "ask neighbours is Peru", "from 0 to 14"),
        ("country", "ask neighbours is 15", "from 0 to 14"),
        (
            "country",
            "ask continent is America",
            "Possible are Europe, Asia, North America, Africa, South America, Oceania.",
        ),
        ("country", "ask continent above 3", "The values of continent are words"),
        ("country", "ask currency is US Dollar", "Did you mean Dollar?"),
        (
            "country",
            "ask currency is 5",
            "The value of currency is the name of the currency, such as Dollar.",
        ),
        (
            "country",
            "ask capital begins with Zz",
            "No country has such a value: capital begins with Zz.",
        ),
        ("country", "ask neighbour is Atlantis", "the name of a country or territory"),
        ("country", "ask block is d", "There is no attribute 'block'."),
        ("element", "ask block is x", "Possible are s, p, d, f."),
        ("element", "ask block is 4", "Possible are s, p, d, f."),
        ("element", "ask period is 9", "from 1 to 7"),
        ("element", "ask number is 0", "from 1 to 118"),
        ("element", "ask year above 1800s", "whole numbers from 1669 to 2015"),
        ("element", "ask name is Irn", "Did you mean Iron"),
    ],
)
def test_a_value_that_nothing_has_is_refused_with_those_that_are_possible(
    topic, question, possible
):
    env, _ = begun({"country": CHILE, "element": IRON}[topic])
    observation, *_, info = env.step(question)
    assert possible in observation
    assert (info["seat"], info["invalids"]["asker_0"]) == ("asker_0", True)
    env.step("ask name begins with Zi")
    assert env.step("no")[0].endswith("Questions left: 19.")


@pytest.mark.parametrize("topic", topics().values(), ids=topics())
def test_every_value_of_every_thing_can_be_asked_for_and_holds(topic):
    for thing in topic.things:
        assert topic.find(thing.name) is thing
        for attribute, known in thing.facts.items():
            for value in known if isinstance(known, tuple) else [] if known is None else [known]:
                assert read(topic, f"ask {attribute} is {value}").holds(thing), (
                    thing.name,
                    attribute,
                    value,
                )


def test_no_other_name_stands_for_two_things():
    for others, topic, attribute in (
        (spelling.COUNTRIES, "country", "name"),
        (spelling.CAPITALS, "country", "capital"),
        (spelling.CURRENCIES, "country", "currency"),
        (spelling.ELEMENTS, "element", "name"),
    ):
        names = {word for thing in topics()[topic].things for word in thing.words(attribute)}
        assert set(others.values()) <= names
        assert len({spelling.key(name) for name in names}) == len(names)
        for other, name in others.items():
            assert topics()[topic].words(attribute)[spelling.key(other)] == name, other


def test_the_facts_that_answers_are_checked_against_are_those_of_the_rows():
    chile = next(c for c in facts()["countries"].values() if c.name == "Chile")
    iron = next(e for e in facts()["elements"] if e.name == "Iron")
    told = {
        "continent": chile.continent,
        "capital": chile.capital,
        "currency": chile.currency,
        "area": chile.area,
    }
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
    [
        "",
        "is it big",
        "ask",
        "ask continent",
        "ask colour is red",
        "ask continent above 3",
        "ask area above big",
        "guess Atlantis",
    ],
)
def test_what_is_no_question_costs_none(words):
    env, _ = begun(CHILE)
    observation, *_, info = env.step(words)
    wanted = (
        "There is no country of that name: Atlantis"
        if "guess" in words
        else "Attributes: name, continent, capital, currency,"
    )
    assert wanted in observation
    assert (info["seat"], info["invalids"]["asker_0"]) == ("asker_0", True)
    env.step("ask continent is Asia")
    assert env.step("no")[0].endswith("Questions left: 19.")
    env.step("ask continent is Asia")
    observation, *_, info = env.step("perhaps")
    assert observation == "Not an answer: perhaps\nAnswer yes or no."


def test_a_right_guess_wins_for_both_and_a_wrong_one_costs_a_question():
    env, _ = begun(CHILE)
    assert env.step("guess peru.")[0] == "No, it is not Peru. Guesses left: 2. Questions left: 19."
    observation, reward, over, _, info = env.step("guess chile")
    assert (observation, reward, over, info["success"]) == (
        "asker_0 guesses Chile: right.",
        1.0,
        True,
        True,
    )
    assert info["rewards"] == {"asker_0": 1.0, "answerer_0": 1.0}


def test_the_third_wrong_guess_loses():
    env, _ = begun(CHILE)
    steps = [env.step(f"guess {name}") for name in ("Peru", "the USA", "Fiji")]
    assert [over for _, _, over, _, _ in steps] == [False, False, True]
    assert steps[-1][0] == "No, it is not Fiji. That was the last guess. The country is Chile."
    assert not steps[-1][4]["success"]


def test_after_twenty_questions_it_is_lost_and_told():
    env, _ = begun(IRON, seats="asker_0")
    for n in range(19):
        observation, _, over, _, _ = env.step("guess Gold" if n in (3, 9) else "ask block is p")
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


@pytest.mark.parametrize("name", ["asker_0", "answerer_0"])
def test_policies_that_ignore_the_task_lose_from_either_seat(name):
    """Three random guesses find 1 to 3 % of the things; constant and random answers fail soon."""
    env = gymnasium.make(ID, seats=name, split="test")
    said = {"answerer_0": [["yes"], ["no"], ["yes", "no"]]}

    def guesses():
        return [f"guess {thing.name}" for thing in env.unwrapped.game.topic.things]

    for number, words in enumerate(said.get(name, [None])):
        won = 0
        for task_id in env.unwrapped.task_ids:
            rng, over = random.Random(f"{task_id} {number}"), False
            env.reset(options={"task_id": task_id})
            while not over:
                *_, over, _, info = env.step(rng.choice(words or guesses()))
            won += info["success"]
        assert won <= len(env.unwrapped.task_ids) / 10


def test_the_answerers_seat_is_one_too():
    env, seen = begun(CHILE, seats="answerer_0")
    assert "The country is Chile." in seen
    assert "Answer yes or no." in seen
    over = False
    while not over:
        *_, over, _, info = env.step(next(env.unwrapped.oracle()))
    assert info["success"]


def test_the_answerer_hears_as_many_questions_as_the_readme_says():
    env, _ = begun(CHILE, seats="answerer_0", split="test")
    for task_id in env.unwrapped.task_ids:
        env.reset(options={"task_id": task_id})
        over, questions = False, 0
        while not over:
            *_, over, _, info = env.step(next(env.unwrapped.oracle()))
            questions += 1
        assert info["success"]
        assert questions in ((6, 7) if task_id.startswith("element") else (7, 8)), task_id


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.full)])
def test_the_oracle_finds_everything_within_twenty_questions(every):
    game = make_game(ID)
    tasks = game.make_tasks()
    for task_id in [i for split in ("train", "dev", "test") for i in tasks.ids(split)][::every]:
        match, asked = GameMatch(game, tasks.get(task_id), random.Random(0)), 0
        while not match.over:
            (seat,) = match.waiting
            match.say(seat, game.oracle(seat))
            asked += seat == "asker_0"
        assert match.outcomes["asker_0"].success, task_id
        assert asked <= 12, (
            f"{task_id}: halving 244 things takes 8 questions and a guess, unevenly a few more"
        )
