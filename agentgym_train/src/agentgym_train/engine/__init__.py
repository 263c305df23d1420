"""The optimizer step: DeepSpeed ZeRO behind one file."""
