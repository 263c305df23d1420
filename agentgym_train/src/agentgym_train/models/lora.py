"""A low-rank adapter (LoRA) on a model: made with peft, switched off, merged, saved.

An adapted layer computes W·x + scale·B·A·x. W is frozen; A and B are trained. B starts at 0, so the
adapted model starts as the model without adapter.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, PretrainedConfig, PreTrainedModel
from transformers.pytorch_utils import Conv1D

from agentgym_envs.errors import MissingExtra
from agentgym_train.config import LoraConfig
from agentgym_train.errors import ModelError

log = logging.getLogger(__name__)
ADAPTER = "default"
"""peft's name of a model's only adapter."""
ALL = "all-linear"
BASE, PART = ".base_layer.", ".lora_"
"""Parts of the parameter names of an adapted layer: of its frozen layer, and of A and B."""


class MergedWeight(NamedTuple):
    """A weight of the language model without adapter layers."""

    name: str
    parts: list[nn.Parameter]
    """The parameters that :attr:`value` reads; under ZeRO-3 they must be gathered first."""
    value: Callable[[], Tensor]


def check(config: LoraConfig, shape: PretrainedConfig) -> None:
    """Rejects an adapter that a model cannot have; loads no weights.

    Raises:
        MissingExtra: peft is not installed; names the pip command.
        ModelError: a target matches no linear layer, or peft rejects the model.
    """
    spec = find_spec("peft")
    if spec is None or spec.origin is None:
        raise MissingExtra("model.lora", "lora", "agentgym-train")
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(shape)
    names, known = linear_layers(model), ", ".join(adaptable(model))
    for target in config.targets if config.targets != (ALL,) else ():
        if not any(f".{name}".endswith(f".{target}") for name in names):
            raise ModelError(
                f"model.lora.targets: {target!r} matches no linear layer below the output head;"
                f' there are {known}, or targets = ["{ALL}"]'
            )
    experts = any(".experts." in name and p.dim() == 3 for name, p in model.named_parameters())
    try:
        adapt(model, config, path="", seed=0)
    except ValueError as error:
        raise ModelError(
            f"a {shape.model_type} model cannot have the adapter of model.lora.targets="
            f"{list(config.targets)}: {str(error).splitlines()[0]}. Set model.lora.targets to some"
            f" of {known}"
        ) from error
    if experts:
        log.warning(
            "model.lora: the experts of a %s model are not linear layers and stay as they are; the"
            " adapter is on %s",
            shape.model_type,
            ", ".join(sorted({name.rpartition(".")[2] for name in adapted(model)})),
        )


def linear_layers(model: PreTrainedModel) -> list[str]:
    """Returns the names of the linear layers that can have an adapter.

    The output head is none of them. Its weight can be that of the embedding, too.
    """
    head = model.get_output_embeddings()
    return [
        name
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear | Conv1D) and module is not head
    ]


def adaptable(model: PreTrainedModel) -> list[str]:
    """Returns the last parts of the names of the linear layers that peft adapts under their names.

    In some mixtures of experts, peft takes the name of a linear layer for that of the experts:
    "gate_proj" was a layer of each expert before transformers 5 joined them in one parameter.
    """
    names = sorted({name.rpartition(".")[2] for name in linear_layers(model)})
    return [name for name in names if _kept([name], model)]


def _kept(targets: list[str] | str, model: PreTrainedModel) -> bool:
    """Returns whether peft adapts the layers that the targets name, and no others."""
    import peft

    try:
        from peft.utils.transformers_weight_conversion import convert_peft_config_for_transformers
    except ImportError:  # a version that renames nothing
        return True
    adapter = peft.LoraConfig(target_modules=targets)
    before = adapter.target_modules
    try:
        convert_peft_config_for_transformers(adapter, model, None)
    except ValueError:  # it would have to adapt others too
        return False
    return bool(adapter.target_modules == before)


def adapt(model: PreTrainedModel, config: LoraConfig, *, path: str, seed: int) -> None:
    """Adds an adapter to a model in place, and freezes all other weights.

    Args:
        model: the model; its classes and the names of its other layers stay.
        config: rank, scale and layers of the adapter.
        path: the model's folder or hub name, for the saved adapter.
        seed: seed of the initial weights.
    """
    import peft

    names = set(linear_layers(model))
    every = ALL if _kept(ALL, model) else adaptable(model)
    adapter = peft.LoraConfig(
        r=config.rank,
        lora_alpha=config.alpha,
        lora_dropout=0.0,  # with dropout, the trained policy would differ from the sampled one
        target_modules=every if config.targets == (ALL,) else list(config.targets),
        # transformers' Conv1D holds the transposed weight of a linear layer.
        fan_in_fan_out=any(isinstance(m, Conv1D) for m in model.modules()),
        base_model_name_or_path=path,
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        peft.inject_adapter_in_model(adapter, model)
    for name, layer in adapted(model).items():
        if name not in names:
            raise ValueError(
                f"they match {name!r}, which is not a linear layer below the output head"
            )
        # peft makes float32 matrices for a bfloat16 model. DeepSpeed needs one type; the optimizer
        # holds float32 copies.
        for part in layer.adapter_layer_names:
            getattr(layer, part).to(model.dtype)


def adapted(model: nn.Module) -> dict[str, Any]:
    """Returns the layers with an adapter, by name; none of a model without adapter."""
    if not any(PART in name for name, _ in model.named_parameters()):
        return {}
    from peft.tuners.tuners_utils import BaseTunerLayer

    return {
        name: module for name, module in model.named_modules() if isinstance(module, BaseTunerLayer)
    }


@contextmanager
def switched_off(model: nn.Module) -> Iterator[None]:
    """Makes a model compute as without its adapter."""
    layers = adapted(model).values()
    for layer in layers:
        layer.enable_adapters(False)
    try:
        yield
    finally:
        for layer in layers:
            layer.enable_adapters(True)


def merged_weights(model: PreTrainedModel) -> Iterator[MergedWeight]:
    """Yields the weights of the language model, with the adapter added to those it belongs to.

    Names are those of the model without adapter. A merged weight is a new tensor; the model keeps
    its own.
    """
    layers = {f"{name}{BASE}weight": layer for name, layer in adapted(model).items()}
    for name, parameter in model.named_parameters():
        if name in layers:
            layer = layers[name]
            read = [parameter, layer.lora_A[ADAPTER].weight, layer.lora_B[ADAPTER].weight]
            yield MergedWeight(name.replace(BASE, "."), read, partial(_merged, layer))
        elif PART not in name:
            yield MergedWeight(name.replace(BASE, "."), [parameter], parameter.detach)


@torch.no_grad()
def _merged(layer: Any) -> Tensor:
    """Returns W + scale·B·A in the type of W, rounded once."""
    weight: Tensor = layer.get_base_layer().weight
    a, b = layer.lora_A[ADAPTER].weight.float(), layer.lora_B[ADAPTER].weight.float()
    change = b @ a * layer.scaling[ADAPTER]
    merged: Tensor = weight.float() + (change.T if layer.fan_in_fan_out else change)
    return merged.to(weight.dtype)


def parts(model: PreTrainedModel) -> Iterator[tuple[str, nn.Parameter]]:
    """Yields the matrices A and B, with their names in peft's files."""
    for name, parameter in model.named_parameters():
        if PART in name:
            yield f"base_model.model.{name.replace(f'.{ADAPTER}.', '.')}", parameter


def save(folder: Path, model: PreTrainedModel, weights: Mapping[str, Tensor]) -> None:
    """Writes an adapter for ``peft.PeftModel.from_pretrained``.

    Args:
        folder: the folder; it is made.
        model: the adapted model.
        weights: see :func:`parts`; whole and on the CPU.
    """
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file(dict(weights), folder / "adapter_model.safetensors", metadata={"format": "pt"})
    model.peft_config[ADAPTER].save_pretrained(str(folder))


def describe(model: PreTrainedModel) -> dict[str, Any]:
    """Returns rank, scale and layers of a model's adapter as plain data; empty without one."""
    layers = adapted(model)
    if not layers:
        return {}
    adapter = model.peft_config[ADAPTER]
    targets = sorted({name.rpartition(".")[2] for name in layers})
    return {"lora": {"rank": adapter.r, "alpha": adapter.lora_alpha, "targets": targets}}
