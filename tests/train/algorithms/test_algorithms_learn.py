"""Every online algorithm finds the known best policy of a small environment.

It has two states and four actions; the policy is a table of logits. In each state, one action earns
1 and leads to the other state. All other actions earn 0 and end the episode.
"""

from types import SimpleNamespace

import pytest
import torch

from agentgym_train import plugins
from agentgym_train.data.batching import pack
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.learning.update import fill_streams
from agentgym_train.models.policy import token_logps

STATES = (4, 5)  # token ids that show the state; actions are 0 to 3
BEST = {4: 1, 5: 2}
TURNS = 4


class Table(torch.nn.Module):
    """A causal model that depends only on the last token, and a critic."""

    def __init__(self):
        super().__init__()
        self.logits = torch.nn.Parameter(torch.zeros(6, 6))
        self.value_head = torch.nn.Parameter(torch.zeros(6))

    def forward(self, input_ids, **_):
        masked = self.logits - 1e9 * (torch.arange(6) > 3)
        # The value depends on the policy's parameters too.
        return SimpleNamespace(
            logits=masked[input_ids], value=(self.value_head + 0.1 * self.logits[:, 0])[input_ids]
        )


def play(model, start, rng):
    """Plays one episode with the policy of the table."""
    state, turns, cut = STATES[start], [], True
    while len(turns) < TURNS:
        with torch.no_grad():
            logp = model(torch.tensor([[state]])).logits[0, 0].log_softmax(-1)
        action = int(torch.multinomial(logp.exp(), 1, generator=rng))
        right = action == BEST[state]
        turns.append(
            Turn(str(state), [Call([state], [action], [float(logp[action])])], reward=float(right))
        )
        if not right:
            cut = False
            break
        state = STATES[1 - STATES.index(state)]
    return Trajectory("", start, turns, next_call=Call([state]) if cut else None)


def learn(algorithm, *, seed, steps=60, lr=0.1, critic="head"):
    """Trains a table; returns the probabilities of the best action in both states.

    The critic is the same table, or a separate one with ``critic="model"``.
    """
    rng, model = torch.Generator().manual_seed(seed), Table()
    judge = Table() if critic == "model" else model
    optimizer = torch.optim.Adam({*model.parameters(), *judge.parameters()}, lr=lr)
    initial = Table()
    forwards = {"reference": initial, "old": model}
    producers = {
        name: lambda micro, m=m: token_logps(m, micro, 1.0).logp_BT for name, m in forwards.items()
    }
    producers["value"] = lambda micro: token_logps(judge, micro, 1.0).value_BT
    for _ in range(steps):
        groups = [Group(n, [play(model, n % 2, rng) for _ in range(6)]) for n in range(4)]
        batch = fill_streams(
            pack(groups),
            algorithm.required_streams,
            producers,
            distributed=Distributed(),
            max_tokens=1000,
            groups=groups,
        )
        batch = algorithm.compute_advantages(batch, groups, Distributed())
        optimizer.zero_grad()
        forward = token_logps(model, batch, 1.0, bonus="entropy" in algorithm.required_streams)
        forward = forward._replace(value_BT=token_logps(judge, batch, 1.0).value_BT)
        (algorithm.loss(forward, batch)[0] / algorithm.weight(batch)).backward()
        optimizer.step()
    return [float(model.logits[state, :4].detach().softmax(-1)[BEST[state]]) for state in STATES]


ONLINE = {
    "grpo": {"name": "grpo"},
    "dr.grpo": {"name": "grpo", "normalise": False, "loss_reduction": "constant", "constant": 4},
    "dapo": {"name": "grpo", "clip_high": 0.28},
    "gspo": {"name": "grpo", "ratio": "sequence", "loss_reduction": "sequence"},
    "cispo": {"name": "grpo", "surrogate": "cispo"},
    "rloo": {"name": "rloo"},
    "reinforce_pp": {"name": "reinforce_pp"},
    "gigpo": {"name": "gigpo"},
    "with a divergence in the loss": {"name": "grpo", "kl_coef": 0.02},
    "with a divergence in the reward": {
        "name": "reinforce_pp",
        "kl_coef": 0.02,
        "kl_in": "reward",
        "kl_estimator": "k1",
    },
    "with an entropy bonus": {"name": "grpo", "entropy_coef": 0.01},
    "with truncated importance sampling": {"name": "grpo", "importance_cap": 2.0},
}


SEEDS = 3
FEW = ("grpo", "with a divergence in the reward")
# Options of an algorithm that is tested with all seeds; they are tested with one seed.
FIRST = ("with a", "dr.grpo", "dapo", "gspo")
MORE = [(c, s) for c in ONLINE for s in range(1 if c.startswith(FIRST) else SEEDS)]


@pytest.mark.parametrize(
    ("case", "seed"),
    [pytest.param(c, s, marks=[pytest.mark.full] * (s > 0 or c not in FEW)) for c, s in MORE],
)
def test_it_finds_the_best_policy(case, seed):
    best = learn(plugins.make_algorithm(ONLINE[case]), seed=seed)
    assert min(best) > 0.9, best


@pytest.mark.parametrize(
    ("critic", "options"),
    [
        ("model", {}),
        pytest.param("head", {"lam": 0.5, "gamma": 0.9}, marks=pytest.mark.full),
        pytest.param("model", {"per": "turn", "lam": 0.95}, marks=pytest.mark.full),
        pytest.param("head", {"gamma": 0.9, "bootstrap": True}, marks=pytest.mark.full),
    ],
)
def test_an_actor_and_its_critic_find_it_too(critic, options):
    best = learn(plugins.make_algorithm({"name": "ppo", **options}), seed=0, critic=critic)
    assert min(best) > 0.9, best


def test_without_credit_nothing_is_found():
    """The check can fail."""
    best = learn(plugins.make_algorithm({"name": "grpo", "gamma": 0.0}), seed=0, steps=0)
    assert max(best) == 0.25
