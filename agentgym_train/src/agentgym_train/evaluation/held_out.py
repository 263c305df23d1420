"""Held-out evaluation of a run: before, during and after training, and of the baselines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from agentgym_envs.errors import AgentGymError
from agentgym_envs.evaluate import baselines
from agentgym_envs.evaluate.record import Row
from agentgym_envs.pool import Description
from agentgym_train.config import Config
from agentgym_train.data.types import Trajectory
from agentgym_train.evaluation import episodes, evaluate
from agentgym_train.files import writing
from agentgym_train.reporting import metrics
from agentgym_train.run.prepare import held_out_keywords
from agentgym_train.trainer import Trainer

BASELINE = ("success", "score", "turns")


class HeldOut:
    """Plays held-out tasks with the policy of the moment and keeps what came of it.

    Args:
        trainer: has the policy.
        folder: of the run.
        described: the held-out environments.
    """

    def __init__(self, trainer: Trainer, folder: Path, described: Sequence[Description]):
        self.trainer, self.folder, self.described = trainer, folder, described
        self.notes = metrics.Notes(folder / "evaluation.json", write=trainer.distributed.is_main)

    def play(self, key: str, step: int) -> list[Trajectory]:
        """Plays, all processes together, and notes the result under ``key``; returns the episodes of all."""
        trainer, distributed = self.trainer, self.trainer.distributed
        share = slice(distributed.rank, None, distributed.size)
        played: dict[str, list[Trajectory]] = {}
        rows: list[Row] = []
        ids = [env.config.env.id for env in trainer.envs]
        for env, described in zip(trainer.envs, self.described, strict=True):
            options: dict[str, Any] = {"share": share, "key": f"held-out {step}"}
            mine = evaluate.evaluate(
                env.config, trainer.generator, env.chat.tokenizer, described, **options
            )
            trainer.note_failures(step, env, mine.failures, evaluation=True)
            played[env.name] = [
                t for everyones in distributed.gather(mine.trajectories) for t in everyones
            ]
            part = env.name if ids.count(env.config.env.id) > 1 else ""
            rows += episodes.rows(env.config, played[env.name], described, step=step, part=part)
        self.notes.add(key, evaluate.overall(played) | {"step": step})
        if distributed.is_main:
            with writing(self.folder):
                episodes.write(
                    self.folder / "episodes" / key.replace(" ", "-"),
                    trainer.config,
                    step=step,
                    rows=rows,
                )
        return [t for part in played.values() for t in part]


def add_baselines(config: Config, notes: metrics.Notes, console: Console) -> None:
    """Measures random play and the oracle; an environment that fails, or cannot be asked for it, costs the row and not the run."""
    for agent in ("random", "oracle"):
        try:
            each = {one.env.name: baseline(one, agent) for one in config.each()}
            count = sum(row["episodes"] for row in each.values())
            means = {
                key: sum(row[key] * row["episodes"] for row in each.values()) / count
                for key in BASELINE
            }
            notes.add(agent, evaluate.with_each(means | {"episodes": count}, each))
        except AgentGymError as error:
            console.print(
                f"warning: no row for {agent}: {error}",
                style="yellow",
                markup=False,
                soft_wrap=True,
            )


def baseline(config: Config, agent: str) -> dict[str, float]:
    """Returns success, score, turns and episodes of a baseline on the held-out tasks."""
    episodes = baselines.play(
        config.env.id,
        agent,
        episodes=config.eval.episodes,
        horizon=evaluate.horizon(config),
        workers=config.env.workers or None,
        timeout=config.env.timeout,
        kwargs=held_out_keywords(config),
    )
    means = [
        sum(values) / len(episodes)
        for values in zip(*[(e.success, e.score, e.turns) for e in episodes], strict=True)
    ]
    return dict(zip(BASELINE, means, strict=True)) | {"episodes": len(episodes)}
