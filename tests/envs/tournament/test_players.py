"""The players of the command line: short forms and files."""

import pytest
from raised import raises

from agentgym_envs.errors import ArgumentError
from agentgym_envs.tournament.players import difference, players

URL = "http://localhost:8000/v1"


def read(tmp_path, text, *others):
    path = tmp_path / "players.toml"
    path.write_text(text)
    return players([str(path), *others])


def test_short_forms(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    found = players(["random", f"react:qwen3:8b@{URL}", "model:org/name", "my_agents:Greedy"])
    assert [(p.name, p.agent, p.endpoint.get("model")) for p in found] == [
        ("random", "random", None),
        ("react:qwen3:8b", "react", "qwen3:8b"),
        ("model:org/name", "chat", "org/name"),
        ("my_agents:Greedy", "my_agents:Greedy", None),
    ]
    assert [p.endpoint.get("base_url") for p in found] == [None, URL, "http://localhost:1/v1", None]
    assert found[1].endpoint["temperature"] == 1.0
    assert found[1].endpoint["max_tokens"] == 8192


def test_a_file_names_every_setting(tmp_path):
    small, weak, fair = read(
        tmp_path,
        f"""
        [[player]]
        name = "small"
        agent = "chat"
        options = {{ window = 8 }}
        format = "tags"
        model = "qwen3-4b"
        base_url = "{URL}"
        api_key_env = "SMALL_KEY"
        temperature = 0
        max_tokens = "none"
        extra = {{ top_p = 0.9 }}
        prices = [0.1, 0.4, 0.01]
        budget_tokens = 1_000
        budget_cost = 2

        [[player]]
        name = "weak"
        agent = "random"
        """,
        "fair",
    )
    assert (small.name, small.agent, small.options, small.format) == (
        "small",
        "chat",
        {"window": 8},
        "tags",
    )
    assert (small.budget_tokens, small.budget_cost) == (1000, 2)
    assert small.endpoint == {
        "model": "qwen3-4b",
        "base_url": URL,
        "api_key_env": "SMALL_KEY",
        "temperature": 0,
        "max_tokens": None,
        "extra": {"top_p": 0.9},
        "prices": (0.1, 0.4, 0.01),
    }
    assert (weak.name, weak.agent, weak.endpoint) == ("weak", "random", {})
    assert fair.name == "fair"


def test_a_model_alone_is_played_by_react(tmp_path):
    found = read(tmp_path, '[[player]]\nmodel = "m"', "random")[0]
    assert (found.name, found.agent) == ("react:m", "react")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[[player]]\nmodel = "m"\ntemprature = 1',
            r"player 1: a player does not take 'temprature'\. Did you mean 'temperature'\?",
        ),
        ('[[player]]\nname = "x"', "player 1: a player needs an agent or a model"),
        ('[[player]]\nagent = "random"\n[[player]]\nname = ""\nagent = "x"', "player 2: .*a name"),
        ("[[player]]\nagent = 5", r"agent=5 has the wrong type; it takes str"),
        ('[[player]]\nmodel = "m"\nbudget_tokens = true', "budget_tokens=True has the wrong type"),
        ('[[player]]\nmodel = "m"\nprices = [1]', r"prices=\(1,\) has the wrong type"),
        ('[[player]]\nmodel = "m"\ntemperature = "hot"', "temperature='hot' has the wrong type"),
        ('[[players]]\nagent = "random"', r"does not take 'players'\. Did you mean 'player'\?"),
        ('[player]\nagent = "random"', r"write each player as a table \[\[player\]\]"),
        ("[[player", r"players\.toml is not a TOML file"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path, text, message):
    with pytest.raises(ArgumentError, match=message) as error:
        read(tmp_path, text, "random")
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read(tmp_path):
    with raises(ArgumentError, "gone.toml"):
        players([str(tmp_path / "gone.toml"), "random"])


def test_what_changes_no_result_may_differ():
    mine = {"agent": "chat", "model": "m", "temperature": 0.5, "base_url": "a", "budget_tokens": 1}
    assert difference(mine, {**mine, "base_url": "b", "budget_tokens": 2, "prices": [1, 2]}) == ""
    assert difference(mine, {**mine, "temperature": 1.0}) == (
        "temperature is 1.0 there and 0.5 here"
    )
    assert difference({**mine, "effort": "low"}, mine) == "", "an older record lacks the key"
