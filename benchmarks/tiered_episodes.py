"""Plays the episodes for the start of `compare/tiered_maze.toml`.

    python benchmarks/tiered_episodes.py runs/tiered-episodes

A wall follower with some random moves demonstrates tiers 0 and 1 of TieredMaze. Random play of all
tiers shows the words of the other tools, but hardly ever a solution. Each kind of play has a folder
of results.
"""

import random
from pathlib import Path
from typing import Any

import gymnasium
import typer
from shortcut_policies.maze import BARRIERS, COMPASS, WallFollower
from suite_episodes import line

from agentgym_envs.evaluate import record

NOISE = (0.0, 0.0, 0.05, 0.1)
"""Shares of random actions of a demonstration; each draws one."""
PLAYS = {"demo": ([0, 1], 4000, 84), "random": ([0, 1, 2, 3], 800, 40)}
"""Kind of play → tiers, number of episodes, and turn limit."""


def play(env: Any, kind: str, seed: int) -> record.EpisodeRow | None:
    """Returns the line of an episode, or None if a demonstration does not succeed."""
    rng = random.Random(f"{kind} {seed}")
    noise = rng.choice(NOISE) if kind == "demo" else 1.0
    follower, turns = WallFollower(BARRIERS), []
    observation, info = env.reset(seed=seed)
    over, (_, _, limit) = False, PLAYS[kind]
    while not over and len(turns) < limit:
        action = follower(observation, {"turn": len(turns)}, rng)
        if rng.random() < noise:
            action = rng.choice(env.actions())
        if action.startswith("go "):
            follower.heading = COMPASS.index(action.removeprefix("go "))
        after, reward, over, _, info = env.step(action)
        turn = {"observation": observation, "response": action, "action": action}
        turns.append(turn | {"reward": reward, "invalid": info["invalid"]})
        observation = after
    return line(env, info, seed, turns) if info["success"] or kind == "random" else None


def main(folder: Path) -> None:
    """Plays both kinds of episodes."""
    for kind, (tiers, episodes, _) in PLAYS.items():
        env: Any = gymnasium.make(
            "agentgym/TieredMaze-v0", max_episode_steps=-1, split="train", tiers=tiers
        ).unwrapped
        rows = [row for seed in range(episodes) if (row := play(env, kind, seed))]
        record.write(folder / kind, {"agent": kind}, rows)
        turns = sum(len(row["turns"]) for row in rows) / len(rows)
        typer.echo(f"{kind}: {len(rows)} of {episodes} episodes, {turns:.1f} turns each")


if __name__ == "__main__":
    typer.run(main)
