"""The engine: forward, backward and step of one model under ZeRO 0-3.

The only file that imports deepspeed.

Shapes: B trajectories, T tokens.
"""

import importlib
import os
import sys
from collections.abc import Iterator
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
from deepspeed.utils import logger as deepspeed_log
from torch import Tensor
from transformers import PreTrainedModel

from agentgym_train.config import EngineConfig
from agentgym_train.data.batching import Batch
from agentgym_train.engine.distributed import Distributed
from agentgym_train.engine.head import Valued
from agentgym_train.engine.logps import Forward, episode_scores, token_logps, token_values
from agentgym_train.engine.schedule import learning_rate
from agentgym_train.engine.zero_config import clips_itself, zero_config
from agentgym_train.errors import ConfigError

COLLECTIVE_TIMEOUT = timedelta(hours=2)  # ranks wait in collectives for the slowest rollout


def start_processes() -> None:
    """Joins the process group; a single process without launcher variables forms one of its own.

    May be called twice.
    """
    if dist.is_initialized():
        return
    deepspeed_log.setLevel("WARNING")
    backend = get_accelerator().communication_backend_name()
    if "MASTER_ADDR" not in os.environ:
        os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1")
        # A store of this process's own: no port that another program may take.
        store = dist.HashStore()  # type: ignore[attr-defined]
        dist.init_process_group(
            backend, store=store, rank=0, world_size=1, timeout=COLLECTIVE_TIMEOUT
        )
    if get_accelerator().device_name() == "cpu":
        # Shared-memory collectives are compiled at first use; gloo needs neither a compiler nor
        # ninja.
        deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    import_muon()
    deepspeed.init_distributed(
        dist_backend=backend, timeout=COLLECTIVE_TIMEOUT, verbose=False, auto_mpi_discovery=False
    )


def import_muon() -> None:
    """Imports the optimizer Muon, which DeepSpeed does in order to see that ours is another, without what takes seconds of it.

    It would compile its functions, and for that load torch's compiler.
    """
    compile_, compiler.compile = compiler.compile, lambda: lambda function: function
    try:
        importlib.import_module("deepspeed.runtime.zero.muon.original_muon")
    finally:
        compiler.compile = compile_


def end_process() -> NoReturn:
    """Leaves the process group and ends the process, successfully and at once.

    Gloo's threads need the interpreter to drop the tensors of their last collective. One that comes
    to it while the interpreter is shutting down aborts the process, and as DeepSpeed keeps groups
    alive under ZeRO-3, these threads cannot be waited for.
    """
    dist.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def check_zero(config: EngineConfig) -> None:
    """Refuses what ``engine.zero`` cannot hold.

    Raises:
        ConfigError: a key that is the trainer's own, or that DeepSpeed does not know, or a value
            that it does not take.
    """
    if "stage" in config.zero:
        raise ConfigError(
            "configuration key 'engine.zero.stage': the stage is set by"
            f" engine.zero_stage={config.zero_stage}"
        )
    try:
        DeepSpeedZeroConfig(**{"stage": config.zero_stage, **config.zero})
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"configuration key 'engine.zero.{key}': {first['msg']}, not {first['input']!r}"
        ) from error


class Engine:
    """A policy that learns, a critic or a reward model.

    Args:
        model: a causal LM with all weights on this process, in evaluation mode: dropout would train
            another policy than sampled;
            or a sequence classifier. Of one with a value head, :meth:`weights` and
            :meth:`save_model` give the language model.
        config: the optimizer and ZeRO settings.
        dtype: "float32" or "bfloat16".
        temperature: of sampling; log-probabilities are taken at it.
        head_lr: learning rate of the value head, before warm-up and decay; None: the model's.
        name: of its folder in a checkpoint.
        universal: :meth:`load` will read a checkpoint that was converted for another number of
            processes.
    """

    def __init__(
        self,
        model: PreTrainedModel | Valued,
        config: EngineConfig,
        *,
        dtype: str,
        temperature: float = 1.0,
        head_lr: float | None = None,
        name: str = "engine",
        universal: bool = False,
    ):
        start_processes()
        self.config, self.temperature, self.name, self.universal = (
            config,
            temperature,
            name,
            universal,
        )
        self._model = model.model if isinstance(model, Valued) else model
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
        self.device: torch.device = self._engine.device
        self.distributed = Distributed(self.device)
        self._norm: Tensor | None = None
        if clips_itself(config, dtype):
            self._optimizer.register_step_pre_hook(lambda *_: self._clip(trainable))
        self.lr = 0.0
        """Of the last step, but for a value head that has its own."""
        self.steps = 0
        """Optimizer steps taken: the policy version."""

    def forward(self, micro: Batch, *, bonus: bool = False) -> Forward:
        """Returns log-probabilities and entropies of a micro-batch under the current policy; see :func:`token_logps`."""
        return token_logps(self._engine, micro, self.temperature, bonus=bonus)

    def values(self, micro: Batch) -> Tensor:
        """Returns a critic's estimates; see :func:`token_values`."""
        return token_values(self._engine, micro)

    def scores(self, micro: Batch) -> Tensor:
        """Returns a reward model's scores; see :func:`episode_scores`."""
        return episode_scores(
            self._engine, micro, self._model.config.get_text_config().pad_token_id
        )

    def backward(self, loss: Tensor) -> None:
        """Accumulates gradients."""
        self._engine.backward(loss, scale_wrt_gas=False)

    def step(self) -> float:
        """Applies the accumulated gradients; returns their global norm before clipping, which may not be finite."""
        self.lr = learning_rate(self.config, self.steps)
        for group, rate in zip(self._engine.optimizer.param_groups, self._rates, strict=True):
            group["lr"] = learning_rate(replace(self.config, lr=rate), self.steps)
        self._engine.step()
        self.steps += 1
        norm = self._engine.get_global_grad_norm() if self._norm is None else self._norm
        return float(norm or 0.0)

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        """Yields every parameter of the language model whole, one at a time; all processes must run through it."""
        for name, parameter in self._model.named_parameters():
            with deepspeed.zero.GatheredParameters([parameter]):
                yield name, parameter.detach()

    def save(self, folder: Path) -> None:
        """Writes weights, optimizer and step counter, each process its part."""
        self._engine.save_checkpoint(
            str(folder), tag=self.name, client_state={"steps": self.steps}, save_latest=False
        )

    def load(self, folder: Path) -> None:
        """Restores what :meth:`save` wrote with the same ZeRO stage, and unless it was converted the same number of processes."""
        _, client = self._engine.load_checkpoint(
            str(folder / "universal" if self.universal else folder), tag=self.name
        )
        self.steps = int(client["steps"])
        if self.universal:
            # Under ZeRO-3 DeepSpeed gives all parts of the optimizer's state one counter, which
            # each part would advance.
            for state in self._optimizer.state.values():
                state["step"] = deepcopy(state["step"])

    def save_model(self, folder: Path) -> None:
        """Writes the model in Hugging Face format; all processes must call it."""
        weights = {
            name: weight.cpu().clone() if self.distributed.is_main else weight
            for name, weight in self.weights()
        }
        if self.distributed.is_main:
            for tied, name in self._model.all_tied_weights_keys.items():
                weights[tied] = weights[name]
            self._model.save_pretrained(folder, state_dict=weights)

    def _clip(self, parameters: list[Tensor]) -> None:
        """Runs when the optimizer is about to step, the gradients reduced over all processes."""
        self._norm = torch.nn.utils.clip_grad_norm_(parameters, self.config.max_grad_norm)

    def close(self) -> None:
        """Frees the engine.

        The process group stays: DeepSpeed remembers it and cannot join another.
        """
        self._engine.destroy()


def _parameter_groups(
    model: PreTrainedModel | Valued, lr: float, head_lr: float | None
) -> list[dict[str, Any]]:
    """Returns the optimizer's parameter groups; a value head with a learning rate of its own is the second."""
    head = (
        set(model.value_head.parameters())
        if isinstance(model, Valued) and head_lr is not None
        else set()
    )
    trainable = [p for p in model.parameters() if p.requires_grad]
    groups = [{"params": [p for p in trainable if p not in head], "lr": lr}]
    return groups + (
        [{"params": [p for p in trainable if p in head], "lr": head_lr}] if head else []
    )
