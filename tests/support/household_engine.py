"""The original's engine: TextWorld's for PDDL with the rules and the names of ``alfworld``.

    PYTHONPATH=tests/support python -m household_engine tests/envs/envs/household_recorded.json

This command records games of the engine for ``test_household.py``.
"""

import json
import random
import sys
from functools import lru_cache
from importlib.resources import files

import alfworld.gen.goal_library as goals
import fast_downward
import textworld.envs.pddl.textgen
import textworld.logic
from alfworld.agents.utils.misc import Demangler
from household_games import chosen, game, problem, wild
from textworld.envs import PddlEnv
from textworld.generator.game import EntityInfo

from agentgym_envs.envs.household.env import goal_words
from agentgym_envs.envs.household.plan import HousePlanner
from agentgym_envs.envs.household.rooms import TaskDesign, furnish, goal_of
from agentgym_envs.envs.household.world import HouseWorld

RULES = {
    name: files("alfworld").joinpath("data", f"alfred.{kind}").read_text(encoding="utf-8")
    for name, kind in (("domain", "pddl"), ("grammar", "twl2"))
}


def hurry():
    """Makes the engine ten times as fast, without a change of what it does.

    It parses the same sentences again at every step, and copies things that never change. It
    translates every problem four times, two of them for its planner, which is not used.
    """
    for kind in (EntityInfo, textworld.logic.Variable, textworld.logic.Placeholder):
        kind.__deepcopy__ = lambda self, memo: self
    for module in (textworld.envs.pddl.textgen, textworld.logic):
        module._PARSER.parse = lru_cache(None)(module._PARSER.parse)
    translate = lru_cache(2)(fast_downward.pddl2sas)
    fast_downward.pddl2sas = lambda domain, problem, **options: translate(domain, problem)


def condition(goal):
    """Returns the original's condition of a goal, in PDDL."""
    text = goals.gdict[goal.kind]["pddl"]
    thing, target = (name.removesuffix("type") for name in (goal.thing, goal.target))
    filled = text.format(obj=thing, recep=target, toggle=target).replace("#", "-")
    return filled.partition("(:goal")[2].rpartition(")")[0].rpartition(")")[0]


class Engine:
    """Plays one game."""

    def __init__(self, facts, goal, text):
        arguments = sys.argv
        try:
            self._env = PddlEnv(textworld.EnvInfos(won=True, admissible_commands=True))
            self._env.load(json.loads(game(facts, condition(goal), text, **RULES)))
            names = Demangler(game_infos=self._env._entity_infos)
            for info in self._env._entity_infos.values():
                info.name = names.demangle_alfred_name(info.id)
            self._state = self._env.reset()
        finally:
            sys.argv = arguments  # the translator of problems overwrites them

    def step(self, command):
        self._state, *_ = self._env.step(command)

    def shown(self):
        """Returns the feedback, the admissible commands and whether the game is won."""
        state = self._state
        return state.feedback, state["admissible_commands"], bool(state["won"])


RECORDED = {
    TaskDesign("pick_cool_then_place_in_recep", "Mug", "Microwave", 29, 0): "random",
    TaskDesign("pick_clean_then_place_in_recep", "Cloth", "CounterTop", 425, 0): "oracle",
    TaskDesign("look_at_obj_in_light", "Pen", "DeskLamp", 308, 0): "hostile",
    TaskDesign("pick_two_obj_and_place", "Vase", "CoffeeTable", 215, 0): "random",
}
"""A game in a room of each kind, and the way to play it. All but the second one are wild."""


def recorded(design, mode):
    """Plays 40 turns; returns the problem in PDDL and the turns.

    A turn has a command, the feedback, the admissible commands without "go to", and the win.
    """
    rng = random.Random(f"recorded {design.id}")
    facts, goal, words = furnish(design), goal_of(design), goal_words(design)
    if mode != "oracle":
        wild(facts, goal, rng)
    world, turns, command = HouseWorld(facts), [], ""
    engine, planner = Engine(facts, goal, words.removesuffix(".")), HousePlanner(world, goal)
    for _ in range(41):
        feedback, listed, won = engine.shown()
        turns.append([command, feedback, [c for c in listed if not c.startswith("go to ")], won])
        command = chosen(world, planner, rng, mode)
        world.step(command.strip())
        engine.step(command)
    return {"words": words, "problem": problem(facts, condition(goal)), "turns": turns}


if __name__ == "__main__":
    hurry()
    games = [json.dumps(recorded(design, mode)) for design, mode in RECORDED.items()]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(games) + "\n]\n")
