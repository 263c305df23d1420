"""Checks of a game's matches: the acting seats, their texts and their rewards."""

import random
import re
from collections.abc import Callable

from agentgym_envs.errors import ConformanceError
from agentgym_envs.multi.game import TextGame
from agentgym_envs.testing.checked_match import CheckedMatch, TestedGame
from agentgym_envs.testing.hostile import hostile_actions
from agentgym_envs.testing.subject import expect

_SEAT = re.compile(r"[a-z]+_\d+")  # PettingZoo's form of an agent's name
WALKS = 2  # tasks per split
ORACLES = 6  # tasks per split
TURNS = 2000  # limit per match


def seats(subject: TestedGame) -> None:
    """Seats have unique names like player_0 and are the same in every game."""
    names = subject.make().seats
    expect(
        isinstance(names, tuple) and len(names) > 0,
        f"seats must be a non-empty tuple, not {names!r}",
    )
    wrong = [name for name in names if not (isinstance(name, str) and _SEAT.fullmatch(name))]
    expect(not wrong, f"{wrong}: seats must have names like 'player_0'")
    expect(len(set(names)) == len(names), f"a seat name is used twice: {names}")
    expect(names == subject.make().seats, f"the seats were {names} and are {subject.make().seats}")


def walks(subject: TestedGame) -> None:
    """Listed actions are understood, all seats end together, and secrets stay hidden.

    The check plays random listed actions. Scores must be in [0, 1].
    """
    for task_id in subject.sample(WALKS):
        rng = random.Random(task_id)

        def choose(game: TextGame, seat: str, rng: random.Random = rng) -> str:
            listed = game.actions(seat)
            expect(
                bool(listed) and all(isinstance(a, str) for a in listed),
                f"actions({seat!r}) returns {listed!r}, not a non-empty list of str",
            )
            expect(listed == game.actions(seat), f"actions({seat!r}) changes without a turn")
            expect(
                len(set(listed)) == len(listed),
                f"actions({seat!r}) lists an action twice: {listed[:20]}",
            )
            return rng.choice(listed)

        _play(subject, task_id, choose)


def oracle(subject: TestedGame) -> None:
    """The oracle in all seats ends sampled tasks of every split and is always understood."""
    for task_id in subject.sample(ORACLES):
        watched = _play(subject, task_id, lambda game, seat: game.oracle(seat))
        expect(
            watched.match.over,
            f"{task_id!r} has not ended after {watched.turns} turns of the oracle",
        )


def hostility(subject: TestedGame) -> None:
    """None of 2,000 hostile actions raises, in any seat.

    All texts must stay valid Unicode of a limited length.
    """
    tasks = subject.sample(WALKS)
    for seat in subject.make().seats:
        for part, task_id in enumerate(tasks):
            watched = _bring(subject, task_id, seat, subject.start_match(task_id))
            for action in hostile_actions(watched.game.actions(seat), part=part, parts=len(tasks)):
                watched = _bring(subject, task_id, seat, watched)
                _say(watched, task_id, seat, action)


def _bring(subject: TestedGame, task_id: str, seat: str, watched: CheckedMatch) -> CheckedMatch:
    """Plays listed actions of the other seats until a seat must act.

    A match that ends on the way is replaced by a new one.
    """
    rng = random.Random(f"{task_id} {watched.turns}")
    for _ in range(TURNS):
        if watched.match.over:
            watched = subject.start_match(task_id)
        waiting = watched.match.waiting[0]
        if waiting == seat:
            return watched
        _say(watched, task_id, waiting, rng.choice(watched.game.actions(waiting)))
    raise ConformanceError(f"{task_id!r}: {seat} does not act in {TURNS} turns of the others")


def _play(
    subject: TestedGame, task_id: str, choose: Callable[[TextGame, str], str]
) -> CheckedMatch:
    watched = subject.start_match(task_id)
    while not watched.match.over and watched.turns < TURNS:
        seat = watched.match.waiting[0]
        action = choose(watched.game, seat)
        _say(watched, task_id, seat, action)
        misunderstood = [s for s, outcome in watched.match.outcomes.items() if outcome.invalid]
        expect(
            not misunderstood,
            f"{task_id!r}, turn {watched.turns}: {seat} says {action[:40]!r}, and {misunderstood}"
            " are invalid",
        )
    return watched


def _say(watched: CheckedMatch, task_id: str, seat: str, action: str) -> None:
    try:
        watched.say(seat, action)
    except Exception as error:
        kind = "" if isinstance(error, ConformanceError) else f"{type(error).__name__}: "
        raise ConformanceError(
            f"{task_id!r}, {seat} says {action[:40]!r}: {kind}{error}"
        ) from error
