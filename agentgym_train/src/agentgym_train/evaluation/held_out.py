"""Held-out evaluation of a run: before, during and after training, and of the baselines."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from transformers import PreTrainedTokenizerBase

from agentgym_envs.errors import AgentGymError
from agentgym_envs.evaluate import baselines
from agentgym_envs.evaluate.record import Row
from agentgym_envs.pool import Description
from agentgym_train.config import Config
from agentgym_train.data.types import Trajectory
from agentgym_train.engine.distributed import Distributed
from agentgym_train.evaluation import episodes, evaluate
from agentgym_train.files import writing
from agentgym_train.protocols import Generator
from agentgym_train.reporting import metrics
from agentgym_train.reporting.failures import FailureLog
from agentgym_train.rollout.descriptions import held_out_keywords

BASELINE = ("success", "score", "turns")


class HeldOut:
    """Plays held-out tasks with the current policy and keeps the results.

    Args:
        config: the run.
        folder: of the run.
        tokenizer: the policy's.
        described: the held-out environments, in the order of ``config.each()``.
        generator: the policy.
        distributed: the processes, which share the episodes.
        failures: the log for failures of the environments.
    """

    def __init__(
        self,
        config: Config,
        folder: Path,
        *,
        tokenizer: PreTrainedTokenizerBase,
        described: Sequence[Description],
        generator: Generator,
        distributed: Distributed,
        failures: FailureLog,
    ):
        self.config, self.folder, self.tokenizer = config, folder, tokenizer
        self.envs = list(zip(config.each(), described, strict=True))
        self.generator, self.distributed, self.failures = generator, distributed, failures
        self.notes = metrics.Notes(folder / "evaluation.json", write=distributed.is_main)

    def play(self, key: str, step: int) -> list[Trajectory]:
        """Plays all held-out episodes and notes the result under ``key``; returns the episodes.

        All processes call it, and each plays its share.
        """
        played = {one.env.name: self._gather(one, held_out, step) for one, held_out in self.envs}
        self.notes.add(key, evaluate.overall(played) | {"step": step})
        if self.distributed.is_main:
            place = self.folder / "episodes" / key.replace(" ", "-")
            with writing(self.folder):
                episodes.write(place, self.config, step=step, rows=self._rows(played, step))
        return [t for part in played.values() for t in part]

    def _gather(self, config: Config, held_out: Description, step: int) -> list[Trajectory]:
        """Plays one environment; returns the episodes of all processes."""
        share = slice(self.distributed.rank, None, self.distributed.size)
        mine = evaluate.evaluate(
            config, self.generator, self.tokenizer, held_out, share=share, key=f"held-out {step}"
        )
        self.failures.add(step, config.env.name, mine.failures, evaluation=True)
        return [t for part in self.distributed.gather(mine.trajectories) for t in part]

    def _rows(self, played: Mapping[str, list[Trajectory]], step: int) -> list[Row]:
        """Returns the episodes as lines of results; names tell environments of one id apart."""
        ids = Counter(one.env.id for one, _ in self.envs)
        rows: list[Row] = []
        for one, held_out in self.envs:
            name = one.env.name
            part = name if ids[one.env.id] > 1 else ""
            rows += episodes.rows(one, played[name], held_out, step=step, part=part)
        return rows


def add_baselines(config: Config, notes: metrics.Notes, console: Console) -> None:
    """Measures random play and the oracle.

    A failing or unsuitable environment omits that baseline; the run continues.
    """
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
