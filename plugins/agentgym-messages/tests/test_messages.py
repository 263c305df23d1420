import json

import pytest
import tomli_w
from once import filled_once
from transformers import AutoTokenizer
from warm import Warm

from agentgym_train import config as configuration
from agentgym_train import plugins
from agentgym_train.assembly import check_group_size
from agentgym_train.distributed import Distributed
from agentgym_train.errors import ConfigError
from agentgym_train.models.chat import Chat
from agentgym_train.protocols import RunContext, StepPlan
from agentgym_train.testing import check_source

TALKS = [
    [("user", "Here: lamp"), ("assistant", "take lamp")],
    [
        ("user", "Exits: north"),
        ("assistant", "go north"),
        ("user", "Exits: east"),
        ("assistant", "go east"),
    ],
    [("user", "Exits: south"), ("assistant", "go south")],
]


SEPARATED = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def write(folder, talks=TALKS):
    lines = [
        json.dumps({"messages": [{"role": role, "content": text} for role, text in talk]})
        for talk in talks
    ]
    (folder / "talks.jsonl").write_text("\n".join(lines) + "\n")
    return str(folder / "talks.jsonl")


def configured(folder, **sections):
    raw = {
        "run": {"folder": str(folder / "run"), "steps": 2},
        "env": {
            "id": "agentgym/Maze-v1",
            "kwargs": {"rooms": [3]},
            "groups": 3,
            "group_size": 1,
            "workers": 1,
        },
        "model": {"max_context": 256},
        "scratch": {"hidden": 16, "episodes": 20, "steps": 2, "turns": 4},
        "rollout": {"max_new_tokens": 4},
        "algorithm": {"name": "sft"},
        "source": {"name": "messages", "file": write(folder)},
        "engine": {"lr": 1e-3},
        "curriculum": {"name": "fixed", "turns": 2},
        "eval": {"episodes": 2, "horizon": 2},
    } | sections
    path = folder / "run.toml"
    path.write_text(tomli_w.dumps(raw))
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that learns from the conversations."""

    def learn(home):
        with Warm.of(tmp_path_factory) as warm:
            warm.finish(configured(home))

    return filled_once(tmp_path_factory, "messages", learn)


def test_the_trainer_learns_from_it(run):
    rows = [json.loads(line) for line in (run / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [row["episodes"] for row in rows] == [3, 3]
    assert rows[1]["loss"] < rows[0]["loss"]


@pytest.fixture(scope="module")
def made(run):
    """Makes the source of a process with some of the groups of each step."""
    tokenizer = AutoTokenizer.from_pretrained(run / "run" / "model")
    tokenizer.chat_template = SEPARATED
    config, chat = configuration.load(run / "run.toml"), Chat(tokenizer)
    plugin = plugins.make(plugins.SOURCE, config.source)
    return lambda distributed, groups=range(3): plugin.build(
        RunContext(config, distributed, None, chat, None, groups, None)
    )


def test_each_process_has_its_share(made):
    assert check_source(made, groups=3)


def test_the_tokens_are_the_templates(run, made):
    tokenizer = AutoTokenizer.from_pretrained(run / "run" / "model")
    for group, talk in zip(made(Distributed()).next(StepPlan(0, 1, range(3))), TALKS, strict=True):
        (t,) = group.trajectories
        ids = [i for turn in t.turns for i in turn.prompt_ids + turn.action_ids]
        messages = [{"role": role, "content": text} for role, text in talk]
        whole = tokenizer.apply_chat_template(messages, chat_template=SEPARATED, tokenize=False)
        assert tokenizer.decode(ids) + "\n" == whole
        assert [text for turn in t.turns for text in (turn.observation, turn.action)] == [
            text for _, text in talk
        ]
        assert (t.score, t.success) == (1.0, True)


def test_conversations_are_dealt_in_their_order_again_and_again(made):
    source = made(Distributed(), groups=[1, 4])
    dealt = [
        [
            (group.number, group.trajectories[0].task_id)
            for group in source.next(StepPlan(step, 1, [1, 4]))
        ]
        for step in range(3)
    ]
    zero, one, two = (f"conversation {number}" for number in range(3))
    assert dealt == [[(1, zero), (4, one)], [(1, two), (4, zero)], [(1, one), (4, two)]]


def test_none_of_it_was_played_by_the_policy(made):
    assert all(group.from_dataset for group in made(Distributed()).next(StepPlan(0, 5, range(3))))


def test_there_are_no_pairs_in_it(tmp_path):
    with pytest.raises(
        ConfigError,
        match="'dpo' learns from groups of 2 episodes, and source 'messages' gives groups of 1:",
    ):
        check_group_size(configuration.load(configured(tmp_path, algorithm={"name": "dpo"})))


def told(*roles, content="a"):
    """Returns a line of the file with these roles."""
    return json.dumps({"messages": [{"role": role, "content": content} for role in roles]}) + "\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no conversation"),
        ("no json\n", "line 1 of .* has no messages"),
        ('{"messages": [{"role": "user"}]}\n', "line 1 of .* has no messages"),
        (
            '{"messages": [{"role": "user", "content": "a"}]}\n',
            r"must alternate and end with the assistant, not \['user'\]",
        ),
        ('{"messages": []}\n', "must alternate"),
        (told("assistant", "user"), r"must alternate .*, not \['assistant', 'user'\]"),
        (told("user", "assistant", "user"), "must alternate"),
        (told("user", "assistant", content=3), "texts of user and assistant"),
        (told("user", "assistant") + told("user"), "line 2 of "),
    ],
)
def test_what_is_no_conversation_is_refused_before_any_work(tmp_path, text, message):
    (tmp_path / "x.jsonl").write_text(text)
    source = plugins.make(plugins.SOURCE, {"name": "messages", "file": str(tmp_path / "x.jsonl")})
    with pytest.raises(ConfigError, match=message):
        source.check(None, None)


def test_a_file_that_is_not_there():
    with pytest.raises(ConfigError, match=r"source\.file='nowhere' cannot be read"):
        plugins.make(plugins.SOURCE, {"name": "messages", "file": "nowhere"}).check(None, None)
