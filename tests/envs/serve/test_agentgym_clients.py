"""The unmodified clients of agentenv 0.2.0, for `tox run -e agentenv`."""

import re
import warnings

import gymnasium
import pytest
from served import serving

from agentgym_envs import registry

pytestmark = [pytest.mark.clients, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def clients():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import agentenv.envs

    return agentenv.envs


@pytest.fixture(scope="module")
def server():
    with serving(
        "agentgym/TextCraft-v2",
        "agentgym/BabyAI-v2",
        "agentgym/ScienceWorld-v2",
        "agentgym/Search-v1",
        "agentgym/LMRLMaze-v0",
        "agentgym/LMRLWordle-v0",
        "agentgym/Household-v0",
        "agentgym/Shop-v0",
        "--workers",
        "1",
    ) as served:
        yield served


def solution(env_id, task_id, seed):
    """Returns the oracle's actions and the scores after them, from an environment alone."""
    env = gymnasium.make(env_id)
    env.reset(seed=seed, options={"task_id": task_id})
    found = []
    for action in env.unwrapped.oracle():
        _, _, terminated, _, info = env.step(action)
        found.append((action, info["score"]))
        if terminated:
            break
    env.close()
    return found


def react(action):
    return f"Thought:\nI think.\n\nAction:\n{action}"


def play(client, responses):
    """Plays whole responses; returns the last output."""
    for response in responses:
        output = client.step(response)
        assert isinstance(output.state, str)
    return output


def test_textcraft(server, clients):
    client = clients.TextCraftEnvClient(f"{server.base}/textcraft", data_len=10)
    client.reset(3)
    goal = client.observe().rpartition("Goal: craft ")[2].rstrip(".").replace(" ", "_")
    plan = solution("agentgym/TextCraft-v2", f"depth1-{goal}", 3)
    output = play(client, [react(action) for action, _ in plan])
    assert (output.reward, output.done) == (1, True)
    client.close()


def test_babyai(server, clients):
    client = clients.BabyAIEnvClient(f"{server.base}/babyai", data_len=10)
    client.reset(40 * 5 + 18)
    assert "Available actions: [" in client.observe()
    plan = solution("agentgym/BabyAI-v2", "PickupLoc-5", 0)
    output = play(client, [react(action) for action, _ in plan])
    assert output.done
    assert output.reward == plan[-1][1] > 0.5
    with pytest.raises(AssertionError):  # a number that is left out
        client.reset(40 * 0 + 15)
    client.close()


def test_sciworld(server, clients):
    client = clients.SciworldEnvClient(f"{server.base}/sciworld", data_len=10)
    index = 30 * 4 + 540 + 436 + 300 + 2  # the third variation of power-component
    client.reset(index)
    assert client.observe().startswith("Your task is to turn on")
    plan = solution("agentgym/ScienceWorld-v2", "power-component-2", index)
    output = play(client, [react(action) for action, _ in plan])
    assert (output.reward, output.done) == (100, True)
    for wrong in (4639, 10**6):
        with pytest.raises(AssertionError):
            client.reset(wrong)
    client.reset(4638)
    client.close()


def test_searchqa(server, clients):
    client = clients.SearchQAEnvClient(f"{server.base}/searchqa", data_len=10)
    client.reset(5)
    assert "Question: " in client.observe()
    env = gymnasium.make("agentgym/Search-v1", split="test")
    env.reset(options={"task_id": env.unwrapped.task_ids[5]})
    responses = [f"<think>so</think> {action}" for action in env.unwrapped.oracle()]
    output = play(client, responses)
    assert (output.reward, output.done) == (1, True)
    client.close()


def test_maze(server, clients):
    client = clients.MazeEnvClient(f"{server.base}/maze", data_len=25)
    client.reset(10)
    assert client.observe().endswith(
        "The goal is at position 8, 6. Your current position is at position 2, 3. There are walls"
        " to your right, to your left."
    )
    plan = solution("agentgym/LMRLMaze-v0", "game-10", 0)
    output = play(client, [react(action) for action, _ in plan])
    assert (output.state, output.reward, output.done) == ("Success", 1, True)
    client.reset(0)
    output = play(client, [react("move up")] * 50)
    assert (output.reward, output.done) == (0, False)
    output = client.step(react("move up"))
    assert (output.state, output.reward, output.done) == ("Failure", -1, True)
    with pytest.raises(AssertionError):  # this game begins at the goal
        client.reset(25)


def test_wordle(server, clients):
    client = clients.WordleEnvClient(f"{server.base}/wordle", data_len=10)
    words = registry.make("agentgym/LMRLWordle-v0", split="test").unwrapped.task_ids
    client.reset(3 + 681)
    listed = client.observe().partition("```\n")[2].partition("\n```")[0].split("\n")
    assert {*words, "panic", "felon", "frown", "shire"} < set(listed)
    assert len(listed) == 681
    plan = solution("agentgym/LMRLWordle-v0", words[3], 0)
    outputs = [client.step(react(action)) for action, _ in plan]
    assert [(o.reward, o.done) for o in outputs] == [(0, False)] * (len(plan) - 1) + [(1, True)]
    assert outputs[-1].state == "g g g g g"
    client.reset(0)
    output = client.step(react("x x x x x"))
    assert (output.state, output.reward, output.done) == ("invalid word", 0, False)
    first = " ".join(words[1])
    assert "g" in client.step(react(first)).state  # agree and alert
    left = client._get("filtered_vocab")
    assert words[0] in left
    assert words[1] not in left
    assert len(left) < 60
    output = play(client, [react(first)] * 4)
    assert (output.reward, output.done) == (0, True)


def test_alfworld(server, clients):
    client = clients.AlfWorldEnvClient(f"{server.base}/alfworld", data_len=10)
    tasks = registry.make("agentgym/Household-v0", split="test").unwrapped.task_ids
    client.reset(3)
    assert "Your task is to: " in client.observe()
    plan = solution("agentgym/Household-v0", tasks[3], 0)
    for action, _ in plan:
        action = re.sub("move (.*) to ", r"put \1 in/on ", action)
        assert action in client.observe().rpartition("AVAILABLE ACTIONS: ")[2].split(",")
        output = client.step(react(action))
    assert (output.reward, output.done) == (1, True)
    client.reset(0)
    assert client.step(react("fly to the moon")).state == "Nothing happens."
    client.close()


def test_webshop(server, clients):
    client = clients.WebshopEnvClient(f"{server.base}/webshop", data_len=10)
    first, _ = client.reset(2)
    assert client.observe() == first
    assert first.startswith("WebShop [SEP] Instruction: [SEP] ")
    env = registry.make("agentgym/Shop-v0", split="test")
    plan = solution("agentgym/Shop-v0", env.unwrapped.task_ids[2], 2)
    outputs = [client.step(react(action)) for action, _ in plan]
    assert [(o.reward, o.done) for o in outputs] == [(0, False)] * (len(plan) - 1) + [(1, True)]
    client.reset(0)
    output = client.step("no action at all")
    assert (output.state, output.reward, output.done) == (client.observe(), 0, False)
    with pytest.raises(AssertionError):
        client.reset(3600)


def test_a_token_in_the_address(clients):
    with serving("agentgym/TextCraft-v2", "--workers", "1", "--token", "s3cret") as served:
        base = served.base.replace("http://", "http://any:s3cret@")
        client = clients.TextCraftEnvClient(f"{base}/", data_len=10)
        client.reset(0)
        assert client.step(react("inventory")).state.startswith("Inventory")


def test_webarenas_client_plays_our_sites(clients, browser):
    with serving("agentgym/WebSites-v1", "--workers", "1") as served:
        client = clients.WebarenaEnvClient(f"{served.base}/websites", data_len=10)
        client.reset(0)
        assert "OBJECTIVE" in client.observe()
        output = client.step("In summary, the next action I will perform is ```stop [no]```")
        assert (output.reward, output.done) == (0, True)
        client.close()


def test_webarena_on_hosted_sites(webarena, clients):
    client = clients.WebarenaEnvClient(f"{webarena.base}/webarena", data_len=812)
    client.reset(22)
    seen = client.observe()
    assert "OBJECTIVE: Open the skillet." in seen
    link = next(line for line in seen.split("\n") if "link 'Bluebell 10-inch Skillet'" in line)
    number = link.partition("[")[2].partition("]")[0]
    output = client.step(f"So ```click [{number}]```")
    assert (output.reward, output.done) == (0, False)
    assert "OBJECTIVE: Open the skillet." in output.state
    output = client.step("Done. ```stop []```")
    assert (output.reward, output.done) == (1, True)
    for number, answer, reward in ((21, "It weighs 700 g", 1), (22, "no", 0)):
        client.reset(number)
        output = client.step(f"In summary, I will perform ```stop [{answer}]```")
        assert (output.reward, output.done) == (reward, True)
    with pytest.raises(AssertionError):  # the file has no such task
        client.reset(23)
    client.close()
