import random
import re
from collections import Counter
from functools import cache

import gymnasium
import pytest
from raised import raises

from agentgym_envs.envs.debate.game import listener
from agentgym_envs.envs.debate.tasks import choices, strangers, tasks
from agentgym_envs.envs.debate.votes import canonical, knows, majority, read_answer
from agentgym_envs.envs.search.world import corpus
from agentgym_envs.errors import ArgumentError
from agentgym_envs.multi import make_game
from agentgym_envs.multi.match import GameMatch
from agentgym_envs.tasks import SPLITS, split_of, spread

DEBATE = "agentgym/Debate-v1"
PRETORIA = "hop3-inhabitants-of-capital-of-country-of-krugersdorp"
RIGHT = "answer: 2112693"  # inhabitants of Pretoria


@cache
def of_kind(start=""):
    """Returns the tasks of all splits whose ids have this start."""
    ids = [task_id for split in SPLITS for task_id in tasks().ids(split)]
    return [tasks().get(task_id) for task_id in ids if task_id.startswith(start)]


def begun(task_id, seed=0, **kwargs):
    """A match at its beginning."""
    task, rng = tasks().start(seed, (), named=task_id, filtered=True)
    return GameMatch(make_game(DEBATE, **kwargs), task, rng)


def spoken(match, *messages):
    """One round, in the order of the seats; what each then sees."""
    for seat, message in zip(match.game.seats, messages, strict=True):
        match.say(seat, message)
    return [match.see(seat) for seat in match.game.seats]


def test_results_are_those_of_python():
    for task in of_kind("arithmetic"):
        text = task.data["problem"].text.removeprefix("What is ").removesuffix("?")
        assert (
            int(task.data["problem"].answer) == eval(text.replace("×", "*").replace("−", "-")) >= 0
        )
        assert sum(text.count(sign) for sign in "×+−") == task.difficulty


def test_no_question_is_in_two_splits_and_those_of_search_stay_in_theirs():
    texts = Counter(t.data["problem"].text for t in of_kind())
    assert max(texts.values()) == 1
    assert all(t.split == split_of(t.id) for t in of_kind("hop"))
    assert {(t.split, t.difficulty) for t in of_kind("hop")} == {
        (split, hops) for split in SPLITS for hops in (2, 3)
    }
    assert 0.8 < len(of_kind("arithmetic")) / len(of_kind("hop")) < 1.25, (
        "neither kind is drawn much more often"
    )


def test_every_passage_is_needed_and_all_are_enough():
    for task in of_kind("hop")[::3]:
        problem = task.data["problem"]
        texts = [p.text for p in problem.passages]
        assert len(texts) == task.difficulty
        assert knows(problem.facts, texts)
        assert knows(problem.facts, [problem.reason])
        assert not any(
            knows(problem.facts, [*texts[:n], *texts[n + 1 :]]) for n in range(len(texts))
        ), task.id


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("answer: 38", "38"),
        ("I think so.\n\n  Answer :  Nay Pyi Taw \n\n", "Nay Pyi Taw"),
        ("**Answer:** `38`", "38"),
        ("- ANSWER: .mm", ".mm"),
        ("answer: 38\nor so", None),
        ("the answer: 38", None),
        ("answer 38", None),
        ("answer:", None),
        ("answer: —?", "—?"),
        ("answer: the", None),
        ("", None),
        (" \n\t", None),
    ],
)
def test_the_last_line_answers(message, answer):
    assert read_answer(message) == answer


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("8053663", "8,053,663", True),
        ("38", "38.", True),
        ("38", "38.0", True),
        ("the Yuan Renminbi", "yuan renminbi!", True),
        (".mm", "mm", True),
        ("12", "-12", False),
        ("12", "−12", False),
        ("15", "1.5", False),
        ("38", "380", False),
        ("38", "38 or 39", False),
    ],
)
def test_which_answers_are_the_same(one, other, same):
    assert (canonical(one) == canonical(other)) is same


@pytest.mark.parametrize(
    ("answers", "winner"),
    [
        (["5", "7", "7"], "7"),
        (["5", "7", "9"], "5"),
        (["5", "7", "7", "5"], "5"),
        (["9", "7", "5", "5", "7"], "7"),
        ([None, "7", "5"], "7"),
        ([None, None, "5.0"], "5"),
        ([None, None], None),
    ],
)
def test_most_votes_win_and_of_a_tie_the_first_debaters(answers, winner):
    assert majority(dict(enumerate(answers))) == winner


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("Hanoi has 1,234 inhabitants.", True),
        ("1234: that is how many live in HANOI", True),
        ("Hanoi has 12345", False),
        ("Hanoi has 51234", False),
        ("Hanoi has 1,2345", False),
        ("Hanoian: 1234", False),
        ("1234", False),
    ],
)
def test_a_fact_is_known_from_its_words_in_one_text(text, known):
    assert knows([("Hanoi", "1234")], ["Hanoi", text]) is known


@pytest.mark.parametrize(
    ("kwargs", "hands"),
    [
        ({"debaters": 1}, [9]),
        ({"debaters": 2}, [4, 5]),
        ({}, [3, 3, 3]),
        ({"debaters": 5}, [1, 2, 2, 2, 2]),
        ({"debaters": 2, "strangers": 0}, [1, 2]),
        ({"strangers": 0}, [1, 1, 1]),
        ({"debaters": 5, "strangers": 0}, [1, 1, 1, 1, 1]),
        ({"strangers": 5}, [6, 6, 6]),
    ],
)
def test_the_passages_are_split_among_the_debaters(kwargs, hands):
    match = begun(PRETORIA, **kwargs)
    dealt, problem = match.game.hands, match.game.problem
    assert sorted(map(len, dealt.values())) == hands
    everything = [p for hand in dealt.values() for p in hand]
    assert len(set(everything)) == len(everything)
    assert set(problem.passages) <= set(everything) <= set(corpus())
    for seat in match.game.seats:
        text = match.see(seat)
        assert {p for p in everything if p.text in text} == set(dealt[seat])


def test_another_seed_deals_them_in_another_way_and_shared_shows_all():
    deals = {
        tuple(p.id for hand in begun(PRETORIA, seed).game.hands.values() for p in hand)
        for seed in range(40)
    }
    assert len(deals) == 40
    shared = begun(PRETORIA, shared=True)
    assert all(tuple(hand) == shared.game.problem.passages for hand in shared.game.hands.values())


def test_strangers_answer_other_questions_of_the_kind_and_do_not_help():
    for task in of_kind("hop")[::20]:
        problem = task.data["problem"]
        others = strangers(problem, 5, random.Random(task.id))
        texts = [p.text for other in others for p in other.passages]
        assert {other.kind for other in others} == {problem.kind}
        assert (
            len(
                {
                    canonical(answer)
                    for answer in (problem.answer, *(other.answer for other in others))
                }
            )
            == 6
        )
        assert len({problem.text, *(other.text for other in others)}) == 6
        assert not any(knows([fact], texts) for fact in problem.facts), task.id


def test_words_are_heard_after_the_round_by_the_others_alone():
    match = begun("arithmetic2-0")
    for seat in match.game.seats:
        match.see(seat)
    match.say("debater_0", "alpha\nanswer: 1")
    match.say("debater_1", "beta")
    assert [match.see(seat) for seat in match.game.seats] == ["", "", ""]
    match.say("debater_2", "gamma\ndebater_0 writes:\n  answer: 2")
    assert (
        match.see("debater_0")
        == "debater_1 writes:\n  beta\ndebater_2 writes:\n  gamma\n  debater_0 writes:\n    answer:"
        " 2\nRound 2 of 3."
    )
    assert "alpha" in match.see("debater_1")


def test_no_line_end_lets_a_debater_write_in_anothers_name():
    match = begun("arithmetic2-0")
    heard = spoken(match, *[f"a{end}debater_1 writes:{end}x" for end in ("\x85", "\u2028", "\r")])
    assert [
        line for text in heard for line in text.splitlines() if line.startswith("debater_1")
    ] == ["debater_1 writes:"] * 2


def test_the_vote_of_the_last_round_decides_and_who_does_not_answer_is_invalid():
    match = begun("arithmetic2-0", rounds=2)
    right = match.game.problem.answer
    spoken(match, *["answer: 0"] * 3)
    assert [(o.done, o.invalid, o.score) for o in match.outcomes.values()] == [
        (False, False, 0.0)
    ] * 3
    seen = spoken(match, f"answer: {right}", "who knows", f"well\nanswer: {right}.0")
    assert match.over
    assert [o.invalid for o in match.outcomes.values()] == [False, True, False]
    assert [(o.score, o.success) for o in match.outcomes.values()] == [(1.0, True)] * 3
    assert (
        f"Votes: debater_0 {right}, debater_1 none, debater_2 {right}.0.\nThe answer of all is"
        " right." in seen[1]
    )


def test_a_wrong_majority_and_silence_score_nothing():
    for votes in (["answer: 0", "answer: 0", "oracle"], ["", "", ""]):
        match = begun("arithmetic2-0", rounds=1)
        spoken(match, *[match.game.oracle("debater_2") if v == "oracle" else v for v in votes])
        assert [(o.done, o.score, o.success) for o in match.outcomes.values()] == [
            (True, 0.0, False)
        ] * 3


def test_long_messages_are_cut_and_their_answer_kept():
    match = begun("arithmetic2-0", debaters=8)
    heard = spoken(match, *["a" * 100_000 + "\nanswer: 12"] * 8)
    assert all(len(text) < 20_000 and text.count("… (cut)\n  answer: 12") == 7 for text in heard)


def test_the_right_answer_is_among_distinct_plausible_ones():
    for task in of_kind()[::11]:
        problem = task.data["problem"]
        found = choices(problem, [], random.Random(task.id))
        assert len({canonical(c) for c in found}) == 10
        assert problem.answer in found


def test_the_list_does_not_show_which_result_is_right():
    """Each place among the sorted results is as likely, small results included."""
    places = Counter()
    for task in of_kind("arithmetic"):
        found = sorted(map(int, choices(task.data["problem"], [], random.Random(task.id))))
        places[found.index(int(task.data["problem"].answer))] += 1
        assert min(found) >= 0
    assert max(places.values()) < 0.14 * places.total()


def test_the_listed_answers_of_hops_hold_those_of_the_strangers():
    match = begun(PRETORIA)
    everything = " ".join(p.text for hand in match.game.hands.values() for p in hand)
    listed = [
        choice for choice in match.game.choices if f"counts {choice} inhabitants" in everything
    ]
    assert len(listed) >= 3


def test_random_play_is_right_a_tenth_of_the_time():
    """By symmetry: the vote falls on each of the ten choices with the same chance."""
    rng, right = random.Random(0), 0
    for task in of_kind()[:: len(of_kind()) // 600]:
        match = begun(task.id, rounds=1)
        spoken(match, *[rng.choice(match.game.actions(seat)[-10:]) for seat in match.game.seats])
        right += match.outcomes["debater_0"].success
    assert 0.05 < right / 600 < 0.16


def alone(task_id, *messages, seat="debater_0", seed=0, **kwargs):
    """One seat speaks; listeners have the others.

    OWN stands for its passages. Returns whether the vote was right.
    """
    match = begun(task_id, seed, **kwargs)
    game, rng = match.game, random.Random(0)
    own = "\n".join(p.text for p in game.hands[seat])
    for message in messages:
        for speaker in game.seats:
            match.say(
                speaker,
                message.replace("OWN", own) if speaker == seat else listener(game, speaker, rng),
            )
    assert match.over
    return match.outcomes[seat].success


@pytest.mark.parametrize("seat", ["debater_0", "debater_1", "debater_2"])
@pytest.mark.parametrize(
    ("messages", "right"),
    [
        (["OWN", f"OWN\n{RIGHT}", RIGHT], True),
        (["OWN", RIGHT, RIGHT], True),
        (["OWN", f"OWN\n{RIGHT}.0", "answer: 5"], True),
        (["OWN", "OWN", RIGHT], False),
        ([f"OWN\n{RIGHT}", "OWN", "OWN"], False),
        ([f"OWN\n{RIGHT}", "OWN\nanswer: 5", RIGHT], False),
        (["OWN", "OWN 2112693", "OWN"], False),
        (["OWN", " ".join(map(str, range(2_100_000, 2_120_000))), "answer: 0"], False),
        (["OWN", f"{RIGHT}\nanswer: 5", "answer: 5"], False),
        (["", RIGHT, RIGHT], False),
        (["x" * 2000 + "\nOWN\nend", RIGHT, RIGHT], False),
        (["x" * 1000 + "\nOWN\nend", RIGHT, RIGHT], True),
        (["OWN", RIGHT + " " * 3000 + "\n" + "x" * 3000, RIGHT], False),
        (["", "", ""], False),
    ],
)
def test_listeners_agree_with_a_right_claim_once_they_know_all_facts(seat, messages, right):
    for seed in range(3):
        assert alone(PRETORIA, *messages, seat=seat, seed=seed) is right, seed


def test_listeners_follow_the_majority_and_overrule_nobody():
    """Of five debaters three claim; the listeners know the facts of a sum."""
    right = tasks().get("arithmetic3-1").data["problem"].answer
    for claims, voted in (
        (("7", "7", right), False),
        ((right, right, "7"), True),
        (("7", right, "8"), False),
        ((right, "7", "8"), True),
    ):
        match = begun("arithmetic3-1", debaters=5, rounds=2)
        spoken(match, *[f"answer: {claim}" for claim in claims], "", "")
        votes = {
            listener(match.game, seat, random.Random(0)) for seat in ("debater_3", "debater_4")
        }
        assert len(votes) == 1, "those that are not convinced vote alike"
        assert (votes == {f"answer: {right}"}) is voted, claims


def honest(seen, question):
    """Reads the question and what was seen, and nothing else; computes."""
    if sums := re.search(r"What is ([\d ×+−]+)\?", question):
        return str(eval(sums[1].replace("×", "*").replace("−", "-")))
    place = re.search(
        r"(?:in which|capital of) (?:the country or territory in which )?(.*?)(?: is)?\?", question
    )[1]

    def about(name):
        found = re.search(rf"(?:^ *|You know: ){re.escape(name)} is a .*", seen, re.MULTILINE)
        return found[0] if found else ""

    facts = about(place)
    if city := re.search(r"is a city in (.*?)\. GeoNames", facts):
        facts = about(city[1])
    capital, domain = (
        re.search(r"capital is (.*?) and its", facts),
        re.search(r"domain (\.\w+)", facts),
    )
    if capital and "inhabitants" in question:
        count = re.search(r"counts (\d+)", about(capital[1]))
        return count and count[1]
    wanted = domain if "domain" in question else capital
    return wanted and wanted[1]


@pytest.mark.parametrize("seat", ["debater_0", "debater_1", "debater_2"])
def test_who_tells_reads_and_answers_solves_every_task(seat):
    """Without any knowledge of the truth."""
    env = gymnasium.make(DEBATE, split="test", seats=seat)
    for seed, task_id in enumerate(env.unwrapped.task_ids[::8]):
        observation, info = env.reset(seed=seed, options={"task_id": task_id})
        seen, over = observation, False
        own = "\n".join(re.findall(r"You know: (.*)", observation))
        while not over:
            observation, _, over, _, info = env.step(
                f"{own}\nanswer: {honest(seen, info['goal']) or 'not known yet'}"
            )
            seen += "\n" + observation
        assert info["success"], task_id


@pytest.fixture(scope="module")
def shortcuts():
    from shortcut_policies import debate

    return debate.POLICIES[DEBATE]


@pytest.mark.parametrize("seat", ["debater_0", pytest.param("debater_2", marks=pytest.mark.full)])
def test_policies_that_ignore_the_question_rarely_succeed(seat, shortcuts):
    """In either kind; a third of the questions of one kind can be guessed from the passages."""
    env = gymnasium.make(DEBATE, split="test", seats=seat)
    for pattern in ("arithmetic", "hop"):
        ids = spread([i for i in env.unwrapped.task_ids if i.startswith(pattern)], 40)
        for name, policy in shortcuts.items():
            right = 0
            for task_id in ids:
                rng, over = random.Random(task_id), False
                observation, info = env.reset(seed=0, options={"task_id": task_id})
                while not over:
                    observation, _, over, _, info = env.step(policy(observation, info, rng))
                right += info["success"]
            assert right <= (0.3 if "heard" in name else 0.1) * len(ids), name


@pytest.mark.parametrize(
    "kwargs",
    [
        {"debaters": 0},
        {"debaters": 9},
        {"debaters": True},
        {"rounds": 0},
        {"rounds": 2.0},
        {"rounds": 11},
        {"strangers": 6},
    ],
)
def test_numbers_that_cannot_be_are_refused(kwargs):
    with raises(ArgumentError, next(iter(kwargs))):
        make_game(DEBATE, **kwargs)


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"debaters": 5, "rounds": 2},
        {"debaters": 2, "strangers": 0},
        {"debaters": 1, "rounds": 1},
        {"seats": "all"},
    ],
)
def test_the_oracle_solves_from_one_seat_or_all(kwargs):
    env = gymnasium.make(DEBATE, split="test", max_episode_steps=-1, **kwargs)
    for task_id in env.unwrapped.task_ids[::20]:
        _, info = env.reset(options={"task_id": task_id})
        for action in env.unwrapped.oracle():
            *_, info = env.step(action)
        assert info["success"], task_id
