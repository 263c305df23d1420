"""Transcripts of a few episodes, as text that two processes can compare."""

import json
from collections.abc import Sequence
from typing import Any

import gymnasium

from agentgym_envs import registry


def transcript(
    env_id: str, kwargs: dict[str, Any], *, seeds: Sequence[int] = (0, 1, 2), turns: int = 15
) -> list[str]:
    """Returns the results of a few short episodes of an environment, as lines of JSON."""
    env = gymnasium.make(registry.spec(env_id), **(kwargs | {"admissible": True}))
    try:
        return record(env, seeds=seeds, turns=turns)
    finally:
        env.close()


def record(
    env: gymnasium.Env[str, str], *, seeds: Sequence[int] = (0, 1, 2), turns: int = 15
) -> list[str]:
    """Returns the transcript of an environment that lists admissible actions.

    Earlier episodes in the environment do not change the transcript.
    """
    lines = []
    for seed in seeds:
        observation, info = env.reset(seed=seed)
        lines.append(json.dumps([observation, info]))
        for turn in range(turns):
            actions = info["admissible_actions"]
            action = (
                "an odd action"
                if turn == 3 or not actions
                else actions[(seed * 7 + turn * 3) % len(actions)]
            )
            observation, reward, terminated, truncated, info = env.step(action)
            lines.append(json.dumps([action, observation, reward, terminated, truncated, info]))
            if terminated or truncated:
                break
    return lines


def game_transcript(
    game_id: str, kwargs: dict[str, Any], *, seeds: Sequence[int] = (0, 1, 2), turns: int = 15
) -> list[str]:
    """Returns the results of a few short episodes for all seats of a game, as lines of JSON."""
    from agentgym_envs import make_parallel

    env, lines = make_parallel(game_id, **kwargs), list[str]()
    for seed in seeds:
        shown: tuple[Any, ...] = env.reset(seed=seed)
        lines.append(json.dumps(shown))
        for turn in range(turns):
            acting = [seat for seat in env.agents if shown[-1][seat]["acts"]]
            listed = {seat: env.game.actions(seat) for seat in acting}
            actions = {
                seat: "odd words" if turn == 3 else all_[(seed * 7 + turn * 3) % len(all_)]
                for seat, all_ in listed.items()
            }
            shown = env.step(actions)
            lines.append(json.dumps([actions, *shown]))
            if not env.agents:
                break
    return lines
