"""The original's engine: TextWorld's for PDDL with the rules and the names of ``alfworld``."""

import json
import sys
from functools import lru_cache
from importlib.resources import files

import alfworld.gen.goal_library as goals
import fast_downward
import textworld.envs.pddl.textgen
import textworld.logic
from alfworld.agents.utils.misc import Demangler
from household_games import game
from textworld.envs import PddlEnv
from textworld.generator.game import EntityInfo

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
