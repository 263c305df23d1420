"""DeepSpeed's configuration from an :class:`~agentgym_train.config.EngineConfig`."""

from typing import Any

import pydantic
from deepspeed.runtime.zero.config import DeepSpeedZeroConfig
from deepspeed.runtime.zero.offload_config import OffloadDeviceEnum

from agentgym_train.config import EngineConfig
from agentgym_train.errors import ConfigError


def zero_config(config: EngineConfig, dtype: str) -> dict[str, Any]:
    """Returns DeepSpeed's configuration as a dict.

    ``config.zero`` must have passed :func:`check_zero`.
    """
    # In bfloat16, stage 2 is the first one that accumulates gradients in float32.
    stage = max(config.zero_stage, 2) if dtype == "bfloat16" else config.zero_stage
    return {
        "train_micro_batch_size_per_gpu": 1,
        "gradient_accumulation_steps": 1,
        # The number of micro-batches differs from step to step, so step() is the boundary and not a
        # counter.
        "managed_gradient_accumulation": False,
        "gradient_clipping": 0.0 if clips_itself(config, dtype) else config.max_grad_norm,
        "bf16": {"enabled": dtype == "bfloat16"},
        "data_types": {"grad_accum_dtype": "fp32"},
        "zero_optimization": {"stage": stage, "overlap_comm": False, **config.zero},
        # torch's AdamW is used, since DeepSpeed's AdamW needs a compiler on the CPU.
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
        "steps_per_print": 2**31,
    }


def clips_itself(config: EngineConfig, dtype: str) -> bool:
    """Whether the engine clips gradients instead of DeepSpeed.

    In float32 without ZeRO, DeepSpeed clips but does not return the norm.
    """
    return config.zero_stage == 0 and dtype == "float32"


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
