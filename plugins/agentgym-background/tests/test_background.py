import gc
import json
import threading

import pytest
import tomli_w
import torch
from agentgym_background import BackgroundGenerator
from transformers import Qwen2Config, Qwen2ForCausalLM

from agentgym_train import config as configuration
from agentgym_train.assembly import assemble
from agentgym_train.errors import ModelError
from agentgym_train.generators.probe import ask
from agentgym_train.models import scratch
from agentgym_train.protocols import Sampling
from agentgym_train.reporting import metrics
from agentgym_train.run.folder import claim_folder
from agentgym_train.testing import check_generator
from agentgym_train.trainer import Trainer

SAMPLING = Sampling(temperature=1.0, max_new_tokens=4, stop_ids=frozenset())


@pytest.mark.full
def test_it_is_what_the_trainer_needs():
    assert len(check_generator("background")) == 11
    assert no_thread_is_left()


def no_thread_is_left():
    """Waits for ending threads; returns whether none is left."""
    gc.collect()
    ours = [thread for thread in threading.enumerate() if thread.name.startswith("background")]
    for thread in ours:
        thread.join(timeout=20)
    return not any(thread.is_alive() for thread in ours)


@pytest.fixture
def generator():
    shape = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
    }
    return BackgroundGenerator(
        Qwen2ForCausalLM(Qwen2Config(vocab_size=20, **shape)).eval().requires_grad_(False)
    )


def test_what_is_done_is_given_while_the_rest_is_sampled(generator):
    """The thread is blocked at the second row."""
    go_on, forward = threading.Event(), generator._model.forward

    def held(input_ids, **rest):
        assert input_ids[0, 0] != 7 or go_on.wait(60)
        return forward(input_ids, **rest)

    generator._model.forward = held
    session = generator.session([1, 2, 3], SAMPLING)
    for row, ids in enumerate(([5], [7], [5])):
        session.submit(row, ids)
    assert list(session.poll()) == [0]
    session.submit(0, [6])
    go_on.set()
    rest = session.poll()
    while len(rest) < 3:
        rest |= session.poll()
    assert session.poll() == {}


def test_an_error_of_the_thread_is_raised_by_poll(generator):
    generator._model.model.embed_tokens.weight.fill_(torch.nan)
    with pytest.raises(ModelError, match="not finite"):
        ask(generator.session([1], SAMPLING), {0: [5]})
    assert no_thread_is_left()


def test_a_session_that_is_dropped_at_work_leaves_no_thread(generator):
    session = generator.session(range(20), SAMPLING)
    for row in range(20):
        session.submit(row, [5])
    assert any(thread.name.startswith("background") for thread in threading.enumerate())
    del session
    assert no_thread_is_left()


def configured(home, generator):
    raw = {
        "run": {"folder": str(home / generator), "steps": 2},
        "env": {
            "id": "agentgym/Maze-v1",
            "kwargs": {"rooms": [3]},
            "groups": 3,
            "group_size": 6,
            "workers": 1,
        },
        "model": {"path": str(home / "model"), "max_context": 256},
        "scratch": {"hidden": 32, "episodes": 60, "steps": 80, "turns": 6},
        "rollout": {"max_new_tokens": 4, "batch_wait": 0.0},
        "algorithm": {"name": "grpo"},
        "generator": {"name": generator},
        "engine": {"lr": 1e-3},
        "curriculum": {"name": "fixed", "turns": 6},
    }
    (home / f"{generator}.toml").write_text(tomli_w.dumps(raw))
    return configuration.load(home / f"{generator}.toml")


def train(home, generator):
    """Plays a run; returns the metrics and the trained weights."""
    config = configured(home, generator)
    folder = claim_folder(config)
    trainer = Trainer(assemble(config, folder))
    trainer.train(lambda row, groups: None, lambda step: None)
    weights = {name: weight.clone() for name, weight in trainer.engine.weights()}
    trainer.engine.close()
    return [
        json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()
    ], weights


@pytest.mark.full
def test_a_run_learns_what_it_would_with_the_embedded_generator(tmp_path):
    """Samples and episodes are equal; log-probabilities and dependent metrics agree to rounding."""
    made = configured(tmp_path, "hf")
    scratch.make(
        tmp_path / "model",
        made.envs,
        made.scratch,
        seed=0,
        max_context=256,
        progress=lambda *_: None,
    )
    (ours, ours_after), (theirs, theirs_after) = (
        train(tmp_path, name) for name in ("background", "hf")
    )
    for one, other in zip(ours, theirs, strict=True):
        for key in metrics.MEASURED:
            del one[key], other[key]
        assert "generator_method" not in one
        del other["generator_method"]
        assert one == pytest.approx(other, rel=1e-3, abs=1e-5)
    assert ours[0]["grad_norm"] > 0, "the second step samples from other weights than the first"
    for name, weight in ours_after.items():
        torch.testing.assert_close(weight, theirs_after[name], rtol=0, atol=1e-4)
    assert no_thread_is_left()
