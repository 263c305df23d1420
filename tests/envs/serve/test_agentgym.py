"""The AgentGym protocol, with the requests of the original clients."""

import concurrent.futures
import itertools

import gymnasium
import pytest
from raised import raises
from served import serving

from agentgym_envs.envs.babyai.tasks import LEFT_OUT, LEVELS
from agentgym_envs.pool import PoolResult
from agentgym_envs.serve.families import AlfWorldFamily, SciWorldFamily
from agentgym_envs.serve.refusal import RefusedRequest


@pytest.fixture(scope="module")
def server():
    with serving(
        "agentgym/TextCraft-v2",
        "agentgym/BabyAI-v2",
        "agentgym/Search-v1",
        "agentgym/Household-v0",
        "agentgym/Shop-v0",
        "--workers",
        "1",
    ) as served:
        yield served


def created(server, family="textcraft"):
    """Returns a function that posts with the session's number."""
    status, answer = server.ask(f"/{family}/create", {})
    assert status == 200
    key = "env_idx" if isinstance(answer, int) else "id"
    number = answer if isinstance(answer, int) else answer["id"]

    def post(path, **fields):
        return server.ask(f"/{family}/{path}", {**fields, key: number})

    post.number = number
    return post


def plan(env_id, task_id):
    """Returns an episode's first text and the oracle's actions, from an environment alone."""
    env = gymnasium.make(env_id)
    text, _ = env.reset(seed=0, options={"task_id": task_id})
    actions = []
    for action in env.unwrapped.oracle():
        actions.append(action)
        if env.step(action)[2]:
            break
    env.close()
    return text, actions


def test_textcraft_plays_a_whole_episode(server):
    post = created(server)
    status, answer = post("reset", data_idx=3)
    assert status == 200
    goal = answer["observation"].rpartition("Goal: craft ")[2].rstrip(".")
    _, actions = plan("agentgym/TextCraft-v2", f"depth1-{goal.replace(' ', '_')}")
    for action in actions:
        assert server.ask(f"/textcraft/observation?id={post.number}") == (
            200,
            answer["observation"],
        )
        status, answer = post("step", action=action)
        assert status == 200
    assert (answer["reward"], answer["done"]) == (1.0, True)
    assert post("close") == (200, True)


def test_textcraft_numbers_are_taken_modulo_and_create_begins(server):
    env = gymnasium.make("agentgym/TextCraft-v2").unwrapped
    count = sum(len(env.task_set.ids(split)) for split in env.task_set.splits)
    post = created(server)
    first = server.ask(f"/textcraft/observation?id={post.number}")[1]
    assert first.startswith("Crafting commands:")
    assert (
        post("reset", data_idx=count)[1]["observation"].rpartition("Goal")[2]
        == (first.rpartition("Goal")[2])
    )
    post("close")


def test_babyai_has_the_originals_numbers_and_fields(server):
    post = created(server, "babyai")
    status, answer = post("reset", data_idx=40 * 3 + 1)
    text, actions = plan("agentgym/BabyAI-v2", "GoToRedBall-3")
    assert (status, answer) == (
        200,
        {"observation": text, "reward": 0.0, "score": 0.0, "done": False},
    )
    for action in actions:
        status, answer = post("step", action=action)
    assert answer["done"]
    assert answer["score"] == answer["reward"] > 0.5
    post("close")


def test_babyais_left_out_numbers_are_refused_and_no_others(server):
    post = created(server, "babyai")
    left_out = {
        40 * seed + LEVELS.index(level) for level, seeds in LEFT_OUT.items() for seed in seeds
    }
    for index in (*itertools.islice(sorted(left_out), 5), 2800):
        status, answer = post("reset", data_idx=index)
        assert status == 400
        assert answer["error"].startswith(f"data_idx: {index} is the level")
    assert post("reset", data_idx=2799)[0] == 200
    post("close")


def test_searchqa_answers_with_bare_values(server):
    post = created(server, "searchqa")
    _, text = post("reset", id=5)
    assert "<answer>" in text
    assert server.ask(f"/searchqa/observation?env_idx={post.number}") == (200, text)
    _, answer = post("step", action="I look it up. <search>capital of Peru</search>")
    assert "<information>" in answer["observation"]
    assert answer["done"] is False
    env = gymnasium.make("agentgym/Search-v1", split="test")
    question, _ = env.reset(options={"task_id": env.unwrapped.task_ids[5]})
    assert text.endswith(question)
    *_, solution = env.unwrapped.oracle()
    assert post("step", action=solution)[1]["reward"] == 1.0
    count = sum(len(env.unwrapped.task_set.ids(split)) for split in ("train", "dev", "test"))
    status, answer = post("reset", id=count)
    assert (status, answer["error"]) == (
        400,
        f"id: there is no task {count}, only 0 to {count - 1}",
    )
    post("close")


def test_alfworld_has_the_words_of_the_original(server):
    env = gymnasium.make("agentgym/Household-v0", split="test")
    task_id = "pick_cool_then_place_in_recep-Bowl-Shelf-10-0"
    post = created(server, "alfworld")
    status, answer = post("reset", game=env.unwrapped.task_ids.index(task_id), world_type="Text")
    assert status == 200
    room, task = answer["observation"].split("\n")
    assert room.startswith("You are in the middle of a room. Looking quickly around you, you see")
    assert task == "Your task is to: cool some bowl and put it in shelf."
    assert answer["available_actions"][0] == "go to cabinet 1"
    assert answer["available_actions"][-2:] == ["inventory", "look"]
    turns = {
        "go to fridge 1": "The fridge 1 is closed.",
        "open fridge 1": "You open the fridge 1. The fridge 1 is open. In it, you see a bowl 1.",
        "take bowl 1 from fridge 1": "You pick up the bowl 1 from the fridge 1.",
        "cool bowl 1 with fridge 1": "You cool the bowl 1 using the fridge 1.",
        "go to shelf 2": "On the shelf 2, you see a cellphone 2, and a statue 1.",
        "put bowl 1 in/on shelf 2": "You put the bowl 1 in/on the shelf 2.",
    }
    for action, text in turns.items():
        assert action in answer["available_actions"]
        assert server.ask(f"/alfworld/available_actions?id={post.number}") == (
            200,
            answer["available_actions"],
        )
        status, answer = post("step", action=action)
        assert (status, answer["observation"]) == (200, text)
        assert server.ask(f"/alfworld/observation?id={post.number}") == (200, text)
    assert (answer["reward"], answer["done"], answer["available_actions"]) == (1.0, True, [])
    train = gymnasium.make("agentgym/Household-v0", split="train").unwrapped.task_ids[0]
    _, answer = post("reset", game=300, world_type="Text")
    assert answer["observation"].split("\n")[1] in plan("agentgym/Household-v0", train)[0]
    status, answer = post("reset", game=3600, world_type="Text")
    assert (status, answer["error"]) == (400, "game: there is no task 3600, only 0 to 3599")
    assert post("close") == (200, True)


def test_webshop_answers_as_the_original(server):
    post = created(server, "webshop")
    text, actions = plan("agentgym/Shop-v0", "midi-dress-0")
    status, answer = post("reset", session_id=0)
    assert (status, answer) == (200, [text, None])

    def get(name):
        return server.ask(f"/webshop/{name}?env_idx={post.number}")

    instruction = text.split(" [SEP] ")[2]
    assert get("observation") == (200, text)
    assert get("instruction_text") == (200, f"Instruction: {instruction}")
    assert get("available_actions") == (
        200,
        {"has_search_bar": True, "clickables": ["search"]},
    )
    for action in actions[:-1]:
        status, answer = post("step", action=action)
        assert answer == answer | {"reward": 0.0, "done": False, "info": None}
        assert get("observation") == (200, answer["state"])
    found = get("available_actions")[1]
    assert found["has_search_bar"] is False
    assert found["clickables"][:6] == [
        *("back to search", "< prev", "description", "features", "reviews", "buy now")
    ]
    status, answer = post("step", action=actions[-1])
    assert (answer["reward"], answer["done"]) == (1.0, True)
    assert get("available_actions")[1] == {"has_search_bar": False, "clickables": []}
    assert post("reset", session_id=360)[1][0] == plan("agentgym/Shop-v0", "midi-dress-6")[0]
    status, answer = post("reset", session_id=3600)
    assert (status, answer["error"]) == (
        400,
        "session_id: there is no task 3600, only 0 to 3599",
    )
    post("close")


@pytest.mark.parametrize(
    ("path", "body", "status", "subject"),
    [
        ("step", {"id": 1, "action": "inventory"}, 404, "id: there is no session 1"),
        ("step", {"action": "inventory"}, 400, "id: the field is missing"),
        ("step", {"id": "x"}, 400, "id: must be the number"),
        ("reset", b"{", 400, "body: must be JSON"),
        ("reset", b"\xff\x00", 400, "body: must be JSON"),
        ("reset", [], 400, "body: must be a JSON object"),
        ("create", {"goal": "stick"}, 400, "goal: must be null"),
        ("render", {}, 404, "/textcraft/render: there is no such path"),
    ],
)
def test_wrong_requests_name_the_field(server, path, body, status, subject):
    found, answer = server.ask(f"/textcraft/{path}", body)
    assert found == status
    assert answer["error"].startswith(subject)


def test_wrong_fields_leave_the_session_as_it_was(server):
    post = created(server)
    post("reset", data_idx=0)
    wrong = [
        ("step", {}, "action: must be a string, not None"),
        ("step", {"action": 5}, "action: must be a string, not 5"),
        ("reset", {"data_idx": -1}, "data_idx: must be a whole number"),
        ("reset", {"data_idx": "1"}, "data_idx: must be a whole number"),
    ]
    for path, fields, message in wrong:
        status, answer = post(path, **fields)
        assert status == 400
        assert answer["error"].startswith(message)
    assert post("step", action="inventory")[1]["observation"].startswith("Inventory")
    post("close")
    status, answer = post("step", action="inventory")
    assert (status, answer["code"]) == (404, "not_found")


def test_steps_before_a_reset_and_after_the_end_are_refused(server):
    post = created(server, "babyai")
    status, answer = post("step", action="turn left")
    assert status == 409
    assert "call reset first" in answer["error"]
    post("reset", data_idx=0)
    _, actions = plan("agentgym/BabyAI-v2", "GoToRedBallGrey-0")
    for action in actions:
        assert post("step", action=action)[0] == 200
    status, answer = post("step", action="turn left")
    assert status == 409
    assert "the episode is over" in answer["error"]
    post("close")


def test_steps_of_one_session_queue(server):
    post = created(server)
    post("reset", data_idx=0)
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: post("step", action="get 1 flint"), range(8)))
    assert answers == [(200, {"observation": "Got 1 flint", "reward": 0.0, "done": False})] * 8
    assert post("step", action="inventory")[1]["observation"] == "Inventory: [flint] (8)"
    post("close")


def test_a_base_address_with_a_slash_works(server):
    status, answer = server.ask("//babyai//create", {})
    assert status == 200
    server.ask("/babyai/close", answer)


@pytest.mark.full
def test_a_single_family_is_also_served_at_the_root():
    with serving("agentgym/TextCraft-v2", "--sessions", "1", "--workers", "1") as served:
        status, answer = served.ask("/create", {})
        assert status == 200
        status, full = served.ask("/textcraft/create", {})
        assert (status, full["code"]) == (503, "full")
        assert "all 1 sessions are taken" in full["error"]
        assert served.ask("/step", {"id": answer["id"], "action": "inventory"})[0] == 200
        assert served.ask("/close", {"id": answer["id"]}) == (200, True)
        assert served.ask("/create", {})[0] == 200


def test_sciworlds_numbers_are_the_originals_and_its_scores_are_percent():
    """AgentGym has 4,639 tasks."""
    family = SciWorldFamily("agentgym/ScienceWorld-v2", {})
    assert family.task_id(0) == "boil-0"
    assert family.task_id(4638)
    with raises(RefusedRequest, "4639"):
        family.task_id(4639)
    step = PoolResult(0, observation="A door.", reward=0.25, info={"score": 0.5, "goal": "Boil."})
    answer = {"observation": "A door.", "reward": 25, "score": 50, "done": False}
    assert family.stepped(step) == answer
    assert family.begun(step) == {**answer, "task_description": "Boil."}


def test_alfworld_sorts_the_commands_in_its_own_words():
    listed = ["help", "look", "move egg 1 to cabinet 1", "open cabinet 2"]
    step = PoolResult(0, observation="You see nothing.", info={"admissible_actions": listed})
    answer = AlfWorldFamily("agentgym/Household-v0", {}).stepped(step)
    assert answer["available_actions"] == [
        "look",
        "open cabinet 2",
        "put egg 1 in/on cabinet 1",
    ]


@pytest.mark.full
def test_webarena_plays_on_hosted_sites(webarena):
    number = webarena.ask("/webarena/create", b"", method="POST")[1]["env_idx"]

    def post(path, **fields):
        return webarena.ask(f"/webarena/{path}", {**fields, "env_idx": number})

    status, begun = post("reset", seed=0, idx=21)
    assert (status, "OBJECTIVE: How heavy is this skillet?" in begun["observation"]) == (200, True)
    assert webarena.ask(f"/webarena/observation?env_idx={number}") == (200, begun["observation"])
    status, answer = post("step", action="So ```stop [It weighs 700 g]```")
    assert (status, answer["reward"], answer["terminated"]) == (200, 1, True)
    status, answer = post("reset", seed=0, idx=812)
    assert (status, answer["error"][:24]) == (400, "idx: 812 is not a task_i")
