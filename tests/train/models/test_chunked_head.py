"""The chunked head against the whole matrix of logits in plain torch."""

import math

import pytest
import torch
from torch.nn.functional import linear
from torch.utils._python_dispatch import TorchDispatchMode

from agentgym_train.models import chunked_head
from agentgym_train.models.chunked_head import ChunkedHead

TOKENS, WORDS, HIDDEN = 23, 57, 8


def head_of(dtype="float32", *, bias=False, tokens=TOKENS, seed=0):
    """Returns a head with wide logits, hidden states and tokens."""
    rng = torch.Generator().manual_seed(seed)
    head = ChunkedHead(HIDDEN, WORDS, bias=bias)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=rng))
    hidden = torch.randn((tokens, HIDDEN), generator=rng).to(getattr(torch, dtype))
    ids = torch.randint(WORDS, (tokens,), generator=rng)
    return head.to(getattr(torch, dtype)), hidden.requires_grad_(), ids


def plain(head, hidden, ids, temperature):
    """Log-probabilities, entropies and bonuses by their definitions, token by token."""
    rows = []
    for logits, token in zip(linear(hidden, head.weight, head.bias), ids, strict=True):
        p = (logits.float() / temperature).softmax(-1)
        probable = p[p >= p.max() / 20]
        probable = probable / probable.sum()
        rows.append((p[token].log(), *(-(q * q.log()).sum() for q in (p, probable))))
    return [torch.stack(row) for row in zip(*rows, strict=True)]


def gradients(head, hidden, *parts):
    """Gradients of a sum with a different weight for each token."""
    loss = sum((part * torch.linspace(-1, 2, len(part))).sum() for part in parts)
    return torch.autograd.grad(loss, [hidden, *head.parameters()])


@pytest.mark.parametrize("numbers", [1, 5 * WORDS, 10**6])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_it_is_the_whole_matrix(monkeypatch, numbers, bias, dtype):
    monkeypatch.setattr(chunked_head, "NUMBERS", numbers)
    head, hidden, ids = head_of(dtype, bias=bias)
    got = head(hidden, ids, temperature=0.7, entropy=True, bonus=True)
    logp, entropy, bonus = plain(head, hidden, ids, 0.7)
    # Logits of bfloat16 are rounded alike; only their gradients are rounded at other places.
    close = {"atol": 1e-5, "rtol": 1e-5}
    torch.testing.assert_close(got.logp_N, logp, **close)
    torch.testing.assert_close(got.entropy_N, entropy, **close)
    torch.testing.assert_close(got.bonus_N, bonus, **close)
    assert not got.entropy_N.requires_grad
    close = {"atol": 1e-5, "rtol": 1e-4} if dtype == "float32" else {"atol": 0.05, "rtol": 0.02}
    mine = gradients(head, hidden, got.logp_N, got.bonus_N)
    torch.testing.assert_close(mine, gradients(head, hidden, logp, bonus), **close)


def test_log_probabilities_alone(monkeypatch):
    monkeypatch.setattr(chunked_head, "NUMBERS", 5 * WORDS)
    head, hidden, ids = head_of()
    got = head(hidden, ids, temperature=1.0, entropy=False, bonus=False)
    assert got.entropy_N is got.bonus_N is None
    logp = plain(head, hidden, ids, 1.0)[0]
    torch.testing.assert_close(got.logp_N, logp)
    torch.testing.assert_close(
        gradients(head, hidden, got.logp_N), gradients(head, hidden, logp), atol=1e-5, rtol=1e-4
    )
    with torch.no_grad():
        again = head(hidden, ids, temperature=1.0, entropy=False, bonus=False)
    assert torch.equal(again.logp_N, got.logp_N.detach())


def test_small_gradients_are_not_lost_in_bfloat16(monkeypatch):
    """Adding the gradients of 512 slices in bfloat16 would stop growing at a half."""
    monkeypatch.setattr(chunked_head, "NUMBERS", WORDS)
    head, hidden, ids = head_of("bfloat16", tokens=1)
    many, same = hidden.detach().expand(512, -1).clone().requires_grad_(), ids.expand(512)
    options = {"temperature": 1.0, "entropy": False, "bonus": False}
    once = torch.autograd.grad(head(hidden, ids, **options).logp_N.sum(), head.weight)[0]
    sums = torch.autograd.grad(head(many, same, **options).logp_N.sum(), head.weight)[0]
    torch.testing.assert_close(sums, 512 * once, atol=0, rtol=0.02)


class Largest(TorchDispatchMode):
    """Records the largest number of elements of a tensor that an operation returns."""

    def __init__(self):
        super().__init__()
        self.most = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        for each in made if isinstance(made, (list, tuple)) else (made,):
            if isinstance(each, torch.Tensor):
                self.most = max(self.most, each.numel())
        return made


@pytest.mark.parametrize("frozen", ["hidden", "weight"])
def test_it_computes_gradients_only_where_they_are_needed(monkeypatch, frozen):
    """The gradient of the weight would be the largest tensor of this backward pass."""
    monkeypatch.setattr(chunked_head, "NUMBERS", 100)
    head, hidden, ids = head_of(tokens=5)
    (head.weight if frozen == "weight" else hidden).requires_grad_(False)
    made = head(hidden, ids, temperature=1.0, entropy=False, bonus=False)
    with Largest() as seen:
        made.logp_N.sum().backward()
    assert (hidden.grad is None) == (frozen == "hidden")
    assert (head.weight.grad is None) == (frozen == "weight")
    assert (seen.most < head.weight.numel()) == (frozen == "weight")


@pytest.mark.parametrize("bonus", [False, True])
def test_no_tokens_give_gradients_of_zero(bonus):
    head, hidden, ids = head_of(tokens=0)
    made = head(hidden, ids, temperature=1.0, entropy=True, bonus=bonus)
    assert [part.shape for part in made if part is not None] == [(0,)] * (2 + bonus)
    (made.logp_N.sum() + (made.bonus_N.sum() if bonus else 0.0)).backward()
    assert hidden.grad.shape == (0, HIDDEN)
    assert not head.weight.grad.any()


def test_without_tokens_it_is_a_linear_layer():
    head, hidden, _ = head_of(bias=True)
    assert torch.equal(head(hidden[None]), linear(hidden[None], head.weight, head.bias))


@pytest.mark.parametrize("tokens", [40, 400])
def test_no_tensor_holds_all_logits(monkeypatch, tokens):
    """A slice has at most ``NUMBERS`` logits, in the forward and in the backward pass."""
    numbers = 20 * WORDS
    monkeypatch.setattr(chunked_head, "NUMBERS", numbers)
    head, hidden, ids = head_of(tokens=tokens)
    with Largest() as seen:
        made = head(hidden, ids, temperature=0.7, entropy=True, bonus=True)
        forward, seen.most = seen.most, 0
        (made.logp_N.sum() + made.bonus_N.sum()).backward()
    # The hidden states and their gradient are whole.
    bound = max(numbers, tokens * HIDDEN)
    assert forward <= bound < tokens * WORDS
    assert math.floor(numbers / 2) <= seen.most <= bound
