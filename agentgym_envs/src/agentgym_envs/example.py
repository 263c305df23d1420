"""An example episode of an environment, played by its oracle."""

from itertools import islice
from typing import Any

from agentgym_envs import registry
from agentgym_envs.errors import AgentGymError, EnvRaised

TURNS = 8  # of an example; the rest of a longer episode is left out


def example(env_id: str) -> str:
    """Returns a task and the oracle's actions as text, in the form of ``agentgym play``.

    The task is the first of the easiest ones of the split "train". The text is the reason if
    the environment cannot be played here.

    Args:
        env_id: a registered id.
    """
    try:
        env: Any = registry.make(env_id, max_episode_steps=-1)
        try:
            return _played(env)
        finally:
            env.close()
    except AgentGymError as error:
        return f"The environment cannot be played here: {error}"
    except Exception as error:
        return str(EnvRaised.of(registry.named(env_id), error))


def _played(env: Any) -> str:
    inner = env.unwrapped
    if not hasattr(inner, "oracle"):
        return "The environment has no oracle."
    task_id = min(inner.task_ids, key=inner.task_set.difficulty)
    observation, _ = env.reset(options={"task_id": task_id})
    lines, over = [f"Task {task_id}", "", observation], False
    for action in islice(inner.oracle(), TURNS):
        observation, _, over, _, info = env.step(action)
        lines += [f"> {action}", observation]
    lines.append(f"(score {info['score']:.2f})" if over else "(the episode goes on)")
    return "\n".join(lines)
