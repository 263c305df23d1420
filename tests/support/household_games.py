"""Games of Household in the format of the original, and the original's engine to play them."""

import json
from collections import defaultdict

DOMAIN_TYPES = {
    "rtype": ("microwavetype", "sinkbasintype", "fridgetype"),
    "otype": ("knifetype", "butterknifetype"),
}
"""Types that the original's domain names, so every problem declares them."""
SORTS = {
    "atlocation": ("agent", "location"),
    "holds": ("agent", "object"),
    "holdsany": ("agent",),
    "receptacleatlocation": ("receptacle", "location"),
    "objectatlocation": ("object", "location"),
    "inreceptacle": ("object", "receptacle"),
    "inreceptacleobject": ("object", "object"),
    "receptacletype": ("receptacle", "rtype"),
    "objecttype": ("object", "otype"),
    "cancontain": ("rtype", "otype"),
    "openable": ("receptacle",),
    "opened": ("receptacle",),
}
ONE = (
    "(exists (?r - receptacle ?o - object) (and (inReceptacle ?o ?r) (objectType ?o {thing})"
    " (receptacleType ?r {target}){more}))"
)
CONDITIONS = {
    "pick_and_place_simple": ONE.replace("{more}", ""),
    "pick_clean_then_place_in_recep": ONE.replace("{more}", " (cleanable ?o) (isClean ?o)"),
    "pick_heat_then_place_in_recep": ONE.replace("{more}", " (heatable ?o) (isHot ?o)"),
    "pick_cool_then_place_in_recep": ONE.replace("{more}", " (coolable ?o) (isCool ?o)"),
    "pick_two_obj_and_place": ONE.replace(
        "{more}",
        " (exists (?p - object) (and (not (= ?o ?p)) (objectType ?p {thing})"
        " (receptacleType ?r {target}) (inReceptacle ?p ?r)))",
    ),
    "look_at_obj_in_light": (
        "(and (exists (?t - object ?r - receptacle ?a - agent ?l - location) (and (objectType ?t"
        " {target}) (toggleable ?t) (isToggled ?t) (receptacleAtLocation ?r ?l) (atLocation ?a ?l)"
        " (inReceptacle ?t ?r))) (exists (?o - object ?a - agent) (and (objectType ?o {thing})"
        " (holds ?a ?o))))"
    ),
}
"""The conditions of the six kinds of goals, in other words than the original's."""


def condition(goal):
    return CONDITIONS[goal.kind].format(thing=goal.thing, target=goal.target)


def problem(facts, goal):
    """Returns a problem in PDDL.

    Args:
        facts: as in ``agentgym_envs.envs.household.world``.
        goal: the condition, in PDDL.
    """
    sorts = defaultdict(set)
    for sort, names in DOMAIN_TYPES.items():
        sorts[sort].update(names)
    for name, rows in facts.items():
        for row in rows:
            for one, sort in zip(row, SORTS.get(name, ("object",)), strict=True):
                sorts[sort].add(one)
    objects = "\n".join(f"{one} - {sort}" for sort in sorted(sorts) for one in sorted(sorts[sort]))
    init = "\n".join(f"({name} {' '.join(row)})" for name, rows in facts.items() for row in rows)
    return (
        f"(define (problem plan_trial)\n(:domain alfred)\n(:objects\n{objects}\n)\n(:init\n"
        f"{init}\n(= (total-cost) 0)\n)\n(:goal {goal}))"
    )


def game(facts, goal, text, *, domain="", grammar=""):
    """Returns the text of a game file.

    Args:
        facts: see :func:`problem`.
        goal: see :func:`problem`.
        text: the goal in words.
        domain: the original's domain; the twin does not read it.
        grammar: the original's grammar; without it, a grammar with what the twin reads.
    """
    short = 'grammar :: """{"task": [{"rhs": "Your task is to: UNKNOWN GOAL."}]}""";\n'
    short += 'action PutObject { template :: "move {o} to {r}"; }'
    data = {
        "pddl_domain": domain,
        "grammar": (grammar or short).replace("UNKNOWN GOAL", text),
        "pddl_problem": problem(facts, goal),
        "solvable": True,
        "walkthrough": ["look"],
    }
    return json.dumps(data)
