import random
from collections import Counter
from functools import cache

import gymnasium
import numpy as np
import pytest

from agentgym_envs.envs.negotiation.players import propose
from agentgym_envs.envs.negotiation.tasks import DivisionScenario, tasks
from agentgym_envs.multi import make_game
from agentgym_envs.multi.match import GameMatch
from agentgym_envs.multi.players import make_player
from agentgym_envs.tasks import SPLITS, Task, spread

NEGOTIATION = "agentgym/Negotiation-v1"
BALLS = DivisionScenario((1, 1, 3, 1, 1, 1), ((0, 1, 3, 0, 0, 0), (1, 2, 1, 1, 1, 2)))
"""Three balls, one of each other thing.

The Nash division: the first side gets the balls (9 × 7).
"""
ZERO, ONE = "negotiator_0", "negotiator_1"


@cache
def ids():
    return [task_id for split in SPLITS for task_id in tasks().ids(split)]


def begun(scenario=BALLS):
    rng = random.Random(0)
    return GameMatch(
        make_game(NEGOTIATION), Task(id="x", split="test", data={"scenario": scenario}), rng
    ), rng


def played(task_id, first, second):
    """Two named players to the end."""
    match, rng = begun(tasks().get(task_id).data["scenario"])
    players = {
        seat: make_player(match.game, seat, name)
        for seat, name in zip(match.game.seats, (first, second), strict=True)
    }
    while not match.over:
        (seat,) = match.waiting
        match.say(seat, players[seat](match.see(seat), rng))
    return match


def by_hand(scenario):
    """Returns the values of all divisions for both, from a grid of the first side's items."""
    kept = np.stack(
        np.meshgrid(*(np.arange(n + 1) for n in scenario.counts), indexing="ij"), -1
    ).reshape(-1, 6)
    return kept, np.stack(
        [kept @ scenario.values[0], (np.array(scenario.counts) - kept) @ scenario.values[1]], -1
    )


@pytest.mark.parametrize("number", range(40))
def test_nash_and_pareto_are_those_of_brute_force(number):
    scenario = tasks().get(spread(ids(), 40)[number]).data["scenario"]
    kept, worths = by_hand(scenario)
    dominated = [bool(((worths >= w).all(1) & (worths > w).any(1)).any()) for w in worths]
    assert [scenario.is_pareto(tuple(map(int, k))) for k in kept] == [not d for d in dominated]
    nash = scenario.worths(scenario.nash)
    assert nash[0] * nash[1] == worths.prod(1).max() > 0
    assert abs(nash[0] - nash[1]) == min(
        abs(a - b) for a, b in worths if a * b == nash[0] * nash[1]
    )
    assert scenario.is_pareto(scenario.nash)


def test_a_scenario_by_hand():
    """All balls and the rest: 9 × 7. Two balls: 6 × 8. All balls and the hat: 10 × 5."""
    assert BALLS.nash == (0, 0, 3, 0, 0, 0)
    assert BALLS.worths(BALLS.nash) == (9, 7)
    assert BALLS.is_pareto((0, 1, 3, 0, 0, 0))
    assert not BALLS.is_pareto((1, 0, 3, 0, 0, 0)), "the book is worth nothing to the first side"


def test_every_scenario_is_worth_ten_to_both_and_wanted():
    difficulties = Counter()
    for task in map(tasks().get, ids()):
        scenario = task.data["scenario"]
        difficulties[task.difficulty] += 1
        assert sum(scenario.counts) == task.difficulty
        assert min(scenario.counts) >= 1
        assert [scenario.worths(scenario.counts)[0], scenario.worths((0,) * 6)[1]] == [10, 10]
        assert all(a + b for a, b in zip(*scenario.values, strict=True))
    assert difficulties == {6: 2000, 7: 2000, 8: 2000}


def test_no_two_scenarios_differ_in_names_alone():
    seen = set()
    for task in map(tasks().get, ids()):
        columns = [*zip(task.data["scenario"].counts, *task.data["scenario"].values, strict=True)]
        seen.add(
            frozenset(
                (
                    frozenset(Counter(columns).items()),
                    frozenset(Counter((n, b, a) for n, a, b in columns).items()),
                )
            )
        )
    assert len(seen) == len(ids())


@pytest.mark.parametrize(
    "names", [("oracle", "oracle"), ("oracle", "fair"), ("fair", "oracle"), ("fair", "fair")]
)
def test_those_who_know_make_the_nash_deal(names):
    for task_id in spread(ids(), 60):
        match = played(task_id, *names)
        scenario = match.game.scenario
        assert [round(10 * match.outcomes[s].score) for s in match.game.seats] == [
            *scenario.worths(scenario.nash)
        ]
        assert all(o.success for o in match.outcomes.values())


def test_the_oracle_takes_no_less_than_its_share_but_at_the_very_end():
    shares, last = [], 0
    for task_id in spread(ids(), 150):
        match = played(task_id, "random", "oracle")
        scenario, outcome = match.game.scenario, match.outcomes[ONE]
        if outcome.score and match.game.turn < 9:
            assert outcome.score * 10 >= scenario.worths(scenario.nash)[1]
            shares.append(outcome.score)
        last += match.game.turn == 9 and outcome.score > 0
    assert len(shares) > 5
    assert last > 10


GREED, WAIT = "propose: {}", "reject"


def waste(env, turns):
    """Takes turns that bring nothing.

    Only the second side has an offer to reject in its first move.
    """
    game = env.unwrapped.game
    for turn in turns:
        if not env.unwrapped.match.over:
            waited = (
                WAIT if game.offer is not None else propose(game.nash_share(env.unwrapped.seat))
            )
            env.step(propose(game.scenario.counts) if turn == GREED else waited)


@pytest.mark.parametrize("seat", [ZERO, ONE])
@pytest.mark.parametrize("wasted", [[], [WAIT] * 3, [GREED], [WAIT, GREED], [GREED, WAIT, WAIT]])
def test_from_one_seat_the_oracle_solves_after_waiting_and_one_greedy_proposal(seat, wasted):
    env = gymnasium.make(NEGOTIATION, split="test", seats=seat)
    for seed, task_id in enumerate(env.unwrapped.task_ids[::40]):
        env.reset(seed=seed, options={"task_id": task_id})
        scenario = env.unwrapped.game.scenario
        waste(env, wasted)
        for action in env.unwrapped.oracle():
            env.step(action)
        outcome = env.unwrapped.match.outcomes[seat]
        assert outcome.success, (task_id, seed)
        assert round(10 * outcome.score) == scenario.worths(scenario.nash)[seat == ONE]


@pytest.mark.parametrize("seat", [ZERO, ONE])
def test_after_three_greedy_proposals_no_deal_is_to_be_had(seat):
    env = gymnasium.make(NEGOTIATION, split="test", seats=seat)
    for task_id in env.unwrapped.task_ids[::60]:
        env.reset(seed=1, options={"task_id": task_id})
        waste(env, [GREED] * 3)
        asked = env.unwrapped.game.history[-1]
        assert asked == ({ZERO: ONE, ONE: ZERO}[seat], env.unwrapped.game.scenario.counts)
        for action in env.unwrapped.oracle():
            env.step(action)
        assert env.unwrapped.match.outcomes[seat].score == 0


@pytest.mark.parametrize("seat", [ZERO, ONE])
def test_a_conceder_asks_for_less_and_less_and_never_offers_a_success(seat):
    env, fell = gymnasium.make(NEGOTIATION, split="test", seats=seat), 0
    other = {ZERO: ONE, ONE: ZERO}[seat]
    for task_id in env.unwrapped.task_ids[::10]:
        env.reset(seed=1, options={"task_id": task_id})
        game = env.unwrapped.game
        waste(env, [GREED] + [WAIT] * 4)
        asked = [kept for speaker, kept in game.history if speaker == other]
        worths = [game.worth(other, kept) for kept in asked]
        assert worths == sorted(worths, reverse=True)
        assert worths[0] == 10, "it begins with its best"
        assert min(worths) >= game.worth(other, game.nash_share(other))
        assert max(game.worth(seat, game.scenario.rest(k)) for k in asked) < game.worth(
            seat, game.nash_share(seat)
        )
        fell += worths[-1] < 10
    assert fell > 30


def test_a_conceder_varies_with_the_seed_alone():
    env = gymnasium.make(NEGOTIATION, split="test", seats=ONE)
    game = env.unwrapped.game

    def asked(task_id, seed):
        env.reset(seed=seed, options={"task_id": task_id})
        waste(env, [WAIT] * 5)
        return tuple(kept for speaker, kept in game.history if speaker == ZERO)

    def worths(bundles):
        return tuple(game.worth(ZERO, kept) for kept in bundles)

    offers = steps = 0
    for task_id in env.unwrapped.task_ids[::60]:
        games = [asked(task_id, seed) for seed in range(8)]
        assert games == [asked(task_id, seed) for seed in range(8)]
        offers += len(set(games)) > 1
        steps += len(set(map(worths, games))) > 1
    assert offers >= 8
    assert steps >= 3, "it concedes by uneven steps"


@pytest.fixture(scope="module")
def shortcuts():
    from shortcut_policies import negotiation

    return negotiation.POLICIES[NEGOTIATION]


@pytest.mark.parametrize("seat", [ZERO, pytest.param(ONE, marks=pytest.mark.full)])
def test_policies_that_ignore_the_values_rarely_succeed(seat, shortcuts):
    """Of everything, then accept, and of ten others."""
    env = gymnasium.make(NEGOTIATION, split="test", seats=seat)
    ids = spread(env.unwrapped.task_ids, 60)
    for name, policy in shortcuts.items():
        ended = []
        for task_id in ids:
            rng, over = random.Random(task_id), False
            observation, info = env.reset(seed=0, options={"task_id": task_id})
            while not over:
                observation, _, over, _, info = env.step(policy(observation, info, rng))
            ended.append((info["success"], info["score"]))
        assert sum(success for success, _ in ended) <= 0.15 * len(ids), name
        assert sum(score for _, score in ended) <= 0.5 * len(ids), name


def test_nobody_is_told_what_things_are_worth_to_the_other():
    game, openings = make_game(NEGOTIATION), {}
    for task in map(tasks().get, ids()):
        scenario, seen = task.data["scenario"], game.begin(task, random.Random())
        openings.setdefault((scenario.counts, scenario.values[0]), set()).add(seen[ZERO])
    assert all(len(texts) == 1 for texts in openings.values())
    assert len(openings) > 3000


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
        (
            "propose: 4 balls",
            "That is more than there is on the table: 1 book, 1 hat, 3 balls, 1 pen, 1 cup, 1 key.",
        ),
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
    for said in (
        "propose: 1 hat, 3 balls",
        "propose: 1 book, 1 hat, 1 ball",
        "propose: 1 book, 3 balls",
        "accept",
    ):
        match.say(match.waiting[0], said)
    assert [(o.score, o.done, o.success) for o in match.outcomes.values()] == [
        (0.9, True, False),
        (0.6, True, False),
    ]
    assert f"{ONE} accepts. You get 1 book, 3 balls, worth 9 of 10 to you." in match.see(ZERO)
    assert "You get 1 hat, 1 pen, 1 cup, 1 key, worth 6 of 10 to you." in match.see(ONE)


def test_a_deal_that_wastes_nothing_succeeds_for_a_side_with_its_nash_share():
    match, _ = begun()
    for said in ("propose: 1 hat, 3 balls", "accept"):
        match.say(match.waiting[0], said)
    assert [(o.score, o.success) for o in match.outcomes.values()] == [(1.0, True), (0.5, False)]


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
    assert len(listed) == 4 * 2**5
    match.say(ZERO, listed[3])
    assert match.game.actions(ONE) == ["accept", "reject", *listed]
