"""The small model's random play: in worker processes, reproducible, and with time limits."""

import pytest
import small_run
from typer.testing import CliRunner

from agentgym_envs.errors import EnvRaised, EnvTimeout, WorkerDied
from agentgym_envs.evaluate import record
from agentgym_envs.pool import EnvDescription
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
        play(
            EnvConfig(id="agentgym/Maze-v1", action_format="plain", workers=workers),
            episodes=5,
            turns=6,
        )
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
        play(
            EnvConfig(
                id=LISTED, action_format="plain", kwargs={"fault": fault}, timeout=1.0, workers=1
            ),
            episodes=2,
        )


def keep(monkeypatch, modelled):
    """Keeps the tokenizer and the episodes of language modelling, and trains nothing."""
    monkeypatch.setattr(
        scratch.pretraining,
        "encode",
        lambda tokenizer, episodes, **kwargs: modelled.extend([tokenizer, *episodes]),
    )
    monkeypatch.setattr(scratch.pretraining, "learn_episodes", lambda *args, **kwargs: None)


def test_every_environment_of_a_run_has_an_equal_share_of_random_play(tmp_path, monkeypatch):
    played, modelled = [], []

    def random_play(env, config, *, seed, progress):
        played.append((env.name, config.episodes))
        return [
            [{"role": "user", "content": f"In {env.name}."}, {"role": "assistant", "content": "go"}]
        ] * config.episodes

    monkeypatch.setattr(scratch, "random_play", random_play)
    monkeypatch.setattr(
        scratch, "describe", lambda env_id, **kwargs: EnvDescription("", None, None, {}, False)
    )
    keep(monkeypatch, modelled)
    envs = [EnvConfig(id=f"a/{name}-v0", action_format="plain") for name in ("One", "Two")]
    sizes = ScratchConfig(episodes=5, hidden=16, layers=1)
    scratch.make(
        tmp_path / "init", envs, sizes, seed=0, max_context=64, progress=lambda *args: None
    )
    assert played == [("One", 3), ("Two", 3)]
    assert [episode[0]["content"] for episode in modelled[1:]] == ["In One."] * 3 + ["In Two."] * 3


def test_a_plain_environment_that_lists_its_actions_has_a_small_model(tmp_path):
    path = small_run.write(
        tmp_path,
        env={"id": LISTED, "kwargs": {}},
        eval={"kwargs": {}},
        scratch={"episodes": 4, "steps": 2, "hidden": 16},
    )
    with report.RunDisplay(cli.out, quiet=True) as display:
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


def lines(env_id, names, words):
    """Lines of results: each episode names a thing and has an action with it."""
    return [
        {
            **dict.fromkeys(("suite", "scenario", "family", "settings"), ""),
            **{"row": "episode", "env_id": env_id, "task_id": name, "difficulty": 0, "attempt": 0},
            **{"usage": {}, "success": True, "score": 1.0, "end": "terminated"},
            "turns": [
                {
                    "observation": f"Here is a {name}." + " More." * words,
                    "response": f"take {name}",
                    "action": f"take {name}",
                    "reward": 1.0,
                    "invalid": False,
                }
            ],
        }
        for name in names
    ]


def test_recorded_episodes_replace_random_play_and_their_names_are_words(tmp_path, monkeypatch):
    """The episodes of LockedMaze are longer, so those of Maze are repeated."""
    modelled = []
    keep(monkeypatch, modelled)
    envs = [
        EnvConfig(id=f"agentgym/{name}-v1", action_format="plain", workers=1)
        for name in ("Maze", "LockedMaze")
    ]
    names = ["glimmerstone", "thistlewood"]
    record.write(tmp_path / "short", {}, lines(envs[0].id, names, words=0))
    record.write(tmp_path / "long", {}, lines(envs[1].id, names, words=30))
    folders = [str(tmp_path / name) for name in ("short", "long")]
    sizes = ScratchConfig(folders=tuple(folders), hidden=16, layers=1)
    scratch.make(
        tmp_path / "init", envs, sizes, seed=0, max_context=64, progress=lambda *args: None
    )
    tokenizer, *episodes = modelled
    first = "Here is a glimmerstone."
    assert episodes[0] == [
        {"role": "user", "content": first},
        {"role": "assistant", "content": "take glimmerstone"},
    ]
    short, long = ([e for e in episodes if ("More" in e[0]["content"]) is m] for m in (False, True))
    assert len(long) == 2
    sums = [sum(len(m["content"]) for e in part for m in e) for part in (short, long)]
    assert sums[0] == pytest.approx(sums[1], abs=len(first + "take glimmerstone"))
    assert tokenizer.tokenize(" glimmerstone") == ["Ġglimmerstone"]


def test_recorded_episodes_of_another_environment_are_refused_before_any_work(tmp_path):
    record.write(tmp_path / "other", {}, lines("agentgym/LockedMaze-v1", ["lamp"], words=0))
    path = small_run.write(tmp_path, scratch={"folders": [str(tmp_path / "other")]})
    result = CliRunner().invoke(cli.app, ["run", str(path)])
    assert result.exit_code == 2
    assert "not one episode is of agentgym/Maze-v1; they are of agentgym/LockedM" in result.output
    assert not (tmp_path / "run").exists()
