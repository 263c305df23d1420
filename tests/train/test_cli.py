"""Bad input: one line and exit status 2 before any work, without overwriting anything."""

import json
import os
import shutil
import tomllib
from dataclasses import asdict
from importlib.metadata import version

import pytest
import small_run
import tiny
from raised import raises
from typer.testing import CliRunner

from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.cli import app
from agentgym_train.run.launch import launch_command


@pytest.fixture(autouse=True)
def no_work(monkeypatch):
    """A run that is not rejected would train."""

    def started(folder):
        raise AssertionError(f"a run was started in {folder}")

    monkeypatch.setattr("agentgym_train.cli.attempt", started)


def invoke(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


def test_the_version_is_that_of_both_distributions():
    packages = ("agentgym-train", "agentgym-envs")
    assert invoke("--version").output == "".join(f"{name} {version(name)}\n" for name in packages)


def refused(result, message):
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "Traceback" not in result.output
    assert result.output.strip().count("\n") == 0, "one line"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("env.id=agentgym/Maz-v0", "Did you mean 'agentgym/Maze-v1'"),
        ("algorithm.name=grp", "unknown algorithm 'grp'. Did you mean 'grpo'"),
        ("curriculum.name=scaling", "unknown curriculum 'scaling'"),
        ("generator.name=vlm", "unknown generator 'vlm'. Did you mean 'vllm'?"),
        ("generator.name=vllm", "needs vLLM, which is not installed"),
        ("curriculum={turns=1}", "'curriculum.name' must be one of adaptive, "),
        ("algorithm.name=3", "'algorithm.name' must be one of "),
        ("algorithm.clip=0.2", "Did you mean 'algorithm.clip_low'"),
        ("engine.minibatches=9", "engine.minibatches=9 cannot split env.groups=4"),
        ("engine.zero={stage=3}", "'engine.zero.stage': the stage is set by engine.zero_stage=2"),
        ("engine.zero_stag=2", "Did you mean 'engine.zero_stage'"),
        (
            "curriculum.rounds=[4, 0]",
            "'curriculum.rounds.1': input should be greater than or equal to 1, not 0",
        ),
        ("env.kwargs.tasks=['none-*']", "selects nothing"),
        ("env.kwargs.room=[4]", "agentgym/Maze-v1 does not take 'room'. Did you mean 'rooms'?"),
        ("env.kwargs.max_episode_steps=5", "'env.kwargs.max_episode_steps': the trainer sets it"),
        ("eval.kwargs.timeout=5", "'eval.kwargs.timeout': the trainer sets it"),
        ("eval.kwargs.split=tset", "Did you mean 'test'"),
        ("model.path=/no/such/model", "model.path='/no/such/model'"),
        ("model.path={tiny}", "model.max_context=2000 is more than the 512 positions"),
        ("model.last_layers=3", "model.last_layers=3 is more than the 2 layers of 'scratch'"),
        (
            "model.attn_implementation=nonsense",
            "model.attn_implementation='nonsense' cannot be used for 'scratch'",
        ),
        (
            "model={path='{tiny}', attn_implementation='nonsense', max_context=256}",
            "model.attn_implementation='nonsense' cannot be used for '/",
        ),
        (
            "model={path='{tiny}', last_layers=3, max_context=256}",
            "model.last_layers=3 is more than the 2 layers of '/",
        ),
        (
            "model={last_layers=1, lora={rank=4}}",
            "model.last_layers=1 and model.lora.rank=4 exclude each other",
        ),
        (
            "model.lora={rank=4, targets=['q_proj', 'q_prj']}",
            "model.lora.targets: 'q_prj' matches no linear layer below the output head; there are"
            " down_proj, gate_proj, k_proj,",
        ),
        (
            "model={path='{tiny}', max_context=256, lora={rank=4, targets=['lm_head']}}",
            "model.lora.targets: 'lm_head' matches no linear layer",
        ),
        ("model.lora.dropout=0.1", "unknown configuration key 'model.lora.dropout'"),
    ],
)
def test_wrong_names_and_values(tmp_path, override, message):
    if "{tiny}" in override:
        override = override.replace("{tiny}", tiny.save(tmp_path / "tiny", template=tiny.CHATML))
    refused(
        invoke("run", small_run.write(tmp_path, model={"max_context": 2000}), "--set", override),
        message,
    )
    assert not (tmp_path / "run").exists()


BAD = [
    ("run.steps", "-1"),
    ("engine.lr", "nan"),
    ("env.groups", "1.5"),
    ("eval.episodes", "0"),
    ("engine.zero_stage", "4"),
]
BAD += [
    ("model.dtype", "'float16'"),
    ("curriculum.rounds", "[]"),
    ("run.folder", "''"),
    ("env.kwargs.rooms", "[nan]"),
]
BAD += [
    ("engine.zero.allgather_bucket_size", "inf"),
    ("env.kwargs.since", "2024-01-01"),
    ("scratch.vocab", "259"),
]


@pytest.mark.parametrize(("key", "value"), BAD)
def test_a_value_that_cannot_be_is_named_before_any_work(tmp_path, key, value):
    """One case of each kind; test_config.py has all cases."""
    result = invoke("run", small_run.write(tmp_path), "--set", f"{key}={value}")
    refused(result, key)
    assert str(tomllib.loads(f"x = {value}")["x"])[:19] in result.output
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["scratch.heads=3"], "hidden=32 must be an even multiple of heads=3"),
        (["scratch.heads=32"], "hidden=32 must be an even multiple of heads=32"),
        (
            ["rollout.max_new_tokens=256"],
            "rollout.max_new_tokens=256 must be below model.max_context=256",
        ),
        (
            ["curriculum.rounds=[4, 1.5]"],
            "'curriculum.rounds.1': input should be a valid integer, not 1.5",
        ),
    ],
)
def test_values_that_do_not_go_together(tmp_path, overrides, message):
    refused(
        invoke("run", small_run.write(tmp_path), *[a for o in overrides for a in ("--set", o)]),
        message,
    )
    assert not (tmp_path / "run").exists()


def test_more_processes_than_groups(tmp_path):
    path = small_run.write(tmp_path)
    refused(
        invoke("run", path, "--processes", "5"),
        "env.groups=4 leaves some of the 5 processes without a task",
    )
    (tmp_path / "hosts").write_text("one: 4\n")
    refused(invoke("run", path, "--hostfile", tmp_path / "hosts"), "such as: machine1 slots=8")
    assert not (tmp_path / "run").exists()


def test_a_missing_extra_is_the_pip_command(tmp_path, monkeypatch):
    """Environments live in other processes, which read sitecustomize.py when they start."""
    hidden = "from importlib import util\n"
    hidden += (
        "find = util.find_spec\nutil.find_spec = lambda n, p=None: None if n == 'textworld' else"
        " find(n, p)"
    )
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "sitecustomize.py").write_text(hidden)
    monkeypatch.syspath_prepend(tmp_path / "path")
    path = small_run.write(tmp_path, env={"id": "agentgym/TWSimple-v1", "kwargs": {}})
    refused(invoke("run", path), 'python -m pip install "agentgym-envs[textworld]"')


def test_a_template_without_a_generation_prompt(tmp_path):
    template = tiny.CHATML.partition("{% if add_generation_prompt %}")[0]
    model = tiny.save(tmp_path / "model", template=template)
    refused(
        invoke("run", small_run.write(tmp_path, model={"path": model})), "add_generation_prompt"
    )
    assert not (tmp_path / "run").exists()


def test_a_foreign_folder_is_left_alone(tmp_path):
    path = small_run.write(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").write_text("precious")
    refused(invoke("run", path), "is not a run folder")
    assert os.listdir(tmp_path / "run") == ["thesis.txt"]
    shutil.rmtree(tmp_path / "run")
    (tmp_path / "run").write_text("a file")
    refused(invoke("run", path), "is not a run folder")


def test_an_unwritable_folder(tmp_path):
    (tmp_path / "file").write_text("")
    path = small_run.write(tmp_path, run={"folder": str(tmp_path / "file" / "run"), "steps": 2})
    refused(invoke("run", path), "file/run: Not a directory")


def test_a_folder_of_another_configuration(tmp_path):
    from agentgym_train import config, plugins
    from agentgym_train.run.folder import claim_folder

    path = small_run.write(tmp_path)
    claim_folder(plugins.resolved(config.load(path)))
    refused(
        invoke("run", path, "--set", "engine.lr=0.5"),
        "engine.lr was 0.001 and is now 0.5. Choose another run.folder",
    )


def test_a_checkpoint_of_another_model(tmp_path):
    from agentgym_train.engine import checkpoint
    from agentgym_train.errors import CheckpointError

    shapes = {"architecture": "Qwen2ForCausalLM", "parameters": {"w": [2, 2]}}
    folder = tmp_path / "step-000002"
    folder.mkdir()
    state = {"step": 2, "curricula": {}, "zero_stage": 2, "processes": 1, "model": shapes}
    (folder / "state.json").write_text(json.dumps(state))
    read = checkpoint.read_state(folder)
    checkpoint.check_fits(read, folder, model=shapes, zero_stage=2, processes=1)
    with pytest.raises(CheckpointError, match="another model"):
        checkpoint.check_fits(
            read, folder, model=shapes | {"parameters": {"w": [3, 2]}}, zero_stage=2, processes=1
        )
    with pytest.raises(
        CheckpointError,
        match="critic none and no adapter, this run has",
    ):
        checkpoint.check_fits(
            read, folder, model=shapes | {"critic": "head"}, zero_stage=2, processes=1
        )
    with raises(CheckpointError, "zero_stage=2 and 1", "zero_stage=3 and 1"):
        checkpoint.check_fits(read, folder, model=shapes, zero_stage=3, processes=1)
    (folder / "state.json").write_text("{")
    with pytest.raises(CheckpointError, match="not a complete checkpoint"):
        checkpoint.read_state(folder)


def test_eval_needs_a_model(tmp_path):
    refused(invoke("eval", tmp_path), "holds no model")
    model = tiny.save(tmp_path / "model")
    refused(invoke("eval", model), "no config.toml lies in or above")


def test_eval_plays_held_out_tasks(tmp_path):
    model = tiny.save(tmp_path / "model")
    result = invoke("eval", model, "--config", small_run.write(tmp_path))
    assert result.exit_code == 0, result.output
    assert "after RL" not in result.output
    assert "checkpoint" in result.output


def test_plugins_and_config_show(tmp_path):
    listed = invoke("plugins").output
    for name in ("grpo", "fixed", "scaling_inter", "hf", "agentgym/Maze-v1"):
        assert name in listed
    shown = invoke("config", "show", small_run.write(tmp_path), "--set", "engine.lr=0.25").output
    assert "lr = 0.25" in shown
    assert "max_grad_norm = 1.0" in shown


def test_a_long_value_is_shown_whole_on_a_narrow_terminal(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = "one word after the other " * 6
    path = small_run.write(tmp_path, env={"kwargs": {"words": words}})
    assert tomllib.loads(invoke("config", "show", path).output)["env"]["kwargs"]["words"] == words


def test_the_options_of_plugins_are_shown_with_their_defaults(tmp_path):
    shown = tomllib.loads(
        invoke(
            "config", "show", small_run.write(tmp_path), "--set", "algorithm.clip_high=0.28"
        ).output
    )
    assert shown["algorithm"] == {"name": "grpo", **asdict(GRPO(clip_high=0.28))}
    assert shown["curriculum"] == {"name": "scaling_inter", "rounds": [3, 5], "every": 2}
    assert shown["generator"]["name"] == "hf"


def test_the_launcher_is_deepspeeds(tmp_path):
    command = launch_command(tmp_path, 2, None, port=20007)
    assert "deepspeed.launcher.runner" in command
    assert command[-3:] == ["agentgym_train.cli", "work", str(tmp_path)]
    assert "--num_gpus" not in launch_command(tmp_path, 1, tmp_path / "hosts", port=1)
