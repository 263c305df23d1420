"""The small model's random play: in worker processes, reproducible, and with time limits."""

import pytest
import small_run
from typer.testing import CliRunner

from agentgym_envs.errors import EnvRaised, EnvTimeout, WorkerDied
from agentgym_envs.pool import Description
from agentgym_train import cli
from agentgym_train import config as configuration
from agentgym_train.config import EnvConfig, ScratchConfig
from agentgym_train.models import scratch
from agentgym_train.reporting import report
from agentgym_train.run.prepare import prepare

LISTED = "listed_env:support/Listed-v0"


def play(env, **sizes):
    return scratch.random_play(env, ScratchConfig(**sizes), seed=3, progress=lambda *args: None)


def test_episodes_are_messages_that_end_with_an_action_and_do_not_depend_on_the_workers():
    one, two = (
        play(EnvConfig(id="agentgym/Maze-v1", workers=workers), episodes=5, turns=6)
        for workers in (1, 2)
    )
    assert one == two
    for episode in one:
        assert [m["role"] for m in episode] == ["user", "assistant"] * (len(episode) // 2)
        assert 2 <= len(episode) <= 12
    assert len({tuple(m["content"] for m in episode) for episode in one}) > 1


@pytest.mark.parametrize(
    ("fault", "error"), [("raise", EnvRaised), ("hang", EnvTimeout), ("die", WorkerDied)]
)
def test_an_environment_that_fails_in_random_play_is_an_error_with_its_name(fault, error):
    with pytest.raises(
        error,
        match=r"support/Listed-v0.*no answer within 1 s"
        if fault == "hang"
        else "support/Listed-v0",
    ):
        play(EnvConfig(id=LISTED, kwargs={"fault": fault}, timeout=1.0, workers=1), episodes=2)


def test_every_environment_of_a_run_has_an_equal_share_of_random_play(tmp_path, monkeypatch):
    played, modelled = [], []

    def random_play(env, config, *, seed, progress):
        played.append((env.name, config.episodes))
        return [
            [{"role": "user", "content": f"In {env.name}."}, {"role": "assistant", "content": "go"}]
        ] * config.episodes

    monkeypatch.setattr(scratch, "random_play", random_play)
    monkeypatch.setattr(
        scratch, "describe", lambda env_id, **kwargs: Description("", None, None, {}, False)
    )
    monkeypatch.setattr(
        scratch,
        "language_model",
        lambda model, tokenizer, episodes, *args, **kwargs: modelled.extend(episodes),
    )
    envs = [EnvConfig(id=f"a/{name}-v0") for name in ("One", "Two")]
    sizes = ScratchConfig(episodes=5, hidden=16, layers=1)
    scratch.make(
        tmp_path / "init", envs, sizes, seed=0, max_context=64, progress=lambda *args: None
    )
    assert played == [("One", 3), ("Two", 3)]
    assert [episode[0]["content"] for episode in modelled] == ["In One."] * 3 + ["In Two."] * 3


def test_a_plain_environment_that_lists_its_actions_has_a_small_model(tmp_path):
    path = small_run.write(
        tmp_path,
        env={"id": LISTED, "kwargs": {}},
        eval={"kwargs": {}},
        scratch={"episodes": 4, "steps": 2, "hidden": 16},
    )
    with report.Display(cli.out, quiet=True) as display:
        prepare(configuration.load(path), display).release()
    assert {"model.safetensors", "tokenizer.json"} <= {
        p.name for p in (tmp_path / "run" / "init").iterdir()
    }


def test_a_plain_environment_says_what_it_lacks_before_any_work(tmp_path):
    path = small_run.write(
        tmp_path, env={"id": "faulty_envs:support/Faulty-v0", "kwargs": {}}, eval={"kwargs": {}}
    )
    result = CliRunner().invoke(cli.app, ["run", str(path)])
    assert result.exit_code == 2
    assert "faulty_envs:support/Faulty-v0 has no keyword 'admissible'" in result.output
    assert "set model.path to a trained model" in result.output
    assert result.output.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_plain_environment_takes_plain_actions_only(tmp_path):
    path = small_run.write(
        tmp_path, env={"id": LISTED, "kwargs": {}, "action_format": "react"}, eval={"kwargs": {}}
    )
    result = CliRunner().invoke(cli.app, ["run", str(path)])
    assert result.exit_code == 2
    assert "env.action_format='react' needs a TextEnv" in result.output
    assert not (tmp_path / "run").exists()
