import json
import re
import time
import tracemalloc
from contextlib import suppress

import gymnasium
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raised import raises

from agentgym_envs.errors import UnknownName
from agentgym_envs.pool import EnvPool
from agentgym_envs.wrappers import FORMATS, ActionFormat, FormatError

IDS = ["agentgym/Maze-v1", "agentgym/TextCraft-v2", "agentgym/BabyAI-v2", "agentgym/Search-v1"]
IDS += ["agentgym/Tools-v0"]
TOOLS = {
    "go": "go {direction}",
    "craft": "craft {number} {item} using {ingredients}",
    "look": "look",
}


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


TYPED = {
    "look": "look",
    "pay": {
        "template": "pay {amount} to {name} in {days}",
        "description": "Pays a person.",
        "parameters": {
            "amount": {"type": "number", "description": "in euros"},
            "days": {"type": "integer"},
        },
    },
}


def test_a_tool_has_a_description_and_types():
    look, pay = (tool["function"] for tool in FORMATS["function"](TYPED).schema())
    assert pay == {
        "name": "pay",
        "description": "Pays a person.",
        "parameters": {
            "type": "object",
            "properties": {
                "amount": {"type": "number", "description": "in euros"},
                "name": {"type": "string"},  # a parameter without a schema
                "days": {"type": "integer"},
            },
            "required": ["amount", "name", "days"],
            "additionalProperties": False,
        },
    }
    assert look["description"] == "Takes the action: look"
    assert look["parameters"]["properties"] == {}


@pytest.mark.parametrize(
    ("action", "amount", "days"),
    [
        ("pay 12.5 to Ann in 3", 12.5, 3),
        ("pay 12 to Ann in -3", 12, -3),
        ("pay 0.25 to Ann in 0", 0.25, 0),
        ("pay 12.50 to Ann in 007", "12.50", "007"),  # numbers would lose the zeros
        ("pay 1e3 to Ann in NaN", "1e3", "NaN"),
        ("pay [1] to Ann in true", "[1]", "true"),
        (f"pay {10**30} to Ann in 1", str(10**30), 1),
    ],
)
def test_numbers_are_written_as_numbers_if_the_action_stays_the_same(action, amount, days):
    form = FORMATS["function"](TYPED)
    call = form.render(action)
    assert json.loads(call) == {
        "name": "pay",
        "arguments": {"amount": amount, "name": "Ann", "days": days},
    }
    assert form.parse(call) == action


@pytest.mark.parametrize(
    ("name", "response", "action"),
    [
        ("plain", "  go north\n", "go north"),
        ("react", "Thought: it is cold.\nAction: go north", "go north"),
        ("react", "\nThought:\nit is\ncold\n\nAction:\ngo north\n", "go north"),
        ("react", "Thought: the Action: is clear\nAction: go north", "go north"),
        ("tags", "<think>cold</think>\n<action> go north </action>", "go north"),
        ("function", '{"name": "go", "arguments": {"direction": "north"}}', "go north"),
        (
            "function",
            (
                '<tool_call>\n{"name": "go", "arguments": "{\\"direction\\":'
                ' \\"north\\"}"}\n</tool_call>'
            ),
            "go north",
        ),
        (
            "function",
            (
                '{"name": "craft", "arguments": {"number": 4, "item": "stick", "ingredients": "2'
                ' planks"}}'
            ),
            "craft 4 stick using 2 planks",
        ),
        *[
            ("react", f"{said}\n{line}: a wall.\nThought: south?\nAction: go south", "go north")
            for said in (
                "Thought: cold.\nAction: go north",
                "<think>cold</think>Action: go north\n",
                "Thought: cold.\n**Action:** go north",
                "Thought: an\nObservation: is in my thought.\nAction: go north",
            )
            for line in ("Observation", "observation ", "**Observation**", "  ### Observation")
        ],
        (
            "react",
            "Thought: a. Action: go north\nObservation: b\nThought: c. Action: d",
            "go north",
        ),
        ("react", "Thought: a\nAction: say\nthe Observation: b", "say\nthe Observation: b"),
        ("function", '{"name": "look"}', "look"),
        *[
            ("function", f'{{"name": "look", "arguments": {nothing}}}', "look")
            for nothing in ("null", "{}", "[]", '""', '" "', '"null"', '"{}"', '"\\"{}\\""')
        ],
        (
            "function",
            json.dumps({"name": "go", "arguments": json.dumps(json.dumps({"direction": "up"}))}),
            "go up",
        ),
        (
            "function",
            '{"name": "go", "arguments": {"direction": %s}}' % ("9" * 400),
            f"go {'9' * 400}",
        ),
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
        ("react", "Thought: a\nAction:\nObservation: b\nAction: go north", "not in the form"),
        ("react", "Thought: a\nAction: b\nAction: c\nObservation: d", "2 actions"),
        *[
            ("function", f'{{"name": "go", "arguments": {nothing}}}', "arguments: direction")
            for nothing in ("null", "{}", '""', '"null"', "0", "false", '"[1]"')
        ],
        ("function", '{"name": "go"}', "exactly these arguments: direction"),
        ("function", '{"name": "go", "arguments": "{"}', "not one JSON function call"),
        ("tags", "go north", "0 actions"),
        ("tags", "<action>a</action><action>b</action>", "2 actions"),
        ("tags", "<action>a<action>b</action>", "exactly one"),
        ("function", "go north", "not one JSON function call"),
        ("function", "[" * 100_000, "not one JSON function call"),
        ("function", "9" * 5000, "a number is too long"),
        ("function", "[]", "not one JSON object"),
        (
            "function",
            '{"name": "fly", "arguments": {}}',
            "no function 'fly'. The functions are: go, craft, look",
        ),
        ("function", '{"name": ["go"], "arguments": {}}', "no function"),
        (
            "function",
            '{"name": "go", "arguments": {"way": "north"}}',
            "exactly these arguments: direction",
        ),
        (
            "function",
            '{"name": "go", "arguments": {"direction": ""}}',
            "strings that are not empty",
        ),
        (
            "function",
            '{"name": "go", "arguments": {"direction": {"a": 1}}}',
            "strings that are not empty",
        ),
        *[
            ("function", f'{{"name": "go", "arguments": {{"direction": {v}}}}}', "strings that")
            for v in ("true", "NaN", "-Infinity", "1e999")
        ],
        (
            "function",
            '<tool_call>{"name": "look"}</tool_call><tool_call>{"name": "look"}</tool_call>',
            "2 function calls",
        ),
    ],
)
def test_responses_that_do_not(name, response, message):
    with pytest.raises(FormatError, match=message):
        FORMATS[name](TOOLS).parse(response)


THOUGHTS = [
    "<think>\nThe door is north.\n</think>\n\n",
    "<think></think>",
    "<THINK>It is cold.</Think>\n",
    "<thinking>Perhaps south?</thinking>",
    "The template has opened the block, so this begins in the middle.</think>\n\n",
    (
        "<think>I must end with </think> and write one of\nAction: go south\n**Action:** go"
        ' south\n<action>go south</action>\n<tool_call>{"name":'
        ' "look"}</tool_call>\n```json\n{"name": "look"}\n```\n<think>or not</think>\n'
    ),
]
WRITTEN = {
    "plain": [
        "go north",
        "  go north\n",
        "Action: go north",
        "**Action:** go north",
        "**Action**: go north",
        "**Action: go north**",
        "**go north**",
        "**Action:**\n**go north**",
    ],
    "react": [
        "Thought: it is cold.\nAction: go north",
        "**Thought:** it is cold.\n\n**Action:** go north",
        "**Thought**: it is cold.\n**Action**: go north",
        "### Thought: it is cold.\n### Action: go north",
        "THOUGHT: it is cold.\n**ACTION: go north**",
        "Thought: it is cold.\nAction: **go north**",
        "Thought: it is cold. Action: go north",
        "Thought: shall I? **Action:** go north",
        "Thought: I never write <think> here.\nAction: go north",
        "**Thought:** it is cold.\n**Action:**\n**go north**",
        "**Thought:** it is cold.\n**Action:** **go north**",
        "Thought: my first. Action: was wrong\nAction: go north",
    ],
    "tags": [
        "<action>go north</action>",
        "**Action:** <action>go north</action>",
        "I write no <think>.\n<action>**go north**</action>",
        "It is cold.\n<Action>\ngo north\n</Action>\nThat is all.",
    ],
    "function": [
        '{"name": "go", "arguments": {"direction": "north"}}',
        '<tool_call>\n{"name": "go", "arguments": {"direction": "north"}}\n</tool_call>',
        'I go.\n<tool_call>{"name": "go", "arguments": {"direction": "north"}}</tool_call>',
        '```json\n{"name": "go", "arguments": {"direction": "north"}}\n```',
        'I go:\n\n```\n{"name": "go", "arguments": {"direction": "north"}}\n```\nDone.',
        '```json {"name": "go", "arguments": {"direction": "north"}}```',
        '**Action:** {"name": "go", "arguments": {"direction": "north"}}',
        '**Action:**\n```json\n{"name": "go", "arguments": {"direction": "north"}}\n```',
    ],
}
MENTIONED = {
    "plain": ("search what <think> means", "search what <think> means"),
    "react": ("Thought: no tag.\nAction: search what <think> means", "search what <think> means"),
    "tags": ("<action>search what <think> means</action>", "search what <think> means"),
    "function": ('{"name": "go", "arguments": {"direction": "to <think>"}}', "go to <think>"),
}
AFTER_A_THOUGHT = {
    "react": ["Action: go north", "**Action:** go north", "I go north.\n\n**Action:** go north"]
}


@pytest.mark.parametrize("thought", ["", *THOUGHTS])
@pytest.mark.parametrize(
    ("name", "response"), [(name, r) for name, responses in WRITTEN.items() for r in responses]
)
def test_a_thought_may_come_first_and_mention_anything(name, response, thought):
    assert FORMATS[name](TOOLS).parse(thought + response) == "go north"


@pytest.mark.parametrize("thought", THOUGHTS)
@pytest.mark.parametrize(
    ("name", "response"),
    [(name, r) for name, responses in AFTER_A_THOUGHT.items() for r in responses],
)
def test_a_thought_in_tags_does_for_one_in_words(name, response, thought):
    assert FORMATS[name](TOOLS).parse(thought + response) == "go north"


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize(
    "before",
    [
        "<think>",
        "<think>I could write ",
        "<think>a</think>\n<think>b ",
        "<Thinking>",
        "\n <think>",
        "thought</think><think>",
    ],
)
def test_a_thought_that_is_cut_off_is_never_sent(name, before):
    for response in WRITTEN[name]:
        with pytest.raises(FormatError, match="The thought does not end"):
            FORMATS[name](TOOLS).parse(before + response)


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_thought_alone_is_no_action(name):
    for thought in THOUGHTS:
        with pytest.raises(
            FormatError,
            match=r"Write exactly one|not in the form|not one JSON|nothing after its thought",
        ):
            FORMATS[name](TOOLS).parse(thought)


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_tag_that_does_not_begin_the_response_is_only_mentioned(name):
    form = FORMATS[name](TOOLS)
    for thought in ("", *THOUGHTS):
        assert form.parse(thought + MENTIONED[name][0]) == MENTIONED[name][1]


@pytest.mark.parametrize("action", ["**a** or **b**", "2 ** 3", "**", "*go*", "go **north**"])
def test_asterisks_that_are_not_around_the_whole_action_are_its_own(action):
    assert FORMATS["plain"](TOOLS).parse(f"Action: {action}") == action
    assert FORMATS["react"](TOOLS).parse(f"Thought: a\n**Action:** {action}") == action
    assert FORMATS["tags"](TOOLS).parse(f"<action>{action}</action>") == action


@pytest.mark.parametrize(
    ("name", "response"),
    [("react", "Action: go\n" * 20_000), ("react", "Well. Action: go" * 20_000)],
)
def test_many_actions_are_counted_without_a_copy_of_each(name, response):
    tracemalloc.start()
    with raises(FormatError, "20000"):
        FORMATS[name](TOOLS).parse(response)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * 2**20


def test_what_a_message_repeats_of_a_response_is_short():
    for name in ("fly" * 100_000, ["fly" * 100_000]):
        with pytest.raises(FormatError, match="no function") as caught:
            FORMATS["function"](TOOLS).parse(json.dumps({"name": name}))
        assert len(str(caught.value)) < 500


PIECES = [
    "<think>",
    "</think>",
    "<action>",
    "</action>",
    "<tool_call>",
    "</tool_call>",
    "```",
    "```json\n",
    "**",
    "\n",
    " ",
]
PIECES += [
    "Thought:",
    "Action:",
    "**Action:**",
    "\nAction: ",
    '{"name": ',
    '"look"',
    ', "arguments": ',
    "{}",
    "}",
    "[",
    "\\ud800",
]
HOSTILE = st.lists(st.one_of(st.text(max_size=8), st.sampled_from(PIECES)), max_size=12).map(
    "".join
)


@given(HOSTILE, st.sampled_from(list(FORMATS)))
def test_any_response_is_an_action_or_a_message(response, name):
    try:
        result = FORMATS[name](TOOLS).parse(response)
    except FormatError as error:
        result = str(error)
        assert "\n" not in result
    assert result.strip()
    assert not re.match(r"\s*<think>", response) or "</think>" in response or "Write" in result


@given(st.text(), HOSTILE, st.sampled_from(list(FORMATS)))
def test_what_stands_before_the_end_of_the_thought_changes_nothing(response, thought, name):
    form = FORMATS[name](TOOLS)

    def read(text):
        try:
            return form.parse(text)
        except FormatError as error:
            return str(error)

    assert read(f"{thought}</think>{response}") == read(f"</think>{response}")


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize(
    "piece",
    [
        "<action>",
        "<tool_call>",
        "<think>",
        "```",
        "\n",
        " ",
        "\nAction",
        "Action",
        ". ",
        "{",
        "*",
        "</think>",
        "9",
    ],
)
def test_a_long_response_is_read_in_no_time(name, piece):
    start = time.process_time()
    with suppress(FormatError):
        FORMATS[name](TOOLS).parse(piece * (200_000 // len(piece)))
    assert time.process_time() - start < 1


WORDS = st.text("ab c12", min_size=1).map(str.strip).filter(bool)
ARGUMENTS = st.text(min_size=1).filter(str.strip)


@given(WORDS, st.sampled_from(["plain", "react", "tags"]), st.text("ab \n"))
def test_what_is_rendered_is_parsed(action, name, thought):
    form = FORMATS[name](TOOLS)
    assert form.parse(form.render(action, thought)) == action


@given(WORDS, st.one_of(st.text(), HOSTILE))
def test_tags_hold_any_thought(action, thought):
    form = FORMATS["tags"](TOOLS)
    assert form.parse(form.render(action, thought)) == action


@given(st.one_of(ARGUMENTS, HOSTILE.filter(str.strip)))
def test_a_function_call_holds_any_argument(argument):
    form = FORMATS["function"]({"answer": "<answer>{text}</answer>"})
    assert form.parse(form.render(f"<answer>{argument}</answer>")) == f"<answer>{argument}</answer>"


@given(HOSTILE, HOSTILE, st.sampled_from(list(FORMATS)))
def test_an_action_that_would_be_read_otherwise_is_not_rendered(action, thought, name):
    form = FORMATS[name](TOOLS)
    try:
        response = form.render(action, thought)
    except ValueError:
        return
    assert form.parse(response) == action.strip()


def test_an_action_that_a_format_cannot_hold_is_named():
    with raises(ValueError, "Tags", "'say </action>'"):
        FORMATS["tags"](TOOLS).render("say </action>")
    with raises(ValueError, "Plain", "'Action: go'"):
        FORMATS["plain"](TOOLS).render("Action: go")


@pytest.mark.parametrize("name", list(FORMATS))
def test_the_environment_never_sees_the_thought(name):
    seen = []
    env = make("agentgym/Maze-v1", name)
    world = env.unwrapped
    world.tools, act = TOOLS, world.act
    env.format = FORMATS[name](TOOLS)
    world.act = lambda action: (seen.append(action), act(action))[1]
    env.reset(seed=1)
    for thought in THOUGHTS:
        for response in WRITTEN[name]:
            env.step(thought + response)
    assert set(seen) == {"go north"}
    *_, info = env.step("<think>I go north, then sou")
    assert info["invalid"]
    assert len(seen) == len(THOUGHTS) * len(WRITTEN[name]), (
        "a thought that is cut off reaches no environment"
    )


def test_braces_in_arguments_are_plain_text():
    call = json.dumps({"name": "go", "arguments": {"direction": "{0.__class__} {direction}"}})
    assert FORMATS["function"](TOOLS).parse(call) == "go {0.__class__} {direction}"


def test_a_response_out_of_form_costs_a_turn_and_says_why():
    env = ActionFormat(gymnasium.make("agentgym/Maze-v1", max_episode_steps=2), "react")
    env.reset(seed=1)
    observation, reward, _, truncated, info = env.step("go north")
    assert "Thought: ..." in observation
    assert (reward, truncated, info["invalid"], info["turn"]) == (0.0, False, True, 1)
    *_, truncated, info = env.step("Thought: a\nAction: x\nAction: y")
    assert (truncated, info["invalid"], info["turn"]) == (True, True, 2)


class Echo(gymnasium.Env):
    """No environment of ours: it has neither tools nor instructions."""

    def step(self, action):
        return action, 0.0, False, False, {}


def test_a_plain_gymnasium_environment_is_spared_the_thought_too():
    env = ActionFormat(Echo(), "plain")
    assert env.step("<think>hm</think>\nhello")[0] == "hello"
    assert env.step("<think>hm")[0] == "", "it cannot be told what was wrong"
    assert env.instructions == ""


def test_the_schema_is_openais():
    env = make("agentgym/TextCraft-v2", "function")
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
    with EnvPool("agentgym/Maze-v1", 1, workers=1, action_format="tags") as pool:
        pool.reset(0, seed=1)
        pool.recv()
        pool.send(0, "go north")
        assert pool.recv()[0].info["invalid"]
        pool.send(0, "<action>go north</action>")
        assert not pool.recv()[0].info["invalid"]


def test_in_a_pool_too_the_plain_format_strips_the_thought_and_no_format_strips_nothing():
    for name, invalid in (("plain", False), (None, True)):
        with EnvPool("agentgym/TextCraft-v2", 1, workers=1, action_format=name) as pool:
            pool.reset(0, seed=1)
            pool.recv()
            pool.send(0, "<think>What have I got?</think>\ninventory")
            assert pool.recv()[0].info["invalid"] == invalid


def test_unknown_formats_are_named():
    with raises(UnknownName, "'react'"):
        make("agentgym/Maze-v1", "reakt")
