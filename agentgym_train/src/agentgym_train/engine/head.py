"""A causal LM with a value head.

Shapes: B trajectories, T tokens, D hidden units.
"""

from typing import Any

from torch import Tensor, nn
from transformers import PreTrainedModel


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


class Valued(nn.Module):
    """A causal LM with a value head on its last hidden state.

    Args:
        policy: the causal LM.
        trunk: leave out the language-modelling head.
    """

    def __init__(self, policy: PreTrainedModel, *, trunk: bool = False):
        super().__init__()
        self.model = policy.base_model if trunk else policy
        self.value_head = ValueHead(
            policy.get_output_embeddings().weight.shape[1], 1, dtype=policy.dtype
        )

    def get_output_embeddings(self) -> nn.Module:
        """Returns the policy's language-modelling head."""
        head: nn.Module = self.model.get_output_embeddings()
        return head

    def forward(self, *, values_only: bool = False, **inputs: Tensor) -> Any:
        """Returns the model's output, with a field ``value`` added: float32, shape (B, T).

        Args:
            values_only: skip the language-modelling head, which can cost more than all layers.
            **inputs: arguments of the model.
        """
        if values_only:
            output = self.model.base_model(**inputs)
            output["value"] = self.value_head(output.last_hidden_state)
        else:
            output = self.model(**inputs, output_hidden_states=True)
            output["value"] = self.value_head(output.hidden_states[-1])
        return output
