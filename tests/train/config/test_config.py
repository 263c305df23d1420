import copy
import re
import tomllib
from dataclasses import fields, is_dataclass
from typing import get_type_hints

import pytest
import small_run
from raised import raises

from agentgym_train import config, plugins
from agentgym_train.errors import ConfigError

MINIMAL = (
    '[run]\nfolder = "x"\nsteps = 3\n[env]\nid = "agentgym/Maze-v1"\n[curriculum]\nname ='
    ' "fixed"\nturns = 5\n'
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(MINIMAL)
    return path


def test_it_round_trips_with_every_default(file, tmp_path):
    loaded = config.load(file)
    again = tmp_path / "again.toml"
    again.write_text(config.dumps(loaded))
    assert config.load(again) == loaded
    assert tomllib.loads(config.dumps(loaded))["engine"]["zero_stage"] == 2


def test_overrides_are_toml_or_plain_text(file):
    changed = config.load(
        file,
        [
            "engine.lr=1e-3",
            "env.kwargs.rooms=[4, 6]",
            "model.path=some/model",
            'env.kwargs.split="dev"',
            "engine.zero.a=true",
        ],
    )
    assert changed.engine.lr == 1e-3
    assert changed.env.kwargs == {"rooms": [4, 6], "split": "dev"}
    assert changed.model.path == "some/model"
    assert changed.engine.zero == {"a": True}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("run.step=3", r"'run\.step'.*Did you mean 'run\.steps'"),
        ("engin.lr=1", "Did you mean 'engine'"),
        ("engine.lr=fast", r"'engine\.lr'.*not 'fast'"),
        ("engine=3", "'engine' is a section, not 3"),
        ("run.steps.x=3", "'steps' is not a section"),
        ("scorer.cut=0.1", r"'scorer' is a list of tables.*write \[\[scorer\]\]"),
        ("run.steps", "takes a.b=c"),
        ("run.seed=1.5", r"'run\.seed'.*1\.5"),
    ],
)
def test_wrong_keys_and_values_are_named(file, override, message):
    with pytest.raises(ConfigError, match=message):
        config.load(file, [override])


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "engine.lr=/data/envs/x",
            "'engine.lr': input should be a valid number, not '/data/envs/x'",
        ),
        (
            "env.groups=/data/envs.1/x",
            "'env.groups': input should be a valid integer, not '/data/envs.1/x'",
        ),
        (
            "env.name=/data/envs",
            "'env': the name '/data/envs' has characters other than letters, digits and -_.",
        ),
        ("env.envs=3", "'env.envs'. The section 'env' has id, name, kwargs, "),
        ("envs.groups=3", "'envs'. Did you mean 'env'?"),
        ("envsx.groups=3", "'envsx'. Did you mean 'env'?"),
        (
            "evn.groups=3",
            "'evn'. Did you mean 'env'?",
        ),
        ("env.kwargs.envs.x=inf", "'env.kwargs.envs.x': a number must be finite, not inf"),
    ],
)
def test_the_word_envs_stays_in_whatever_is_no_key_of_the_environments(file, override, message):
    with pytest.raises(ConfigError) as caught:
        config.load(file, [override])
    assert str(caught.value).removeprefix("unknown ").startswith(f"configuration key {message}")


def test_a_policy_that_sleeps_cannot_learn_while_the_generator_samples(file):
    with raises(ConfigError, "rollout.ahead=1", "engine.sleep=true"):
        config.load(file, ["rollout.ahead=1", "engine.sleep=true"])


def test_missing_keys_and_files_are_named(file, tmp_path):
    file.write_text("[run]\nsteps = 3\n[env]\nid = 'x'\n")
    with raises(ConfigError, "'run.folder'"):
        config.load(file)
    file.write_text("[run\n")
    with raises(ConfigError, "TOML"):
        config.load(file)
    with pytest.raises(ConfigError, match="cannot read"):
        config.load(tmp_path / "absent.toml")


def test_every_difference_is_named(file):
    a, b = (
        config.load(file),
        config.load(file, ["engine.lr=0.5", "run.steps=9", "env.kwargs.rooms=[4]"]),
    )
    assert (
        config.difference(a, b, ignore=("run.steps",))
        == "engine.lr was 1e-06 and is now 0.5; env.kwargs was {} and is now not set;"
        " env.kwargs.rooms was not set and is now [4]"
    )
    assert config.difference(a, a) is None
    assert config.difference(a, config.load(file, ["run.steps=9"]), ignore=("run.steps",)) is None


SECTIONS = {
    "env": config.EnvConfig,
    **{
        section.name: section.type
        for section in fields(config.Config)
        if is_dataclass(section.type)
    },
}
NUMBERS = {
    f"{name}.{field.name}": get_type_hints(section)[field.name]
    for name, section in SECTIONS.items()
    for field in fields(section)
    if get_type_hints(section)[field.name] in (int, float)
}
WRONG = {
    int: ("-1", "1.5", "true", "'3'", "nan", "99999999999999999999"),
    float: ("-1.0", "nan", "inf", "true", "'3'"),
}
MAY_BE_ZERO = {
    *(
        "run.seed",
        "run.threads",
        "env.workers",
        "env.retries",
        "env.failure_budget",
        "env.tokens_per_step",
        "scratch.copy_steps",
        "rollout.batch_wait",
        "rollout.max_rows",
        "rollout.ahead",
        "rollout.max_new_tokens",
        "eval.horizon",
        "eval.every",
    ),
    *(
        "model.last_layers",
        "engine.zero_stage",
        "engine.warmup",
        "engine.decay",
        "engine.weight_decay",
        "critic.lr",
    ),
}
BAD = [(key, value) for key, kind in NUMBERS.items() for value in WRONG[kind]]
BAD += [(key, "0") for key in NUMBERS if key not in MAY_BE_ZERO] + [
    ("curriculum.every", "0"),
    ("curriculum.every", "2.0"),
]
BAD += [("engine.zero_stage", value) for value in ("4", "1.0")] + [("rollout.ahead", "2")]
BAD += [
    ("env.timeout", "1e9"),
    ("rollout.temperature", "1e-9"),
    ("scratch.vocab", "259"),
    ("model.dtype", "'float16'"),
]
BAD += [
    ("critic.kind", "'tail'"),
    ("curriculum.rounds", "[]"),
    ("run.folder", "''"),
    ("run.folder", "7"),
    ("env.id", "''"),
]
BAD += [
    ("env.kwargs.rooms", "[nan]"),
    ("engine.zero.allgather_bucket_size", "inf"),
    ("env.kwargs.since", "2024-01-01"),
]


@pytest.mark.parametrize("key", list(dict.fromkeys(key for key, _ in BAD)))
def test_each_value_that_cannot_be_is_named(tmp_path, key):
    raw = tomllib.loads(small_run.write(tmp_path).read_text())
    *sections, name = key.split(".")
    for value in (tomllib.loads(f"x = {text}")["x"] for other, text in BAD if other == key):
        changed = copy.deepcopy(raw)
        table = changed
        for section in sections:
            table = table.setdefault(section, {})
        table[name] = value
        with pytest.raises(ConfigError) as caught:
            plugins.resolved(config.of(changed))
        assert key in str(caught.value)
        assert str(value)[:19] in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("override", "suggested"),
    [
        ("rollout.lr", ["engine.lr"]),
        ("lr", ["engine.lr"]),
        ("optimizer.lr", ["engine.lr"]),
        ("trainer.weight_decay", ["engine.weight_decay"]),
        ("rollout.gamma", ["algorithm.gamma"]),
        ("engine.kl_coef", ["algorithm.kl_coef"]),
        ("model.rank", ["model.lora.rank"]),
        ("model.lora_rank", ["model.lora.rank"]),
        ("env_group_size", ["env.group_size"]),
        ("rollout.group_size", ["env.group_size"]),
        ("rollout.temprature", ["rollout.temperature"]),
        ("rollout.max_tokens", ["rollout.max_new_tokens"]),
        ("rollouts.ahead", ["rollout"]),
        ("eval.episode", ["eval.episodes"]),
    ],
)
def test_an_unknown_key_suggests_the_nearest_of_all_sections(file, override, suggested):
    with pytest.raises(ConfigError) as caught:
        config.load(file, [f"{override}=1"])
    (hint,) = re.findall(r"Did you mean (.*)\?$", str(caught.value))
    assert re.findall("'(.*?)'", hint)[: len(suggested)] == suggested


@pytest.mark.parametrize(
    ("override", "listed"),
    [
        ("rollout.banana", "'rollout' has temperature, max_new_tokens, "),
        ("trainer.batch_size", "The sections are run, model, "),
        ("env.rooms", "keywords of the environment's constructor belong in 'env.kwargs'"),
        ("eval.split", "keywords of the environment's constructor belong in 'eval.kwargs'"),
    ],
)
def test_an_unknown_key_without_a_near_one_lists_those_of_its_section(file, override, listed):
    with pytest.raises(ConfigError) as caught:
        config.load(file, [f"{override}=1"])
    assert "Did you mean" not in str(caught.value)
    assert listed in str(caught.value)


def test_an_option_of_another_plugin_names_the_plugin(file):
    for override, plugin in (
        ("algorithm.lam=1", "ppo"),
        ("curriculum.rounds=[1]", "scaling_inter"),
    ):
        with raises(ConfigError, f"option of {plugin}"):
            plugins.resolved(config.load(file, [override]))


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("algorithm.kl_coef=0.5", {"name": "grpo", "kl_coef": 0.5}),
        ("source.replacements=2", {"name": "rollout", "replacements": 2}),
        ("generator.foo=2", {"name": "hf", "foo": 2}),
    ],
)
def test_an_option_without_a_table_is_one_of_the_default_plugin(file, override, expected):
    section = override.partition(".")[0]
    loaded = config.load(file, [override])
    assert getattr(loaded, section) == expected
    file.write_text(f"{MINIMAL}[{section}]\n{override.partition('.')[2]}\n")
    assert config.load(file) == loaded


def test_the_default_length_of_an_action_suits_the_model(file):
    def tokens(*overrides):
        return config.load(file, overrides).rollout.max_new_tokens

    assert tokens() == 64
    assert tokens("model.path=some/model") == 2048 // 4
    assert tokens("model.path=some/model", "model.max_context=400") == 100
    assert tokens("model.path=some/model", "model.max_context=32000") == 512
    assert tokens("model.path=some/model", "rollout.max_new_tokens=64") == 64
    with raises(ConfigError, "max_new_tokens=400", "model.max_context=400"):
        tokens("model.path=m", "model.max_context=400", "rollout.max_new_tokens=400")


@pytest.mark.parametrize(
    ("agent", "attempts"),
    [
        ({}, 1),
        ({"name": "react"}, 1),
        ({"name": "reflect"}, 2),
        ({"name": "reflect", "window": 3, "attempts": 4}, 4),
        ({"attempts": 1}, 1),
    ],
)
def test_an_agent_that_learns_has_two_attempts(file, agent, attempts):
    loaded = config.load(file, [f"agent.{key}={value}" for key, value in agent.items()])
    assert loaded.attempts == attempts


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (["agent.attempts=2"], ["agent.attempts=2", "'chat'", "no method 'end'"]),
        (["agent.name=reflect", "agent.attempts=0"], ["agent.attempts=0", "from 1 up"]),
        (["agent.name=reflect", "agent.attempts=true"], ["agent.attempts=True", "from 1 up"]),
    ],
)
def test_attempts_need_an_agent_that_learns(file, agent, words):
    with raises(ConfigError, *words):
        config.load(file, agent)
