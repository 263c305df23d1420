"""The engine: forward, backward and step of one model under ZeRO stages 0 to 3.

No other file imports deepspeed.

Shapes: B trajectories, T tokens.
"""

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

import deepspeed
import deepspeed.ops
import pydantic
import torch
import torch.distributed as dist
from deepspeed.accelerator import get_accelerator
from deepspeed.runtime import compiler
from deepspeed.runtime.zero.config import DeepSpeedZeroConfig
from deepspeed.runtime.zero.offload_config import OffloadDeviceEnum
from deepspeed.utils import logger as deepspeed_log
from torch import Tensor
from transformers import PreTrainedModel
from transformers.integrations.deepspeed import (
    set_hf_deepspeed_config,
    unset_hf_deepspeed_config,
)

from agentgym_train.config import EngineConfig
from agentgym_train.data.batching import Batch, Forward
from agentgym_train.distributed import Distributed
from agentgym_train.engine import joining, peers
from agentgym_train.engine.offload import Offload
from agentgym_train.engine.schedule import learning_rate
from agentgym_train.engine.zero_config import clips_itself, zero_config
from agentgym_train.errors import ConfigError
from agentgym_train.models import lora
from agentgym_train.models.loading import device
from agentgym_train.models.policy import Policy, episode_scores, token_logps, token_values


def start_processes(config: EngineConfig, secret: bytes = b"") -> None:
    """Joins the process group; further calls do nothing.

    A process without the variables of a launcher creates a group of one.

    Args:
        config: the engine's settings.
        secret: the processes of the run alone know it, so no other program can pass for one.
    """
    if dist.is_initialized():
        return
    deepspeed_log.setLevel("WARNING")
    backend = get_accelerator().communication_backend_name()
    timeout = timedelta(seconds=config.collective_timeout)
    store, rank, size = joining.meet(timeout, secret)
    dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=timeout)
    if get_accelerator().device_name() == "cpu":
        # DeepSpeed compiles its shared-memory collectives at first use. gloo needs neither a
        # compiler nor ninja.
        deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    import_muon()
    deepspeed.init_distributed(
        dist_backend=backend, timeout=timeout, verbose=False, auto_mpi_discovery=False
    )


def import_muon() -> None:
    """Imports DeepSpeed's optimizer Muon without torch's compiler, which takes seconds to load.

    DeepSpeed imports Muon only to check that our optimizer is another one. Muon's functions are
    decorated to be compiled; here the decorator returns them unchanged.
    """
    compile_, compiler.compile = compiler.compile, lambda: lambda function: function
    try:
        importlib.import_module("deepspeed.runtime.zero.muon.original_muon")
    finally:
        compiler.compile = compile_


def end_process() -> NoReturn:
    """Leaves the process group and ends the process at once, with exit status 0.

    Gloo's threads need the interpreter to free the tensors of their last collective. A thread that
    does so while the interpreter shuts down aborts the process. These threads cannot be joined,
    since DeepSpeed keeps groups alive under ZeRO-3.
    """
    peers.close()
    dist.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def check_zero(config: EngineConfig) -> None:
    """Rejects keys and values of ``engine.zero`` that cannot be used.

    Raises:
        ConfigError: a key is set by the trainer or unknown to DeepSpeed, DeepSpeed rejects a value,
            or ``engine.sleep`` cannot move the state.
    """
    if "stage" in config.zero:
        raise ConfigError(
            "configuration key 'engine.zero.stage': the stage is set by"
            f" engine.zero_stage={config.zero_stage}"
        )
    try:
        zero = DeepSpeedZeroConfig(**{"stage": config.zero_stage, **config.zero})
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"configuration key 'engine.zero.{key}': {first['msg']}, not {first['input']!r}"
        ) from error
    for key in ("offload_param", "offload_optimizer"):
        place = getattr(getattr(zero, key), "device", OffloadDeviceEnum.none)
        allowed = {"none", "cpu"} if key == "offload_optimizer" else {"none"}
        if config.sleep and OffloadDeviceEnum(place).value not in allowed:
            raise ConfigError(
                f"engine.sleep=true cannot move a state that engine.zero.{key} keeps on"
                f" {OffloadDeviceEnum(place).value!r}: remove one of the two"
            )


class _Sharding:
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
    sharding = _Sharding(zero_config(config, dtype))
    set_hf_deepspeed_config(sharding)
    try:
        yield
    finally:
        unset_hf_deepspeed_config()


class Engine:
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
        model: PreTrainedModel | Policy,
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
        if not isinstance(model, Policy) and model.get_output_embeddings() is not None:
            model = Policy(model)
        self._model = model.model if isinstance(model, Policy) else model
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
        self._offload = Offload(self._engine, self._optimizer)
        self.device: torch.device = self._engine.device
        self.distributed = Distributed(self.device)
        self._norm: Tensor | None = None
        if clips_itself(config, dtype):
            self._optimizer.register_step_pre_hook(lambda *_: self._clip(trainable))
        self.lr = 0.0
        """Learning rate of the latest step; a value head with ``head_lr`` has another."""
        self.steps = 0
        """Number of optimizer steps taken, which is the policy version."""

    def forward(self, micro: Batch, *, entropy: bool = False, bonus: bool = False) -> Forward:
        """Returns log-probabilities of a micro-batch; see :func:`token_logps`."""
        self._offload.wake()
        return token_logps(self._engine, micro, self.temperature, entropy=entropy, bonus=bonus)

    def reference(self, micro: Batch) -> Forward:
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


class Frozen:
    """A causal LM that is not trained, such as the reference. Under ZeRO-3 it is sharded.

    Args:
        model: the model, with all weights on this process, or loaded under :func:`loading`.
        config: the ZeRO settings of the policy.
        dtype: "float32" or "bfloat16".
        temperature: see :class:`Engine`.
    """

    def __init__(
        self, model: PreTrainedModel, config: EngineConfig, *, dtype: str, temperature: float
    ):
        start_processes(config)
        self._temperature = temperature
        model.requires_grad_(False)
        policy = Policy(model)
        if config.zero_stage < 3:
            self._model: Any = policy.to(device())
            return
        options = zero_config(config, dtype)
        zero = options["zero_optimization"]
        options["zero_optimization"] = {k: zero[k] for k in zero.keys() - {"offload_optimizer"}}
        self._model, *_ = deepspeed.initialize(model=policy, config=options)

    def forward(self, micro: Batch) -> Forward:
        """Returns log-probabilities of a micro-batch; see :func:`token_logps`."""
        return token_logps(self._model, micro, self._temperature)


def _parameter_groups(
    model: PreTrainedModel | Policy, lr: float, head_lr: float | None
) -> list[dict[str, Any]]:
    """Returns the optimizer's parameter groups; a value head with ``head_lr`` is the second."""
    value_head = model.value_head if isinstance(model, Policy) else None
    head = set(value_head.parameters()) if value_head and head_lr is not None else set()
    trainable = [p for p in model.parameters() if p.requires_grad]
    groups = [{"params": [p for p in trainable if p not in head], "lr": lr}]
    return groups + (
        [{"params": [p for p in trainable if p in head], "lr": head_lr}] if head else []
    )
