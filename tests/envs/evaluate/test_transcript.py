"""What a folder keeps of the requests to a model."""

import json
from itertools import product

import pytest
from evaluations import Model, evaluate, mazes

from agentgym_envs.evaluate.record import EPISODES, PROMPTS, EpisodeRows, prompts, read
from agentgym_envs.evaluate.transcript import EpisodeTranscript, conversation, fits, requests
from agentgym_envs.models.answers import ModelReply

WINDOWED = ["chat", "react", "correct", "plan", "reflect"]


@pytest.mark.parametrize(
    ("agent", "options"),
    [
        ("reflect", {"window": 2}),
        ("function", {}),
        *(
            pytest.param(agent, options, marks=pytest.mark.full)
            for agent, options in product(WINDOWED, [{}, {"window": 2}])
            if (agent, options) != ("reflect", {"window": 2})
        ),
    ],
)
def test_every_request_can_be_rebuilt_from_the_folder(tmp_path, agent, options):
    model = Model(lambda messages: f"answer {len(model.asked)}")
    evaluate(tmp_path, mazes(2), agent, client=model, horizon=5, options=options, concurrency=1)
    (rows, _), shared = read(tmp_path / "run"), prompts(tmp_path / "run")
    sent = [conversation(row, call, shared) for row in rows for call in row["calls"]]
    assert sent == model.asked
    replies = [row["messages"][call["reply"]]["content"] for row in rows for call in row["calls"]]
    assert replies == [f"answer {n}" for n in range(1, len(model.asked) + 1)]


def test_inner_calls_stand_at_their_turns(tmp_path):
    lesson = "What went wrong"
    model = Model(lambda messages: "a lesson" if lesson in messages[-1]["content"] else "look")
    (row,) = evaluate(tmp_path, mazes(1), "reflect", client=model, horizon=2).record.rows
    assert [call["turn"] for call in row["calls"]] == [0, 1, 2]
    found = requests(row, prompts(tmp_path / "run"))
    assert found[-1]["reply"] == "a lesson"
    assert lesson in found[-1]["added"][-1]["text"]
    assert [message["role"] for message in found[0]["added"]] == ["system", "user"]
    assert [len(request["added"]) for request in found] == [2, 1, 1]


def test_a_shared_prompt_is_stored_once_and_messages_once_an_episode(tmp_path):
    model = Model(lambda messages: "look")
    evaluate(tmp_path, mazes(3), "function", client=model, horizon=6)
    rules = mazes(1)[0].env.instructions
    assert [
        json.loads(line)["value"] for line in (tmp_path / "run" / PROMPTS).read_text().splitlines()
    ].count(rules) == 1
    text = (tmp_path / "run" / EPISODES).read_text()
    assert json.dumps(rules)[1:-1] not in text
    for row in read(tmp_path / "run")[0]:
        assert len({json.dumps(message) for message in row["messages"]}) == len(row["messages"])
        assert len(row["messages"]) <= 2 * 6 + 1


def test_a_run_that_goes_on_stores_no_prompt_again_and_drops_half_a_line(tmp_path):
    model = Model(lambda messages: "look")
    evaluate(tmp_path, mazes(1), client=model)
    path = tmp_path / "run" / PROMPTS
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"name": "hal')
    evaluate(tmp_path, mazes(2), client=model)
    assert path.read_bytes() == whole


def test_pictures_are_marked_and_tools_are_shared():
    rows, picture = (
        EpisodeRows(),
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
    )
    kept = EpisodeTranscript(rows.share, [])
    tools = [{"type": "function", "function": {"name": "act"}}]
    asked = [{"role": "user", "content": [{"type": "text", "text": "see"}, picture]}]
    kept.add(asked, tools, ModelReply(text="ok", reasoning="hm", finish="stop"))
    assert "base64" not in json.dumps(kept.row)
    (call,) = kept.row["calls"]
    assert rows.prompts[call["tools"]] == tools
    (shown,) = requests(kept.row, rows.prompts)
    assert shown["added"] == [{"role": "user", "text": "see\n(picture)"}]
    assert (shown["reply"], shown["reasoning"]) == ("ok", "hm")


@pytest.mark.parametrize(
    "call", [{"messages": [[0, 9]]}, {"reply": 5}, {"reply": -1}, {"messages": [[-1, 1]]}]
)
def test_requests_of_messages_that_are_not_there(call):
    whole = {"turn": 0, "messages": [[0, 1]], "reply": 1}
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert fits({"messages": messages, "calls": [whole]})
    assert fits({})
    assert not fits({"messages": messages, "calls": [whole | call]})
