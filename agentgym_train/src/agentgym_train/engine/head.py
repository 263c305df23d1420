"""A causal LM with a value head.

Shapes: B trajectories, T tokens, D hidden units.
"""

from typing import Any

from torch import Tensor, nn

from agentgym_train.models.policy import Policy


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


class Valued(Policy):
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
