"""Losses of whole algorithms against the published formulas, as TRL computes them, in NumPy.

Only the packing is ours. Advantages, ratios, KL divergence, clipping and normalisation are written
again. Trajectories are random.
"""

import numpy as np
import pytest
import torch

from agentgym_train import plugins
from agentgym_train.data.batching import ForwardOutput, pack
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed

EPS = 1e-6


def played(rng, size):
    """Groups of trajectories of one to four turns, of one to five sampled tokens each."""

    def turn():
        count = int(rng.integers(1, 6))
        logps = rng.uniform(-3, -0.1, count).tolist()
        seen, reward = f"room {rng.integers(2)}", float(rng.integers(0, 5)) / 4
        return Turn(
            seen,
            [Call([1] * int(rng.integers(1, 4)), rng.integers(0, 99, count).tolist(), logps)],
            reward=reward,
        )

    return [
        Group(
            n,
            [Trajectory("t", n, [turn() for _ in range(rng.integers(1, 5))]) for _ in range(size)],
        )
        for n in range(3)
    ]


class Case:
    """Trajectories, and log-probabilities under the policy, the reference and the sampler.

    Each kind is a list of arrays.
    """

    def __init__(self, seed, options, size=4):
        rng = np.random.default_rng(seed)
        self.groups = played(rng, size)
        self.episodes = [t for g in self.groups for t in g.trajectories]
        self.old = [np.concatenate([call.logps for call in t.calls]) for t in self.episodes]
        self.new, self.reference = (
            [o + rng.normal(0, 0.4, len(o)) for o in self.old] for _ in range(2)
        )
        self.algorithm = plugins.make_algorithm(options)

    def ours(self):
        """The algorithm's loss divided by its weight."""
        batch = pack(self.groups)
        new_BT, reference_BT = (
            self._padded(values, batch) for values in (self.new, self.reference)
        )
        batch = self.algorithm.compute_advantages(
            batch.with_streams(reference=reference_BT), self.groups, Distributed()
        )
        loss, _ = self.algorithm.loss(ForwardOutput(new_BT, new_BT), batch)
        return loss.item() / self.algorithm.weight(batch)

    def _padded(self, values, batch):
        out = torch.zeros_like(batch.logp_BT)
        out[batch.action_BT] = torch.tensor(np.concatenate(values), dtype=torch.float32)
        return out

    def returns(self, gamma=1.0):
        return [
            np.array(
                [
                    sum(turn.reward * gamma**n for n, turn in enumerate(t.turns))
                    for t in g.trajectories
                ]
            )
            for g in self.groups
        ]

    def per_token(self, advantages):
        """A trajectory's advantage on each of its tokens."""
        return [np.full(len(o), a) for o, a in zip(self.old, advantages, strict=True)]

    def surrogate(
        self,
        advantages,
        *,
        low=0.2,
        high=0.2,
        kl=0.0,
        per_sequence=False,
        loss_reduction="token",
        constant=1024,
    ):
        """PPO's clipped loss with k3 and a loss reduction: "bnpo", "grpo" and "dr_grpo" in TRL."""
        sums, counts = [], []
        for new, old, reference, advantage in zip(
            self.new, self.old, self.reference, advantages, strict=True
        ):
            log_ratio = np.full(len(new), (new - old).mean()) if per_sequence else new - old
            ratio = np.exp(log_ratio)
            loss = -np.minimum(ratio * advantage, np.clip(ratio, 1 - low, 1 + high) * advantage)
            loss = loss + kl * (np.exp(reference - new) - (reference - new) - 1)
            sums.append(loss.sum())
            counts.append(len(loss))
        sums, counts = np.array(sums), np.array(counts)
        if loss_reduction == "token":
            return sums.sum() / counts.sum()
        return (
            (sums / counts).mean()
            if loss_reduction == "sequence"
            else sums.sum() / (len(sums) * constant)
        )


def normalised(groups):
    return np.concatenate(
        [(g - g.mean()) / (g.std(ddof=1) + EPS) if len(set(g)) > 1 else 0 * g for g in groups]
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss_reduction", ["token", "sequence", "constant"])
@pytest.mark.parametrize("ratio", ["token", "sequence"])
def test_grpo(seed, loss_reduction, ratio):
    options = {
        "clip_low": 0.1,
        "clip_high": 0.28,
        "kl_coef": 0.05,
        "loss_reduction": loss_reduction,
        "constant": 50,
        "ratio": ratio,
        "gamma": 0.9,
    }
    case = Case(seed, {"name": "grpo", **options})
    advantages = case.per_token(normalised(case.returns(0.9)))
    limits = {
        "low": 0.1,
        "high": 0.28,
        "kl": 0.05,
        "loss_reduction": loss_reduction,
        "constant": 50,
    }
    assert case.ours() == pytest.approx(
        case.surrogate(advantages, per_sequence=ratio == "sequence", **limits), rel=1e-4
    )


@pytest.mark.parametrize("seed", range(3))
def test_rloo(seed):
    case = Case(seed, {"name": "rloo", "kl_coef": 0.05})
    advantages = np.concatenate([r - (r.sum() - r) / (len(r) - 1) for r in case.returns()])
    assert case.ours() == pytest.approx(
        case.surrogate(case.per_token(advantages), kl=0.05), rel=1e-4
    )


@pytest.mark.parametrize("seed", range(3))
def test_reinforce_pp(seed):
    """Returns-to-go with the KL penalty in the rewards, whitened over all tokens of the batch."""
    case = Case(
        seed,
        {
            "name": "reinforce_pp",
            "gamma": 0.8,
            "kl_coef": 0.1,
            "kl_in": "reward",
            "kl_estimator": "k1",
        },
    )
    to_go = []
    for t, old, reference in zip(case.episodes, case.old, case.reference, strict=True):
        turns = np.concatenate([[n] * len(call.action_ids) for n, call in enumerate(t.calls)])
        earned = -0.1 * (old - reference)
        for n, turn in enumerate(t.turns):
            earned[np.flatnonzero(turns == n)[-1]] += turn.reward
        to_go.append(
            np.array([sum(earned[i:] * 0.8 ** (turns[i:] - turns[i])) for i in range(len(turns))])
        )
    every = np.concatenate(to_go)
    advantages = [(g - every.mean()) / every.std() for g in to_go]
    assert case.ours() == pytest.approx(case.surrogate(advantages), rel=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_gigpo(seed):
    """A trajectory's advantage in its group, plus 0.7 times the turn's in its anchor state."""
    case = Case(seed, {"name": "gigpo", "gamma": 0.9, "step_coef": 0.7})
    whole = iter(normalised(case.returns(0.9)))
    advantages, anchored = [], 0
    for group in case.groups:
        states = {}
        for t in group.trajectories:
            for n, turn in enumerate(t.turns):
                follow = sum(later.reward * 0.9**m for m, later in enumerate(t.turns[n:]))
                states.setdefault(turn.observation, []).append(follow)
        for t in group.trajectories:
            mine, base = [], next(whole)
            for n, turn in enumerate(t.turns):
                among = np.array(states[turn.observation])
                anchored += len(among) > 1
                follow = sum(later.reward * 0.9**m for m, later in enumerate(t.turns[n:]))
                step = (
                    (follow - among.mean()) / (among.std(ddof=1) + EPS)
                    if len(set(among)) > 1
                    else 0.0
                )
                mine += [base + 0.7 * step] * len(turn.calls[0].action_ids)
            advantages.append(np.array(mine))
    assert anchored > 5
    assert case.ours() == pytest.approx(case.surrogate(advantages), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_dpo(seed):
    """TRL's sigmoid loss: the mean of −log σ(β (log-ratio of chosen − log-ratio of rejected))."""
    case = Case(seed, {"name": "dpo", "beta": 0.3}, size=2)
    losses = []
    for n, group in enumerate(case.groups):
        ratios = [case.new[i].sum() - case.reference[i].sum() for i in (2 * n, 2 * n + 1)]
        one, other = (t.total_reward for t in group.trajectories)
        if one != other:
            losses.append(np.log1p(np.exp(-0.3 * (ratios[0] - ratios[1]) * np.sign(one - other))))
    assert case.ours() == pytest.approx(np.mean(losses), rel=1e-4)
