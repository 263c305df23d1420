"""The training loop. Data flows from top to bottom; each name is a file or folder beside this one."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerBase

from agentgym_envs.tasks import stable_hash
from agentgym_train import checkpoint, curricula, evaluate, plugins
from agentgym_train.batching import Batch, pack
from agentgym_train.config import Config
from agentgym_train.engine.deepspeed import Engine
from agentgym_train.engine.logps import token_logps
from agentgym_train.errors import ConfigError
from agentgym_train.metrics import MetricsFile, episode_means, episode_sums
from agentgym_train.protocols import Sampling
from agentgym_train.rollout.build import make_collector, make_pool
from agentgym_train.rollout.chat import Chat
from agentgym_train.rollout.collector import Start
from agentgym_train.types import Group

OnStep = Callable[[dict[str, Any], list[Group]], None]


class Trainer:
    """One process's share of a run.

    Args:
        config: the run.
        folder: the run folder; it exists and is ours.
        model_path: the initial policy, in Hugging Face format.
        tokenizer: its tokenizer.
        chat: its chat template.
    """

    def __init__(self, config: Config, folder: Path, *, model_path: str, tokenizer: PreTrainedTokenizerBase, chat: Chat):
        self.config, self.folder, self.tokenizer, self.chat = config, folder, tokenizer, chat
        self.algorithm = plugins.make_algorithm(config.algorithm)
        self.curriculum = plugins.make_curriculum(config.curriculum)
        self.model_path = model_path
        model = load_model(model_path, config.model.dtype)
        self.shape = checkpoint.shape(model)
        self.engine = Engine(model, config.engine, dtype=config.model.dtype, temperature=config.rollout.temperature)
        self.generator = plugins.make_generator(config.generator).build(
            model_path, self.engine.device, getattr(torch, config.model.dtype)
        )
        self.reference = self._load_reference() if self.algorithm.kl_coef else None
        self.start = self._resume()
        self.generator.load(self.engine.weights())
        self.engine.copy = self.generator.model  # type: ignore[attr-defined]

    def train(self, on_step: OnStep) -> None:
        """Runs the remaining steps.

        Args:
            on_step: sees each step's metrics and this process's groups.
        """
        config = self.config
        if config.env.groups < self.engine.world_size:
            raise ConfigError(
                f"env.groups={config.env.groups} leaves some of the {self.engine.world_size} processes without a task"
            )
        metrics_file = MetricsFile(self.folder / "metrics.jsonl", start=self.start) if self.engine.rank == 0 else None
        with make_pool(config, len(self.tasks(0)), config.env.kwargs) as pool:
            collector = make_collector(config, pool, self.generator, self.chat)
            for step in range(self.start, config.run.steps):
                began = time.monotonic()
                horizon = curricula.turns(self.curriculum, step)
                groups = collector.collect(
                    self.tasks(step), max_turns=horizon, sampling=self.sampling(step), version=self.engine.steps
                )
                if not any(t.turns for g in groups for t in g.trajectories):
                    raise ConfigError(
                        f"no episode of step {step + 1} fits: its first prompt and rollout.max_new_tokens="
                        f"{config.rollout.max_new_tokens} exceed model.max_context={config.model.max_context}"
                    )
                collected = time.monotonic()
                batch = self.algorithm.advantages(pack(groups))
                sums: dict[str, float] = {}
                for mini in batch.mini_batches(config.engine.minibatches):
                    _add(sums, self.update(mini))
                self.generator.load(self.engine.weights())
                metrics = self.summarise(groups, sums, failures=collector.failures)
                self.curriculum.observe(metrics)
                seconds = {"collect": collected - began, "update": time.monotonic() - collected}
                row = {"step": step + 1, "horizon": horizon, **metrics, "time": seconds}
                if metrics_file:
                    metrics_file.write(row)
                on_step(row, groups)
                if (step + 1) % config.run.save_every == 0 or step + 1 == config.run.steps:
                    self.save(step + 1)

    def update(self, mini: Batch) -> dict[str, float]:
        """Takes one optimizer step; the loss is the mean over the action tokens of all processes."""
        (tokens,) = self.engine.total(mini.action_tokens)
        sums: dict[str, float] = {}
        for micro in self.in_step(mini.micro_batches(self.config.engine.micro_batch_tokens), mini):
            micro = self.with_reference(micro.to(self.engine.device))
            forward = self.engine.forward(micro)
            loss, extra = self.algorithm.loss(forward.logp_BT, micro)
            # DeepSpeed averages gradients over processes; what is wanted is their sum.
            self.engine.backward(loss * self.engine.world_size / max(tokens, 1.0))
            entropy = forward.entropy_BT.where(micro.action_BT, 0.0).sum()
            drift = (forward.logp_BT.detach() - micro.logp_BT).abs().where(micro.action_BT, 0.0).sum()
            _add(sums, {"loss": loss, "entropy": entropy, "logp_drift": drift, **extra})
        totals = dict(zip(sums, self.engine.total(*sums.values()), strict=True))
        return {k: v / max(tokens, 1.0) for k, v in totals.items()} | {"grad_norm": self.engine.step(), "updates": 1.0}

    def in_step(self, micros: list[Batch], mini: Batch) -> Iterator[Batch]:
        """Yields the micro-batches, then idle ones until every process has run as many."""
        yield from micros
        for _ in range(self.engine.most(len(micros)) - len(micros)):
            yield mini.idle()

    def tasks(self, step: int) -> list[Start]:
        """Returns this process's tasks of a step, each ``group_size`` times: a function of seed and step alone."""
        run, env = self.config.run, self.config.env
        mine = range(self.engine.rank, env.groups, self.engine.world_size)
        return [Start(stable_hash(f"task {run.seed} {step} {g}") % 2**31) for g in mine for _ in range(env.group_size)]

    def sampling(self, step: int) -> Sampling:
        """Returns how to sample at a step; the noise is a function of seed, step and process alone."""
        return evaluate.sampling(self.config, self.chat, key=f"train {step} {self.engine.rank}")

    def with_reference(self, micro: Batch) -> Batch:
        """Adds the initial policy's log-probabilities where the algorithm asks for a divergence."""
        if self.reference is None:
            return micro
        with torch.no_grad():
            return replace(micro, reference_BT=token_logps(self.reference, micro, self.config.rollout.temperature).logp_BT)

    def summarise(self, groups: list[Group], sums: Mapping[str, float], *, failures: int) -> dict[str, float]:
        """Returns the step's metrics over all processes."""
        local = episode_sums(groups) | {"env_failures": float(failures)}
        total = dict(zip(local, self.engine.total(*local.values()), strict=True))
        updates = {k: v / sums["updates"] for k, v in sums.items() if k != "updates"}
        return {**episode_means(total), "env_failures": total["env_failures"], **updates}

    def save(self, step: int) -> None:
        """Writes a checkpoint."""
        engine = self.engine
        state = checkpoint.State(step, self.curriculum.state_dict(), self.config.engine.zero_stage, engine.world_size, self.shape)
        checkpoint.save(self.folder, state, engine, self.tokenizer, keep=self.config.run.keep)

    def _resume(self) -> int:
        """Restores the newest checkpoint; returns the steps done."""
        folder = checkpoint.latest(self.folder)
        if folder is None:
            return 0
        state = checkpoint.read_state(folder)
        checkpoint.check_fits(
            state, folder, model=self.shape, zero_stage=self.config.engine.zero_stage, processes=self.engine.world_size
        )
        self.engine.load(folder)
        self.curriculum.load_state_dict(state.curriculum)
        return state.step

    def _load_reference(self) -> PreTrainedModel:
        return load_model(self.model_path, self.config.model.dtype).to(self.engine.device).eval().requires_grad_(False)


def load_model(path: str, dtype: str) -> PreTrainedModel:
    """Loads a causal LM in a precision."""
    return AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, dtype))


def _add(sums: dict[str, float], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        sums[key] = sums.get(key, 0.0) + float(value.detach() if isinstance(value, torch.Tensor) else value)
