"""Plays the teachers' episodes for `configs/suite.toml`, which names the environments.

    python benchmarks/suite_episodes.py runs/suite-episodes

Writes a folder of results per environment, with successful episodes only. In about two of five
episodes of BabyAI, LockedMaze and TextCraft, some actions are random, so the teacher shows how to
recover.
"""

import random
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import gymnasium
import typer

from agentgym_envs.envs.household.searcher import search
from agentgym_envs.evaluate import record
from agentgym_train import config as configuration

CONFIG = Path(__file__).parent / "configs" / "suite.toml"
NOISE = (0.0, 0.0, 0.0, 0.1, 0.2)
"""Shares of random actions; each episode draws one."""
MOST_TURNS = 50
Teacher = Generator[str, str, None]
"""Yields actions, and receives the observation after each of them."""


def planned(env: Any, observation: str) -> Teacher:
    """Plays the oracle's plan, which random actions do not disturb."""
    yield from env.oracle()


def spaced(env: Any, observation: str) -> Teacher:
    """Plays the oracle's plan of Search, with a space before each name.

    A name then has the same tokens as in an observation, so the policy can copy it.
    """
    for action in env.oracle():
        yield action.replace("<search>", "<search> ").replace("<answer>", "<answer> ")


def replanned(env: Any, observation: str) -> Teacher:
    """Asks the oracle for a new plan at each turn."""
    while (action := next(iter(env.oracle()), None)) is not None:
        yield action


def searching(env: Any, observation: str) -> Teacher:
    """Plays the expert of Household, which knows only what it has seen."""
    yield from search(observation)


VERBS = {"go to": "go to ", "pick up": "pickup ", "open": "toggle and go through "}
GOAL = re.compile(rf"({'|'.join(VERBS)}) (?:a|the) (?:(\w+) )?(ball|box|key|door|object)")


def macro(env: Any, observation: str) -> Teacher:
    """Takes the macro action to the goal's thing if it is available, else the oracle's action."""
    goal = GOAL.fullmatch(observation.partition("\n")[0].removeprefix("Your goal: "))
    for action in replanned(env, observation):
        found = (one for one in env.actions() if goal and _reaches(one, *goal.groups()))
        yield next(found, action)


def _reaches(action: str, verb: str, colour: str | None, kind: str) -> bool:
    head, name = action[: len(VERBS[verb])], action[len(VERBS[verb]) :].split()[:-1]
    return (
        head == VERBS[verb]
        and colour in (None, *name[:1])
        and (kind == "object" or name[-1:] == [kind])
    )


TEACHERS = {
    "LockedMaze": (replanned, True),
    "BabyAI": (macro, True),
    "TextCraft": (planned, True),
    "Search": (spaced, False),
    "Household": (searching, False),
}
"""Environment → teacher, and whether some actions are random."""


def play(name: str, env: Any, seed: int) -> record.EpisodeRow | None:
    """Returns the line of an episode, or None if the teacher does not succeed."""
    teach, noisy = TEACHERS[name]
    rng = random.Random(f"{name} {seed}")
    noise = rng.choice(NOISE) if noisy else 0.0
    observation, info = env.reset(seed=seed)
    teacher, turns = teach(env, observation), []
    try:
        wanted = next(teacher)
        while len(turns) < MOST_TURNS:
            explores = rng.random() < noise
            action = rng.choice(env.actions()) if explores else wanted
            after, reward, over, _, info = env.step(action)
            turn = {"observation": observation, "response": action, "action": action}
            turns.append(turn | {"reward": reward, "invalid": info["invalid"]})
            if over:
                break
            observation = after
            # After a random action, a plan for this state replaces the wanted action.
            wanted = wanted if explores and teach is planned else teacher.send(after)
    except (StopIteration, RuntimeError, AssertionError):  # minigrid's bot cannot solve every state
        return None
    return line(env, info, seed, turns) if info["success"] else None


def line(
    env: Any, info: dict[str, Any], seed: int, turns: list[dict[str, Any]]
) -> record.EpisodeRow:
    """Returns the line of a finished episode in a result file."""
    head = dict.fromkeys(("suite", "scenario", "settings"), "")
    return head | {
        **{"row": "episode", "family": env.spec.id, "env_id": env.spec.id, "attempt": seed},
        **{"task_id": info["task_id"], "difficulty": 0, "goal": info["goal"], "usage": {}},
        **{"success": info["success"], "score": info["score"], "end": "terminated", "turns": turns},
    }


def main(folder: Path, episodes: int = 4000) -> None:
    """Plays a number of episodes of each environment."""
    for table in configuration.load(CONFIG).envs:
        env = gymnasium.make(table.id, max_episode_steps=-1, **table.kwargs).unwrapped
        rows = [row for seed in range(episodes) if (row := play(table.name, env, seed))]
        record.write(folder / table.name, {"agent": "teacher"}, rows)
        turns = sum(len(row["turns"]) for row in rows) / len(rows)
        typer.echo(f"{table.name}: {len(rows)} of {episodes} episodes, {turns:.1f} turns each")


if __name__ == "__main__":
    typer.run(main)
