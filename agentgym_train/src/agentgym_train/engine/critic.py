"""The value head of a critic, and the engines of a run: the policy's, and the critic's if any.

Shapes: B trajectories, T tokens, D hidden units.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Literal

from torch import Tensor, nn
from transformers import PreTrainedModel

from agentgym_train.config import Config
from agentgym_train.engine.deepspeed import TrainingEngine, loading
from agentgym_train.models.loading import load_policy
from agentgym_train.models.policy import PolicyModel


class ValueHead(nn.Linear):
    """A linear layer to one number per token. It starts at 0.

    It is computed in float32: near 1, numbers of bfloat16 are 1/128 apart.
    """

    def reset_parameters(self) -> None:
        """Sets the weights to 0."""
        nn.init.zeros_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, hidden_BTD: Tensor) -> Tensor:
        """Returns values, float32, shape (B, T)."""
        return nn.functional.linear(hidden_BTD.float(), self.weight.float(), self.bias.float())[
            ..., 0
        ]


class ValueHeadPolicy(PolicyModel):
    """A causal LM with a value head on its last hidden state.

    Args:
        policy: the causal LM, possibly wrapped by peft.
        trunk: leave out the language-modelling head; only values can be requested.
    """

    def __init__(self, policy: Any, *, trunk: bool = False):
        super().__init__(policy.base_model if trunk else policy)
        weight = policy.get_output_embeddings().weight
        # A model that was loaded by shards has empty weights, and their shapes beside them.
        hidden = getattr(weight, "ds_shape", weight.shape)[1]
        self.value_head = ValueHead(hidden, 1, dtype=policy.dtype)


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
) -> list[TrainingEngine]:
    """Returns the policy's engine, followed by the engine of a separate critic model.

    Args:
        config: the configuration of the run.
        policy: the initial policy.
        model_path: the folder or hub name of the policy; a critic model starts from the same
            weights.
        critic: see :func:`kind`.
        universal: see :class:`TrainingEngine`.
    """
    lr = config.critic.lr or config.engine.lr
    options: dict[str, Any] = {
        "dtype": config.model.dtype,
        "temperature": config.rollout.temperature,
        "universal": universal,
    }
    if critic == "head":
        return [TrainingEngine(ValueHeadPolicy(policy), config.engine, head_lr=lr, **options)]
    made = [TrainingEngine(policy, config.engine, **options)]
    if critic == "model":
        # A critic learns in all layers, or in an adapter as the policy does.
        settings = replace(config.model, last_layers=0)
        with loading(config.engine, config.model.dtype):
            model = load_policy(settings, model_path, seed=config.run.seed)
        valued = ValueHeadPolicy(model, trunk=True)
        made.append(TrainingEngine(valued, replace(config.engine, lr=lr), name="critic", **options))
    return made
