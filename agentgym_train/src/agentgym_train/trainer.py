"""The training loop. Data flows from top to bottom; each name is a file or folder beside this one."""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase

from agentgym_envs.pool import Description
from agentgym_train import checkpoint, curricula, metrics, plugins, streams, tasks
from agentgym_train.batching import pack
from agentgym_train.config import Config
from agentgym_train.engine.deepspeed import Engine
from agentgym_train.engine.logps import token_logps
from agentgym_train.errors import ConfigError, FaultBudgetError, TrainingError
from agentgym_train.files import write_whole
from agentgym_train.metrics import MetricsFile, episode_means, episode_sums
from agentgym_train.models import load_model
from agentgym_train.probe import check_generator
from agentgym_train.probe import length as probe_length
from agentgym_train.protocols import Generator, Scorer, Source, Stage
from agentgym_train.rollout.build import sampling
from agentgym_train.rollout.chat import Chat
from agentgym_train.types import Failure, Group
from agentgym_train.update import NotFiniteError, update

Log = Callable[[dict[str, Any], list[Group]], None]
Evaluate = Callable[[int], object]


class Trainer:
    """One process's share of a run.

    Args:
        config: the run.
        folder: the run folder; it exists and is ours.
        model_path: the initial policy, in Hugging Face format.
        tokenizer: its tokenizer.
        chat: its chat template.
        training: the training environment.
    """

    def __init__(
        self,
        config: Config,
        folder: Path,
        *,
        model_path: str,
        tokenizer: PreTrainedTokenizerBase,
        chat: Chat,
        training: Description,
    ):
        self.config, self.folder, self.tokenizer, self.chat, self.training = config, folder, tokenizer, chat, training
        self.algorithm = plugins.make_algorithm(config.algorithm)
        self.curriculum = plugins.make(plugins.CURRICULUM, config.curriculum)
        model = load_model(model_path, config.model.dtype)
        self.shape = checkpoint.shape(model)
        newest = checkpoint.latest(folder)
        options: dict[str, Any] = {"dtype": config.model.dtype, "temperature": config.rollout.temperature}
        self.engine = Engine(model, config.engine, universal=newest is not None and checkpoint.is_universal(newest), **options)
        self.generator = plugins.make(plugins.GENERATOR, config.generator).build(
            model_path, self.engine.device, getattr(torch, config.model.dtype)
        )
        plugins.verify(self.generator, Generator, f"generator {config.generator['name']!r}")
        self.world = self.engine.world
        self.producers = self._producers(model_path)
        self.scorers = self.make_scorers()
        self.start = self._resume(newest) if newest else 0
        owner = self.world.first
        self.rows, self.failed = (MetricsFile(folder / name, start=self.start, owner=owner) for name in metrics.FILES)
        self.generator.load(self.engine.weights())
        check_generator(
            self.generator,
            lambda batch: self.engine.forward(batch.to(self.engine.device)),
            sampling=sampling(config, chat),
            ids=sorted(set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids)),
            length=probe_length(model.config),
            dtype=config.model.dtype,
        )

    def train(self, log: Log, evaluate: Evaluate) -> None:
        """Runs the remaining steps.

        Args:
            log: sees each step's metrics and this process's groups.
            evaluate: plays held-out tasks after a step (counted from 1).

        Raises:
            ConfigError: no episode fits into the context, or no task is as difficult as the curriculum asks.
            FaultBudgetError: more episodes failed than ``env.failure_budget``.
            TrainingError: a loss or gradient is not finite.
        """
        run, every = self.config.run, self.config.eval.every
        given_up = int(sum(row["given_up"] for row in self.rows.kept))
        with closing(self.make_source()) as source:
            for step in range(self.start, run.steps):
                began = time.monotonic()
                horizon = curricula.turns(self.curriculum, step)
                groups = self.score(source.next(step, horizon))
                failures = [f for part in self.world.gather(list(source.failures)) for f in part]
                self.note_failures(step + 1, failures)
                given_up += sum(f.given_up for f in failures)
                self.check_failures(step, given_up)
                collected = time.monotonic()
                means = self.update(step, groups)
                self.generator.load(self.engine.weights())
                means |= self.summarise(step, groups, failures)
                if means["episodes"]:  # a step that could not be played says nothing of the policy
                    self.curriculum.observe(means)
                seconds = {"collect": collected - began, "update": time.monotonic() - collected}
                row = {"step": step + 1, "horizon": horizon, **means, "time": seconds, "memory": metrics.memory()}
                self.rows.write(row)
                log(row, groups)
                if every and (step + 1) % every == 0 and step + 1 < run.steps:
                    evaluate(step + 1)
                if (step + 1) % run.save_every == 0 or step + 1 == run.steps:
                    self.save(step + 1)

    def stage(self) -> Stage:
        """Returns what sources and scorers are built from."""
        return Stage(
            self.config,
            self.world,
            self.generator,
            self.chat,
            self.training,
            version=lambda: self.engine.steps,
            difficulties=lambda step: curricula.difficulties(self.curriculum, step),
        )

    def make_source(self) -> Source:
        """Builds what gives the episodes."""
        source = plugins.make(plugins.SOURCE, self.config.source).build(self.stage())
        plugins.verify(source, Source, f"source {self.config.source['name']!r}")
        return source

    def make_scorers(self) -> list[Scorer]:
        """Builds what changes their rewards."""
        made = [plugins.make(plugins.SCORER, table).build(self.stage()) for table in self.config.scorer]
        for scorer, table in zip(made, self.config.scorer, strict=True):
            plugins.verify(scorer, Scorer, f"scorer {table['name']!r}")
        return made

    def score(self, groups: list[Group]) -> list[Group]:
        """Returns a step's groups with the rewards that the scorers give them, one after the other."""
        for scorer in self.scorers:
            groups = scorer.score(groups)
        return groups

    def update(self, step: int, groups: list[Group]) -> dict[str, float]:
        """Learns from a step's groups; returns the update's metrics."""
        config, needs = self.config.engine, self.algorithm.needs
        batch = streams.fill(pack(groups), needs, self.producers, world=self.world, max_tokens=config.micro_batch_tokens)
        batch = self.algorithm.credit(batch, groups, self.world)
        try:
            return update(self.engine, self.algorithm, batch, groups=self.config.env.groups, config=config)
        except NotFiniteError as error:
            raise TrainingError(self._write_blamed(step, error, groups)) from error

    def summarise(self, step: int, groups: list[Group], failures: list[Failure]) -> dict[str, float]:
        """Returns the step's episode metrics over all processes; ``failures`` are those of all processes.

        Raises:
            ConfigError: not one episode has room for an action.
        """
        local = episode_sums(groups, tasks.levels(self.training))
        total = dict(zip(local, self.world.total(*local.values()), strict=True))
        if not total["turns"] and not failures:
            raise ConfigError(
                f"no episode of step {step + 1} fits: its first prompt and rollout.max_new_tokens="
                f"{self.config.rollout.max_new_tokens} exceed model.max_context={self.config.model.max_context}"
            )
        counts = {"env_failures": float(len(failures)), "given_up": float(sum(f.given_up for f in failures))}
        return episode_means(total) | counts

    def note_failures(self, step: int, failures: Sequence[Failure], *, evaluation: bool = False) -> None:
        """Writes down the environment failures, of all processes, of a step or of the evaluation after it."""
        self.failed.write(*({"step": step, "evaluation": evaluation, **asdict(f)} for f in failures))

    def check_failures(self, step: int, given_up: int) -> None:
        """Stops a run whose environments fail too often, with what failed where.

        Raises:
            FaultBudgetError: more episodes were given up than ``env.failure_budget``.
        """
        budget = self.config.env.failure_budget
        if given_up <= budget:
            return
        if step > self.start and step % self.config.run.save_every:
            self.save(step)
        self.world.barrier()
        lost = (row for row in metrics.read(self.failed.path) if row["given_up"] and not row["evaluation"])
        often = Counter((row["task_id"] or f"seed {row['seed']}", row["error"]) for row in lost).most_common(3)
        report = "; ".join(f"{count} × {where}: {error}" for (where, error), count in often)
        raise FaultBudgetError(
            f"{given_up} episodes were given up by step {step + 1}, more than env.failure_budget={budget}. Most often: {report}. "
            f"All are in {self.failed.path}. Mend the environment, or raise the budget, and run again"
        )

    def save(self, step: int) -> None:
        """Writes a checkpoint."""
        engine = self.engine
        state = checkpoint.State(step, self.curriculum.state_dict(), self.config.engine.zero_stage, self.world.size, self.shape)
        checkpoint.save(self.folder, state, engine, self.tokenizer, keep=self.config.run.keep)

    def _resume(self, folder: Path) -> int:
        """Restores a checkpoint; returns the steps done."""
        state = checkpoint.read_state(folder)
        checkpoint.check_fits(state, folder, model=self.shape, zero_stage=self.config.engine.zero_stage, processes=self.world.size)
        self.engine.load(folder)
        self.curriculum.load_state_dict(state.curriculum)
        return state.step

    def _producers(self, model_path: str) -> dict[str, streams.Producer]:
        """Returns what fills the streams that the algorithm needs."""
        device = self.engine.device
        producers: dict[str, streams.Producer] = {"old": lambda micro: self.engine.forward(micro.to(device)).logp_BT}
        if "reference" in self.algorithm.needs:
            reference = load_model(model_path, self.config.model.dtype).to(device).requires_grad_(False)
            temperature = self.config.rollout.temperature
            producers["reference"] = lambda micro: token_logps(reference, micro.to(device), temperature).logp_BT
        return producers

    def _write_blamed(self, step: int, error: NotFiniteError, groups: list[Group]) -> str:
        """Writes the episodes, of all processes, that a loss or gradient came from; returns what to tell the user."""
        episodes = [t for g in groups for t in g.trajectories]
        blamed = [t for part in self.world.gather([asdict(episodes[i]) for i in error.episodes]) for t in part]
        file = self.folder / f"not-finite-step-{step + 1:06d}.json"
        if self.world.first:
            write_whole(file, json.dumps(blamed, indent=1) + "\n")
        return (
            f"step {step + 1}: {error}. Its episodes are in {file}. A smaller engine.lr or engine.max_grad_norm may help; "
            f"running again goes on from {checkpoint.latest(self.folder) or 'the start'}"
        )
