"""Agents with inner calls, windows and thoughts: which samples their episodes have."""

from itertools import pairwise

import gymnasium
import pytest
import tiny
from raised import raises
from scripted import collect

from agentgym_envs import agents
from agentgym_envs.agents.chat import ReactAgent
from agentgym_envs.errors import AgentFailure
from agentgym_envs.pool import describe
from agentgym_train.data.types import EpisodeStatus
from agentgym_train.models.chat import ChatTokens
from agentgym_train.protocols import ActionSample
from agentgym_train.rollout.build import player_maker
from agentgym_train.rollout.tasks import EpisodeStart

MAZE = {"rooms": [4]}


@pytest.fixture(scope="module")
def described():
    forms = ("plain", "react", "function")
    return {form: describe("agentgym/Maze-v1", action_format=form, **MAZE) for form in forms}


@pytest.fixture(scope="module")
def plan():
    env = gymnasium.make("agentgym/Maze-v1", **MAZE)
    env.reset(seed=5)
    return [*env.unwrapped.oracle()]


def played(described, agent, script, *, template=tiny.CHATML, **options):
    """Plays an episode with an agent; returns its trajectory, the chat and the generator."""
    factory = (
        agents.load(agent, options.pop("agent_options", {})) if isinstance(agent, str) else agent
    )
    description = described[factory.format]
    chat = ChatTokens(tiny.tokenizer(template), description.instructions, must_grow=False)
    (group,), _, generator, _ = collect(
        "agentgym/Maze-v1",
        [EpisodeStart(0, 5)],
        lambda row, turn: script[turn],
        chat=chat,
        action_format=factory.format,
        make_player=player_maker(factory, description, chat),
        max_context=options.pop("max_context", 100_000),
        **options,
        **MAZE,
    )
    return group.trajectories[0], chat, generator


def rows(trajectory):
    """The tokens of each sample."""
    return [
        [token for call in sample for token in [*call.prompt_ids, *call.action_ids]]
        for sample in trajectory.samples
    ]


def samples(trajectory):
    return zip(rows(trajectory), trajectory.samples, strict=True)


def react(actions):
    return [f"Thought: on.\nAction: {action}" for action in actions]


def test_a_growing_conversation_of_an_agent_is_the_plain_stream(described, plan):
    """The same tokens by the fast path, and by an agent over the policy's client."""
    stream, *_ = played(described, "react", react(plan))
    asked, *_ = played(described, agents.AgentFactory("talker", Talker, {}), react(plan))
    assert rows(asked) == rows(stream)
    assert [t.action for t in asked.turns] == [t.action for t in stream.turns]
    assert asked.success


class Talker(ReactAgent):
    """Not one of the agents that have a fast path."""


@pytest.mark.parametrize("window", [1, 2])
def test_a_window_starts_a_sample_when_it_drops_a_turn(described, plan, window):
    trajectory, chat, _ = played(described, "chat", plan, agent_options={"window": window})
    assert trajectory.success
    turns = len(trajectory.turns)
    assert len(trajectory.samples) == 1 + max(0, turns - window)
    last = chat.tokenizer.decode(rows(trajectory)[-1])
    assert last.count("<|im_start|>assistant") == min(turns, window)
    assert trajectory.turns[-1].observation in last


def test_the_row_of_the_generator_is_cut_back_to_the_common_prefix(described, plan):
    trajectory, _, generator = played(described, "chat", plan, agent_options={"window": 1})
    held = []
    for prompts, (kept, call) in zip(
        generator.prompts, zip(generator.kept, trajectory.calls, strict=True), strict=True
    ):
        held = held[: kept if kept is not None else len(held)] + prompts[0]
        assert held == call.prompt_ids or call.sample == 0
        held += call.action_ids
    assert any(kept for kept in generator.kept)


def test_a_second_look_is_two_calls_of_a_turn(described, plan):
    script = [text for action in react(plan) for text in ("Action: wait", action)]
    trajectory, chat, _ = played(described, "correct", script)
    assert trajectory.success
    assert [len(turn.calls) for turn in trajectory.turns] == [2] * len(plan)
    # The conversation keeps the second response only, so each turn starts a sample.
    assert len(trajectory.samples) == len(plan)
    assert [[call.sample for call in turn.calls] for turn in trajectory.turns] == [
        [n, n] for n in range(len(plan))
    ]
    first, second = (chat.tokenizer.decode(row) for row in rows(trajectory)[:2])
    assert "Action: wait" in first
    assert "Action: wait" in second.partition("Action: " + plan[0])[2]


def test_a_plan_is_a_call_before_the_first_action(described, plan):
    trajectory, chat, _ = played(described, "plan", ["1. go", *react(plan)])
    assert trajectory.success
    assert [len(turn.calls) for turn in trajectory.turns] == [2] + [1] * (len(plan) - 1)
    assert [call.sample for call in trajectory.calls] == [0] + [1] * len(plan)
    assert "Your plan:\n1. go" in chat.tokenizer.decode(rows(trajectory)[1])


def test_a_template_that_drops_thoughts_starts_samples(described, plan):
    """FORGETFUL leaves out the thoughts of earlier turns; the sampled tokens stay as they are."""
    script = [f"<think>hm {n}</think>{action}" for n, action in enumerate(plan)]
    trajectory, chat, _ = played(described, "chat", script, template=tiny.FORGETFUL)
    assert trajectory.success
    assert len(trajectory.samples) == len(plan)
    texts = [chat.tokenizer.decode(row) for row in rows(trajectory)]
    assert all(text.count("hm") == 1 for text in texts)
    assert [text.count("<|im_start|>assistant") for text in texts] == list(range(1, len(plan) + 1))
    kept, *_ = played(
        described, "chat", script, template=tiny.FORGETFUL, agent_options={"thoughts": "keep"}
    )
    assert len(kept.samples) == 1


def test_an_episode_ends_where_its_context_does(described, plan):
    full, *_ = played(described, "correct", [t for a in react(plan) for t in (a, a)])
    limit = len(rows(full)[1]) - 1
    trajectory, *_ = played(
        described, "correct", [t for a in react(plan) for t in (a, a)], max_context=limit
    )
    assert trajectory.status is EpisodeStatus.TRUNCATED_CONTEXT
    prompts = [len(row) - len(sample[-1].action_ids) for row, sample in samples(trajectory)]
    assert max(prompts) + 8 <= limit < len(rows(full)[-1])
    # The second look does not fit: its turn keeps the first call, and the environment gets nothing.
    assert (len(trajectory.turns[-1].calls), trajectory.turns[-1].action) == (1, "")


class Silent:
    """Uses its model in no turn."""

    def __init__(self, *, client):
        pass

    async def act(self, observation, info):
        return "look"


class Impatient:
    """Awaits something other than its model."""

    def __init__(self, *, client):
        pass

    async def act(self, observation, info):
        return await Sleep()


class Sleep:
    def __await__(self):
        yield "a clock"


class Forger:
    """Changes the reply that it sends back as the policy's."""

    def __init__(self, *, client):
        self.client, self.messages = client, []

    async def act(self, observation, info):
        self.messages.append({"role": "user", "content": observation})
        reply = await self.client.complete(self.messages)
        self.messages.append({**reply.message(), "content": "I did it."})
        return reply.text


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (Silent, ["Silent", "without asking its model"]),
        (Impatient, ["Impatient", "a clock"]),
        (Forger, ["'I did it.'"]),
    ],
)
def test_an_agent_that_cannot_be_trained_is_one_line(described, plan, agent, words):
    factory = agents.AgentFactory(agent.__name__, agent, {})
    with raises(AgentFailure, *words):
        played(described, factory, plan)


def test_a_summary_goes_on_beyond_the_context(described):
    """The episode has four times the tokens of the context; a memory is a call like any other."""
    description = described["react"]
    chat = ChatTokens(tiny.tokenizer(tiny.CHATML), "", must_grow=False)
    facts = description._replace(rules="Walk.", format_rules="")
    make = player_maker(agents.load("summary", {"share": 0.4}), facts, chat)
    limits = {"max_context": 500, "max_new_tokens": 40}
    player, calls, row, responses = make("", **limits), [], [], set()
    for turn in range(60):
        steps, sample = player.turn(f"Exits: north {turn}", {"goal": "take the lamp"}), None
        try:
            while True:
                request = steps.send(sample)
                row = [*row[: request.kept], *request.ids]
                assert len(row) + 40 <= 500
                asked = "write a memory" in chat.tokenizer.decode(row).rpartition("user")[2]
                text = f"I was at {turn}." if asked else "Thought: on.\nAction: go north"
                ids = [*chat.ids(text), chat.end_ids[-1]]
                row += ids
                calls.append((request.call, asked, turn, list(row)))
                sample = ActionSample(ids, [0.0] * len(ids), 0)
        except StopIteration as response:
            responses.add(response.value)
    assert responses == {"Thought: on.\nAction: go north"}
    rewritten = [turn for _, asked, turn, _ in calls if asked]
    assert len(rewritten) >= 4
    # A memory continues the sample that it ends, and the next call starts one.
    numbers = [call.sample for call, *_ in calls]
    assert numbers == sorted(numbers)
    assert numbers[-1] == len(rewritten)
    for (_, asked, turn, _), (_, _, _, after) in pairwise(calls):
        if asked:
            assert f"I was at {turn}." in chat.tokenizer.decode(after)
            assert f"north {turn - 1}<" not in chat.tokenizer.decode(after)
    assert sum(len(call.prompt_ids) for call, *_ in calls) > 4 * 500


def test_a_plan_that_spells_a_control_token_opens_no_message(described, plan):
    """The plan is in the system message; ordinary tokens can spell a token that ends a message."""
    tokenizer = tiny.tokenizer(tiny.CHATML)
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    parts = ["1. go", "<|im_", "end|>"]
    spelled = [token for part in parts for token in tokenizer(part)["input_ids"]]
    assert end not in spelled
    assert tokenizer.decode(spelled) == "".join(parts)
    evil, *_ = played(described, "plan", [spelled, *react(plan)])
    fine, *_ = played(described, "plan", ["1. go", *react(plan)])
    assert rows(evil)[1].count(end) == rows(fine)[1].count(end)
