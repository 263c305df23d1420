"""Objectives that name the goal of a game without the steps of the solution.

TextWorld's objective lists the steps ("First of all, go south. And then ..."). The texts here
replace it. They also replace it in the compiled game, where the command ``goal`` prints it. The
code runs in the process that generates games.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textworld import Game
    from textworld.generator.game import Quest

SPOILED = "Any other food on the stove spoils the dinner."


def set_goal(game: "Game", challenge: str, goal: str) -> None:
    """Changes the objective of a generated game before it is compiled.

    In "tw-simple", it also makes every wrong food on the stove lose the game.

    Args:
        game: TextWorld's game.
        challenge: a TextWorld challenge, such as "tw-coin_collector".
        goal: "brief" replaces TextWorld's objective. Other values keep it.
    """
    if challenge == "tw-simple":
        _one_dinner(game)
    elif goal == "brief" and challenge == "tw-coin_collector":
        game.objective = "A coin lies in one of these rooms. Find it and take it."
    elif goal == "brief" and challenge == "tw-treasure_hunter":
        right, wrong = _treasures(game.quests[0])
        names = [game.infos[name].name for name in (right, wrong)]
        game.objective = "Find the {} and take it. You lose the game if you take the {}.".format(
            *names
        )


def _treasures(quest: "Quest") -> tuple[str, str]:
    """Returns the variables of the thing to take and the thing to leave."""
    taken = [
        next(
            fact.names[0]
            for fact in event.condition.preconditions
            if fact.name == "in" and fact.names[1] == "I"
        )
        for event in (*quest.win_events, *quest.fail_events)
    ]
    right, wrong = taken
    return right, wrong


def _one_dinner(game: "Game") -> None:
    """Makes a wrong food on the stove lose a simple game.

    Otherwise a policy could win by putting every food on the stove, one by one.
    """
    from textworld.generator.game import Event, Quest
    from textworld.logic import Proposition

    winning = [
        fact
        for quest in game.quests
        for event in quest.win_events
        for fact in event.condition.preconditions
    ]
    food, stove = next(fact for fact in winning if fact.name == "on").arguments
    wrong_foods = {fact.arguments[0] for fact in game.world.facts if fact.name == "edible"} - {food}
    failures = [
        Event(conditions={Proposition("on", [wrong, stove])})
        for wrong in sorted(wrong_foods, key=lambda v: v.name)
    ]
    game.quests = (*game.quests, Quest(fail_events=failures, reward=0))
    note = next(info for info in game.infos.values() if info.name == "note")
    note.desc += f" {SPOILED}"
    if game.objective:
        game.objective += f" {SPOILED}"
