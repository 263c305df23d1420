"""The example plugins: each a file in ``docs/examples``, named by its path."""

import gc
import json
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import tiny
import torch
from raised import raises

from agentgym_envs import processes
from agentgym_train import plugins
from agentgym_train.data.batching import pack
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.errors import ConfigError, ModelError
from agentgym_train.generators.probe import ask
from agentgym_train.protocols import RunContext, SamplingOptions
from agentgym_train.testing import (
    check_algorithm,
    check_curriculum,
    check_generator,
    check_source,
)

DOCS = Path(__file__).parents[2] / "docs"
BEST, LINEAR, BACKGROUND, MESSAGES = (
    f"{DOCS}/examples/new_{file}"
    for file in (
        "loss.py:Best",
        "curriculum.py:Linear",
        "generator.py:Background",
        "source.py:Messages",
    )
)
LONGEST = {"loss": 25, "curriculum": 20, "generator": 60, "environment": 60, "source": 60}


@pytest.fixture(autouse=True)
def imports(monkeypatch):
    """The examples' folder leaves the path of modules, for the other tests of the process."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(processes, "_appended", [])
    yield
    for name in [name for name in sys.modules if name.startswith("new_")]:
        del sys.modules[name]


@pytest.mark.parametrize("kind", LONGEST)
def test_an_example_is_short_and_its_guide_shows_it(kind):
    text = (DOCS / f"examples/new_{kind}.py").read_text()
    assert len(text.splitlines()) <= LONGEST[kind]
    pages = [page.read_text() for page in (DOCS / "guides").glob("*.md")]
    shown = f"new_{kind}.py:" if kind == "source" else f"```python\n{text}```\n"
    assert any(shown in page for page in pages)


def trajectory(*rewards):
    return Trajectory(
        "", 0, [Turn("", [Call([1], [2, 3], [-1.0, -1.0])], reward=reward) for reward in rewards]
    )


def test_the_best_of_each_group():
    returns = [[0.0, 1.0, 0.5], [1.0, 1.0], [0.25, 0.0]]
    groups = [Group(n, [trajectory(reward) for reward in row]) for n, row in enumerate(returns)]
    for least, expected in ((0.0, [0, 1, 0, 0, 0, 1, 0]), (0.5, [0, 1, 0, 0, 0, 0, 0])):
        algorithm = plugins.make_algorithm({"name": BEST, "least": least})
        batch = algorithm.compute_advantages(pack(groups), groups, Distributed())
        assert batch.streams["advantage"][:, 1].tolist() == expected


def test_the_schedule():
    options = {"name": LINEAR, "start": 3, "limit": 8, "delta": 2, "every": 2}
    linear = plugins.make_object(plugins.CURRICULUM, options)
    assert [linear.horizon(step) for step in range(8)] == [3, 3, 5, 5, 7, 7, 8, 8]
    with raises(ConfigError, "curriculum.every"):
        plugins.make(plugins.CURRICULUM, options | {"every": 0})
    assert check_curriculum(options)


def test_the_algorithm_is_what_the_trainer_relies_on():
    assert check_algorithm({"name": BEST, "kl_coef": 0.1})


@pytest.mark.full
def test_the_generator_is_what_the_trainer_needs():
    assert len(check_generator(BACKGROUND)) == 12


@pytest.fixture
def generator(tmp_path):
    tiny.model().save_pretrained(tmp_path)
    return plugins.make_object(plugins.GENERATOR, {"name": BACKGROUND}, tiny.context(str(tmp_path)))


def session(generator, rows):
    return generator.session(range(rows), SamplingOptions(1.0, 4, frozenset()))


def test_finished_rows_are_returned_while_the_rest_is_sampled(generator):
    """The thread is blocked at the second row."""
    go_on, forward = threading.Event(), generator.model.forward

    def held(input_ids, **rest):
        assert input_ids[0, 0] != 7 or go_on.wait(60)
        return forward(input_ids, **rest)

    generator.model.forward = held
    rows = session(generator, 2)
    rows.submit(0, [5])
    rows.submit(1, [7])
    assert list(rows.poll()) == [0]
    go_on.set()
    assert list(rows.poll()) == [1]
    assert rows.poll() == {}
    rows.close()


def test_an_error_of_the_thread_is_raised_by_poll(generator):
    with torch.no_grad():
        generator.model.get_input_embeddings().weight.fill_(torch.nan)
    with pytest.raises(ModelError, match="not finite"):
        ask(session(generator, 1), {0: [5]})
    gc.collect()


TALKS = [["Here: lamp", "take lamp"], ["Exits: north", "go north", "Exits: east", "go east"]]


def written(folder, roles=("user", "assistant")):
    talks = [
        [{"role": roles[n % 2], "content": text} for n, text in enumerate(talk)] for talk in TALKS
    ]
    file = folder / "talks.jsonl"
    file.write_text("".join(json.dumps({"messages": talk}) + "\n" for talk in talks))
    return {"name": MESSAGES, "file": str(file)}


def test_conversations_become_episodes_and_each_process_has_its_share(tmp_path):
    plugin = plugins.make(plugins.SOURCE, written(tmp_path))
    plugin.check(None, None)
    assert plugin.cls.group_sizes(plugin.options, None) == {1}
    chat = tiny.chat()

    def build(distributed):
        return plugin.build(RunContext(None, distributed, None, chat, None, range(3), None))

    assert check_source(build, groups=3)
    plan = SimpleNamespace(step=1, groups=[0, 2])
    groups = build(Distributed()).next(plan)
    assert [(g.number, g.trajectories[0].task_id) for g in groups] == [(0, "talk 1"), (2, "talk 1")]
    (t,) = groups[0].trajectories
    assert [text for turn in t.turns for text in (turn.observation, turn.action)] == TALKS[1]
    ids = [i for call in t.calls for i in (*call.prompt_ids, *call.action_ids)]
    assert ids[: len(chat.opening(TALKS[1][0]))] == chat.opening(TALKS[1][0])
    assert groups[0].from_dataset


@pytest.mark.parametrize(
    "text", ["", "no json\n", '{"messages": []}\n', '{"messages": [{"role": "user"}]}\n', None]
)
def test_a_file_without_conversations_is_refused_before_any_work(tmp_path, text):
    options = written(tmp_path, roles=("assistant", "user"))
    if text is not None:
        Path(options["file"]).write_text(text)
    with raises(ConfigError, "source.file="):
        plugins.make(plugins.SOURCE, options).check(None, None)
