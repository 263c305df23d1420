"""Held-out episodes for `agentgym report`: RUN/episodes/<when>/, one folder per evaluation."""

from collections.abc import Sequence
from pathlib import Path

from agentgym_envs import manifests
from agentgym_envs.evaluate import planned, record
from agentgym_envs.evaluate.episode import turn as turn_row
from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.pool import EnvDescription
from agentgym_envs.wrappers import FORMATS
from agentgym_envs.wrappers.formats import ResponseFormat
from agentgym_train.config import Config
from agentgym_train.data.types import EpisodeFailure, EpisodeStatus, Trajectory
from agentgym_train.files import publish, remove
from agentgym_train.rollout import tasks

HEAD = ("suite", "scenario", "family", "env_id", "attempt", "settings")
ENDS = {
    EpisodeStatus.COMPLETED: "terminated",
    EpisodeStatus.TRUNCATED_HORIZON: "truncated",
    EpisodeStatus.TRUNCATED_CONTEXT: "context",
}


def write(folder: Path, config: Config, *, step: int, rows: Sequence[EpisodeRow]) -> None:
    """Writes the episodes of an evaluation in one step, with a manifest.

    Args:
        folder: of the evaluation.
        config: of the run.
        step: optimizer steps behind the policy.
        rows: of :func:`rows` and :func:`faults`, of all its environments.
    """
    formats = dict.fromkeys(env.action_format for env in config.envs)
    settings = {
        "agent": "policy",
        "model": config.model.path,
        "step": step,
        "format": ", ".join(formats),
        "planned": planned.extended([], rows),
    }
    draft = folder.parent.with_name(".episodes-draft")
    remove(draft)
    record.write(draft, settings, rows)
    manifests.seal(draft)
    folder.parent.mkdir(exist_ok=True)
    remove(folder)
    publish(draft, folder)


def rows(
    config: Config,
    trajectories: Sequence[Trajectory],
    held_out: EnvDescription,
    *,
    step: int,
    part: str = "",
) -> list[EpisodeRow]:
    """Returns the episodes of one environment as lines of results.

    A family is an environment; where there are several agents, what one of them saw and did.
    The turns are those of the last attempt, and the usage is that of all attempts.

    Args:
        config: of the run, with this environment alone.
        trajectories: the episodes.
        held_out: the environment.
        step: optimizer steps behind the policy.
        part: what tells the environment from another of the same id.
    """
    reader, task_difficulty = (
        FORMATS[config.env.action_format](held_out.tools),
        tasks.task_difficulty(held_out) or {},
    )
    return [
        _row(config, t, reader, step, part) | {"difficulty": task_difficulty.get(t.task_id, 0)}
        for t in trajectories
    ]


def faults(
    played: Sequence[EpisodeRow], failures: Sequence[EpisodeFailure], held_out: EnvDescription
) -> list[EpisodeRow]:
    """Returns the episodes that were given up as lines of faults, which are never scored.

    Args:
        played: the episodes of the same environment, at least one.
        failures: of this environment.
        held_out: the environment.
    """
    task_difficulty = tasks.task_difficulty(held_out) or {}
    heads = {row["family"]: {key: row[key] for key in HEAD} for row in played}
    return [
        {"row": "fault"}
        | head
        | {
            "task_id": f.task_id or f"seed-{f.seed}",
            "difficulty": task_difficulty.get(f.task_id, 0),
        }
        | {"usage": {}, "fault": "environment", "try": 1, "error": f.error, "turns": f.turn}
        for f in failures
        if f.given_up
        for head in heads.values()
    ]


def _row(config: Config, t: Trajectory, reader: ResponseFormat, step: int, part: str) -> EpisodeRow:
    family = "/".join(filter(None, (config.env.id.rpartition(":")[2], part, t.agent)))
    named = {
        "row": "episode",
        "suite": "",
        "scenario": "",
        "family": family,
        "env_id": config.env.id,
    }
    which = {"task_id": t.task_id or f"seed-{t.seed}", "attempt": 0, "settings": f"step {step}"}
    ended = {
        "goal": "",
        "success": t.success,
        "score": t.score,
        "end": ENDS[t.status],
        "last": "",
        "seconds": 0.0,
        "memory": None,
    }
    seat = {"seat": t.agent} if t.agent else {}
    turns = [
        turn_row(turn.observation, turn.action, reader, turn.reward, turn.invalid) | seat
        for turn in t.last_attempt
    ]
    prompt, action = (
        sum(len(getattr(call, name)) for call in t.calls) for name in ("prompt_ids", "action_ids")
    )
    usage = {
        "calls": len(t.calls),
        "prompt_tokens": prompt,
        "completion_tokens": action,
        "cost": 0.0,
    }
    return {**named, **which, **ended, "turns": turns, "usage": usage}
