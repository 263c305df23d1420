"""Invariants of one real trainer: environments, generator and DeepSpeed included."""

from dataclasses import replace
from pathlib import Path

import pytest
import small_run
import tiny
import torch

from agentgym_train import config as configuration
from agentgym_train import run
from agentgym_train.batching import pack
from agentgym_train.errors import ConfigError
from agentgym_train.rollout.build import make_collector, make_pool
from agentgym_train.rollout.chat import Chat
from agentgym_train.trainer import Trainer

pytestmark = pytest.mark.slow


@pytest.fixture
def trainer(tmp_path, request):
    options = getattr(request, "param", {})
    model = tiny.save(tmp_path / "model", template=tiny.CHATML)
    path = small_run.write(tmp_path, **({"model": {"path": model, "max_context": 512}} | options))
    config = configuration.load(path)
    run.check(config)
    folder = run.claim_folder(config)
    tokenizer = run.load_tokenizer(model)
    made = Trainer(config, folder, model_path=model, tokenizer=tokenizer, chat=Chat(tokenizer, run.describe(config)))
    yield made
    made.engine.close()


def collect(trainer, step=0, max_turns=4):
    config, starts = trainer.config, trainer.tasks(step)
    with make_pool(config, len(starts), config.env.kwargs) as pool:
        collector = make_collector(config, pool, trainer.generator, trainer.chat)
        return collector.collect(starts, max_turns=max_turns, sampling=trainer.sampling(step))


def spread_rewards(groups):
    """Gives every second trajectory a reward, so that there is something to learn whatever the tiny model did."""
    for group in groups:
        for number, t in enumerate(group.trajectories):
            t.turns[-1].reward = float(number % 2)
    return groups


def test_the_training_forward_reproduces_the_sampling_log_probabilities(trainer):
    batch = pack(collect(trainer))
    assert batch.action_tokens > 50
    with torch.no_grad():
        for micro in batch.micro_batches(300):
            logp_BT = trainer.engine.forward(micro).logp_BT
            ratio = (logp_BT - micro.logp_BT)[micro.action_BT].exp()
            torch.testing.assert_close(ratio, torch.ones_like(ratio), atol=1e-4, rtol=0)


def test_a_step_moves_every_parameter_and_the_next_ratio_is_not_one(trainer):
    before = {n: w.clone() for n, w in trainer.engine.weights()}
    batch = trainer.algorithm.advantages(pack(spread_rewards(collect(trainer))))
    metrics = trainer.update(batch)
    assert metrics["logp_drift"] < 1e-4
    assert metrics["grad_norm"] > 0
    after = dict(trainer.engine.weights())
    assert [n for n in before if torch.equal(before[n], after[n])] == []
    assert trainer.update(batch)["logp_drift"] > 1e-4


def test_groups_without_spread_move_nothing(trainer):
    before = {n: w.clone() for n, w in trainer.engine.weights()}
    groups = collect(trainer)
    for group in groups:
        for t in group.trajectories:
            t.turns[-1].reward = 1.0
    assert trainer.update(trainer.algorithm.advantages(pack(groups)))["grad_norm"] == 0.0
    for name, weight in trainer.engine.weights():
        assert torch.equal(weight, before[name])


def test_observation_tokens_have_no_influence_on_the_loss(trainer):
    batch = trainer.algorithm.advantages(pack(spread_rewards(collect(trainer))))
    loss = lambda b: trainer.algorithm.loss(trainer.engine.forward(b).logp_BT, b)[0].item()  # noqa: E731
    garbage = torch.where(batch.action_BT, batch.logp_BT, torch.full_like(batch.logp_BT, -1e6))
    huge = torch.where(batch.action_BT, batch.advantage_BT, torch.full_like(batch.advantage_BT, 1e6))
    assert loss(batch) == loss(replace(batch, logp_BT=garbage, advantage_BT=huge))


@pytest.mark.parametrize("trainer", [{"algorithm": {"name": "grpo", "kl_coef": 0.1}}], indirect=True)
def test_the_divergence_starts_at_zero_and_grows(trainer):
    batch = trainer.algorithm.advantages(pack(spread_rewards(collect(trainer))))
    first = trainer.update(batch)["kl"]
    assert abs(first) < 1e-6
    for _ in range(3):
        latest = trainer.update(batch)["kl"]
    assert latest > 1e-5


def test_the_generator_follows_the_policy(trainer):
    trainer.update(trainer.algorithm.advantages(pack(spread_rewards(collect(trainer)))))
    trainer.generator.load(trainer.engine.weights())
    batch = pack(collect(trainer, step=1))
    with torch.no_grad():
        drift = (trainer.engine.forward(batch).logp_BT - batch.logp_BT)[batch.action_BT].abs().max()
    assert drift < 1e-4


@pytest.mark.parametrize("trainer", [{"rollout": {"max_new_tokens": 510}}], indirect=True)
def test_a_context_that_fits_no_episode_is_an_error_and_not_an_empty_step(trainer):
    with pytest.raises(ConfigError, match=r"no episode of step 1 fits.*max_new_tokens=510.*max_context=512"):
        trainer.train(lambda row, groups: None)


def test_tasks_are_a_function_of_seed_and_step(trainer):
    assert trainer.tasks(3) == trainer.tasks(3)
    assert trainer.tasks(3) != trainer.tasks(4)
    assert len(trainer.tasks(0)) == 16
    assert len(set(trainer.tasks(0))) == 4
    assert trainer.sampling(3) == trainer.sampling(3)
    assert trainer.sampling(3).seed != trainer.sampling(4).seed


DYING = {
    "env": {
        "id": "faulty_envs:support/Faulty-v0",
        "kwargs": {"fault": "die", "at": 2, "length": 3},
        "groups": 2,
        "group_size": 2,
        "timeout": 5.0,
    },
    "eval": {"kwargs": {}},
}


@pytest.mark.parametrize("trainer", [DYING], indirect=True)
def test_a_training_step_completes_over_dying_environments(trainer, tmp_path):
    marker = tmp_path / "died"
    object.__setattr__(trainer.config.env, "kwargs", trainer.config.env.kwargs | {"marker": str(marker)})
    rows = []
    trainer.train(lambda row, groups: rows.append((row, groups)))
    assert marker.exists(), "nothing failed: the test tested nothing"
    assert rows[0][0]["env_failures"] >= 1
    assert [r["episodes"] for r, _ in rows] == [4.0] * 4
    assert all(not t.status.is_error for _, groups in rows for g in groups for t in g.trajectories)
    assert Path(trainer.folder / "metrics.jsonl").read_text().count("\n") == 4
