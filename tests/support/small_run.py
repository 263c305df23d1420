"""Configurations of short runs."""

import tomli_w

HASH = {
    "run": {"steps": 4, "save_every": 1},
    "env": {
        "id": "hash_env:support/Hash-v0",
        "kwargs": {"length": 4},
        "groups": 3,
        "group_size": 3,
        "workers": 1,
    },
    "model": {"max_context": 256},
    "engine": {"lr": 1e-3, "decay": 20, "minibatches": 2},
    "curriculum": {"name": "responsive", "bar": 0.0},
    "eval": {"kwargs": {}, "episodes": 2, "horizon": 2},
}
"""A run that learns at every step, with a stateful curriculum; ``model.path`` is missing."""


def with_critic(kind, **options):
    """Returns the sections of PPO, with more options, and a critic of this kind."""
    return {
        "algorithm": {"name": "ppo", "gamma": 0.9, **options},
        "critic": {"kind": kind, "lr": 1e-2},
    }


def write(folder, **sections):
    """Writes ``run.toml`` with keywords merged into the defaults; returns its path."""
    raw = {
        "run": {"folder": str(folder / "run"), "steps": 4, "save_every": 2},
        "env": {
            "id": "agentgym/Maze-v1",
            "kwargs": {"rooms": [3]},
            "groups": 4,
            "group_size": 4,
            "workers": 1,
        },
        "model": {"max_context": 256},
        "scratch": {"hidden": 32, "episodes": 60, "steps": 60, "turns": 8},
        "rollout": {"max_new_tokens": 5},
        "algorithm": {"name": "grpo"},
        "engine": {"lr": 1e-3},
        "curriculum": {"name": "scaling_inter", "rounds": [3, 5], "every": 2},
        "eval": {"kwargs": {"split": "test"}, "episodes": 6, "horizon": 6},
    }
    for name, values in sections.items():
        replaced = isinstance(values, list) or "name" in values or "id" in values
        raw[name] = values if replaced else raw.get(name, {}) | values
    path = folder / "run.toml"
    path.write_text(tomli_w.dumps(raw))
    return path
