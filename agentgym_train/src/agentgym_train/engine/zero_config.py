"""The DeepSpeed configuration that an :class:`~agentgym_train.config.EngineConfig` stands for."""

from typing import Any

from agentgym_train.config import EngineConfig


def zero_config(config: EngineConfig, dtype: str) -> dict[str, Any]:
    """Returns DeepSpeed's configuration as a dict; the values of ``config.zero`` are for :func:`~.deepspeed.check_zero`."""
    stage = max(config.zero_stage, 2) if dtype == "bfloat16" else config.zero_stage
    return {
        "train_micro_batch_size_per_gpu": 1,
        "gradient_accumulation_steps": 1,
        # The number of micro-batches differs from step to step: step() is the boundary, not a
        # counter.
        "managed_gradient_accumulation": False,
        "gradient_clipping": 0.0 if clips_itself(config, dtype) else config.max_grad_norm,
        "bf16": {"enabled": dtype == "bfloat16"},
        "data_types": {"grad_accum_dtype": "fp32"},
        "zero_optimization": {"stage": stage, "overlap_comm": False, **config.zero},
        # torch's AdamW: DeepSpeed's own wants a compiler on CPU.
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
        "steps_per_print": 2**31,
    }


def clips_itself(config: EngineConfig, dtype: str) -> bool:
    """Says whether the engine clips gradients: in plain float32 without ZeRO, DeepSpeed clips but does not tell the norm."""
    return config.zero_stage == 0 and dtype == "float32"
