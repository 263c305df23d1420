"""The chat template of a run: its keys, and the date that it keeps."""

import datetime
import io

import pytest
import small_run
import tiny
from raised import raises
from rich.console import Console
from transformers import AutoTokenizer

from agentgym_train import config as configuration
from agentgym_train.assembly import assemble
from agentgym_train.config import ModelConfig
from agentgym_train.errors import ConfigError, RunFolderError
from agentgym_train.evaluation import evaluate
from agentgym_train.models.chat import ChatTokens
from agentgym_train.models.loading import load_tokenizer
from agentgym_train.reporting import report
from agentgym_train.run import folder, prepare

STRICT = "{% if mark != 'yes' %}{{ raise_exception('no mark') }}{% endif %}HEAD" + tiny.CHATML
"""A template that fails wherever its argument is missing."""


def today(monkeypatch, day):
    class Day(datetime.date):
        @classmethod
        def today(cls):
            return cls.fromisoformat(day)

    monkeypatch.setattr(folder, "date", Day)


def prepared(path, *overrides):
    """Prepares a run; returns its configuration as its processes read it."""
    with report.RunDisplay(Console(file=io.StringIO())) as display:
        prepare.prepare(configuration.load(path, overrides), display).release()
    return configuration.load(path.parent / "run" / "config.toml")


@pytest.mark.full
def test_a_resumed_run_keeps_the_date_of_its_first_start(tmp_path, monkeypatch):
    model = tiny.save(tmp_path / "model", template="{{ strftime_now('%d %b') }}" + tiny.CHATML)
    run = {"folder": str(tmp_path / "run")}
    sections = small_run.HASH | {"model": {"path": model, "max_context": 256}}
    path = small_run.write(tmp_path, **sections | {"run": small_run.HASH["run"] | run})
    today(monkeypatch, "2026-01-31")
    first = prepared(path)
    today(monkeypatch, "2026-02-01")
    again = prepared(path)
    openings = [
        ChatTokens(load_tokenizer(model), **config.template_options).opening("x")
        for config in (first, again)
    ]
    assert openings[0] == openings[1]
    assert load_tokenizer(model).decode(openings[0]).startswith("31 Jan<|im_start|>")
    with raises(RunFolderError, "run.date", "'2026-01-31'", "'2026-02-01'"):
        prepared(path, "run.date='2026-02-01'")


def test_a_run_of_a_version_without_dates_can_be_resumed(tmp_path):
    path = small_run.write(tmp_path)
    folder.claim_folder(configuration.load(path))
    dated = folder.dated(configuration.load(path), configuration.load(path))
    assert dated.run.date == datetime.date.today().isoformat()
    folder.claim_folder(dated)


def test_every_part_of_a_run_uses_the_template_and_its_arguments(tmp_path):
    model = tiny.save(tmp_path / "model", template=tiny.CHATML)
    (tmp_path / "strict.jinja").write_text(STRICT)
    own = {
        "path": model,
        "max_context": 256,
        "chat_template": str(tmp_path / "strict.jinja"),
        "chat_template_kwargs": {"mark": "yes"},
    }
    run = small_run.HASH["run"] | {"folder": str(tmp_path / "run")}
    path = small_run.write(tmp_path, **small_run.HASH | {"model": own, "run": run})
    config = configuration.load(path)
    prepare.check(config)
    parts = assemble(config, folder.claim_folder(config))
    (tmp_path / "strict.jinja").unlink()
    assert configuration.load(tmp_path / "run" / "config.toml").model == config.model
    chat = parts.envs[0].chat
    assert chat.tokenizer.decode(chat.opening("x")).startswith("HEAD<|im_start|>")
    played = evaluate.evaluate(config, parts.generator, parts.tokenizer, parts.held_out[0])
    assert len(played.trajectories) == config.eval.episodes
    parts.tokenizer.save_pretrained(tmp_path / "trained")
    assert AutoTokenizer.from_pretrained(tmp_path / "trained").chat_template == STRICT
    parts.generator.close()
    for engine in parts.engines:
        engine.close()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"chat_template": "missing.jinja"}, r"model\.chat_template='missing\.jinja' is neither"),
        ({"path": "scratch", "chat_template": tiny.CHATML}, "has its own chat template"),
        ({"path": "scratch", "chat_template_kwargs": {"a": 1}}, "has its own chat template"),
    ],
)
def test_templates_that_cannot_be_used(values, message):
    with pytest.raises(ConfigError, match=message):
        ModelConfig(**{"path": "some/model"} | values)


def test_a_date_is_checked(tmp_path):
    path = small_run.write(tmp_path)
    with raises(ConfigError, "run.date", "'2026-02-30'"):
        configuration.load(path, ["run.date='2026-02-30'"])
