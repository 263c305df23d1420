"""A configuration of a run that takes seconds."""

import tomli_w


def write(folder, **sections):
    """Writes ``run.toml`` into a folder; keyword sections are merged into the defaults. Returns its path."""
    raw = {
        "run": {"folder": str(folder / "run"), "steps": 4, "save_every": 2},
        "env": {"id": "agentgym/Maze-v0", "kwargs": {"rooms": [4]}, "groups": 4, "group_size": 4},
        "model": {"max_context": 256},
        "scratch": {"hidden": 32, "episodes": 60, "steps": 10, "turns": 8},
        "rollout": {"max_new_tokens": 4},
        "algorithm": {"name": "grpo"},
        "engine": {"lr": 1e-3},
        "curriculum": {"name": "scaling_inter", "rounds": [3, 5], "every": 2},
        "eval": {"kwargs": {"split": "test"}, "episodes": 6, "horizon": 6},
    }
    for name, values in sections.items():
        raw[name] = raw.get(name, {}) | values
    path = folder / "run.toml"
    path.write_text(tomli_w.dumps(raw))
    return path
