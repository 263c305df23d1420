"""An engine that sleeps between updates ends where one that stays awake ends.

On a CPU the state moves from main memory to main memory. All other steps are those of a GPU.
"""

from contextlib import closing

import lora_step
import one_step
import pytest
import tiny
import torch

from agentgym_train.algorithms.grpo import GRPO
from agentgym_train.config import EngineConfig, LoraConfig
from agentgym_train.data.batching import pack
from agentgym_train.distributed import Distributed
from agentgym_train.engine.deepspeed import check_zero
from agentgym_train.errors import ConfigError
from agentgym_train.learning.update import update

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("model"))


def play(model, case, folder=None):
    """Returns the weights after two updates; with a folder the engine sleeps and saves there."""
    stage, dtype, adapter = case
    lora = lora_step.LORA if adapter else LoraConfig()
    engine, config = lora_step.made(model, stage, dtype, lora=lora, sleep=folder is not None)
    batch = GRPO().compute_advantages(pack(one_step.groups()), one_step.groups(), Distributed())
    with closing(engine):
        for _ in range(2):
            if folder is not None:
                rest(engine, stage)
            update(engine, GRPO(), batch, groups=one_step.GROUPS, config=config)
            assert not engine._offload.asleep
        if folder is not None:
            rest(engine, stage)
            engine.save(folder)
            rest(engine, stage)
        return {name: weight.clone() for name, weight in engine.weights()}


def rest(engine, stage):
    for _ in range(2):
        engine.sleep()
    zero = getattr(engine._engine.optimizer, "offloaded_states", set())
    assert {state.value for state in zero} >= {
        0: set(),
        1: {"hp_params", "lp_params", "optim_states"},
        2: {"hp_params", "lp_params", "optim_states"},
        3: {"lp_grads"} if engine._adapted else {"lp_grads", "lp_params"},
    }[stage]
    moved = [tensor for tensor, _ in engine._offload._moved]
    moments = [s["exp_avg"] for s in engine._optimizer.state.values() if "exp_avg" in s]
    if stage in (0, 3):
        assert all(any(tensor is one for one in moved) for tensor in moments)
        assert len(moved) > 2 * len(moments)
    frozen = [p for p in engine._engine.module.parameters() if not p.requires_grad]
    for weight in frozen:
        own = weight.ds_tensor if stage == 3 else weight
        assert any(own is tensor for tensor in moved)


@pytest.mark.parametrize(
    "case",
    [
        (0, "float32", False),
        *(
            pytest.param(case, marks=pytest.mark.full)
            for case in [
                (3, "float32", True),
                (0, "float32", True),
                (1, "float32", False),
                (2, "bfloat16", False),
                (2, "float32", True),
                (3, "float32", False),
                (3, "bfloat16", False),
                (3, "bfloat16", True),
            ]
        ),
    ],
    ids=str,
)
def test_sleep_changes_nothing(model, case, tmp_path):
    awake, rested = play(model, case), play(model, case, tmp_path)
    assert all(torch.equal(rested[name], weight) for name, weight in awake.items())


@pytest.mark.parametrize(
    ("stage", "zero", "message"),
    [
        (3, {"offload_param": {"device": "cpu"}}, r"engine\.zero\.offload_param keeps on 'cpu'"),
        (
            3,
            {"offload_optimizer": {"device": "nvme", "nvme_path": "/x"}},
            r"engine\.zero\.offload_optimizer keeps on 'nvme'",
        ),
    ],
)
def test_a_state_that_is_elsewhere_already_is_refused(stage, zero, message):
    with pytest.raises(ConfigError, match=rf"engine\.sleep=true cannot move a state .*{message}"):
        check_zero(EngineConfig(zero_stage=stage, zero=zero, sleep=True))
    check_zero(EngineConfig(zero_stage=stage, zero=zero))
    check_zero(EngineConfig(zero={"offload_optimizer": {"device": "cpu"}}, sleep=True))
