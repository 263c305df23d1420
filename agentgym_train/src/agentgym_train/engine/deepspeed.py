"""The engine: forward, backward and step of one model under ZeRO stages 0 to 3.

Shapes: B trajectories, T tokens.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import deepspeed
import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.integrations.deepspeed import (
    set_hf_deepspeed_config,
    unset_hf_deepspeed_config,
)

from agentgym_train.config import EngineConfig
from agentgym_train.data.batching import Batch, ForwardOutput
from agentgym_train.distributed import Distributed
from agentgym_train.engine.rendezvous import start_processes
from agentgym_train.engine.zero_config import clips_itself, zero_config
from agentgym_train.models import lora
from agentgym_train.models.loading import device
from agentgym_train.models.policy import PolicyModel, episode_scores, token_logps, token_values


class _LoadingByShards:
    """The object that transformers asks, while it loads a model, how ZeRO-3 shards it.

    transformers' own class does the same but needs the package accelerate.
    """

    def __init__(self, config: dict[str, Any]):
        self.config = config

    def is_zero3(self) -> bool:
        return True


@contextmanager
def loading(config: EngineConfig, dtype: str) -> Iterator[None]:
    """Under ZeRO-3, transformers loads the models of this block by shards; all processes enter it.

    Every process then holds its part of each weight, and never a whole model. Only the first
    process reads the files.
    """
    start_processes(config)
    if config.zero_stage < 3:
        yield
        return
    sharding = _LoadingByShards(zero_config(config, dtype))
    set_hf_deepspeed_config(sharding)
    try:
        yield
    finally:
        unset_hf_deepspeed_config()


class TrainingEngine:
    """A model in training: a policy, a critic or a reward model.

    Args:
        model: a causal LM or a sequence classifier, with all weights on this process or loaded
            under :func:`loading`, in evaluation mode: with dropout, the trained policy would differ
            from the sampled one. For a model with a value head, :meth:`weights` and
            :meth:`save_model` return the language model only.
        config: the optimizer and ZeRO settings.
        dtype: "float32" or "bfloat16".
        temperature: sampling temperature; log-probabilities are computed at it.
        head_lr: learning rate of the value head before warm-up and decay; None: that of the model.
        name: name of the engine's folder in a checkpoint.
        universal: :meth:`load` reads a checkpoint that was converted for another number of
            processes.
    """

    def __init__(
        self,
        model: PreTrainedModel | PolicyModel,
        config: EngineConfig,
        *,
        dtype: str,
        temperature: float = 1.0,
        head_lr: float | None = None,
        name: str = "engine",
        universal: bool = False,
    ):
        start_processes(config)
        self.config, self.temperature = config, temperature
        self.name, self.universal = name, universal
        if not isinstance(model, PolicyModel) and model.get_output_embeddings() is not None:
            model = PolicyModel(model)
        self._model = model.model if isinstance(model, PolicyModel) else model
        self._adapted = bool(lora.adapted(self._model))
        groups = _parameter_groups(model, config.lr, head_lr)
        self._rates = [group["lr"] for group in groups]
        trainable = [p for group in groups for p in group["params"]]
        self._optimizer = torch.optim.AdamW(groups, weight_decay=config.weight_decay)
        options = zero_config(config, dtype) | (
            {"checkpoint": {"load_universal": True}} if universal else {}
        )
        self._engine, *_ = deepspeed.initialize(
            model=model, optimizer=self._optimizer, model_parameters=groups, config=options
        )
        self._offload = StateOffload(self._engine, self._optimizer)
        self.device: torch.device = self._engine.device
        self.distributed = Distributed(self.device)
        self._norm: Tensor | None = None
        if clips_itself(config, dtype):
            self._optimizer.register_step_pre_hook(lambda *_: self._clip(trainable))
        self.lr = 0.0
        """Learning rate of the latest step; a value head with ``head_lr`` has another."""
        self.steps = 0
        """Number of optimizer steps taken, which is the policy version."""

    def forward(self, micro: Batch, *, entropy: bool = False, bonus: bool = False) -> ForwardOutput:
        """Returns log-probabilities of a micro-batch; see :func:`token_logps`."""
        self._offload.wake()
        return token_logps(self._engine, micro, self.temperature, entropy=entropy, bonus=bonus)

    def reference(self, micro: Batch) -> ForwardOutput:
        """Returns what :meth:`forward` returns without the adapter, which is the initial policy."""
        with lora.switched_off(self._model):
            return self.forward(micro)

    def values(self, micro: Batch) -> Tensor:
        """Returns a critic's estimates; see :func:`token_values`."""
        self._offload.wake()
        return token_values(self._engine, micro)

    def scores(self, micro: Batch) -> Tensor:
        """Returns a reward model's scores; see :func:`episode_scores`."""
        return episode_scores(
            self._engine, micro, self._model.config.get_text_config().pad_token_id
        )

    def backward(self, loss: Tensor) -> None:
        """Accumulates gradients."""
        # The loss is normalised by the caller, so DeepSpeed must not divide it again.
        self._engine.backward(loss, scale_wrt_gas=False)

    def step(self) -> float:
        """Applies the accumulated gradients.

        Returns:
            Their global norm before clipping; it can be infinite or NaN.
        """
        self.lr = learning_rate(self.config, self.steps)
        for group, rate in zip(self._engine.optimizer.param_groups, self._rates, strict=True):
            group["lr"] = learning_rate(replace(self.config, lr=rate), self.steps)
        self._engine.step()
        self.steps += 1
        norm = self._engine.get_global_grad_norm() if self._norm is None else self._norm
        return float(norm or 0.0)

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        """Yields every parameter of the language model, unsharded, one at a time.

        An adapter is added to the weights that it belongs to.

        All processes must iterate to the end, since gathering a parameter is a collective
        operation. One at a time limits the memory that gathered parameters need.
        """
        self._offload.wake()
        for weight in lora.merged_weights(self._model):
            with deepspeed.zero.GatheredParameters(weight.parts):
                yield weight.name, weight.value()

    def sleep(self) -> None:
        """Moves weights and optimizer to main memory; the next use moves them back."""
        self._offload.sleep()

    def save(self, folder: Path) -> None:
        """Writes weights, optimizer and step counter; each process writes its part."""
        self._offload.wake()
        self._engine.save_checkpoint(
            str(folder),
            tag=self.name,
            client_state={"steps": self.steps},
            save_latest=False,
            # Without its adapter, the model is that of the start.
            exclude_frozen_parameters=self._adapted,
        )

    def load(self, folder: Path) -> None:
        """Restores the state that :meth:`save` wrote.

        The ZeRO stage must be the same. The number of processes must be the same too, unless the
        checkpoint was converted.
        """
        _, client = self._engine.load_checkpoint(
            str(folder / "universal" if self.universal else folder),
            tag=self.name,
            load_module_strict=not self._adapted,
        )
        self.steps = int(client["steps"])
        if self.universal:
            # Under ZeRO-3, DeepSpeed gives all parts of the optimizer's state the same counter
            # tensor. Each part would advance it.
            for state in self._optimizer.state.values():
                state["step"] = deepcopy(state["step"])

    def save_model(self, folder: Path) -> None:
        """Writes the model in Hugging Face format; all processes must call it.

        An adapter is merged, and also written to the folder ``adapter`` in peft's format.
        """
        weights = {}
        for name, weight in self.weights():
            # Another process that kept a gathered weight would keep its memory.
            if self.distributed.is_main:
                weights[name] = weight.cpu().clone()
        if self.distributed.is_main:
            # named_parameters() yields a tied weight once; the file needs it under all its names.
            for tied, name in self._model.all_tied_weights_keys.items():
                weights[tied] = weights[name]
            self._model.save_pretrained(folder, state_dict=weights)
        if self._adapted:
            self._save_adapter(folder / "adapter")

    def _save_adapter(self, folder: Path) -> None:
        weights = {}
        for name, parameter in lora.parts(self._model):
            with deepspeed.zero.GatheredParameters([parameter]):
                weights[name] = parameter.detach().cpu().clone()
        if self.distributed.is_main:
            lora.save(folder, self._model, weights)

    def _clip(self, parameters: list[Tensor]) -> None:
        """Clips gradients just before the optimizer's step, already reduced over processes."""
        self._norm = torch.nn.utils.clip_grad_norm_(parameters, self.config.max_grad_norm)

    def close(self) -> None:
        """Frees the engine.

        The process group stays, since DeepSpeed keeps it and cannot join another.
        """
        self._engine.destroy()


class FrozenModel:
    """A causal LM that is not trained, such as the reference. Under ZeRO-3 it is sharded.

    Args:
        model: the model, with all weights on this process, or loaded under :func:`loading`.
        config: the ZeRO settings of the policy.
        dtype: "float32" or "bfloat16".
        temperature: see :class:`TrainingEngine`.
    """

    def __init__(
        self, model: PreTrainedModel, config: EngineConfig, *, dtype: str, temperature: float
    ):
        start_processes(config)
        self._temperature = temperature
        model.requires_grad_(False)
        policy = PolicyModel(model)
        if config.zero_stage < 3:
            self._model: Any = policy.to(device())
            return
        options = zero_config(config, dtype)
        zero = options["zero_optimization"]
        options["zero_optimization"] = {k: zero[k] for k in zero.keys() - {"offload_optimizer"}}
        self._model, *_ = deepspeed.initialize(model=policy, config=options)

    def forward(self, micro: Batch) -> ForwardOutput:
        """Returns log-probabilities of a micro-batch; see :func:`token_logps`."""
        return token_logps(self._model, micro, self._temperature)


def _parameter_groups(
    model: PreTrainedModel | PolicyModel, lr: float, head_lr: float | None
) -> list[dict[str, Any]]:
    """Returns the optimizer's parameter groups; a value head with ``head_lr`` is the second."""
    value_head = model.value_head if isinstance(model, PolicyModel) else None
    head = set(value_head.parameters()) if value_head and head_lr is not None else set()
    trainable = [p for p in model.parameters() if p.requires_grad]
    groups = [{"params": [p for p in trainable if p not in head], "lr": lr}]
    return groups + (
        [{"params": [p for p in trainable if p in head], "lr": head_lr}] if head else []
    )


MOMENTS = ("exp_avg", "exp_avg_sq")


class StateOffload:
    """Moves an engine's weights and optimizer. Each call does nothing if it was the last one.

    Args:
        engine: the DeepSpeed engine.
        optimizer: torch's AdamW inside it.
    """

    def __init__(self, engine: Any, optimizer: torch.optim.Optimizer):
        self._engine, self._optimizer = engine, optimizer
        self._stage: int = engine.zero_optimization_stage()
        self._frozen = [p for p in engine.module.parameters() if not p.requires_grad]
        self._moved: list[tuple[Tensor, torch.device]] = []
        self.asleep = False

    def sleep(self) -> None:
        """Moves the state to main memory."""
        if self.asleep:
            return
        self.asleep = True
        if self._stage:
            self._engine.offload_states(include=self._of_deepspeed())
        for tensor in self._own():
            self._moved.append((tensor, tensor.device))
            tensor.data = tensor.data.to("cpu")
        if torch.accelerator.is_available():
            torch.accelerator.empty_cache()

    def wake(self) -> None:
        """Moves the state back."""
        if not self.asleep:
            return
        self.asleep = False
        for tensor, place in self._moved:
            tensor.data = tensor.data.to(place)
        self._moved.clear()
        if self._stage:
            self._engine.reload_states()

    def _of_deepspeed(self) -> list[str] | None:
        """Returns the states that DeepSpeed moves; None: all."""
        if self._stage < 3:
            return None
        # At stage 3, DeepSpeed moves optimizer states only for its own optimizers. It moves weights
        # only if no weight is frozen.
        gradients = ["lp_grads", "contiguous_grad_buffer"]
        return gradients if self._frozen else ["lp_params", *gradients]

    def _own(self) -> Iterator[Tensor]:
        """Yields the tensors that DeepSpeed does not move."""
        if self._stage in (0, 3):
            for state in self._optimizer.state.values():
                yield from (state[name] for name in MOMENTS if name in state)
        if self._stage == 3:
            yield from self._engine.optimizer.fp32_partitioned_groups_flat
            yield from (parameter.ds_tensor for parameter in self._frozen)
        elif self._stage:
            yield from self._frozen
        else:
            yield from self._engine.module.parameters()


FLOOR = 0.1  # share of the learning rate at the end of the decay


def learning_rate(config: EngineConfig, steps: int) -> float:
    """Returns the learning rate of the step after ``steps`` earlier steps.

    The rate is the product of a linear warm-up and a linear decay to a tenth. Both begin at the
    first step.
    """
    warm = min(1.0, (steps + 1) / config.warmup) if config.warmup else 1.0
    decayed = min(1.0, steps / config.decay) if config.decay else 0.0
    return config.lr * warm * (1.0 - (1.0 - FLOOR) * decayed)
