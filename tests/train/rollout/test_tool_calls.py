"""The agent ``function`` in training: calls are read back, executed, and sent back as they were."""

import json
import subprocess
import sys
from functools import cache

import gymnasium
import pytest
import small_run
import tiny
import tool_templates
from raised import raises
from scripted import collect

from agentgym_envs import agents
from agentgym_envs.agents.chat import ChatAgent
from agentgym_envs.errors import AgentFailure, ArgumentError
from agentgym_envs.pool import EnvDescription, describe
from agentgym_envs.wrappers.formats import FunctionCallFormat
from agentgym_train.errors import TemplateError
from agentgym_train.models.chat import ChatTokens
from agentgym_train.models.conversation import Conversation
from agentgym_train.rollout.build import player_maker
from agentgym_train.rollout.tasks import EpisodeStart

TOOLS = FunctionCallFormat(
    {
        "go": {
            "template": "go {way} {steps}",
            "description": "Walk.",
            "parameters": {"way": {"type": "string"}, "steps": {"type": "integer"}},
        },
        "look": "look",
    }
).schema()
GO = ("go", {"way": "north", "steps": 2})
LOOK = ("look", {})
# Written by hand, from the families' documentation.
WRITTEN = {
    "Hermes": '<tool_call>\n{"name": "go", "arguments": {"way": "north", "steps": 2}}\n'
    "</tool_call>",
    "Qwen3-Coder": "<tool_call>\n<function=go>\n<parameter=way>\nnorth\n</parameter>\n"
    "<parameter=steps>\n2\n</parameter>\n</function>\n</tool_call>",
    "GLM": "<tool_call>go\n<arg_key>way</arg_key>\n<arg_value>north</arg_value>\n"
    "<arg_key>steps</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
    "Llama 3": '{"name": "go", "parameters": {"way": "north", "steps": 2}}',
    "Mistral": '[TOOL_CALLS][{"name": "go", "arguments": {"way": "north", "steps": 2},'
    ' "id": "abcdefgh1"}]',
    "Mistral, arguments": '[TOOL_CALLS]go[ARGS]{"way": "north", "steps": 2}',
    "gpt-oss": "<|channel|>commentary to=functions.go <|constrain|>json<|message|>"
    '{"way": "north", "steps": 2}',
}


@cache
def conversation(form):
    chat = ChatTokens(tool_templates.tokenizer(form), "RULES", must_grow=False)
    return Conversation(chat, calls=True)


def reply(form, text, tools=TOOLS):
    made = conversation(form)
    ids = made.chat.ids(text)
    return made.read([*ids, min(made.stop_ids)], tools)


def values(calls):
    return [(call.name, call.values()) for call in calls]


@pytest.mark.parametrize("form", WRITTEN)
def test_a_call_is_read_as_its_family_writes_it(form):
    read = reply(form, WRITTEN[form])
    assert values(read.tool_calls) == [GO]
    assert read.text == ""
    # The same text is an answer where the agent gives no functions.
    assert not reply(form, WRITTEN[form], ()).tool_calls


@pytest.mark.parametrize("form", WRITTEN)
def test_a_call_that_is_cut_or_malformed_stays_in_the_text(form):
    whole, chat = WRITTEN[form], conversation(form).chat
    for end in range(1, len(whole)):
        read = reply(form, whole[:-end])
        assert values(read.tool_calls) in ([], [GO])
        assert read.tool_calls or read.text == chat.text(read.answer_ids)
    assert not read.tool_calls
    broken = [whole.replace("go", "g o")]
    if form not in ("Qwen3-Coder", "GLM"):  # their texts can hold anything
        broken += [whole.replace("north", 'no"rth'), whole.replace('{"way', '["way')]
    for text in broken:
        assert not reply(form, text).tool_calls


@pytest.mark.parametrize(
    ("form", "text", "said", "calls"),
    [
        ("Hermes", f"I walk.\n{WRITTEN['Hermes']}", "I walk.", [GO]),
        (
            "Hermes",
            f'{WRITTEN["Hermes"]}\n<tool_call>\n{{"name": "look"}}\n</tool_call>',
            "",
            [GO, LOOK],
        ),
        (
            "Hermes",
            f"{WRITTEN['Hermes']}<tool_call>[]</tool_call>",
            "<tool_call>[]</tool_call>",
            [GO],
        ),
        ("Hermes", WRITTEN["Hermes"].replace("arguments", "parameters"), "", [("go", {})]),
        ("Hermes", '<tool_call>{"name": "go", "arguments": "3"}</tool_call>', None, []),
        (
            "Hermes",
            '<tool_call>{"name": "go", "arguments": "{\\"way\\": \\"x\\"}"}</tool_call>',
            "",
            [("go", {"way": "x"})],
        ),
        (
            "Qwen3-Coder",
            WRITTEN["Qwen3-Coder"].replace("north", "7"),
            "",
            [("go", {"way": "7", "steps": 2})],
        ),
        ("GLM", "<tool_call>look\n</tool_call>", "", [LOOK]),
        ("Llama 3", f"<|python_tag|>{WRITTEN['Llama 3']}", "", [GO]),
        ("Llama 3", f"I walk: {WRITTEN['Llama 3']}", None, []),
        (
            "Mistral, arguments",
            f"{WRITTEN['Mistral, arguments']}[TOOL_CALLS]look[ARGS]{{}}",
            "",
            [GO, LOOK],
        ),
        (
            "gpt-oss",
            "<|channel|>commentary<|message|>I walk.<|end|><|start|>assistant to=functions.look"
            "<|channel|>commentary json<|message|>{}",
            "I walk.",
            [LOOK],
        ),
    ],
)
def test_calls_beside_text_and_in_other_spellings(form, text, said, calls):
    read = reply(form, text)
    assert values(read.tool_calls) == calls
    if said is not None:
        assert read.text == said


def test_a_call_of_gpt_oss_can_follow_a_thought():
    thought = "<|channel|>analysis<|message|>A door.<|end|><|start|>assistant"
    read = reply("gpt-oss", thought + WRITTEN["gpt-oss"])
    assert (read.reasoning, values(read.tool_calls)) == ("A door.", [GO])
    decoded = conversation("gpt-oss").chat.tokenizer.decode(read.answer_ids)
    assert decoded == WRITTEN["gpt-oss"]


def test_an_id_is_kept_if_it_has_the_form_of_an_id():
    good, bad = reply("Mistral", WRITTEN["Mistral"]), WRITTEN["Mistral"].replace("abcdefgh1", "x")
    assert good.tool_calls[0].id == "abcdefgh1"
    assert reply("Mistral", bad).tool_calls[0].id == ""


@pytest.mark.parametrize(
    ("form", "stops"),
    [
        ("Hermes", {"<|im_end|>"}),
        ("GLM", {"<|user|>", "<|observation|>"}),
        ("Llama 3", {"<|eot_id|>", "<|eom_id|>"}),
        ("Mistral", {"</s>"}),
        ("gpt-oss", {"<|return|>", "<|call|>"}),
    ],
)
def test_a_reply_stops_after_its_calls(form, stops):
    made = conversation(form)
    assert set(made.chat.tokenizer.convert_ids_to_tokens(sorted(made.stop_ids))) == stops


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (tiny.CHATML, ["no place for functions", "model.chat_template", "react"]),
        (tool_templates.UNKNOWN, ["<call>agentgym_probe", "Hermes", "react"]),
        (
            tool_templates.HERMES.replace("{{ m.content }}\n</tool_r", "</tool_r"),
            ["results", "model.chat_template"],
        ),
    ],
)
def test_a_template_without_functions_is_one_line(template, words):
    chat = ChatTokens(tiny.tokenizer(template), "RULES", must_grow=False)
    with raises(TemplateError, *words):
        Conversation(chat, calls=True)


@cache
def described(env_id, options):
    return describe(env_id, action_format="function", **dict(options))


def played(env_id, form, script, *, options=(), seed=5, agent="function"):
    """Plays an episode with an agent; returns its trajectory and the template."""
    factory = agents.load(agent) if isinstance(agent, str) else agent
    description = described(env_id, options)
    chat = ChatTokens(tool_templates.tokenizer(form), description.instructions, must_grow=False)
    (group,), *_ = collect(
        env_id,
        [EpisodeStart(0, seed)],
        lambda row, turn: chat.ids(script[turn]),
        chat=chat,
        stop_ids=conversation(form).grammar.stop_ids,
        action_format="function",
        make_player=player_maker(factory, description, chat),
        max_turns=30,
        max_context=100_000,
        workers=1,
        **dict(options),
    )
    return group.trajectories[0], chat


@cache
def solution(env_id, options=(), seed=5):
    """The oracle's calls: names and arguments."""
    env = gymnasium.make(env_id, **dict(options))
    env.reset(seed=seed)
    form, calls = FunctionCallFormat(described(env_id, options).tools), []
    for action in env.unwrapped.oracle():
        calls.append(json.loads(form.render(action)))
        if env.step(action)[2]:
            break
    env.close()
    return [(call["name"], call["arguments"]) for call in calls]


def rendered(chat, calls):
    """The template's text of a call."""
    (name, arguments), prompt = calls, chat.render([ASK], prompt=True)
    function = {"name": name, "arguments": arguments}
    call = {"id": "call00001", "type": "function", "function": function}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    return chat.render([ASK, message]).removeprefix(prompt)


ASK = {"role": "user", "content": "Where?"}


def row(trajectory):
    """The tokens of the only sample."""
    (sample,) = trajectory.samples
    return [token for call in sample for token in [*call.prompt_ids, *call.action_ids]]


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize("env_id", ["agentgym/TextCraft-v2", "agentgym/Tools-v0"])
def test_the_calls_of_the_oracle_solve_a_task(env_id, form):
    """Each is written as the template writes it, so the tokens are those of the whole text."""
    plan = solution(env_id)
    chat = ChatTokens(tool_templates.tokenizer(form), "RULES", must_grow=False)
    end = chat.tokenizer.convert_ids_to_tokens(min(conversation(form).grammar.stop_ids))
    script = [rendered(chat, call).partition(end)[0] for call in plan]
    if form == "Mistral":  # the id of a result is that of its call
        script = [text.replace("call00001", f"call{n:05}") for n, text in enumerate(script, 1)]
    trajectory, chat = played(env_id, form, script)
    assert trajectory.success
    assert len(trajectory.turns) == len(plan)
    description = described(env_id, ())
    messages = [{"role": "system", "content": description.rules}]
    for n, (turn, (name, arguments)) in enumerate(zip(trajectory.turns, plan, strict=True), 1):
        asked = {"role": "user", "content": turn.observation}
        if n > 1:
            asked = {"role": "tool", "tool_call_id": f"call{n - 1:05}", "content": turn.observation}
        function = {"name": name, "arguments": arguments}
        call = {"id": f"call{n:05}", "type": "function", "function": function}
        messages += [asked, {"role": "assistant", "content": "", "tool_calls": [call]}]
    tools = FunctionCallFormat(description.tools).schema()
    whole = chat.render(messages, tools=tools)
    # GLM's next message begins with the token that ends this one.
    assert chat.tokenizer.decode(row(trajectory)).startswith(whole.rstrip())


def test_sampled_calls_stay_as_they_were_sampled():
    """Another spelling than the template's, with a thought: the prompt has the sampled tokens."""
    env_id, plan = "agentgym/TextCraft-v2", solution("agentgym/TextCraft-v2")
    script = [
        f"<think>\nhm  {n}\n</think> <tool_call>"
        + json.dumps({"arguments": arguments, "name": name}, indent=1)
        + "</tool_call>"
        for n, (name, arguments) in enumerate(plan)
    ]
    trajectory, chat = played(env_id, "Hermes", script)
    assert trajectory.success
    text = chat.tokenizer.decode(row(trajectory))
    assert all(text.count(written) == 1 for written in script)
    assert trajectory.turns[0].action.startswith('<think>hm  0</think><tool_call>{"name": "get"')


def test_a_malformed_call_uses_up_a_turn():
    env_id, plan = "agentgym/TextCraft-v2", solution("agentgym/TextCraft-v2")
    script = ['<tool_call>\n{"name": "get", "argum', "I think.", *map(hermes, plan)]
    trajectory, chat = played(env_id, "Hermes", script)
    assert trajectory.success
    assert [turn.invalid for turn in trajectory.turns] == [True, True] + [False] * len(plan)
    text = chat.tokenizer.decode(row(trajectory))
    # An error is a message of the user: there is no call whose result it could be.
    errors = [turn.observation for turn in trajectory.turns[1:3]]
    assert all(f"<|im_start|>user\n{error}<|im_end|>" in text for error in errors)


def hermes(call):
    return (
        f"<tool_call>{json.dumps(dict(zip(('name', 'arguments'), call, strict=True)))}</tool_call>"
    )


def test_the_first_of_several_calls_is_executed():
    env_id, plan = "agentgym/TextCraft-v2", solution("agentgym/TextCraft-v2")
    script = [hermes(call) + hermes(("inventory", {})) for call in plan]
    trajectory, chat = played(env_id, "Hermes", script)
    assert trajectory.success
    text = chat.tokenizer.decode(row(trajectory))
    assert text.count("<tool_response>\nNot executed") == len(plan) - 1
    assert all(text.count(written) == 1 for written in set(script))


def test_thoughts_of_calls_before_the_latest_question_are_left_out():
    """As the template does it; a new sample begins there."""
    env_id, plan = "agentgym/TextCraft-v2", solution("agentgym/TextCraft-v2")
    first, *rest = map(hermes, plan)
    script = [f"<think>\nhm\n</think>\n\n{first}", "I think.", *rest]
    trajectory, chat = played(env_id, "Hermes", script)
    assert trajectory.success
    assert [call.sample for call in trajectory.calls] == [0, 0] + [1] * len(rest)
    prompt = chat.tokenizer.decode(trajectory.samples[1][0].prompt_ids)
    assert f"<|im_start|>assistant\n{first}<|im_end|>" in prompt


def test_an_environment_without_functions_is_one_line():
    facts = {"task_ids": None, "difficulties": None, "text_env": True}
    description = EnvDescription(rules="Craft.", tools={}, **facts)
    make = player_maker(agents.load("function"), description, conversation("Hermes").chat)
    player = make("", max_context=1000, max_new_tokens=8)
    with raises(ArgumentError, "no functions", "react"):
        next(player.turn("", {}))


class Forger(ChatAgent):
    """Sends a reply back with other calls."""

    format = "function"

    async def act(self, observation, info):
        self.messages.append({"role": "user", "content": observation})
        reply = await self.client.complete(self.messages, tools=self.opening.tools)
        self.messages.append({**reply.message(), "tool_calls": []})
        return reply.text


class Undeclared(Forger):
    """Gives functions, and says that its responses are plain."""

    format = "plain"


@pytest.mark.parametrize(
    ("agent", "form", "words"),
    [
        (Forger, "Hermes", ["other calls", "replay"]),
        (Undeclared, "Llama 3", ["format = 'function'"]),
    ],
)
def test_an_agent_that_cannot_be_trained_is_one_line(agent, form, words):
    script = [WRITTEN["Hermes"]] * 2
    with raises(AgentFailure, *words):
        played(
            "agentgym/TextCraft-v2", form, script, agent=agents.AgentFactory("forger", agent, {})
        )


def test_the_calls_of_an_example_are_rendered_without_control_tokens():
    """A message with calls that the policy did not write, in the form of OpenAI's API."""
    made = conversation("Hermes")
    function = {"name": "go", "arguments": json.dumps({"way": "<|im_end|>", "steps": 2})}
    call = {"id": "call00001", "type": "function", "function": function}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call00001", "content": "Done."},
    ]
    text = made.chat.tokenizer.decode(made.prompt(messages, [], TOOLS))
    assert '"arguments": {"way": "<\u200b|im_end|>", "steps": 2}}' in text


@pytest.mark.full
@pytest.mark.parametrize("env_id", ["agentgym/TextCraft-v2", "agentgym/Tools-v0"])
def test_full_a_run_with_calls(tmp_path, env_id):
    """Qwen3's shape with random weights: no call is whole, and the steps run to their end."""
    tokenizer = tool_templates.tokenizer("Hermes")
    shape = {"max_position_embeddings": 32768, "eos_token_id": tokenizer.eos_token_id}
    tiny.model("qwen3", vocabulary=len(tokenizer), **shape).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    place = small_run.write(
        tmp_path,
        run={"steps": 2},
        env={"id": env_id, "groups": 2, "group_size": 2, "workers": 1},
        model={"path": str(tmp_path / "model"), "max_context": 32768},
        agent={"name": "function"},
        curriculum={"name": "fixed", "turns": 3},
        eval={"episodes": 2, "horizon": 2},
    )
    command = [sys.executable, "-m", "agentgym_train.cli", "run", str(place)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    # The status is 1, because no reward differs from another.
    assert "All 2 steps are done" in run.stdout + run.stderr, run.stdout + run.stderr
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["samples"] for row in rows if "samples" in row][:2] == [1.0, 1.0]
