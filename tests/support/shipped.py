"""Options of every built-in curriculum."""

STAGES = {"name": "scaling_inter", "rounds": [3, 5], "every": 2}
TASKS = {"name": "task_difficulty", "stages": [[1, 1], [2, 4]], "every": 3}

CURRICULA = {
    "adaptive": {
        "start": 2,
        "limit": 5,
        "growth": 1.5,
        "window": 2,
        "rise": 0.5,
        "truncated": 0.1,
        "collapse": 0.1,
        "max_kl": 2.0,
    },
    "composed": {"parts": [{"name": "adaptive", "start": 2, "limit": 5, "window": 1}, TASKS]},
    "fixed": {"turns": 4},
    "scaling_inter": {"start": 2, "delta": 3, "every": 4, "limit": 9},
    "task_difficulty": {"stages": [[1, 1], [2, 4]], "every": 3, "turns": 7},
}
"""Name → options that change the curriculum within twenty steps."""
