import json

import gymnasium
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_envs.errors import UnknownName
from agentgym_envs.pool import EnvPool
from agentgym_envs.wrappers import FORMATS, ActionFormat, FormatError

IDS = ["agentgym/Maze-v0", "agentgym/TextCraft-v1", "agentgym/BabyAI-v1", "agentgym/Search-v0"]
TOOLS = {"go": "go {direction}", "craft": "craft {number} {item} using {ingredients}", "look": "look"}


def make(env_id, name):
    return ActionFormat(gymnasium.make(env_id, split="test", max_episode_steps=-1), name)


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("env_id", IDS)
def test_the_oracle_solves_tasks_in_every_format(env_id, name):
    env = make(env_id, name)
    env.reset(seed=2)
    for action in env.unwrapped.oracle():
        response = env.format.render(action, "I think so.")
        assert env.format.parse(response) == action
        *_, info = env.step(response)
        assert not info["invalid"]
    assert info["success"]


@pytest.mark.parametrize(
    ("name", "response", "action"),
    [
        ("plain", "  go north\n", "go north"),
        ("react", "Thought: it is cold.\nAction: go north", "go north"),
        ("react", "\nThought:\nit is\ncold\n\nAction:\ngo north\n", "go north"),
        ("react", "Thought: the Action: is clear\nAction: go north", "go north"),
        ("tags", "<think>cold</think>\n<action> go north </action>", "go north"),
        ("function", '{"name": "go", "arguments": {"direction": "north"}}', "go north"),
        ("function", '<tool_call>\n{"name": "go", "arguments": "{\\"direction\\": \\"north\\"}"}\n</tool_call>', "go north"),
        (
            "function",
            '{"name": "craft", "arguments": {"number": 4, "item": "stick", "ingredients": "2 planks"}}',
            "craft 4 stick using 2 planks",
        ),
        ("function", '{"name": "look"}', "look"),
    ],
)
def test_responses_that_hold_an_action(name, response, action):
    assert FORMATS[name](TOOLS).parse(response) == action


@pytest.mark.parametrize(
    ("name", "response", "message"),
    [
        ("plain", " \n", "empty"),
        ("react", "go north", "not in the form"),
        ("react", "Action: go north", "not in the form"),
        ("react", "Thought: a\nAction: go north\nAction: go south", "2 actions"),
        ("react", "Thought: a\nAction:  ", "not in the form"),
        ("tags", "go north", "0 actions"),
        ("tags", "<action>a</action><action>b</action>", "2 actions"),
        ("tags", "<action>a<action>b</action>", "exactly one"),
        ("function", "go north", "not one JSON function call"),
        ("function", "[" * 100_000, "not one JSON function call"),
        ("function", "[]", "not one JSON object"),
        ("function", '{"name": "fly", "arguments": {}}', "no function 'fly'. The functions are: go, craft, look"),
        ("function", '{"name": ["go"], "arguments": {}}', "no function"),
        ("function", '{"name": "go", "arguments": {"way": "north"}}', "exactly these arguments: direction"),
        ("function", '{"name": "go", "arguments": {"direction": ""}}', "strings that are not empty"),
        ("function", '{"name": "go", "arguments": {"direction": {"a": 1}}}', "strings that are not empty"),
        ("function", '<tool_call>{"name": "look"}</tool_call><tool_call>{"name": "look"}</tool_call>', "2 function calls"),
    ],
)
def test_responses_that_do_not(name, response, message):
    with pytest.raises(FormatError, match=message):
        FORMATS[name](TOOLS).parse(response)


@given(st.text(), st.sampled_from(list(FORMATS)))
def test_any_response_is_an_action_or_a_message(response, name):
    try:
        result = FORMATS[name](TOOLS).parse(response)
    except FormatError as error:
        result = str(error)
    assert result.strip()


@given(st.from_regex(r"[a-z]+( [a-z0-9]+)*", fullmatch=True), st.sampled_from(["plain", "react", "tags"]), st.text("ab \n"))
def test_what_is_rendered_is_parsed(action, name, thought):
    form = FORMATS[name](TOOLS)
    assert form.parse(form.render(action, thought)) == action


def test_braces_in_arguments_are_plain_text():
    call = json.dumps({"name": "go", "arguments": {"direction": "{0.__class__} {direction}"}})
    assert FORMATS["function"](TOOLS).parse(call) == "go {0.__class__} {direction}"


def test_a_response_out_of_form_costs_a_turn_and_says_why():
    env = ActionFormat(gymnasium.make("agentgym/Maze-v0", max_episode_steps=2), "react")
    env.reset(seed=1)
    observation, reward, _, truncated, info = env.step("go north")
    assert "Thought: ..." in observation
    assert (reward, truncated, info["invalid"], info["turn"]) == (0.0, False, True, 1)
    *_, truncated, info = env.step("Thought: a\nAction: x\nAction: y")
    assert (truncated, info["invalid"], info["turn"]) == (True, True, 2)


def test_the_schema_is_openais():
    env = make("agentgym/TextCraft-v1", "function")
    tools = {t["function"]["name"]: t for t in env.format.schema()}
    assert set(tools) == {"inventory", "get", "craft"}
    assert tools["get"] == {
        "type": "function",
        "function": {
            "name": "get",
            "description": "Takes the action: get {number} {item}",
            "parameters": {
                "type": "object",
                "properties": {"number": {"type": "string"}, "item": {"type": "string"}},
                "required": ["number", "item"],
                "additionalProperties": False,
            },
        },
    }
    assert '"get"' in env.instructions
    assert env.instructions.startswith(env.unwrapped.instructions)


def test_a_pool_takes_a_format():
    with EnvPool("agentgym/Maze-v0", 1, workers=1, action_format="tags") as pool:
        pool.reset(0, seed=1)
        pool.recv()
        pool.send(0, "go north")
        assert pool.recv()[0].info["invalid"]
        pool.send(0, "<action>go north</action>")
        assert not pool.recv()[0].info["invalid"]


def test_unknown_formats_are_named():
    with pytest.raises(UnknownName, match="Did you mean 'react'"):
        make("agentgym/Maze-v0", "reakt")
