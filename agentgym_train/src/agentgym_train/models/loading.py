"""Loads policies, reward models and tokenizers, and chooses the device and the trained layers."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import torch
from safetensors import SafetensorError
from torch import nn
from torch.utils.checkpoint import checkpoint
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.modeling_layers import GradientCheckpointingLayer

from agentgym_envs import manifests
from agentgym_train.config import ModelConfig
from agentgym_train.errors import ModelError
from agentgym_train.models import lora

log = logging.getLogger(__name__)


def load_policy(config: ModelConfig, path: str, *, seed: int) -> PreTrainedModel:
    """Loads the model of a policy or critic, with the parts that are trained chosen.

    Args:
        config: precision, attention and checkpointing, and the layers or the adapter to train.
        path: a folder or a hub name.
        seed: seed of the initial weights of an adapter.
    """
    model = load_model(path, config.dtype, attn_implementation=config.attn_implementation)
    choose_trained(model, config, path=path, seed=seed)
    return model


def load_model(path: str, dtype: str, *, attn_implementation: str = "") -> PreTrainedModel:
    """Loads a causal LM in evaluation mode.

    Evaluation mode turns dropout off: the trained policy must be the sampled one.

    Args:
        path: a folder or a hub name.
        dtype: "float32" or "bfloat16".
        attn_implementation: transformers' name of the attention; "": transformers' choice.
    """
    with _reading(path):
        model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
            path, dtype=getattr(torch, dtype), attn_implementation=attn_implementation or None
        ).eval()
    return model


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Turns a failure to read weights into one line.

    Raises:
        ModelError: a file is truncated or damaged, or cannot be read.
    """
    try:
        yield
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"the weights in {path!r} cannot be loaded: {str(error).splitlines()[0]}"
        ) from error


def choose_trained(
    model: PreTrainedModel, config: ModelConfig, *, path: str = "", seed: int = 0
) -> None:
    """Prepares a model for training, in place.

    It freezes the weights that a run does not train, adds the adapter and turns gradient
    checkpointing on.

    Args:
        model: a causal LM.
        config: see :func:`load_policy`.
        path: see :func:`load_policy`.
        seed: see :func:`load_policy`.
    """
    if config.last_layers:
        _learn_last(model, config.last_layers)
    if config.lora.rank:
        lora.adapt(model, config.lora, path=path, seed=seed)
    if config.checkpoints:
        _checkpoint(model)


def load_reward_model(
    config: ModelConfig, tokenizer: PreTrainedTokenizerBase, *, seed: int
) -> PreTrainedModel:
    """Loads a sequence classifier with one label, read at the last token.

    A causal LM gets a new head. A reward model keeps its head.

    Args:
        config: the model, its precision, and the number of layers to train besides the head.
        tokenizer: its padding token becomes the model's. Without one, the end-of-text token becomes
            the padding token of both.
        seed: seed of the initial weights of a new head.
    """
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    with torch.random.fork_rng(devices=[]), _reading(config.path):
        torch.manual_seed(seed)
        model: PreTrainedModel = AutoModelForSequenceClassification.from_pretrained(
            config.path,
            num_labels=1,
            dtype=getattr(torch, config.dtype),
            attn_implementation=config.attn_implementation or None,
        ).eval()
    model.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    if config.last_layers:
        _learn_last(model, config.last_layers)
        for name, weight in model.named_parameters():
            weight.requires_grad_(
                weight.requires_grad or not name.startswith(f"{model.base_model_prefix}.")
            )
    if config.checkpoints:
        _checkpoint(model)
    return model


def check_files(path: str, *, key: str = "model.path") -> None:
    """Compares the files of a model with its manifest, if it is a folder that has one.

    Args:
        path: a folder or a hub name.
        key: the configuration key that sets ``path``, for the error message.

    Raises:
        ModelError: a file is damaged; names it.
    """
    folder = Path(path)
    if os.path.lexists(folder / manifests.MANIFEST) and (found := manifests.fault(folder)):
        raise ModelError(
            f"{key}={path!r} is damaged: {found}. Use another copy; if you changed the file"
            f" yourself, delete {folder / manifests.MANIFEST}"
        )


def load_shape(path: str, *, key: str = "model.path") -> PretrainedConfig:
    """Loads the configuration of a model.

    Args:
        path: a folder or a hub name.
        key: the configuration key that sets ``path``, for the error message.

    Raises:
        ModelError: the model cannot be loaded.
    """
    try:
        return AutoConfig.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{key}={path!r} is not a model that can be loaded: {str(error).splitlines()[0]}"
        ) from error


def check_attention(config: ModelConfig, shape: PretrainedConfig) -> None:
    """Rejects an attention implementation that the model cannot use on this machine.

    Args:
        config: names the implementation; "": nothing is checked.
        shape: the configuration of the model.

    Raises:
        ModelError: it is unknown, not installed, or not made for this model.
    """
    name = config.attn_implementation
    if not name:
        return
    try:
        with torch.device("meta"):  # no weights
            AutoModelForCausalLM.from_config(shape, attn_implementation=name)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        raise ModelError(
            f"model.attn_implementation={name!r} cannot be used for {config.path!r}:"
            f" {str(error).splitlines()[0]}"
        ) from error


def load_tokenizer(
    path: str, *, key: str = "model.path", chat_template: str = ""
) -> PreTrainedTokenizerBase:
    """Loads a tokenizer.

    Args:
        path: a folder or a hub name.
        key: the configuration key that sets ``path``, for the error message.
        chat_template: replaces the tokenizer's template; empty: it keeps its own.

    Raises:
        ModelError: the tokenizer cannot be loaded.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{key}={path!r} has no tokenizer that can be loaded: {str(error).splitlines()[0]}"
        ) from error
    if chat_template:
        tokenizer.chat_template = chat_template
    return tokenizer


def _learn_last(model: PreTrainedModel, layers: int) -> None:
    """Freezes everything except the last layers, including embeddings, outer norms and heads."""
    count = model.config.get_text_config().num_hidden_layers
    stack = next(m for m in model.modules() if isinstance(m, nn.ModuleList) and len(m) == count)
    model.requires_grad_(False)
    for layer in stack[-layers:]:
        layer.requires_grad_(True)


def _checkpoint(model: PreTrainedModel) -> None:
    if not checkpoint_layers(model):
        log.warning(
            "%s has no layers that can be checkpointed: model.checkpointing has no effect",
            type(model).__name__,
        )


def use_threads(count: int) -> None:
    """Sets the number of CPU threads of this process; 0 leaves torch's choice."""
    if count:
        torch.set_num_threads(count)


def device() -> torch.device:
    """Returns the device of this process's models: its accelerator, or the CPU without one.

    A build of torch for an accelerator names one even on a machine that has none.
    """
    accelerator = (
        torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    )
    return accelerator or torch.device("cpu")


def checkpoint_layers(model: nn.Module) -> int:
    """Makes the layers of a model keep their inputs only; returns the number of these layers.

    They are the layers that transformers would checkpoint. Losses and gradients stay the same.
    """
    layers = list(_layers(model))
    for layer in layers:
        # In evaluation mode no layer draws random numbers, so their state need not be kept.
        layer.forward = partial(  # type: ignore[method-assign]
            checkpoint, layer.forward, use_reentrant=False, preserve_rng_state=False
        )
    return len(layers)


def _layers(model: nn.Module) -> Iterator[nn.Module]:
    """Yields the outermost of the layers."""
    for module in model.children():
        if isinstance(module, GradientCheckpointingLayer):
            yield module
        else:
            yield from _layers(module)
