"""Held-out evaluation of a run: before, during and after training, and of the baselines."""

from pathlib import Path

from rich.console import Console

from agentgym_envs import baselines
from agentgym_envs.errors import AgentGymError
from agentgym_envs.pool import Description
from agentgym_train import episodes, evaluate, metrics
from agentgym_train.config import Config
from agentgym_train.files import writing
from agentgym_train.run.prepare import held_out_keywords
from agentgym_train.trainer import Trainer
from agentgym_train.types import Trajectory


class HeldOut:
    """Plays held-out tasks with the policy of the moment and keeps what came of it.

    Args:
        trainer: has the policy.
        folder: of the run.
        described: the held-out environment.
    """

    def __init__(self, trainer: Trainer, folder: Path, described: Description):
        self.trainer, self.folder, self.described = trainer, folder, described
        self.notes = metrics.Notes(folder / "evaluation.json", write=trainer.world.first)

    def play(self, key: str, step: int) -> list[Trajectory]:
        """Plays, all processes together, and notes the result under ``key``; returns the episodes of all."""
        trainer, world = self.trainer, self.trainer.world
        share = slice(world.rank, None, world.size)
        ids = self.described.task_ids
        played = evaluate.evaluate(trainer.config, trainer.generator, trainer.chat, ids, share=share, key=f"held-out {step}")
        parts = world.gather(played)
        trainer.note_failures(step, [f for part in parts for f in part.failures], evaluation=True)
        everyone = [t for part in parts for t in part.trajectories]
        self.notes.add(key, evaluate.summary(everyone) | {"step": step})
        if world.first:
            place = self.folder / "episodes" / key.replace(" ", "-")
            with writing(self.folder):
                episodes.write(place, trainer.config, step=step, tools=self.described.tools, trajectories=everyone)
        return everyone


def add_baselines(config: Config, notes: metrics.Notes, console: Console) -> None:
    """Measures random play and the oracle; an environment that fails, or cannot be asked for it, costs the row and not the run."""
    for agent in ("random", "oracle"):
        try:
            notes.add(agent, baseline(config, agent))
        except AgentGymError as error:
            console.print(f"warning: no row for {agent}: {error}", style="yellow", markup=False, soft_wrap=True)


def baseline(config: Config, agent: str) -> dict[str, float]:
    """Returns success, score, turns and episodes of a baseline on the held-out tasks."""
    episodes = baselines.play(
        config.env.id,
        agent,
        episodes=config.eval.episodes,
        horizon=evaluate.horizon(config),
        workers=config.env.workers or None,
        timeout=config.env.timeout,
        **held_out_keywords(config),
    )
    means = [sum(values) / len(episodes) for values in zip(*[(e.success, e.score, e.turns) for e in episodes], strict=True)]
    return dict(zip(("success", "score", "turns"), means, strict=True)) | {"episodes": len(episodes)}
