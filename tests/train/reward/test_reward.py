"""Reward models from comparisons: by hand, against a plain torch loop, and after interruptions."""

import json
import logging
import math
import subprocess
import sys
from dataclasses import replace
from functools import cache

import judged
import processes
import pytest
import tiny
import torch
from raised import raises
from scoring import RULES, by_transformers, context
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from typer.testing import CliRunner

from agentgym_envs.feedback import record
from agentgym_train import cli, plugins
from agentgym_train.data.recorded import EpochSampler
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.errors import ConfigError, TemplateError, TrainingError
from agentgym_train.learning.losses import bradley_terry
from agentgym_train.models.loading import load_tokenizer
from agentgym_train.reporting import metrics, report
from agentgym_train.reward import comparisons
from agentgym_train.reward import config as configuration
from agentgym_train.reward.trainer import summary
from agentgym_train.run.prepare import prepare
from agentgym_train.run.work import work

COUNT = 30


@pytest.fixture(autouse=True)
def no_work(monkeypatch):
    """A run that is not rejected would train, in this process or in others."""

    def started(*args):
        raise AssertionError(f"a run was started: {args}")

    monkeypatch.setattr(cli, "attempt", started)
    monkeypatch.setattr(cli, "LaunchedProcesses", started)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A policy whose padding token is not the first of its vocabulary."""
    folder = tiny.save(tmp_path_factory.mktemp("model"), template=tiny.CHATML)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.pad_token = "<|user|>"
    assert tokenizer.pad_token_id != 0
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return judged.write(tmp_path_factory.mktemp("said") / "comparisons.jsonl", judged.lines(COUNT))


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


@pytest.mark.parametrize(
    ("margin", "preference"),
    [(0.0, 1.0), (1.5, 1.0), (1.5, 0.0), (-2.0, 0.0), (3.0, 0.5), (-0.25, 0.5)],
)
def test_the_loss_and_its_gradient_by_hand(margin, preference):
    margin_P = torch.tensor([margin, 7.0], dtype=torch.float64, requires_grad=True)
    loss_P = bradley_terry(margin_P, torch.tensor([preference, 1.0], dtype=torch.float64))
    loss_P[0].backward()
    by_hand = -(
        preference * math.log(sigmoid(margin)) + (1 - preference) * math.log(sigmoid(-margin))
    )
    assert loss_P[0].item() == pytest.approx(by_hand, abs=1e-12)
    assert margin_P.grad.tolist() == pytest.approx([sigmoid(margin) - preference, 0.0], abs=1e-12)


def test_calibration_by_hand():
    """Confidence 0.9: two right, one wrong. Confidence 0.6: one right, one tie. One margin of 0."""
    nine, six = math.log(9), math.log(1.5)
    margins = [nine, -nine, nine, six, -six, 0.0]
    preferences = [1.0, 0.0, 0.0, 1.0, 0.5, 1.0]
    seen = summary(torch.tensor(margins), torch.tensor(preferences))
    assert seen["accuracy"] == pytest.approx((1 + 1 + 0 + 1 + 0.5) / 5)
    gaps = abs(0.9 - 2 / 3) * 3 + abs(0.6 - 1.5 / 2) * 2 + 0
    assert seen["calibration_error"] == pytest.approx(gaps / 6, abs=1e-6)
    chosen = [0.9, 0.9, 0.1, 0.6]
    tie = -(math.log(0.4) + math.log(0.6)) / 2
    assert seen["log_loss"] == pytest.approx(
        (sum(-math.log(p) for p in chosen) + tie + math.log(2)) / 6, abs=1e-6
    )
    assert seen["margin"] == pytest.approx((nine + nine - nine + six + 0) / 5)
    assert (seen["pairs"], seen["ties"]) == (6, 1)


def test_where_all_tie_nothing_is_right_or_wrong():
    seen = summary(torch.tensor([1.0, -2.0]), torch.tensor([0.5, 0.5]))
    assert seen.keys() == {"log_loss", "calibration_error", "pairs", "ties"}


def test_who_says_what_is_true_as_often_as_it_is_true_is_calibrated():
    generator = torch.Generator().manual_seed(0)
    margin_P = 2 * torch.randn(100_000, generator=generator)
    preference_P = (torch.rand(len(margin_P), generator=generator) < margin_P.sigmoid()).float()
    honest, boastful = summary(margin_P, preference_P), summary(3 * margin_P, preference_P)
    assert honest["calibration_error"] < 0.01 < 0.1 < boastful["calibration_error"]
    assert honest["log_loss"] < boastful["log_loss"]
    assert honest["accuracy"] == boastful["accuracy"]


def test_a_deck_deals_each_once_a_pass_in_another_order():
    sampler = EpochSampler(7, seed=3)
    dealt = [sampler.place(n) for n in range(21)]
    passes = [dealt[n : n + 7] for n in (0, 7, 14)]
    assert all(sorted(one) == list(range(7)) for one in passes)
    assert len({tuple(one) for one in passes}) == 3
    assert [EpochSampler(7, seed=3).place(n) for n in reversed(range(21))] == dealt[::-1]
    assert [EpochSampler(7, seed=4).place(n) for n in range(21)] != dealt


def load(tmp_path, model, rows, **sections):
    path = judged.write(tmp_path / "some.jsonl", rows)
    config = configuration.load(judged.settings(tmp_path, model, path, **sections))
    return comparisons.load(config, AutoTokenizer.from_pretrained(model))


def every(split):
    return sorted(split.learn + split.held_out)


def test_episodes_are_read_as_transformers_writes_them(tmp_path, model):
    rows = judged.lines(COUNT)
    tokenizer = AutoTokenizer.from_pretrained(model)
    read = {pair.task_id: pair for pair in every(load(tmp_path, model, rows))}
    for row in rows:
        for side in ("a", "b"):
            messages = [{"role": "system", "content": RULES}]
            for turn in row[side]["turns"]:
                messages += [
                    {"role": "user", "content": turn["observation"]},
                    {"role": "assistant", "content": turn["response"]},
                ]
            ids = tokenizer.apply_chat_template(messages, return_dict=False)
            assert getattr(read[row["task_id"]], side) == ids
    assert {pair.preference for pair in read.values()} == {0.0, 0.5, 1.0}
    assert len(read) == COUNT


def test_a_task_is_on_one_side_and_stays_there(tmp_path, model):
    rows = [judged.comparison(n, "a", task=f"task {n % 12}") for n in range(36)]
    small, large = (
        load(tmp_path, model, rows[:24]),
        load(tmp_path, model, rows + judged.lines(200)[36:]),
    )
    for split in (small, large):
        assert not {p.task_id for p in split.learn} & {p.task_id for p in split.held_out}
    assert {p.task_id for p in small.held_out} == {p.task_id for p in large.held_out} & {
        f"task {n}" for n in range(12)
    }
    assert len(large.held_out) / len(large.learn + large.held_out) == pytest.approx(0.3, abs=0.1)


def test_what_was_taken_back_or_says_nothing_is_not_learned_from(tmp_path, model):
    rows = judged.lines(12)
    neither = judged.comparison(20, "neither")
    again = {**rows[3], "choice": "tie"}
    read = every(load(tmp_path, model, [*rows, neither, again, record.undo(rows[5])]))
    assert [p.task_id for p in read] == sorted(f"task {n}" for n in range(12) if n != 5)
    assert next(p for p in read if p.task_id == "task 3").preference == 0.5


def test_what_cannot_be_read_is_left_out_and_counted(tmp_path, model, caplog):
    rows = [
        *judged.lines(12),
        judged.comparison(20, "a", turns=(1, 60)),
        judged.comparison(21, "a", turns=(0, 2)),
    ]
    rows.append(judged.comparison(22, "a", turns=(1, 2)))
    for turn, agent in zip(rows[-1]["b"]["turns"], ("player_0", "player_1"), strict=True):
        turn["seat"] = agent
    with caplog.at_level(logging.WARNING):
        assert len(every(load(tmp_path, model, rows))) == 12
    assert "3 of 15 comparisons are left out" in caplog.text


def test_comparisons_without_a_winner_are_refused(tmp_path, model):
    ties = [judged.comparison(n, "tie") for n in range(12)]
    with pytest.raises(ConfigError, match="comparisons to learn from not one has a better episode"):
        load(tmp_path, model, ties)
    with raises(ConfigError, "0 comparisons"):
        load(
            tmp_path,
            model,
            [judged.comparison(n, "a", task="the same") for n in range(12)],
            comparisons={"held_out": 0.001},
        )


def test_a_reward_model_reads_the_template_of_its_run(tmp_path, model, file):
    own = {
        "chat_template": "{{ start }}" + tiny.CHATML,
        "chat_template_kwargs": {"start": "Judge:"},
    }
    config = configuration.load(judged.settings(tmp_path, model, file))
    config = replace(config, model=replace(config.model, **own))
    tokenizer = load_tokenizer(model, chat_template=config.model.chat_template)
    for pair in every(comparisons.load(config, tokenizer)):
        assert tokenizer.decode(pair.a).startswith("Judge:<|im_start|>")


def test_a_tokenizer_without_a_template_is_refused(tmp_path, model, file):
    tokenizer = AutoTokenizer.from_pretrained(model)
    tokenizer.chat_template = None
    with raises(TemplateError, "model.chat_template"):
        comparisons.load(configuration.load(judged.settings(tmp_path, model, file)), tokenizer)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.path=scratch", "set model.path to a policy's folder or to a hub name"),
        ("model.max_context=2000", "is more than the 512 positions"),
        ("model.last_layers=3", "model.last_layers=3 is more than the 2 layers"),
        ("model.attn_implementation=nonsense", "model.attn_implementation='nonsense' cannot be"),
        ("model.lora.rank=4", "model.lora.rank=4: a reward model is trained without an adapter"),
        (
            "engine.minibatches=2",
            "engine.minibatches=2: a step is one update here; set comparisons.pairs",
        ),
        ("engine.zero={stage=3}", "'engine.zero.stage': the stage is set by engine.zero_stage=2"),
        ("comparisons.files=['/no/where']", "/no/where holds no comparisons"),
        ("comparisons.files=[]", "'comparisons.files'"),
        (
            "comparisons.held_out=1.0",
            "'comparisons.held_out': input should be less than 1, not 1.0",
        ),
        ("comparisons.pair=2", "Did you mean 'comparisons.pairs'"),
        ("env.id=agentgym/Maze-v1", "unknown configuration key 'env'"),
        ("tracker=[{name='tensorbord'}]", "unknown tracker 'tensorbord'"),
    ],
)
def test_what_cannot_be_is_one_line_before_any_work(tmp_path, model, file, override, message):
    result = CliRunner().invoke(
        cli.app, ["run", str(judged.settings(tmp_path, model, file)), "--set", override]
    )
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert result.output.strip().count("\n") == 0, "one line"
    assert not (tmp_path / "run").exists()


def test_more_processes_than_comparisons_a_step(tmp_path, model, file):
    result = CliRunner().invoke(
        cli.app, ["run", str(judged.settings(tmp_path, model, file)), "--processes", "7"]
    )
    assert result.exit_code == 2
    assert "comparisons.pairs=6 leaves some of the 7 processes without any" in result.output


def test_every_value_is_shown_and_read_again(tmp_path, model, file):
    path = judged.settings(tmp_path, model, file)
    shown = CliRunner().invoke(cli.app, ["config", "show", str(path)])
    assert shown.exit_code == 0, shown.output
    (tmp_path / "again.toml").write_text(shown.output)
    assert configuration.load(tmp_path / "again.toml") == plugins.resolved(configuration.load(path))


FEW = ("0-float32-1", "3-float32-2")
REST = sorted(
    {f"{s}-{d}-{p}" for s in range(4) for d in ("float32", "bfloat16") for p in (1, 2)} - set(FEW)
)
LAST = ("2-float32-1-last", "3-float32-2-last")


@pytest.fixture(scope="module")
def play(model, file, warm, tmp_path_factory):
    """Runs the cases once; returns their folder."""

    @cache
    def played(*cases):
        home = tmp_path_factory.mktemp("judged")
        warm.play(judged.__file__, home, model, file, home, *cases)
        return home

    return played


def margin(classifier, pair):
    """One episode after the other, without padding or mask."""
    first, second = (
        classifier(torch.tensor([ids])).logits[0, 0].float() for ids in (pair.a, pair.b)
    )
    return first - second


@cache
def reference(model, file, dtype, last):
    """Does the same steps with torch and transformers only.

    Returns metrics, weights, and the held-out log loss before and after.
    """
    config = configuration.load(judged.settings(file.parent, model, file))
    pairs = comparisons.load(config, AutoTokenizer.from_pretrained(model))
    torch.manual_seed(0)
    classifier = AutoModelForSequenceClassification.from_pretrained(
        model, num_labels=1, dtype=getattr(torch, dtype)
    ).eval()
    learning = [
        p
        for n, p in classifier.named_parameters()
        if not last or n.startswith(("model.layers.1.", "score."))
    ]
    masters = [p.detach().float().requires_grad_() for p in learning]
    optimizer = torch.optim.AdamW(masters, lr=1e-3, weight_decay=0.01)

    def held_out():
        with torch.no_grad():
            return sum(loss(pair).item() for pair in pairs.held_out) / len(pairs.held_out)

    def loss(pair):
        m = margin(classifier, pair)
        return -(
            pair.preference * torch.nn.functional.logsigmoid(m)
            + (1 - pair.preference) * torch.nn.functional.logsigmoid(-m)
        )

    sampler, found, before = EpochSampler(len(pairs.learn), seed=0), [], held_out()
    for step in range(judged.STEPS):
        losses = [
            loss(pairs.learn[sampler.place(step * judged.PAIRS + n)]) for n in range(judged.PAIRS)
        ]
        classifier.zero_grad()
        torch.stack(losses).mean().backward()
        for master, p in zip(masters, learning, strict=True):
            master.grad = p.grad.float()
        norm = torch.nn.utils.clip_grad_norm_(masters, 1.0).item()
        optimizer.param_groups[0]["lr"] = 1e-3 * (1 - 0.9 * step / 20)
        optimizer.step()
        with torch.no_grad():
            for master, p in zip(masters, learning, strict=True):
                p.copy_(master)
        found.append((sum(loss.item() for loss in losses) / judged.PAIRS, norm))
    return found, {n: p.detach() for n, p in classifier.named_parameters()}, [before, held_out()]


def rows(folder):
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [
        {name: value for name, value in row.items() if name not in metrics.MEASURED}
        for row in lines
    ]


def check_case(home, case, model, file):
    killed, undisturbed = (home / case / name / "run" for name in ("killed", "undisturbed"))
    assert rows(killed) == rows(undisturbed)
    ours, theirs = (torch.load(folder / "weights.pt") for folder in (killed, undisturbed))
    assert all(
        torch.equal(weight, theirs["weights"][name]) for name, weight in ours["weights"].items()
    )
    dtype, last = case.split("-")[1], case.endswith("last")
    exact = dtype == "float32"
    steps, weights, looks = reference(model, file, dtype, last)
    for row, (loss, norm) in zip(rows(killed), steps, strict=True):
        assert row["log_loss"] == pytest.approx(loss, abs=1e-5 if exact else 0.05)
        assert row["grad_norm"] == pytest.approx(norm, rel=1e-3 if exact else 0.1)
    assert [look["log_loss"] for look in ours["looks"]][1] == pytest.approx(
        looks[1], abs=1e-4 if exact else 0.05
    )
    assert theirs["looks"][0]["log_loss"] == pytest.approx(looks[0], abs=1e-5 if exact else 0.05)
    assert weights.keys() == ours["weights"].keys()
    for name, weight in ours["weights"].items():
        torch.testing.assert_close(
            weight, weights[name], atol=1e-4 if exact else 8e-3, rtol=0 if exact else 0.01
        )


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("case", FEW)
def test_it_takes_the_steps_of_plain_torch_killed_or_not(play, model, file, case):
    check_case(play(*FEW), case, model, file)


@pytest.mark.full
@pytest.mark.parametrize("case", [*REST, *LAST])
def test_it_does_under_every_stage_precision_and_process_count(play, model, file, case):
    check_case(play(case), case, model, file)


@pytest.mark.slow
def test_a_run_leaves_a_model_for_transformers_and_the_scorer(tmp_path, model, file):
    path = judged.settings(tmp_path, model, file, comparisons={"every": 2})
    folder = tmp_path / "run"
    with report.RunDisplay(cli.out) as display:
        prepare(configuration.load(path), display).release()
    work(folder, cli.out)
    notes = json.loads((folder / "evaluation.json").read_text())
    assert [(key, row["step"]) for key, row in notes.items()] == [
        ("before", 0),
        ("step 2", 2),
        ("after", 4),
    ]
    assert notes["after"]["log_loss"] < notes["before"]["log_loss"], (
        "the shorter is the better one: that can be learned"
    )
    saved = AutoModelForSequenceClassification.from_pretrained(folder / "model")
    assert (
        saved.config.num_labels,
        AutoTokenizer.from_pretrained(folder / "model").chat_template,
    ) == (1, tiny.CHATML)

    trainer = judged.trainer(path)
    batch = trainer._mine(trainer.pairs.learn)
    own_B = trainer.engine.scores(batch).detach()
    trainer.engine.close()
    with torch.no_grad():
        alone = [
            saved(torch.tensor([ids])).logits.item()
            for pair in trainer.pairs.learn
            for ids in (pair.a, pair.b)
        ]
    assert own_B.tolist() == pytest.approx(alone, abs=1e-5)

    options = {"name": "reward_model", "path": str(folder / "model")}
    turns = [
        Turn(t["observation"], [Call([5], [7], [-1.0])], action=t["response"])
        for t in judged.episode(1, 3)["turns"]
    ]
    plugins.make(plugins.SCORER, options).check(context().config, context().training)
    (scored,) = (
        plugins.make(plugins.SCORER, options)
        .build(context())
        .score([Group(0, [Trajectory("a", 1, turns)])])
    )
    assert scored.trajectories[0].total_reward == pytest.approx(
        by_transformers(folder / "model", turns), abs=1e-5
    )


@pytest.mark.full
def test_two_processes_through_the_launcher_and_one_that_goes_on(tmp_path, model, file):
    path = judged.settings(tmp_path, model, file, engine={"zero_stage": 3})
    for more in (("--processes", "2", "--set", "run.steps=2"), ()):
        command = [sys.executable, "-m", "agentgym_train.cli", "run", str(path), *more]
        done = subprocess.run(
            command,
            env=processes.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=280,
        )
        assert done.returncode == 0, done.stderr[-3000:]
    steps, *_ = reference(model, file, "float32", False)
    for row, (loss, _) in zip(rows(tmp_path / "run"), steps, strict=True):
        assert row["log_loss"] == pytest.approx(loss, abs=1e-4)
    assert "accuracy" in done.stdout


@pytest.mark.slow
def test_what_is_not_finite_stops_the_run(tmp_path, model, file):
    trainer = judged.trainer(judged.settings(tmp_path, model, file))
    with torch.no_grad():
        trainer.engine._engine.module.score.weight.fill_(math.inf)
    with raises(TrainingError, "step 1", "finite"):
        trainer.train(lambda row: None, lambda step: None)
    trainer.engine.close()
