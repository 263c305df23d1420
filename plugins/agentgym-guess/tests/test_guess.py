import gymnasium

import agentgym_envs  # noqa: F401  registers the plugin's id
from agentgym_envs.testing import check_text_env


def test_it_keeps_the_contract():
    assert check_text_env("agentgym-guess/Guess-v0")


def test_bisection_finds_every_number_within_seven_turns():
    for split in ("train", "dev", "test"):
        env = gymnasium.make("agentgym-guess/Guess-v0", split=split)
        for task_id in env.unwrapped.task_ids:
            env.reset(options={"task_id": task_id})
            low, high, turns, info = 1, 100, 0, {"success": False}
            while not info["success"]:
                middle = (low + high) // 2
                answer, *_, info = env.step(str(middle))
                low, high = (middle + 1, high) if answer == "higher" else (low, middle - 1)
                turns += 1
            assert turns <= 7
