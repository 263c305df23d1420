"""What the agents say to the model."""

import asyncio
import json
from dataclasses import replace

import pytest
from evaluations import MAZE, Model, evaluate, mazes
from raised import raises
from stub_model import StubModel, ok
from typer.testing import CliRunner

from agentgym_envs import registry
from agentgym_envs.agents import EpisodeEnding, load, open_episode
from agentgym_envs.agents.base import AgentFactory, EpisodeOpening
from agentgym_envs.cli import app
from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.plan import plan
from agentgym_envs.feedback.export import LeftOut, conversation
from agentgym_envs.models.answers import ToolCall
from agentgym_envs.models.client import ChatClient, ModelEndpoint
from agentgym_envs.pool import describe

REACT = "Thought: north seems right.\nAction: go north"


def play(tmp_path, agent, answer, items=None, **more):
    model = Model(answer)
    rows = evaluate(
        tmp_path, items or mazes(1), agent, client=model, concurrency=1, **more
    ).record.rows
    return rows, model.asked


def roles(messages):
    return " ".join(m["role"][0] for m in messages)


def test_chat_holds_the_rules_and_the_whole_conversation(tmp_path):
    (row,), asked = play(tmp_path, "chat", lambda m: "go north")
    assert [roles(messages) for messages in asked] == ["s u", "s u a u", "s u a u a u"]
    world = mazes(1)[0].env
    assert asked[-1][0]["content"] == world.instructions
    told = [m["content"] for m in asked[-1][1:]]
    assert (
        told
        == [text for turn in row["turns"] for text in (turn["observation"], turn["response"])][:-1]
    )


def test_react_adds_its_form_and_its_thoughts_are_told_apart(tmp_path):
    (row,), asked = play(tmp_path, "react", lambda m: REACT)
    assert asked[0][0]["content"].endswith("Thought: what you think\nAction: the action")
    assert (row["turns"][0]["thought"], row["turns"][0]["action"]) == (
        "north seems right.",
        "go north",
    )
    assert asked[1][2] == {"role": "assistant", "content": REACT}


def test_what_is_not_in_the_form_costs_a_turn(tmp_path):
    (row,), _ = play(tmp_path, "react", lambda m: "I would go north.")
    assert [turn["invalid"] for turn in row["turns"]] == [True] * 3
    assert row["turns"][0]["action"] == ""
    assert row["turns"][0]["thought"] == "I would go north."


def test_a_window_keeps_the_rules_the_goal_and_the_latest_turns(tmp_path):
    (row,), asked = play(tmp_path, "chat", lambda m: "look", horizon=6, options={"window": 2})
    assert [roles(messages) for messages in asked] == ["s u", "s u a u", *["s u a u"] * 4]
    last = asked[-1]
    assert last[1]["content"] == f"Goal: {row['goal']}\n\n{row['turns'][4]['observation']}"
    assert last[3]["content"] == row["turns"][5]["observation"]


def test_a_lesson_is_asked_for_behind_the_window(tmp_path):
    """The latest turns end with the model's own response then."""

    def answer(messages):
        return "a lesson" if "What went wrong" in messages[-1]["content"] else REACT

    (row,), asked = play(tmp_path, "reflect", answer, horizon=4, options={"window": 2})
    assert roles(asked[-1]) == "s u a u a u"
    assert asked[-1][1]["content"] == f"Goal: {row['goal']}\n\n{row['turns'][2]['observation']}"


def test_without_a_goal_the_window_keeps_the_first_observation(tmp_path):
    items = plan("hash_env:support/Hash-v0", episodes=1)[0]
    (row,), asked = play(
        tmp_path, "chat", lambda m: "look", items, horizon=3, options={"window": 1}
    )
    assert (
        asked[2][1]["content"]
        == f"{row['turns'][0]['observation']}\n\n{row['turns'][2]['observation']}"
    )


def test_a_second_look_replaces_the_first_response(tmp_path):
    def answer(messages):
        return (
            "Thought: better.\nAction: go east"
            if "Before this is sent" in messages[-1]["content"]
            else REACT
        )

    (row,), asked = play(tmp_path, "correct", answer, horizon=2)
    assert [turn["action"] for turn in row["turns"]] == ["go east"] * 2
    assert [roles(messages) for messages in asked] == ["s u", "s u a u", "s u a u", "s u a u a u"]
    assert asked[2][2]["content"] == "Thought: better.\nAction: go east", (
        "the first response is forgotten"
    )


@pytest.mark.parametrize("window", [0, "eight", 2.5])
def test_a_window_is_a_whole_number(window):
    with raises(ArgumentError, f"window={window!r}"):
        load("chat", {"window": window}).make(Model())


def test_a_plan_is_made_once_and_kept_in_view(tmp_path):
    def answer(messages):
        return (
            "<think>hm</think>\n1. go north"
            if "numbered plan" in messages[-1]["content"]
            else REACT
        )

    (row,), asked = play(tmp_path, "plan", answer)
    assert len(asked) == 4
    assert row["turns"][0]["observation"] in asked[0][-1]["content"]
    assert all(messages[0]["content"].endswith("Your plan:\n1. go north") for messages in asked[1:])
    assert row["usage"]["calls"] == 4


def test_lessons_of_failures_reach_the_next_attempt_also_in_a_later_run(tmp_path):
    lessons = []

    def answer(messages):
        if "What went wrong" in messages[-1]["content"]:
            lessons.append(f"lesson {len(lessons) + 1}")
            return lessons[-1]
        return REACT

    task = mazes(1)[0].task_id
    items = plan(MAZE, tasks=[task], attempts=3)[0]
    first, _ = play(tmp_path, "reflect", answer, items[:2])
    assert [row["memory"] for row in first] == ["lesson 1", "lesson 2"]
    rows, asked = play(tmp_path, "reflect", answer, items)
    assert len(rows) == 3
    assert asked[0][0]["content"].endswith(
        "Lessons from earlier attempts at this task:\n- lesson 1\n- lesson 2"
    )


def test_a_success_leaves_no_lesson():
    model = Model(lambda m: "unasked")
    agent = load("reflect").make(model)
    ending = agent.end(EpisodeEnding("done", success=True, score=1.0, truncated=False))
    with pytest.raises(StopIteration) as stopped:
        ending.send(None)
    assert stopped.value.value is None
    assert model.asked == []


class Calling(Model):
    """Calls tools as it is told, and notes which tools it was given."""

    async def complete(self, messages, *, tools=None, sample=""):
        reply = await super().complete(messages)
        self.tools = tools
        calls = json.loads(reply.text)
        made = tuple(ToolCall(name, json.dumps(a), f"c{n}") for n, (name, a) in enumerate(calls))
        return replace(reply, text="", tool_calls=made)


@pytest.mark.parametrize(
    ("calls", "invalid"),
    [
        ([["act", {"action": "look"}]], False),
        ([["act", {"action": "look"}]] * 2, False),
        ([["fly", {}]], True),
    ],
)
def test_tool_calls_are_actions_and_observations_their_results(tmp_path, calls, invalid):
    item = mazes(1)[0]
    name, template = next(iter(item.env.tools.items()))
    parameters = {word.strip("{}"): "north" for word in template.split() if word.startswith("{")}
    written = [[name if n == "act" else n, parameters if n == "act" else a] for n, a in calls]
    model = Calling(lambda m: json.dumps(written))
    (row,) = evaluate(
        tmp_path, [item], "function", client=model, concurrency=1, horizon=2
    ).record.rows
    assert [turn["invalid"] for turn in row["turns"]] == [invalid] * 2
    assert {tool["function"]["name"] for tool in model.tools} == set(item.env.tools)
    assert model.asked[0][0]["content"] == item.env.instructions
    said, *results = model.asked[1][2:]
    assert [call["id"] for call in said["tool_calls"]] == [r["tool_call_id"] for r in results]
    assert {r["role"] for r in results} == {"tool"}
    first, *others = [r["content"] for r in results]
    assert first == row["turns"][1]["observation"]
    assert all(text.startswith("Not executed") for text in others)


def test_garbled_arguments_are_not_sent_back_and_words_beside_a_call_are_kept(tmp_path):
    class Garbled(Calling):
        async def complete(self, messages, *, tools=None, sample=""):
            reply = await super().complete(messages, tools=tools)
            call = replace(reply.tool_calls[0], arguments='{"where": nor')
            return replace(reply, tool_calls=(call,), text="I had better go.")

    model = Garbled(lambda m: json.dumps([["act", {}]]))
    (row,) = evaluate(tmp_path, mazes(1), "function", client=model, horizon=2).record.rows
    assert model.asked[1][2]["tool_calls"][0]["function"]["arguments"] == "{}", (
        "servers refuse what is no JSON"
    )
    assert [(turn["invalid"], turn["thought"]) for turn in row["turns"]] == [
        (True, "I had better go.")
    ] * 2


def test_admissible_actions_are_shown_where_they_are_asked_for(tmp_path):
    items = mazes(1, admissible=True)
    _, asked = play(tmp_path, "chat", lambda m: "look", items)
    assert "Actions that are possible now: " in asked[0][1]["content"]


class Silent:
    """The least that an agent can be."""

    def act(self, observation, info):
        return "look"


class Curious:
    """Sees the start and the end, asynchronously."""

    seen = []

    def __init__(self, *, greeting="hello"):
        self.greeting = greeting

    async def start(self, opening):
        self.seen.append(
            (
                self.greeting,
                opening.task_id,
                opening.attempt,
                bool(opening.instructions),
                len(opening.tools),
            )
        )

    async def act(self, observation, info):
        return "look"

    async def end(self, ending):
        self.seen.append((ending.success, ending.truncated))
        return {"met": True}


def test_an_agent_of_ones_own_with_and_without_a_start_and_an_end(tmp_path):
    (row,) = evaluate(tmp_path / "silent", mazes(1), AgentFactory("silent", Silent, {})).record.rows
    assert (len(row["turns"]), row["memory"]) == (3, None)
    (row,) = evaluate(
        tmp_path / "curious", mazes(1), AgentFactory("curious", Curious, {"greeting": "hi"})
    ).record.rows
    assert row["memory"] == {"met": True}
    (item,) = mazes(1)
    assert Curious.seen == [("hi", item.task_id, 0, True, len(item.env.tools)), (False, True)]


def questions(messages):
    """Plays either seat of Twenty Questions with constant questions and answers."""
    return "no" if "You are answerer_0" in messages[1]["content"] else "ask name begins with Zi"


def test_each_seat_of_a_game_has_a_conversation_of_its_own(tmp_path):
    items = plan("agentgym/TwentyQuestions-v1", episodes=1, kwargs={"seats": "all"})[0]
    (row,), asked = play(tmp_path, "chat", questions, items, horizon=6)
    assert [turn["seat"] for turn in row["turns"]] == ["asker_0", "answerer_0"] * 3
    assert not any(turn["invalid"] for turn in row["turns"])
    assert [roles(messages) for messages in asked] == [
        ("s u" + " a u" * n) for n in range(3) for _ in range(2)
    ]
    for seat, messages in zip(("asker_0", "answerer_0"), asked[-2:], strict=True):
        own = [turn for turn in row["turns"] if turn["seat"] == seat]
        assert [m["content"] for m in messages[1:]] == [
            t for turn in own for t in (turn["observation"], turn["response"])
        ][:-1]
        assert messages[1]["content"].startswith(f"You are {seat}.")
    secret = (
        asked[1][1]["content"]
        .splitlines()[0]
        .removeprefix("You are answerer_0. ")
        .removesuffix(" Its facts:")
    )
    assert secret.startswith("The ")
    assert not any(secret in str(messages) for messages in asked[::2]), "the asker is not told"
    with raises(LeftOut, "seats"):
        conversation("", row)


class Seated:
    """Says what its seat is to say, and keeps in mind who it was."""

    def start(self, opening):
        self.opening = opening

    def act(self, observation, info):
        return {"player_0": "what?", "player_1": "5"}[self.opening.seat]

    def end(self, ending):
        return [
            self.opening.seat,
            list(self.opening.memory),
            ending.observation,
            ending.score,
            ending.success,
        ]


def test_what_seats_that_speak_at_once_leave_is_their_own(tmp_path):
    items = plan("foreign/Sum-v0", episodes=1, attempts=2, kwargs={"seats": "all"})[0]
    first, second = evaluate(
        tmp_path, items, AgentFactory("seated", Seated, {}), horizon=3
    ).record.rows
    turns = [(turn["seat"], turn["response"], turn["invalid"]) for turn in first["turns"]]
    assert turns == [
        ("player_0", "what?", True),
        ("player_1", "5", False),
        ("player_0", "what?", True),
    ]
    seen = {turn["seat"]: turn["observation"] for turn in first["turns"]} | {
        "player_0": first["last"]
    }
    left = {seat: [seat, [], seen[seat], 0.0, False] for seat in ("player_0", "player_1")}
    assert first["memory"] == left
    assert {seat: lesson[1] for seat, lesson in second["memory"].items()} == {
        seat: [left[seat]] for seat in left
    }


def test_random_players_of_a_game_do_not_play_the_same(tmp_path):
    items = plan("agentgym/Connect4-v1", episodes=1, kwargs={"seats": "all"})[0]
    (row,) = evaluate(tmp_path, items, "random", horizon=12).record.rows
    own = [
        [turn["action"] for turn in row["turns"] if turn["seat"] == seat]
        for seat in ("player_0", "player_1")
    ]
    assert own[0][:4] != own[1][:4]


def test_a_response_that_is_no_text_is_an_error_of_the_agent(tmp_path):
    runner = evaluate(tmp_path, mazes(1), AgentFactory("none", lambda o, i: None, {}))
    assert {row["fault"] for row in runner.record.rows} == {"agent"}
    assert "responded with None: a response is a str" in runner.last_error


PICTURES = [f"data:image/png;base64,{name}" for name in ("b25l", "dHdv")]


def pictures(message):
    parts = message["content"] if isinstance(message["content"], list) else []
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


@pytest.mark.parametrize("agent", ["chat", "react", "correct", "plan", "function"])
def test_the_latest_picture_is_sent_with_the_conversation(agent):
    """Only the last message of each request has a picture, that of its turn.

    The requests go over a real socket.
    """

    async def conversation(url):
        async with ChatClient(ModelEndpoint(model="stub", base_url=url)) as client:
            player = load(agent).make(client)
            await player.start(
                EpisodeOpening(
                    "task", 0, "", "Rules.", "", [{"type": "function", "function": {"name": "act"}}]
                )
            )
            for turn, picture in enumerate(PICTURES):
                await player.act(f"observation {turn}", {"screenshot": picture})
            sent = len(model.requests)
            await player.act("no picture", {})
            return sent

    call = {"id": "c1", "type": "function", "function": {"name": "act", "arguments": "{}"}}
    with StubModel(
        [ok("look", **({"tool_calls": [call]} if agent == "function" else {}))]
    ) as model:
        sent = asyncio.run(conversation(model.url))
    asked = [request.messages for request in model.requests]
    assert all(
        pictures(messages[-1]) == [PICTURES["observation 1" in str(messages)]]
        for messages in asked[:sent]
    )
    assert not any(pictures(message) for messages in asked for message in messages[:-1])
    assert not any(pictures(messages[-1]) for messages in asked[sent:])
    told = [part["text"] for part in asked[sent - 1][-1]["content"] if part["type"] == "text"]
    assert told == [] if agent == "function" else told[0]


class Opened:
    """Notes its opening."""

    openings = []

    def start(self, opening):
        self.openings.append(opening)

    def act(self, observation, info):
        return "look"


@pytest.mark.parametrize(("form", "several"), [("react", False), ("function", False), (None, True)])
def test_a_description_gives_the_opening_of_an_evaluation(tmp_path, monkeypatch, form, several):
    monkeypatch.setattr(Opened, "openings", [])
    env_id = "foreign/Sum-v0" if several else MAZE
    kwargs = {"seats": "all"} if several else {}
    (item,) = plan(env_id, episodes=1, kwargs=kwargs)[0]
    kind = type("Formed", (Opened,), {"format": form})
    evaluate(tmp_path, [item], AgentFactory("opened", kind, {}), horizon=2)
    described = describe(env_id, action_format=form, **kwargs)
    world = registry.make(env_id, **kwargs)
    _, info = world.reset(options={"task_id": item.task_id})
    seats = ["player_0", "player_1"] if several else [""]
    for opening, seat in zip(Opened.openings, seats, strict=True):
        assert opening == open_episode(
            {**info, **({"seat": seat} if several else {})},
            task_id=item.task_id,
            rules=described.rules,
            format_rules=described.format_rules,
            tools=described.tools,
        )
        assert opening.system_prompt == described.instructions
        assert opening.instructions == world.unwrapped.instructions


def test_functions_of_an_environment_without_any_are_refused_at_the_start():
    model = Model()

    async def begin():
        await load("function").make(model).start(EpisodeOpening("task", 0, "", "Rules.", "", []))

    with raises(ArgumentError, "no functions", "'function'", "react"):
        asyncio.run(begin())
    assert model.asked == []


@pytest.mark.parametrize("options", [["--agent", "function"], ["--format", "function"]])
def test_an_evaluation_by_functions_needs_an_environment_with_functions(tmp_path, options):
    with StubModel([ok("look")]) as model:
        server = ["--model", "stub", "--base-url", model.url]
        out = ["--out", str(tmp_path / "out"), "--episodes", "1"]
        command = ["eval", "hash_env:support/Hash-v0", *server, *out, *options]
        result = CliRunner().invoke(app, command)
        assert model.requests == []
    assert result.exit_code == 2
    assert "no functions in support/Hash-v0" in result.output
    assert list(tmp_path.iterdir()) == []
