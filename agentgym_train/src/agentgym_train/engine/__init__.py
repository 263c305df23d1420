"""The optimizer step, on all processes of a run; only this folder and the planner use DeepSpeed."""

import os

import torch

# Without this, DeepSpeed warns in every process that it found no GPU.
if not torch.accelerator.is_available():
    os.environ.setdefault("DS_ACCELERATOR", "cpu")
