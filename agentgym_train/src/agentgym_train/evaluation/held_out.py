"""Held-out evaluation of a run: before, during and after training, and of the baselines."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from transformers import PreTrainedTokenizerBase

from agentgym_envs.errors import AgentGymError
from agentgym_envs.evaluate import baselines
from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.pool import EnvDescription
from agentgym_envs.tasks import spread
from agentgym_train.config import Config
from agentgym_train.data.types import Trajectory
from agentgym_train.distributed import Distributed
from agentgym_train.evaluation import episodes, evaluate
from agentgym_train.files import writing
from agentgym_train.protocols import Generator
from agentgym_train.reporting import metrics
from agentgym_train.reporting.metrics import FailureLog
from agentgym_train.rollout.build import held_out_keywords

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
        described: Sequence[EnvDescription],
        generator: Generator,
        distributed: Distributed,
        failures: FailureLog,
    ):
        self.config, self.folder, self.tokenizer = config, folder, tokenizer
        self.envs = list(zip(config.each(), described, strict=True))
        self.generator, self.distributed, self.failures = generator, distributed, failures
        self.notes = metrics.EvaluationNotes(folder / "evaluation.json", distributed)

    def play(self, key: str, step: int) -> dict[str, list[Trajectory]]:
        """Plays all held-out episodes and notes the result under ``key``.

        The episodes are written first, so that a noted result has its episodes.

        Returns the episodes of each environment by its name.

        All processes call it, and each plays its share.
        """
        found = {one.env.name: self._gather(one, held_out, step) for one, held_out in self.envs}
        played = {name: part.trajectories for name, part in found.items()}
        result = evaluate.overall(played) | {"step": step}
        if self.distributed.is_main:
            place = self.folder / "episodes" / key.replace(" ", "-")
            with writing(self.folder):
                episodes.write(place, self.config, step=step, rows=self._rows(found, step))
        self.notes.add(key, result)
        return played

    def _gather(
        self, config: Config, held_out: EnvDescription, step: int
    ) -> evaluate.PlayedEpisodes:
        """Plays one environment; returns the episodes and failures of all processes."""
        share = slice(self.distributed.rank, None, self.distributed.size)
        mine = evaluate.evaluate(
            config, self.generator, self.tokenizer, held_out, share=share, key=f"held-out {step}"
        )
        failures = self.failures.add(step, config.env.name, mine.failures, evaluation=True)
        parts = self.distributed.gather(mine.trajectories)
        return evaluate.PlayedEpisodes([t for part in parts for t in part], failures)

    def _rows(self, found: Mapping[str, evaluate.PlayedEpisodes], step: int) -> list[EpisodeRow]:
        """Returns the episodes as lines of results; names tell environments of one id apart."""
        ids = Counter(one.env.id for one, _ in self.envs)
        rows: list[EpisodeRow] = []
        for one, held_out in self.envs:
            name = one.env.name
            part = name if ids[one.env.id] > 1 else ""
            played = episodes.rows(one, found[name].trajectories, held_out, step=step, part=part)
            rows += [*played, *episodes.faults(played, found[name].failures, held_out)]
        return rows

    def add_baselines(self, console: Console) -> None:
        """Measures random play and the oracle; all processes call it, and each plays its share.

        A failing or unsuitable environment omits that baseline; the run continues.
        """
        for agent in ("random", "oracle"):
            try:
                each = {one.env.name: self._baseline(one, d, agent) for one, d in self.envs}
            except AgentGymError as error:
                if self.distributed.is_main:
                    console.print(
                        f"warning: no row for {agent}: {error}",
                        style="yellow",
                        markup=False,
                        soft_wrap=True,
                    )
                continue
            count = sum(row["episodes"] for row in each.values())
            means = {
                key: sum(row[key] * row["episodes"] for row in each.values()) / count
                for key in BASELINE
            }
            self.notes.add(agent, evaluate.with_each(means | {"episodes": count}, each))

    def _baseline(self, config: Config, held_out: EnvDescription, agent: str) -> dict[str, float]:
        """Returns success, score, turns and episodes of a baseline in one environment.

        Raises:
            AgentGymError: the baseline cannot be played in one of the processes.
        """
        rank, size = self.distributed.rank, self.distributed.size
        parts = self.distributed.gather(_share(config, held_out, agent, slice(rank, None, size)))
        if reason := next((part for part in parts if isinstance(part, str)), None):
            raise AgentGymError(reason)
        count = sum(map(len, parts))
        played = [parts[number % size][number // size] for number in range(count)]
        means = [sum(values) / count for values in zip(*played, strict=True)]
        return dict(zip(BASELINE, means, strict=True)) | {"episodes": count}


def _share(
    config: Config, held_out: EnvDescription, agent: str, share: slice
) -> list[tuple[float, ...]] | str:
    """Plays a share of a baseline's tasks.

    Returns:
        The numbers of ``BASELINE`` of each episode, or the reason why there are none.
    """
    task_ids = held_out.task_ids and spread(held_out.task_ids, config.eval.episodes)[share]
    if task_ids == []:
        return []
    try:
        episodes = baselines.play(
            config.env.id,
            agent,
            task_ids=task_ids,
            horizon=evaluate.horizon(config),
            workers=config.env.workers or None,
            hosts=config.env.hosts,
            timeout=config.env.timeout,
            kwargs=held_out_keywords(config),
        )
    except AgentGymError as error:
        return str(error)
    return [(float(e.success), e.score, float(e.turns)) for e in episodes]
