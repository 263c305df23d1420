"""Loading the policy, and where models run."""

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel


def load_model(path: str, dtype: str) -> PreTrainedModel:
    """Loads a causal LM in a precision, without dropout: what is trained must be what was sampled from.

    Args:
        path: a folder or hub name.
        dtype: "float32" or "bfloat16".
    """
    return AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, dtype)).eval()


def device() -> torch.device:
    """Returns where this process's models run: its accelerator, or the CPU where there is none, whatever torch was built for."""
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    return accelerator or torch.device("cpu")
