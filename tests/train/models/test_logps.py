"""The training forward against the whole output of models of all tested architectures."""

import one_step
import pytest
import tiny
import torch

from agentgym_train.data.batching import pack
from agentgym_train.models.chunked_head import ChunkedHead
from agentgym_train.models.policy import PolicyModel, token_logps


@pytest.mark.parametrize("kind", tiny.ARCHITECTURES)
def test_logits_of_actions_alone_are_those_of_all(kind):
    """The reference is the log-probabilities of the whole output, and their gradient.

    The head is called for action tokens only.
    """
    policy, batch, rows = tiny.model(kind).eval(), pack(one_step.groups()[:2]), []
    action_BT = batch.action_BT[:, 1:]
    logits = policy(input_ids=batch.id_BT).logits[:, :-1]
    wanted_BT = (
        (logits / 0.7)
        .log_softmax(-1)
        .gather(2, batch.id_BT[:, 1:, None])[..., 0]
        .where(action_BT, 0.0)
    )
    wanted_BT.sum().backward()
    gradient = [p.grad.clone() for p in policy.parameters() if p.grad is not None]
    policy.zero_grad()
    wrapped = PolicyModel(policy)
    hook = policy.get_output_embeddings().register_forward_hook(
        lambda head, inputs, output: rows.append(len(inputs[0]))
    )
    got = token_logps(wrapped, batch, 0.7)
    hook.remove()
    assert rows == [int(action_BT.sum())] != [action_BT.numel()]
    torch.testing.assert_close(got.logp_BT[:, 1:], wanted_BT)
    assert isinstance(policy.get_output_embeddings(), ChunkedHead)
    assert not got.logp_BT[:, 0].any()
    got.logp_BT.sum().backward()
    torch.testing.assert_close(
        [p.grad for p in policy.parameters() if p.grad is not None], gradient, atol=1e-5, rtol=1e-4
    )
    assert policy(input_ids=batch.id_BT).logits.shape[:2] == batch.id_BT.shape, (
        "it computes all again afterwards"
    )


def test_a_model_without_a_head_of_its_own_is_read_all_the_same():
    policy, batch = tiny.model(), pack(one_step.groups()[:2])
    torch.testing.assert_close(
        token_logps(lambda **inputs: policy(**inputs), batch, 1.0).logp_BT,
        token_logps(policy, batch, 1.0).logp_BT,
    )
