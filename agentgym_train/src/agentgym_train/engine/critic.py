"""The engines of a run: the policy's, and the critic's if the algorithm requires one."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Literal

from transformers import PreTrainedModel

from agentgym_train.config import Config
from agentgym_train.engine.deepspeed import Engine, loading
from agentgym_train.engine.head import Valued
from agentgym_train.models.loading import load_policy

Kind = Literal["model", "head"]


def kind(config: Config, required_streams: Collection[str]) -> Kind | None:
    """Returns the kind of critic that an algorithm with these streams needs, or None."""
    return config.critic.kind if "value" in required_streams else None


def engines(
    config: Config,
    policy: PreTrainedModel,
    model_path: str,
    critic: Kind | None,
    *,
    universal: bool,
) -> list[Engine]:
    """Returns the policy's engine, followed by the engine of a separate critic model.

    Args:
        config: the configuration of the run.
        policy: the initial policy.
        model_path: the folder or hub name of the policy; a critic model starts from the same
            weights.
        critic: see :func:`kind`.
        universal: see :class:`Engine`.
    """
    lr = config.critic.lr or config.engine.lr
    options: dict[str, Any] = {
        "dtype": config.model.dtype,
        "temperature": config.rollout.temperature,
        "universal": universal,
    }
    if critic == "head":
        return [Engine(Valued(policy), config.engine, head_lr=lr, **options)]
    made = [Engine(policy, config.engine, **options)]
    if critic == "model":
        # A critic learns in all layers, or in an adapter as the policy does.
        settings = replace(config.model, last_layers=0)
        with loading(config.engine, config.model.dtype):
            model = load_policy(settings, model_path, seed=config.run.seed)
        valued = Valued(model, trunk=True)
        made.append(Engine(valued, replace(config.engine, lr=lr), name="critic", **options))
    return made
