"""Under ZeRO-3 a model is loaded by shards, and only within the block."""

import deepspeed
import pytest
import tiny
import torch

from agentgym_train.config import EngineConfig, LoraConfig, ModelConfig
from agentgym_train.engine import checkpoint
from agentgym_train.engine.deepspeed import loading
from agentgym_train.models.loading import load_policy

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_loading_by_shards_gives_the_weights_of_a_plain_load(tmp_path, dtype):
    model = tiny.save(tmp_path)
    config = ModelConfig(dtype=dtype, lora=LoraConfig(rank=4))
    plain = load_policy(config, model, seed=3)
    for stage in (2, 3):
        with loading(EngineConfig(zero_stage=stage), dtype):
            sharded = load_policy(config, model, seed=3)
        assert checkpoint.shape(sharded) == checkpoint.shape(plain)
        frozen = [p for p in sharded.parameters() if not p.requires_grad]
        assert all(not p.numel() for p in frozen) == (stage == 3)
        weights = dict(plain.named_parameters())
        for name, parameter in sharded.named_parameters():
            with deepspeed.zero.GatheredParameters([parameter]):
                assert parameter.dtype == getattr(torch, dtype)
                assert torch.equal(parameter, weights.pop(name))
        assert not weights
    assert all(p.numel() for p in load_policy(config, model, seed=3).parameters())
