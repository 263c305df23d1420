"""The optimizer step; only ``deepspeed.py`` imports DeepSpeed."""

import os

import torch

# Without this, DeepSpeed warns in every process that it found no GPU.
if not torch.accelerator.is_available():
    os.environ.setdefault("DS_ACCELERATOR", "cpu")
