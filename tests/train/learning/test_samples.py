"""The loss of an episode does not depend on the samples that it was cut into."""

import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st

from agentgym_train import plugins
from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.algorithms.ppo import PPO, turn_weights
from agentgym_train.config import EngineConfig
from agentgym_train.data.batching import Batch, ForwardOutput, pack
from agentgym_train.data.load_balancing import share_out
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.learning.episodes import add_advantages, by_episode, rows_with_loss
from agentgym_train.learning.update import NotFiniteError, fill_streams, update
from agentgym_train.models.policy import token_logps

IDS = 50


def cut(episode, numbers):
    """Returns the same calls in the samples of these numbers, which are repeated."""
    turns, place, seen = [], 0, {}
    for turn in episode.turns:
        calls = []
        for call in turn.calls:
            number = seen.setdefault(numbers[place % len(numbers)], len(seen))
            calls.append(Call(**{**vars(call), "sample": number}))
            place += 1
        turns.append(Turn(turn.observation, calls, reward=turn.reward))
    prompt = episode.next_call and Call(
        episode.next_call.prompt_ids,
        # The numbers go on, so the prompt extends a sample or begins one.
        sample=seen.get(numbers[place % len(numbers)], len(seen)),
    )
    return Trajectory(episode.task_id, episode.seed, turns, next_call=prompt)


def played(seed, size, most_calls=3):
    """Returns four groups of episodes of one sample; the second one is empty."""
    rng = torch.Generator().manual_seed(seed)

    def number(most):
        return int(torch.randint(most, (1,), generator=rng))

    def call():
        ids = [number(IDS) for _ in range(1 + number(4))]
        logps = [-number(30) / 10 for _ in ids]
        prompt = [number(IDS) for _ in range(1 + number(3))]
        return Call(prompt, ids, logps, cut=number(5) == 0)

    def episode(task):
        turns = [
            Turn(
                f"room {number(3)}",
                [call() for _ in range(1 + number(most_calls))],
                reward=number(4) / 4,
            )
            for _ in range(1 + number(4))
        ]
        prompt = Call([number(IDS), number(IDS)]) if number(2) else None
        return Trajectory(f"task {task}", task, turns, next_call=prompt)

    return [Group(n, [episode(n) for _ in range(0 if n == 1 else size)]) for n in range(4)]


class TableEngine:
    """A policy and critic that know the present token alone, so a prompt changes nothing."""

    def __init__(self, *, critic):
        self.critic = critic
        rng = torch.Generator().manual_seed(0)
        self.table = (0.3 * torch.randn(4, IDS, generator=rng)).requires_grad_()
        self.distributed, self.device, self.lr = Distributed(), torch.device("cpu"), 0.1
        self.gradients = []

    def forward(self, micro, *, entropy=False, bonus=False):
        logp_BT = self.table[0][micro.id_BT].where(micro.action_BT, 0.0) + micro.logp_BT
        bonus_BT = self.table[1][micro.id_BT].where(micro.action_BT, 0.0) if bonus else None
        value_BT = self.table[2][micro.id_BT] if self.critic else None
        return ForwardOutput(logp_BT, torch.ones_like(logp_BT), bonus_BT, value_BT)

    def values(self, micro):
        """The value before a token is a function of the previous one, so a next prompt has one."""
        return self.table[3][micro.id_BT.roll(1, 1)]

    def backward(self, loss):
        loss.backward()

    def step(self):
        self.gradients.append(self.table.grad.clone())
        self.table.grad = None
        return float(self.gradients[-1].norm())


def learned(algorithm, groups, max_tokens, masked):
    """Returns the streams of action tokens in order of time, the metrics and the gradients."""
    engine = TableEngine(critic="value" in algorithm.required_streams)
    batch = fill_streams(
        pack(groups, mask_cut_actions=masked),
        algorithm.required_streams,
        {
            "old": lambda micro: engine.forward(micro).logp_BT + 0.1,
            "reference": lambda micro: engine.forward(micro).logp_BT - engine.table[3][micro.id_BT],
            "value": engine.values,
        },
        distributed=engine.distributed,
        max_tokens=max_tokens,
        groups=groups,
    )
    batch = add_advantages(batch, algorithm, groups, engine.distributed)
    config = EngineConfig(minibatches=2, micro_batch_tokens=max_tokens)
    metrics = update(engine, algorithm, batch, groups=len(groups), config=config)
    episodes, _ = by_episode(batch)
    streams = {name: v[episodes.action_BT] for name, v in episodes.streams.items()}
    return streams, metrics, torch.stack(engine.gradients)


CASES = [
    ("sft", {}, 1),
    ("dpo", {}, 2),
    *((name, {}, 3) for name in ("grpo", "rloo", "reinforce_pp", "gigpo", "ppo")),
    *(
        (name, {"loss_reduction": reduction, "ratio": ratio, "clip_high": 0.02, "gamma": 0.9}, 3)
        for name in ("grpo", "reinforce_pp")
        for reduction in ("token", "sequence", "constant")
        for ratio in ("token", "sequence")
    ),
    ("grpo", {"kl_coef": 0.1, "entropy_coef": 0.1, "importance_cap": 2.0}, 3),
    ("gigpo", {"loss_reduction": "sequence", "kl_coef": 0.1, "kl_in": "reward"}, 3),
    *(
        (
            "ppo",
            {"per": per, "bootstrap": True, "gamma": 0.9, "lam": 0.9, "loss_reduction": reduction},
            3,
        )
        for per in ("token", "turn")
        for reduction in ("token", "sequence", "constant")
    ),
    ("ppo", {"per": "turn", "kl_coef": 0.1, "kl_in": "reward", "ratio": "sequence"}, 3),
]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("name", "options", "size"), CASES)
def test_one_or_several_samples_give_the_same_advantages_loss_and_gradient(
    name, options, size, masked
):
    algorithm = plugins.make_algorithm({"name": name, **options})
    whole = played(len(options), size)
    streams, metrics, gradients = learned(algorithm, whole, 10**6, masked)
    assert gradients.abs().sum() > 0
    for numbers, max_tokens in (([0, 1], 10**6), ([0, 0, 1, 2, 1], 1), (range(9), 16)):
        groups = [Group(g.number, [cut(t, numbers) for t in g.trajectories]) for g in whole]
        assert len(pack(groups).group_B) > len(pack(whole).group_B)
        found, found_metrics, found_gradients = learned(algorithm, groups, max_tokens, masked)
        assert found.keys() == streams.keys()
        for stream in streams:
            torch.testing.assert_close(found[stream], streams[stream], msg=stream)
        assert found_metrics == pytest.approx(metrics, rel=1e-4, abs=1e-5)
        torch.testing.assert_close(found_gradients, gradients, rtol=1e-4, atol=1e-6)


def test_a_sample_that_repeats_the_history_trains_the_same():
    """A causal model reads the same before each action, in one row or in a row for each turn."""
    model = tiny.model()
    turns = [([5, 6, 7], [8, 9]), ([10], [11, 12, 13]), ([14, 15], [16])]
    gradients = []
    for several in (False, True):
        groups = []
        for number in range(2):
            episodes = []
            for reward in (0.0, 1.0):
                history, made = [], []
                for place, (prompt, action) in enumerate(turns):
                    action = [token + int(reward) for token in action]
                    given = [*history, *prompt] if several else prompt
                    call = Call(given, action, [-5.0] * len(action), sample=place * several)
                    made.append(Turn("", [call], reward=reward))
                    history += [*prompt, *action]
                episodes.append(Trajectory("", number, made))
            groups.append(Group(number, episodes))
        algorithm = GRPO(loss_reduction="sequence", ratio="sequence", clip_high=10.0)
        batch = add_advantages(pack(groups), algorithm, groups, Distributed())
        assert len(batch.group_B) == (12 if several else 4)
        model.zero_grad()
        loss, _ = algorithm.loss(token_logps(model, batch, 1.0), batch)
        (loss / algorithm.weight(batch)).backward()
        gradients.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    assert gradients[0].abs().max() > 1e-3
    torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-6)


TWO_TURNS = [
    Turn("a", [Call([1, 2], [3], [-1.0]), Call([4], [5, 6], [-2.0, -3.0], sample=1)], reward=0.5),
    Turn("b", [Call([7], [8], [-4.0])], reward=1.0),
]
"""The first turn has a call in each of two samples; the second turn extends the first sample."""


def test_two_calls_of_a_turn_by_hand():
    """The first turn's reward ½ is on the last token of its second call.

    With γ = ½, returns-to-go are ½ + ½·1 = 1 at the first turn and 1 at the second.
    """
    groups = [Group(3, [Trajectory("", 0, TWO_TURNS)])]
    batch = pack(groups)
    assert batch.id_BT.tolist() == [[1, 2, 3, 7, 8], [4, 5, 6, 0, 0]]
    assert batch.action_BT.int().tolist() == [[0, 0, 1, 0, 1], [0, 1, 1, 0, 0]]
    assert batch.reward_BT.tolist() == [[0, 0, 0, 0, 1.0], [0, 0, 0.5, 0, 0]]
    assert batch.turn_BT.tolist() == [[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]
    assert batch.call_BT.tolist() == [[0, 0, 0, 2, 2], [1, 1, 1, 0, 0]]
    assert batch.episode_tokens_B.tolist() == [4, 4]
    assert (batch.group_B.tolist(), batch.episode_B.tolist()) == ([3, 3], [0, 0])
    episodes, by_sample = by_episode(batch.with_streams(value=batch.logp_BT))
    assert episodes.id_BT.tolist() == [[1, 2, 3, 4, 5, 6, 7, 8]]
    assert episodes.reward_BT.tolist() == [[0, 0, 0, 0, 0, 0.5, 0, 1.0]]
    assert episodes.streams["value"].tolist() == [[0, 0, -1, 0, -2, -3, 0, -4]]
    assert (episodes.group_B.tolist(), episodes.episode_tokens_B.tolist()) == ([3], [4])
    assert turn_weights(episodes).tolist() == [[0, 0, 3, 0, 0, 0, 0, 1]]
    algorithm = PPO(gamma=0.5, per="turn", normalise=False)
    zero = batch.with_streams(value=torch.zeros_like(batch.logp_BT))
    done = add_advantages(zero, algorithm, groups, Distributed())
    assert done.streams["advantage"].tolist() == [[0, 0, 1, 0, 1], [0, 1, 1, 0, 0]]
    assert done.streams["return"].tolist() == [[0, 0, 1, 0, 1], [0, 0, 0, 0, 0]]
    assert torch.equal(done.id_BT, batch.id_BT)
    doubled = by_sample(episodes.with_streams(twice=2 * episodes.streams["value"]))
    assert torch.equal(doubled.streams["twice"], 2 * batch.logp_BT)


def test_one_sample_per_episode_needs_no_copy():
    groups = played(0, 3)
    batch = pack(groups)
    episodes, by_sample = by_episode(batch)
    assert episodes is batch
    assert by_sample(batch) is batch


calls = st.builds(
    lambda p, a, s: (p, a, s), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)
)


@given(st.lists(st.lists(st.lists(calls, min_size=1, max_size=3), max_size=4), max_size=4))
def test_rows_and_episodes_against_a_loop_over_tokens(shapes):
    """Tokens have different ids, so their order shows."""
    ids, groups, in_time, rows = iter(range(10**6)), [], [], []
    for number, turns in enumerate(shapes):
        made, samples, order = [], {}, []
        for turn in turns:
            made.append(Turn("", [], reward=1.0))
            for prompt, action, sample in turn:
                call = Call(
                    [next(ids) for _ in range(prompt)],
                    [next(ids) for _ in range(action)],
                    [-1.0] * action,
                    sample=sample,
                )
                made[-1].calls.append(call)
                samples.setdefault(sample, []).append(call)
        groups.append(Group(number, [Trajectory("", 0, made)]))
        kept = [n for n in sorted(samples) if any(call.action_ids for call in samples[n])]
        rows += [[i for c in samples[n] for i in c.prompt_ids + c.action_ids] for n in kept]
        order = [c for turn in made for c in turn.calls if c.sample in kept]
        in_time += [[i for c in order for i in c.prompt_ids + c.action_ids]] if kept else []
    batch = pack(groups)
    episodes, by_sample = by_episode(batch.with_streams(id=batch.id_BT.float()))
    for made, wanted in ((batch, rows), (episodes, in_time)):
        assert [i[v].tolist() for i, v in zip(made.id_BT, made.valid_BT, strict=True)] == wanted
    assert by_sample(episodes).streams["id"].tolist() == batch.id_BT.tolist()
    everything = [turn for g in groups for t in g.trajectories for turn in t.turns]
    acted = [turn for turn in everything if any(call.action_ids for call in turn.calls)]
    assert batch.reward_BT.sum() == len(acted)
    assert (episodes.turn_BT.diff(dim=1)[episodes.valid_BT[:, 1:]] >= 0).all()


def test_episodes_of_two_processes_with_the_same_index_stay_apart():
    one, two = (pack([Group(n, [Trajectory("", 0, TWO_TURNS)] * 2)]) for n in (4, 2))
    assert one.member_B.tolist() == [0, 0, 1, 1]
    assert Batch.join([one, two]).member_B.tolist() == [2, 2, 3, 3, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("unit", "sizes"), [("row", [1] * 8), ("episode", [2] * 4), ("group", [4, 4])]
)
def test_rows_that_stay_together(unit, sizes):
    groups = [Group(n, [Trajectory("", 0, TWO_TURNS)] * 2) for n in range(2)]
    shares = share_out(pack(groups), Distributed(), 1, unit=unit)
    assert [len(share.origins) for share in shares] == sizes
    if unit == "episode":
        assert all(len(share.micro.episode_B.unique()) == 1 for share in shares)


def test_the_samples_of_an_episode_with_a_common_ratio_are_run_together():
    """Only the first sample of the first episode has an advantage."""
    batch = pack([Group(n, [Trajectory("", 0, TWO_TURNS)]) for n in range(2)])
    advantage_BT = torch.zeros_like(batch.logp_BT)
    advantage_BT[0, 2] = 1.0
    batch = batch.with_streams(advantage=advantage_BT)
    assert rows_with_loss(batch, GRPO()) == [0]
    assert rows_with_loss(batch, GRPO(ratio="sequence")) == [0, 1]


def test_an_episode_is_skipped_or_blamed_once():
    """Equal returns: one episode is run. An infinite gradient blames it once."""
    groups = [Group(n, [Trajectory("", 0, TWO_TURNS)] * 2) for n in range(2)]

    class Spoiled(GRPO):
        def loss(self, forward, micro):
            loss, sums = super().loss(forward, micro)
            return loss + (forward.logp_BT * 0.0).sum().abs().sqrt(), sums

    metrics = learned(GRPO(), groups, 1, masked=False)[1]
    assert (metrics["skipped"], metrics["loss"]) == (2, 0), "one episode of each mini-batch is run"
    with pytest.raises(NotFiniteError) as caught:
        learned(Spoiled(), groups, 1, masked=False)
    assert caught.value.episodes == [0, 1]
