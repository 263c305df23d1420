"""The training loop.

Each step collects episodes, scores them, updates the policy and passes the new weights to the
generator.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agentgym_train import plugins
from agentgym_train.assembly import RunParts
from agentgym_train.data.batching import Batch, ForwardOutput, pack
from agentgym_train.data.types import EpisodeFailure, Group
from agentgym_train.engine import checkpoint
from agentgym_train.engine.deepspeed import FrozenModel, loading
from agentgym_train.errors import ConfigError, FaultBudgetError, TrainingError
from agentgym_train.files import write_whole
from agentgym_train.generators.probe import check_logps
from agentgym_train.generators.probe import length as probe_length
from agentgym_train.learning.episodes import add_advantages
from agentgym_train.learning.update import NotFiniteError, Producer, fill_streams, update
from agentgym_train.models.loading import load_model
from agentgym_train.protocols import StepPlan
from agentgym_train.reporting import metrics
from agentgym_train.reporting.metrics import FailureLog, MetricsFile
from agentgym_train.rollout.build import make_agent, player_maker, sampling
from agentgym_train.rollout.pipeline import (
    CollectedStep,
    RolloutPipeline,
    StepCollection,
    TrainingEnv,
)
from agentgym_train.scorers import rewards

Log = Callable[[dict[str, Any], list[Group]], None]
Evaluate = Callable[[int], object]


class PolicyTrainer:
    """Runs the part of a training run that belongs to one process.

    Args:
        parts: see :func:`agentgym_train.assembly.assemble`. A checkpoint in the run folder is
            resumed.
    """

    def __init__(self, parts: RunParts):
        self.config, self.folder, self.tokenizer = parts.config, parts.folder, parts.tokenizer
        self.envs, self.algorithm, self.generator = parts.envs, parts.algorithm, parts.generator
        self.engines, self.shape = parts.engines, parts.shape
        self.code = plugins.code(parts.config)
        self.engine, self.critic = self.engines[0], next(iter(self.engines[1:]), None)
        self.distributed = self.engine.distributed
        self._watched = rewards.watched(self.config.scorer)
        self.producers = self._producers(parts.model_path)
        self.start = self._resume(parts.newest) if parts.newest else 0
        metrics_file, failures_file = (self.folder / name for name in checkpoint.LINES)
        self.rows = MetricsFile(metrics_file, start=self.start, distributed=self.distributed)
        self.failures = FailureLog(failures_file, self.distributed, start=self.start)
        self.load()
        self._check_generator(parts.model_config)
        self.sleep()
        ahead = bool(self.config.rollout.ahead)
        collection = StepCollection(
            self.envs, beside=ahead, side_by_side=self.generator.in_background
        )
        self.pipeline = RolloutPipeline(collection, self.generator, self.load, ahead=ahead)

    @property
    def given_up(self) -> Counter[str]:
        """Number of training episodes given up after too many failures, per environment."""
        return self.failures.given_up

    @property
    def required_streams(self) -> set[str]:
        """Names of the streams to compute.

        The algorithm requires some. The metrics of learned scorers require others.
        """
        return {*self.algorithm.required_streams, *self._watched}

    def train(self, log: Log, evaluate: Evaluate) -> None:
        """Runs the remaining steps.

        Args:
            log: called with each step's metrics and this process's groups.
            evaluate: called after a step with its number (counted from 1); plays held-out
                tasks.

        Raises:
            ConfigError: no episode fits into the context, or no task has the difficulty that
                the curriculum asks for.
            FaultBudgetError: more than ``env.failure_budget`` episodes of an environment were
                given up.
            TrainingError: a loss or gradient is not finite.
        """
        with ExitStack() as stack:
            for env in self.envs:
                source = env.open(self.distributed, self.generator, self.algorithm)
                stack.enter_context(closing(source))
            for step in range(self.start, self.config.run.steps):
                row, groups = self.take_step(step)
                self.rows.write(row)
                log(row, groups)
                if self.evaluates(step + 1):
                    evaluate(step + 1)
                if self.saves(step + 1):
                    self.save(step + 1)

    def evaluates(self, step: int) -> bool:
        """Whether held-out tasks are played after so many steps, and the run continues."""
        every = self.config.eval.every
        return every > 0 and step % every == 0 and step < self.config.run.steps

    def saves(self, step: int) -> bool:
        """Whether a checkpoint is written after so many steps."""
        run = self.config.run
        return step % run.save_every == 0 or step == run.steps

    def take_step(self, step: int) -> tuple[dict[str, Any], list[Group]]:
        """Collects episodes, learns from them and passes the new weights to the generator.

        The pipeline decides whether the next step is collected in the meantime.

        Returns:
            The step's metrics, and this process's groups.
        """
        began = time.monotonic()
        collected = self.pipeline.collect(step)
        failures = [
            self.note_failures(step + 1, env, part.failures)
            for env, part in zip(self.envs, collected, strict=True)
        ]
        self.check_failures(step)
        pause = self.evaluates(step + 1) or self.saves(step + 1)
        self.pipeline.begin_update(step, pause=pause)
        played = [env.score(part.groups) for env, part in zip(self.envs, collected, strict=True)]
        groups = [group for part in played for group in part]
        version, scored = self.engine.steps, time.monotonic()
        learned = self.update(step, groups)
        self.pipeline.end_update()
        self.sleep()
        means = self.summarise(step, played, failures, collected=collected, version=version)
        self.observe(learned, means, [part.plan for part in collected])
        seconds = {"collect": scored - began, "update": time.monotonic() - scored}
        row = {"step": step + 1, **learned, **means, "time": seconds, "memory": metrics.memory()}
        if method := self.generator.method_name:
            row["generator_method"] = method
        return row, groups

    def update(self, step: int, groups: list[Group]) -> dict[str, float]:
        """Updates the policy with a step's groups; returns the metrics of the update."""
        config = self.config.engine
        batch = fill_streams(
            pack(groups, mask_cut_actions=self.config.rollout.mask_cut_actions),
            self.required_streams,
            self.producers,
            distributed=self.distributed,
            max_tokens=config.micro_batch_tokens,
            groups=groups,
        )
        batch = add_advantages(batch, self.algorithm, groups, self.distributed)
        try:
            return update(
                self.engine,
                self.algorithm,
                batch,
                groups=self.config.groups,
                config=config,
                critic=self.critic,
            )
        except NotFiniteError as error:
            raise TrainingError(self._write_blamed(step, error, groups)) from error

    def summarise(
        self,
        step: int,
        played: list[list[Group]],
        failures: list[list[EpisodeFailure]],
        *,
        collected: Sequence[CollectedStep],
        version: int,
    ) -> dict[str, Any]:
        """Returns the step's episode metrics over all processes.

        With several environments, the key "env" holds the metrics of each environment.

        Args:
            step: number of the step, counted from 0.
            played: groups of each environment, with the rewards used for training.
            failures: failures of each environment, from all processes.
            collected: what each environment returned, with its own rewards.
            version: optimizer steps before the update.

        Raises:
            ConfigError: no episode has room for an action in the model's context.
        """
        totals = [
            metrics.totals(
                part,
                self.distributed,
                env.task_difficulty,
                raw_groups=own.groups if env.config.scorer else None,
                learns=env.config.attempts > 1,
                version=version,
            )
            | metrics.failed(lost)
            for env, part, own, lost in zip(self.envs, played, collected, failures, strict=True)
        ]
        means = metrics.means(metrics.summed(totals))
        if not means["action_tokens"] and means.get("truncated_context") and not any(failures):
            raise ConfigError(
                f"no episode of step {step + 1} fits into the context: the first prompt plus"
                f" rollout.max_new_tokens={self.config.rollout.max_new_tokens} exceeds"
                f" model.max_context={self.config.model.max_context}; lower the former or raise"
                " the latter"
            )
        horizons = [part.plan.horizon for part in collected]
        own = [
            {"horizon": horizon, **metrics.means(total)}
            for horizon, total in zip(horizons, totals, strict=True)
        ]
        each = (
            {env.name: row for env, row in zip(self.envs, own, strict=True)} if len(own) > 1 else {}
        )
        return {"horizon": max(horizons), **means} | ({"env": each} if each else {})

    def observe(
        self, learned: dict[str, float], means: dict[str, Any], plans: Sequence[StepPlan]
    ) -> None:
        """Passes each curriculum the metrics of its environment, and each budget its tokens.

        The curriculum of an environment without episodes in this step is skipped.

        Args:
            learned: the metrics of the update.
            means: see :meth:`summarise`.
            plans: the plan of the step, for each environment.
        """
        for env, plan in zip(self.envs, plans, strict=True):
            own = means.get("env", {}).get(env.name, means)
            env.budget.observe(groups=len(plan.groups), tokens=own["tokens"])
            if "success" in own:
                env.curriculum.observe(learned | own)

    def note_failures(
        self,
        step: int,
        env: TrainingEnv,
        failures: Sequence[EpisodeFailure],
        *,
        evaluation: bool = False,
    ) -> list[EpisodeFailure]:
        """Logs the failures of an environment; returns those of all processes."""
        return self.failures.add(step, env.name, failures, evaluation=evaluation)

    def check_failures(self, step: int) -> None:
        """Stops the run if an environment fails too often.

        The error lists the most frequent failures and their tasks.

        Raises:
            FaultBudgetError: more than ``failure_budget`` episodes of an environment were given
                up.
        """
        over = [env for env in self.envs if self.given_up[env.name] > env.config.env.failure_budget]
        if not over:
            return
        if step > self.start and step % self.config.run.save_every:
            self.save(step)
        self.distributed.barrier()
        name, budget = over[0].name, over[0].config.env.failure_budget
        raise FaultBudgetError(
            f"{self.given_up[name]} episodes of {name} were given up by step {step + 1}, more than"
            f" env.failure_budget={budget}. Most often: {self.failures.most_frequent(name)}."
            f" All are in {self.failures.path}."
            " Fix the environment or raise the budget, then run again"
        )

    def save(self, step: int) -> None:
        """Writes a checkpoint."""
        engine = self.engine
        curricula = {env.name: env.curriculum.state_dict() for env in self.envs}
        budgets = {env.name: env.budget.state_dict() for env in self.envs}
        state = checkpoint.CheckpointState(
            step,
            curricula,
            self.config.engine.zero_stage,
            self.distributed.size,
            self.shape,
            budgets,
            self.code,
        )
        checkpoint.save(
            self.folder,
            state,
            engine,
            self.tokenizer,
            keep=self.config.run.keep,
            critic=self.critic,
        )
        self.sleep()

    def load(self) -> None:
        """Passes the policy's weights to the generator."""
        self.generator.load(self.engine.weights(), self.engine.steps)

    def sleep(self) -> None:
        """Moves the engines to main memory until their next use, if the run asks for it."""
        for engine in self.engines if self.config.engine.sleep else ():
            engine.sleep()

    def close(self) -> None:
        """Frees the generator and the engines."""
        self.generator.close()
        for engine in self.engines:
            engine.close()

    def _resume(self, folder: Path) -> int:
        """Restores a checkpoint; returns the number of completed steps."""
        state = checkpoint.restore(
            folder, self.engines, model=self.shape, zero_stage=self.config.engine.zero_stage
        )
        for env in self.envs:
            env.curriculum.load_state_dict(state.curricula[env.name])
            if env.name in state.budgets:
                env.budget.load_state_dict(state.budgets[env.name])
        return state.step

    def _check_generator(self, model_config: Any) -> None:
        """Compares the generator's log-probabilities with those of the training forward."""
        tokenizer = self.tokenizer
        check_logps(
            self.generator,
            lambda batch: self.engine.forward(batch.to(self.engine.device)),
            sampling=sampling(self.config, self.envs[0].chat),
            ids=sorted(set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids)),
            length=probe_length(model_config),
            dtype=self.config.model.dtype,
            rewinds=any(
                player_maker(make_agent(env.config), env.training, env.chat) for env in self.envs
            ),
        )

    def _producers(self, model_path: str) -> dict[str, Producer]:
        """Returns the functions that compute streams, by the name of the stream."""
        device = self.engine.device
        values = self.critic.values if self.critic else self.engine.values
        producers: dict[str, Producer] = {
            "old": lambda micro: self.engine.forward(micro.to(device)).logp_BT,
            "value": lambda micro: values(micro.to(device)),
        }
        if "reference" in self.required_streams:
            reference = self._reference(model_path)
            producers["reference"] = lambda micro: reference(micro.to(device)).logp_BT
        return producers

    def _reference(self, model_path: str) -> Callable[[Batch], ForwardOutput]:
        """Returns the forward pass of the initial policy.

        With an adapter, the policy without adapter is the initial policy.
        """
        model, config = self.config.model, self.config.engine
        if model.lora.rank:
            return self.engine.reference
        with loading(config, model.dtype):
            loaded = load_model(
                model_path, model.dtype, attn_implementation=model.attn_implementation
            )
        temperature = self.config.rollout.temperature
        return FrozenModel(loaded, config, dtype=model.dtype, temperature=temperature).forward

    def _write_blamed(self, step: int, error: NotFiniteError, groups: list[Group]) -> str:
        """Writes the episodes that caused a non-finite loss or gradient, from all processes.

        Returns the error message for the user.
        """
        episodes = [t for g in groups for t in g.trajectories]
        blamed = [
            t
            for part in self.distributed.gather([asdict(episodes[i]) for i in error.episodes])
            for t in part
        ]
        file = self.folder / f"not-finite-step-{step + 1:06d}.json"
        if self.distributed.is_main:
            write_whole(file, json.dumps(blamed, indent=1) + "\n")
        newest, _ = checkpoint.newest(self.folder, self.distributed)
        return (
            f"step {step + 1}: {error}. {file} has the episodes that caused it. A smaller engine.lr"
            " or engine.max_grad_norm may help. The same command continues from"
            f" {newest or 'the start'}"
        )
