"""The training loop. Data flows from top to bottom; each name is a file or folder beside this one."""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase

from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.data.batching import pack
from agentgym_train.data.types import Failure, Group
from agentgym_train.engine import checkpoint, critic
from agentgym_train.engine.logps import token_logps
from agentgym_train.errors import ConfigError, FaultBudgetError, TrainingError
from agentgym_train.files import write_whole
from agentgym_train.generators.probe import check_logps
from agentgym_train.generators.probe import length as probe_length
from agentgym_train.learning import streams
from agentgym_train.learning.update import NotFiniteError, update
from agentgym_train.models.loading import load_model
from agentgym_train.protocols import Generator
from agentgym_train.reporting import metrics
from agentgym_train.reporting.metrics import MetricsFile
from agentgym_train.rollout.build import sampling
from agentgym_train.rollout.environments import Lane
from agentgym_train.scorers import rewards

Log = Callable[[dict[str, Any], list[Group]], None]
Evaluate = Callable[[int], object]


class Trainer:
    """One process's share of a run.

    Args:
        config: the run.
        folder: the run folder; it exists and is ours.
        model_path: the initial policy, in Hugging Face format.
        tokenizer: its tokenizer.
        lanes: the environments.
    """

    def __init__(
        self,
        config: Config,
        folder: Path,
        *,
        model_path: str,
        tokenizer: PreTrainedTokenizerBase,
        lanes: Sequence[Lane],
    ):
        self.config, self.folder, self.tokenizer, self.lanes = config, folder, tokenizer, lanes
        self.algorithm = plugins.make_algorithm(config.algorithm)
        model = load_model(model_path, config.model.dtype, last_layers=config.model.last_layers)
        kind = critic.kind(config, self.algorithm.needs)
        self.shape = checkpoint.shape(model, kind)
        newest = checkpoint.latest(folder)
        universal = newest is not None and checkpoint.is_universal(newest)
        self.engines = critic.engines(config, model, model_path, kind, universal=universal)
        self.engine, self.critic = self.engines[0], next(iter(self.engines[1:]), None)
        self.generator = plugins.make(plugins.GENERATOR, config.generator).build(
            model_path, self.engine.device, getattr(torch, config.model.dtype)
        )
        plugins.verify(self.generator, Generator, f"generator {config.generator['name']!r}")
        self.world = self.engine.world
        self.producers = self._producers(model_path)
        self.start = self._resume(newest) if newest else 0
        owner = self.world.first
        self.rows, self.failed = (MetricsFile(folder / name, start=self.start, owner=owner) for name in metrics.FILES)
        lost = (row["env"] for row in self.failed.kept if row["given_up"] and not row["evaluation"])
        self.given_up = Counter(lost)
        self.generator.load(self.engine.weights(), self.engine.steps)
        check_logps(
            self.generator,
            lambda batch: self.engine.forward(batch.to(self.engine.device)),
            sampling=sampling(config, lanes[0].chat),
            ids=sorted(set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids)),
            length=probe_length(model.config),
            dtype=config.model.dtype,
        )

    @property
    def needs(self) -> set[str]:
        """Names of the streams that are filled: what the algorithm needs, and what is watched beside a learned score."""
        return {*self.algorithm.needs, *rewards.watched(self.config.scorer)}

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
        with ExitStack() as stack:
            for lane in self.lanes:
                stack.enter_context(closing(lane.open(self.world, self.generator)))
            for step in range(self.start, run.steps):
                began = time.monotonic()
                given = [lane.source.next(step, lane.horizon(step)) for lane in self.lanes]
                played = [lane.score(part) for lane, part in zip(self.lanes, given, strict=True)]
                groups = [group for part in played for group in part]
                self.generator.sleep()
                failures = [self.note_failures(step + 1, lane, lane.source.failures) for lane in self.lanes]
                self.check_failures(step)
                collected = time.monotonic()
                learned = self.update(step, groups)
                self.generator.wake()
                self.generator.load(self.engine.weights(), self.engine.steps)
                means = self.summarise(step, played, failures, given=given)
                self.observe(learned, means)
                seconds = {"collect": collected - began, "update": time.monotonic() - collected}
                row = {"step": step + 1, **learned, **means, "time": seconds, "memory": metrics.memory()}
                self.rows.write(row)
                log(row, groups)
                if every and (step + 1) % every == 0 and step + 1 < run.steps:
                    evaluate(step + 1)
                if (step + 1) % run.save_every == 0 or step + 1 == run.steps:
                    self.save(step + 1)

    def update(self, step: int, groups: list[Group]) -> dict[str, float]:
        """Learns from a step's groups; returns the update's metrics."""
        config = self.config.engine
        batch = streams.fill(pack(groups), self.needs, self.producers, world=self.world, max_tokens=config.micro_batch_tokens)
        batch = self.algorithm.credit(batch, groups, self.world)
        try:
            return update(self.engine, self.algorithm, batch, groups=self.config.groups, config=config, critic=self.critic)
        except NotFiniteError as error:
            raise TrainingError(self._write_blamed(step, error, groups)) from error

    def summarise(
        self, step: int, played: list[list[Group]], failures: list[list[Failure]], *, given: list[list[Group]]
    ) -> dict[str, Any]:
        """Returns the step's episode metrics over all processes, and under "env" those of each of several environments.

        Args:
            step: which.
            played: each environment's groups, with the rewards that are learned from.
            failures: of each environment.
            given: the groups with the environments' own rewards.

        Raises:
            ConfigError: not one episode has room for an action.
        """
        totals = [
            metrics.totals(part, self.world, lane.levels, given=own if lane.config.scorer else None) | metrics.failed(lost)
            for lane, part, own, lost in zip(self.lanes, played, given, failures, strict=True)
        ]
        means = metrics.means(metrics.summed(totals))
        if not means["action_tokens"] and means.get("truncated_context") and not any(failures):
            raise ConfigError(
                f"no episode of step {step + 1} fits: its first prompt and rollout.max_new_tokens="
                f"{self.config.rollout.max_new_tokens} exceed model.max_context={self.config.model.max_context}"
            )
        horizons = [lane.horizon(step) for lane in self.lanes]
        own = [{"horizon": horizon, **metrics.means(total)} for horizon, total in zip(horizons, totals, strict=True)]
        each = {lane.name: row for lane, row in zip(self.lanes, own, strict=True)} if len(own) > 1 else {}
        return {"horizon": max(horizons), **means} | ({"env": each} if each else {})

    def observe(self, learned: dict[str, float], means: dict[str, Any]) -> None:
        """Shows each curriculum the metrics of its environment; a step that could not be played says nothing of the policy."""
        for lane in self.lanes:
            own = means.get("env", {}).get(lane.name, means)
            if "success" in own:
                lane.curriculum.observe(learned | own)

    def note_failures(self, step: int, lane: Lane, failures: Sequence[Failure], *, evaluation: bool = False) -> list[Failure]:
        """Writes down the failures of an environment in a step, or in the evaluation after it; returns those of all processes."""
        everywhere = [f for part in self.world.gather(list(failures)) for f in part]
        self.failed.write(*({"step": step, "env": lane.name, "evaluation": evaluation, **asdict(f)} for f in everywhere))
        if not evaluation:
            self.given_up[lane.name] += sum(f.given_up for f in everywhere)
        return everywhere

    def check_failures(self, step: int) -> None:
        """Stops a run in which an environment fails too often, with what failed where.

        Raises:
            FaultBudgetError: more of its episodes were given up than its ``failure_budget``.
        """
        over = [lane for lane in self.lanes if self.given_up[lane.name] > lane.config.env.failure_budget]
        if not over:
            return
        if step > self.start and step % self.config.run.save_every:
            self.save(step)
        self.world.barrier()
        name, budget = over[0].name, over[0].config.env.failure_budget
        lost = (r for r in metrics.read(self.failed.path) if r["given_up"] and not r["evaluation"] and r["env"] == name)
        often = Counter((row["task_id"] or f"seed {row['seed']}", row["error"]) for row in lost).most_common(3)
        report = "; ".join(f"{count} × {where}: {error}" for (where, error), count in often)
        raise FaultBudgetError(
            f"{self.given_up[name]} episodes of {name} were given up by step {step + 1}, more than env.failure_budget={budget}. "
            f"Most often: {report}. All are in {self.failed.path}. Mend the environment, or raise the budget, and run again"
        )

    def save(self, step: int) -> None:
        """Writes a checkpoint."""
        engine = self.engine
        curricula = {lane.name: lane.curriculum.state_dict() for lane in self.lanes}
        state = checkpoint.State(step, curricula, self.config.engine.zero_stage, self.world.size, self.shape)
        checkpoint.save(self.folder, state, engine, self.tokenizer, keep=self.config.run.keep, critic=self.critic)

    def close(self) -> None:
        """Frees the engines."""
        for engine in self.engines:
            engine.close()

    def _resume(self, folder: Path) -> int:
        """Restores a checkpoint; returns the steps done."""
        state = checkpoint.restore(folder, self.engines, model=self.shape, zero_stage=self.config.engine.zero_stage)
        for lane in self.lanes:
            lane.curriculum.load_state_dict(state.curricula[lane.name])
        return state.step

    def _producers(self, model_path: str) -> dict[str, streams.Producer]:
        """Returns what fills the streams that the algorithm needs."""
        device = self.engine.device
        values = self.critic.values if self.critic else self.engine.values
        producers: dict[str, streams.Producer] = {
            "old": lambda micro: self.engine.forward(micro.to(device)).logp_BT,
            "value": lambda micro: values(micro.to(device)),
        }
        if "reference" in self.needs:
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
