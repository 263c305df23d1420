"""Lines in which each text of an episode stands once."""

import json

import pytest
from evaluations import Model, evaluate, mazes
from hypothesis import given
from hypothesis import strategies as st
from raised import raises

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate import record
from agentgym_envs.evaluate.packing import packed, unpacked
from agentgym_envs.evaluate.record import EPISODES, LAYOUT, SETTINGS
from agentgym_envs.models.answers import ModelReply, ToolCall

WORDS = ("north of the lamp " * 8, "the red ball, " * 9, "“ö” \ud800 " * 20, "short", "")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=3).map("".join)
REFERENCES = st.sampled_from([{"same_as": [0, "response", 0, 9]}, {"same_as": "itself"}])
VALUES = st.recursive(
    TEXTS | st.integers() | st.none() | REFERENCES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "same_as", "value"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def rows(draw):
    turns = draw(
        st.lists(
            st.fixed_dictionaries(
                {"observation": TEXTS, "response": TEXTS, "thought": TEXTS, "action": TEXTS}
            ),
            max_size=3,
        )
    )
    messages = draw(st.lists(st.fixed_dictionaries({"content": VALUES}), min_size=2, max_size=6))
    calls = [
        {"turn": n // 2, "messages": [[0, n]], "reply": n, "reasoning": draw(TEXTS)}
        for n in range(1, len(messages))
    ]
    return {"row": "episode", "turns": turns, "messages": messages, "calls": calls}


@given(rows())
def test_a_line_is_read_as_it_was(row):
    assert unpacked(json.loads(json.dumps(packed(row)))) == row


class Thinking(Model):
    """Answers with a reasoning, a text and the API's own form of both; each is met once."""

    async def complete(self, messages, *, tools=None, sample=""):
        n = len(self.asked)
        self.asked.append(messages)
        reasoning, text = f"reasoning {n} " * 30, f"Thought: text {n} " * 30 + "\nAction: go north"
        calls = (ToolCall("go", '{"direction": "north"}', f"call {n}"),) if tools else ()
        blocks = [{"type": "thinking", "thinking": reasoning}, {"type": "text", "text": text}]
        return ModelReply(
            text=text, reasoning=reasoning, tool_calls=calls, replay={"anthropic": blocks}
        )


@pytest.mark.parametrize("agent", ["chat", "react", "function"])
def test_a_folder_has_each_part_of_a_reply_once(tmp_path, agent):
    model = Thinking()
    played = evaluate(tmp_path, mazes(1), agent, client=model, horizon=4).record.rows
    text = (tmp_path / "run" / EPISODES).read_text()
    for n in range(len(model.asked)):
        assert text.count(f"reasoning {n} " * 30) == 1
        assert text.count(f"Thought: text {n} " * 30) == 1
    assert record.read(tmp_path / "run")[0] == json.loads(json.dumps(played))


def test_a_folder_of_an_earlier_layout_goes_on(tmp_path):
    """Its lines stay as they are, and an earlier version refuses the folder from then on."""
    model = Model(lambda messages: "I look for the lamp. " * 9)
    played = evaluate(tmp_path, mazes(1), client=model).record.rows
    path, settings = tmp_path / "run" / EPISODES, tmp_path / "run" / SETTINGS
    earlier = json.dumps(played[0]) + "\n"
    path.write_text(earlier)
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "layout": 2}))
    evaluate(tmp_path, mazes(2), client=model)
    assert path.read_text().startswith(earlier)
    found, _ = record.read(tmp_path / "run")
    assert found[0] == played[0]
    assert len(found) == 2
    assert {turn["response"] for row in found for turn in row["turns"]} == {
        played[0]["turns"][0]["response"]
    }
    assert found[1]["messages"][2]["content"] == found[1]["turns"][0]["response"]
    assert record.read_settings(tmp_path / "run")["layout"] == LAYOUT == 3


@pytest.mark.parametrize(
    "reference", [[9, "response", 0, 1], [-1, "response", 0, 1], [0, "goal", 0, 1], [0], 7, "x"]
)
def test_a_broken_reference_is_named(tmp_path, reference):
    turn = {"observation": "o", "response": "r", "reward": 0.0, "invalid": False}
    names = ("suite", "scenario", "family", "env_id", "task_id", "settings")
    row = {"row": "episode", **dict.fromkeys(names, ""), "difficulty": 1, "attempt": 0, "usage": {}}
    row |= {"success": True, "score": 1.0, "end": "truncated", "packed": True}

    def action(same_as):
        turns = [{**turn, "action": {"same_as": same_as}}]
        (tmp_path / EPISODES).write_text(json.dumps({**row, "turns": turns}) + "\n")
        return record.read(tmp_path)[0][0]["turns"][0]["action"]

    assert action([0, "response", 0, 1]) == "r"
    with raises(ArgumentError, "line 1"):
        action(reference)
