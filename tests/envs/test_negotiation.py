import random
from collections import Counter
from itertools import permutations

import gymnasium
import numpy as np
import pytest

from agentgym_envs.envs.negotiation.tasks import Scenario, tasks
from agentgym_envs.multi.match import Match
from agentgym_envs.multi.players import make_player
from agentgym_envs.registry import make_game
from agentgym_envs.tasks import SPLITS, spread

NEGOTIATION = "agentgym/Negotiation-v1"
IDS = [i for split in SPLITS for i in tasks().ids(split)]
BALLS = "1.1.3-0.1.3-1.6.1"  # one book, one hat, three balls
ZERO, ONE = "negotiator_0", "negotiator_1"


def begun(task_id=BALLS):
    task, rng = tasks().start(0, (), named=task_id, filtered=True)
    match = Match(make_game(NEGOTIATION), task, rng)
    return match, rng


def played(task_id, first, second):
    """Two named players to the end."""
    match, rng = begun(task_id)
    players = {seat: make_player(match.game, seat, name) for seat, name in zip(match.game.seats, (first, second), strict=True)}
    while not match.over:
        (seat,) = match.waiting
        match.say(seat, players[seat](match.see(seat), rng))
    return match


def by_hand(scenario):
    """What all divisions are worth to both, counted otherwise: a grid of what the first side keeps."""
    kept = np.stack(np.meshgrid(*(np.arange(n + 1) for n in scenario.counts), indexing="ij"), -1).reshape(-1, 3)
    return kept, np.stack([kept @ scenario.values[0], (np.array(scenario.counts) - kept) @ scenario.values[1]], -1)


@pytest.mark.parametrize("task_id", spread(IDS, 40))
def test_nash_and_pareto_are_those_of_brute_force(task_id):
    scenario = tasks().get(task_id).data["scenario"]
    kept, worths = by_hand(scenario)
    dominated = [bool(((worths >= w).all(1) & (worths > w).any(1)).any()) for w in worths]
    assert [scenario.is_pareto(tuple(map(int, k))) for k in kept] == [not d for d in dominated]
    nash = scenario.worths(scenario.nash)
    assert nash[0] * nash[1] == worths.prod(1).max() > 0
    assert abs(nash[0] - nash[1]) == min(abs(a - b) for a, b in worths if a * b == nash[0] * nash[1])
    assert scenario.is_pareto(scenario.nash)


def test_a_scenario_by_hand():
    """All balls and the rest: 9 × 7. Two balls: 6 × 8. All balls and the hat: 10 × 1."""
    scenario = Scenario((1, 1, 3), ((0, 1, 3), (1, 6, 1)))
    assert scenario.nash == (0, 0, 3)
    assert scenario.worths(scenario.nash) == (9, 7)
    assert scenario.is_pareto((0, 1, 3))
    assert not scenario.is_pareto((1, 0, 3)), "the book is worth nothing to the first side"


def test_every_scenario_is_worth_ten_to_both_and_wanted():
    for task in map(tasks().get, IDS):
        scenario = task.data["scenario"]
        assert 5 <= sum(scenario.counts) == task.difficulty <= 7
        assert min(scenario.counts) >= 1
        assert [scenario.worths(scenario.counts)[0], scenario.worths((0, 0, 0))[1]] == [10, 10]
        assert all(a + b for a, b in zip(*scenario.values, strict=True))


def test_scenarios_that_differ_in_names_alone_are_in_one_split():
    seen = {}
    for task in map(tasks().get, IDS):
        scenario = task.data["scenario"]
        columns = list(zip(scenario.counts, *scenario.values, strict=True))
        swapped = [(n, b, a) for n, a, b in columns]
        same = {order for side in (columns, swapped) for order in permutations(side)}
        assert {seen.setdefault(kind, task.split) for kind in same} == {task.split}
    assert set(seen.values()) == set(SPLITS)


@pytest.mark.parametrize("names", [("oracle", "oracle"), ("oracle", "fair"), ("fair", "oracle"), ("fair", "fair")])
def test_those_who_know_make_the_nash_deal(names):
    for task_id in spread(IDS, 60):
        match = played(task_id, *names)
        scenario = match.game.scenario
        assert [round(10 * match.outcomes[s].score) for s in match.game.seats] == [*scenario.worths(scenario.nash)]
        assert all(o.success for o in match.outcomes.values())


def test_the_oracle_takes_no_less_than_its_share_but_at_the_very_end():
    shares, last = [], 0
    for task_id in spread(IDS, 150):
        match = played(task_id, "random", "oracle")
        scenario, outcome = match.game.scenario, match.outcomes[ONE]
        if outcome.score and match.game.turn < 9:
            assert outcome.score * 10 >= scenario.worths(scenario.nash)[1]
            shares.append(outcome.score)
        last += match.game.turn == 9 and outcome.score > 0
    assert len(shares) > 10
    assert last > 10


@pytest.mark.parametrize("seat", [ZERO, ONE])
def test_from_one_seat_the_oracle_solves(seat):
    env = gymnasium.make(NEGOTIATION, split="test", seats=seat)
    for task_id in env.unwrapped.task_ids[::20]:
        _, info = env.reset(options={"task_id": task_id})
        for action in env.unwrapped.oracle():
            *_, info = env.step(action)
        assert info["success"], task_id


@pytest.mark.parametrize(("seat", "succeed"), [(ONE, 50), (ZERO, 0)])
def test_who_always_accepts_succeeds_as_the_second_and_never_as_who_begins(seat, succeed):
    env, successes = gymnasium.make(NEGOTIATION, split="test", seats=seat), 0
    for task_id in spread(env.unwrapped.task_ids, 50):
        env.reset(options={"task_id": task_id})
        over = False
        while not over:
            _, _, over, _, info = env.step("accept")
        successes += info["success"]
    assert successes == succeed


def test_nobody_is_told_what_things_are_worth_to_the_other():
    game, openings = make_game(NEGOTIATION), {}
    for task in map(tasks().get, IDS):
        scenario, seen = task.data["scenario"], game.begin(task, random.Random())
        openings.setdefault((scenario.counts, scenario.values[0]), set()).add(seen[ZERO])
    assert all(len(texts) == 1 for texts in openings.values())
    assert len(openings) > 300


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("propose: 3 balls", "3 balls"),
        ("  PROPOSE :1 Hat,  2 balls", "1 hat, 2 balls"),
        ("propose: 1 book and 1 ball", "1 book, 1 ball"),
        ("propose: 0 books, 1 balls", "1 ball"),
        ("propose: nothing", "nothing"),
        ("propose: 1 book, 1 hat, 3 balls", "1 book, 1 hat, 3 balls"),
    ],
)
def test_proposals_that_are_understood(said, kept):
    match, _ = begun()
    assert match.say(ZERO, said)
    assert not match.outcomes[ZERO].invalid
    assert f"You propose to keep {kept}; the other would get" in match.see(ZERO)
    assert f"{ZERO} proposes to keep {kept}; you would get" in match.see(ONE)
    assert match.waiting == (ONE,)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("propose: 4 balls", "That is more than there is on the table: 1 book, 1 hat, 3 balls."),
        ("propose: 1 lamp", "'propose: 1 lamp' is no proposal."),
        ("propose: 1 ball, 1 ball", "is no proposal"),
        ("propose: a ball", "is no proposal"),
        ("propose:", "is no proposal"),
        ("propose: 1 ball,", "is no proposal"),
        ("propose: " + "9" * 5000 + " balls", "is no proposal"),
        ("accept", "There is no proposal to accept."),
        ("reject", "There is no proposal to reject."),
        ("I accept", "'i accept' is not understood."),
        ("", "'' is not understood."),
    ],
)
def test_what_is_not_understood_is_told_to_the_speaker_alone(said, why):
    match, _ = begun()
    match.see(ZERO), match.see(ONE)
    match.say(ZERO, said)
    assert match.outcomes[ZERO].invalid
    assert why in match.see(ZERO)
    assert match.see(ONE) == ""
    assert match.waiting == (ZERO,), "and the turn is not spent"


def test_a_deal_is_the_last_offer_and_waste_is_no_success():
    match, _ = begun()
    for said in ("propose: 1 hat, 3 balls", "propose: 1 book, 1 hat, 1 ball", "propose: 1 book, 3 balls", "accept"):
        match.say(match.waiting[0], said)
    assert [(o.score, o.done, o.success) for o in match.outcomes.values()] == [(0.9, True, False), (0.6, True, False)]
    assert f"{ONE} accepts. You get 1 book, 3 balls, worth 9 of 10 to you." in match.see(ZERO)
    assert "You get 1 hat, worth 6 of 10 to you." in match.see(ONE)


def test_a_rejected_offer_is_gone():
    match, _ = begun()
    for said in ("propose: 1 hat", "reject", "accept"):
        match.say(match.waiting[0], said)
    assert match.outcomes[ZERO].invalid
    assert not match.over


def test_after_ten_turns_there_is_no_deal():
    match, _ = begun()
    for turn in range(10):
        assert not match.over, turn
        match.say(match.waiting[0], "reject" if turn % 2 else "propose: 3 balls")
    assert match.over
    assert {(o.score, o.success) for o in match.outcomes.values()} == {(0.0, False)}
    assert "The turns are over, and there is no deal." in match.see(ZERO)


def test_all_listed_actions_are_different_offers():
    match, _ = begun()
    listed = match.game.actions(ZERO)
    assert Counter(listed).most_common(1)[0][1] == 1
    assert len(listed) == 2 * 2 * 4
    match.say(ZERO, listed[3])
    assert match.game.actions(ONE) == ["accept", "reject", *listed]
