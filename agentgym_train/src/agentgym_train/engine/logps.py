"""The training forward: log-probabilities of sampled tokens, values and scores.

Log-probabilities are computed as the sampler computed them: from the same tokens, at the same
temperature.

Shapes: B trajectories, T tokens, N action tokens.
"""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn.functional import pad

from agentgym_train.data.batching import Batch, Forward
from agentgym_train.models.policy import Output, Policy


def token_logps(
    model: Callable[..., Any],
    micro: Batch,
    temperature: float,
    *,
    entropy: bool = False,
    bonus: bool = False,
) -> Forward:
    """Runs a causal LM over a micro-batch.

    Args:
        model: a :class:`~agentgym_train.models.policy.Policy`, DeepSpeed's engine of one, or a
            model of which one can be made.
        micro: padded on the right: the position of a token is its column, and no token attends to
            padding.
        temperature: divides the logits, as at sampling.
        entropy: compute ``entropy_BT`` too.
        bonus: compute ``bonus_BT`` too.

    Returns:
        Streams whose column t is about token t; column 0 is zero.
    """
    policy = model if isinstance(getattr(model, "module", model), Policy) else Policy(model)
    # Position t−1 predicts token t, so the first column of the mask is dropped.
    wanted_BT = micro.action_BT[:, 1:]
    output: Output = policy(
        micro.id_BT, wanted_BT=wanted_BT, temperature=temperature, entropy=entropy, bonus=bonus
    )

    def spread(stream_N: Tensor) -> Tensor:
        return _shifted(stream_N.new_zeros(wanted_BT.shape).masked_scatter(wanted_BT, stream_N))

    assert output.streams is not None
    logp_N, entropy_N, bonus_N = output.streams
    return Forward(
        spread(logp_N),
        None if entropy_N is None else spread(entropy_N),
        None if bonus_N is None else spread(bonus_N),
        None if output.value_BT is None else _shifted(output.value_BT[:, :-1]),
    )


def token_values(model: Callable[..., Any], micro: Batch) -> Tensor:
    """Runs a critic over a micro-batch.

    Args:
        model: a policy with a value head, or DeepSpeed's engine of one. No logits are computed.
        micro: see :func:`token_logps`.

    Returns:
        float32, shape (B, T): column t is the value before token t; column 0 is zero.
    """
    output: Output = model(micro.id_BT)
    assert output.value_BT is not None
    return _shifted(output.value_BT[:, :-1])


def episode_scores(model: Callable[..., Any], micro: Batch, pad: int) -> Tensor:
    """Runs a reward model over a micro-batch.

    Args:
        model: a sequence classifier with one label; it recognises a row's last token by the padding
            tokens after it.
        micro: see :func:`token_logps`.
        pad: the model's padding token.

    Returns:
        float32, shape (B,).
    """
    # Batches are padded with token 0, which can be an ordinary token of the model.
    id_BT = micro.id_BT.where(micro.valid_BT, pad)
    scores_B1: Tensor = model(
        input_ids=id_BT, attention_mask=micro.valid_BT.long(), use_cache=False
    ).logits
    return scores_B1[:, 0].float()


def _shifted(stream_BT: Tensor) -> Tensor:
    # The output at position t−1 is about token t.
    return pad(stream_BT, (1, 0))
