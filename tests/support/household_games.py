"""Games of Household in the format of the original, and the original's engine to play them."""

import json
from collections import defaultdict

from agentgym_envs.envs.household.world import MARKS

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


HOSTILE = (
    *(
        "",
        " ",
        "LOOK",
        "look.",
        "go",
        "go to",
        "go to nowhere 1",
        "take",
        "put",
        "xyzzy",
        "examine",
    ),
    *(
        "open",
        "inventory please",
        "help me",
        "use",
        "a" * 3000,
        "\x00",
        "go to 家 1",
        "#look#",
        "{}",
    ),
)


def wild(facts, goal, rng):
    """Adds what tasks of this package do not have: the original's games can have it.

    The objects of the goal stay within reach, because the engine refuses games without a solution.
    """
    objects = [row[0] for row in facts["pickupable"]]
    receptacles = [row[0] for row in facts["receptacleatlocation"]]
    places = [row[1] for row in facts["receptacleatlocation"]]
    others = [one for one, kind in facts["objecttype"] if one in objects and kind != goal.thing]
    lost = set(rng.sample(others, len(others) // 6))
    facts["inreceptacle"] = [row for row in facts["inreceptacle"] if row[0] not in lost]
    outer = [row[0] for row in facts["isreceptacleobject"]]
    if outer:
        facts["inreceptacleobject"] += [(one, rng.choice(outer)) for one in sorted(lost)]
    for mark in MARKS:
        facts[mark] += [(one,) for one in rng.sample(objects, len(objects) // 3)]
    facts["opened"] += [row for row in facts["openable"] if rng.random() < 0.3]
    facts["inreceptacle"] += [(rng.choice(objects), rng.choice(receptacles)) for _ in range(3)]
    facts["inreceptacle"] = sorted(set(facts["inreceptacle"]))
    facts["objectatlocation"] = [
        (one, place if rng.random() < 0.8 else rng.choice(places))
        for one, place in facts["objectatlocation"]
    ]
    facts["receptacleatlocation"] = [
        (one, place if rng.random() < 0.8 else rng.choice(places))
        for one, place in facts["receptacleatlocation"]
    ]
    if rng.random() < 0.5:
        facts["atlocation"] = [("agent1", rng.choice(places))]
    if lost and rng.random() < 0.5:
        first = min(lost, key=lambda one: ("knife" not in one, one))
        facts["holds"], facts["holdsany"] = [("agent1", first)], [("agent1",)]
    facts["pickupable"] += [row for row in facts["toggleable"] if row not in facts["pickupable"]]


def chosen(world, planner, rng, mode):
    """Returns the next command: of the oracle, of a random verb, or a hostile one."""
    plan = next(planner.commands(), None)
    draw = rng.random()
    if mode == "hostile" and draw < 0.3:
        return rng.choice([*HOSTILE, *(command[:-1] for command in sorted(world.moves()))])
    if plan is not None and (mode == "oracle" or draw > 0.6):
        return plan
    moves = sorted(world.moves())
    verbs = sorted({command.partition(" ")[0] for command in moves})
    if rng.random() < 0.7:
        verbs = [verb for verb in verbs if verb not in ("help", "inventory", "look")]
    verb = rng.choice(verbs)
    return rng.choice([command for command in moves if command.partition(" ")[0] == verb])
