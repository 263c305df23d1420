"""`agentgym-train plan`: the table, its verdict, the warning of a run, and the benchmarks."""

import json
import re
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import qwen
import typer
from typer.testing import CliRunner

from agentgym_train import config as configuration
from agentgym_train.cli import app
from agentgym_train.planning import command, plan, switches
from agentgym_train.planning.card_memory import TrainingCards
from agentgym_train.planning.command import gib

ROOT = Path(__file__).parents[3]
GIB = 2**30
CHECKPOINTING = pytest.mark.skipif(
    find_spec("agentgym_train.models.loading") is None, reason="needs gradient checkpointing"
)


def invoke(*args):
    return CliRunner().invoke(app, ["plan", *map(str, args)])


def numbers(line):
    return re.findall(r"\d+\.\d+", line)


def test_the_table_has_the_numbers_of_the_plan_in_80_columns(tmp_path):
    file = qwen.written(tmp_path)
    shown = invoke(file, "--gpus", 2, "--memory", 80, "--set", "algorithm.name=grpo")
    assert shown.exit_code == 0, shown.output
    lines = shown.output.splitlines()
    assert max(len(line) for line in lines if line[0] in "┏┃┡│├└") <= 80
    config = configuration.load(file, ["algorithm.name=grpo"])
    made = plan.make(config, TrainingCards(2))
    for row in made.rows:
        line = next(line for line in lines if row.name in line)
        assert numbers(line) == [gib(row.generating), gib(row.updating)]
    total = next(line for line in lines if "total" in line)
    assert numbers(total) == [gib(made.total(phase)) for phase in ("generating", "updating")]
    assert f"It fits: {gib(made.peak)} GiB of 75.20 GiB on each card." in shown.output
    assert "Generator: one cache for all turns," in shown.output


@pytest.mark.parametrize(
    "share", [0.9, *(pytest.param(s, marks=pytest.mark.full) for s in (0.4, 0.2))]
)
def test_a_proposed_change_makes_the_run_fit(tmp_path, share):
    file, values = qwen.written(tmp_path), ["model.max_context=8192", "env.group_size=4"]
    memory = share * plan.make(configuration.load(file, values), TrainingCards(4)).peak / GIB
    options = ["--gpus", 4, "--memory", memory, *(p for v in values for p in ("--set", v))]
    shown = invoke(file, *options)
    assert shown.exit_code == 1, shown.output
    verdict = shown.output.splitlines()[-1]
    assert verdict.startswith("It does not fit: ")
    proposed = re.findall(r"--set \S+", verdict)
    again = invoke(file, *options, *" ".join(proposed).split())
    assert (again.exit_code, len(proposed) > 0) == (0, True), (verdict, again.output)
    said = re.search(r"It fits in (\S+) GiB", verdict)[1]
    assert f"It fits: {said} GiB" in again.output


@pytest.mark.full
def test_the_first_single_change_that_is_enough_is_proposed(tmp_path):
    """A change of no result comes before one that changes results."""
    config = configuration.load(qwen.written(tmp_path))
    config = replace(config, engine=replace(config.engine, micro_batch_tokens=6400))
    cards = TrainingCards(1)
    changes = [switch for s in switches.SWITCHES if (switch := s(config))]
    peaks = {switch.text: plan.make(switch.config, cards).peak for switch in changes}
    memory = peaks["engine.micro_batch_tokens=160"] / (1 - plan.RESERVE)
    texts, made = switches.fitting(config, cards, memory * 1.001)
    first = next(text for text, peak in peaks.items() if peak <= memory)
    assert (texts, made.peak) == ([first], peaks[first])


def test_one_change_comes_before_several_and_no_change_is_superfluous(monkeypatch):
    """Here a configuration is its size, and its plan fits if it is not larger."""

    class Sized(int):
        def fits(self, memory):
            return self <= memory

    def less(name, by):
        return lambda config: switches.ConfigChange(f"{name}=1", config - by)

    monkeypatch.setattr(switches, "SWITCHES", (less("a", 1), less("b", 1), less("c", 2)))
    monkeypatch.setattr(switches, "make", lambda config, cards: Sized(config))
    assert switches.fitting(10, None, 9) == (["a=1"], 9)
    assert switches.fitting(10, None, 8) == (["c=1"], 8)
    assert switches.fitting(10, None, 7) == (["a=1", "c=1"], 7)
    assert switches.fitting(10, None, 6) == (["a=1", "b=1", "c=1"], 6)
    assert switches.fitting(10, None, 5) is None


@pytest.mark.full
def test_nothing_fits_into_a_tiny_card(tmp_path):
    shown = invoke(qwen.written(tmp_path), "--memory", 0.001)
    assert shown.exit_code == 1
    assert "No change that was tried is enough" in shown.output


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.path=/nowhere"], "model.path='/nowhere' is not a model that can be loaded"),
        (["algorithm.name=grp"], "unknown algorithm 'grp'. Did you mean 'grpo'"),
        (["engine.zero_stag=2"], "Did you mean 'engine.zero_stage'"),
    ],
)
def test_bad_input_is_one_line(tmp_path, overrides, message):
    shown = invoke(qwen.written(tmp_path, "tiny"), *(p for o in overrides for p in ("--set", o)))
    assert shown.exit_code == 2
    assert message in shown.output
    assert shown.output.strip().count("\n") == 0


def test_a_model_that_the_generator_would_refuse_is_refused_without_weights(tmp_path):
    file = qwen.written(tmp_path, "tiny")
    shape = {"model_type": "bloom", "hidden_size": 8, "n_layer": 2, "n_head": 2, "vocab_size": 10}
    (tmp_path / "config.json").write_text(json.dumps(shape))
    shown = invoke(file)
    assert shown.exit_code == 2, shown.output
    assert "generator.allow_slower=true" in shown.output
    allowed = ("generator.name=hf", "generator.allow_slower=true")
    shown = invoke(file, *(p for value in allowed for p in ("--set", value)))
    assert shown.exit_code == 0, shown.output
    assert "Generator: one padded cache for all turns," in shown.output


def test_a_reward_model_is_not_planned(tmp_path):
    shown = invoke(ROOT / "benchmarks" / "configs" / "reward_model.toml")
    assert shown.exit_code == 2
    assert "only runs of a policy can be planned" in shown.output


def test_a_model_from_scratch_is_planned_before_it_is_made():
    shown = invoke(ROOT / "benchmarks" / "quickstart.toml")
    assert shown.exit_code == 0, shown.output


def test_a_run_warns_in_one_line_if_it_does_not_fit(tmp_path, monkeypatch):
    config = configuration.load(qwen.written(tmp_path))
    need = plan.make(config, TrainingCards(2, cpu=True)).peak
    monkeypatch.setattr(command.torch.accelerator, "is_available", lambda: False)
    monkeypatch.setattr(command, "main_memory", lambda: 2 * need)
    line = command.warning(config, 2)
    assert line.count("\n") == 0
    assert f"{gib(need)} GiB of {gib(need * (1 - plan.RESERVE))} GiB" in line
    monkeypatch.setattr(command, "main_memory", lambda: 2.2 * need)
    assert command.warning(config, 2) is None
    monkeypatch.setattr(command, "main_memory", lambda: 1)
    scratch = replace(config, model=replace(config.model, path="scratch"))
    assert command.warning(scratch, 2) is None


def test_main_memory_is_that_of_the_machine():
    assert command.main_memory() > 2**30


@CHECKPOINTING
@pytest.mark.full
@pytest.mark.parametrize("size", ["0.5b", "1.5b", "3b", "7b"])
@pytest.mark.parametrize("lora", ["", "-lora"])
def test_the_shipped_sizes_fit_eight_cards_of_80_gib(tmp_path, size, lora):
    file = ROOT / "benchmarks" / "configs" / f"qwen2.5-{size}{lora}.toml"
    folder = qwen.save(tmp_path, size)
    shown = invoke(file, "--gpus", 8, "--memory", 80, "--set", f"model.path={folder}")
    assert shown.exit_code == 0, shown.output
    assert "32,768 tokens on" in " ".join(shown.output.split())


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("script", ["gpu.py", "memory.py"])
def test_a_benchmark_runs_small_on_this_machine(script, warm, tmp_path):
    out = tmp_path / "result.md"
    warm.play(ROOT / "benchmarks" / script, tmp_path, "--small", "--out", out)
    text = out.read_text()
    assert "Failed" not in text
    titles = {
        "gpu.py": ["bfloat16 and ZeRO", "Generation", "Training", "Plans beside", "quickstart"],
        "memory.py": ["Activations of one trajectory", "Plans beside measured peaks"],
    }
    assert all(re.search(f"^## .*{title}", text, re.MULTILINE) for title in titles[script])


def test_gpu_results_are_not_written_without_a_gpu(monkeypatch, capsys):
    monkeypatch.setattr("torch.accelerator.is_available", lambda: False)
    gpu = import_module("gpu")
    with pytest.raises(typer.Exit) as ended:
        gpu.main(small=True)
    assert ended.value.exit_code == 1
    assert "no GPU was found: name another file with --out" in capsys.readouterr().out


def test_groups_of_one_are_refused_as_by_a_run(tmp_path):
    shown = invoke(qwen.written(tmp_path), "--set", "env.group_size=1")
    assert shown.exit_code == 2
    assert "'rloo' compares the episodes of a group" in " ".join(shown.output.split())
