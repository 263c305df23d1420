"""Metrics: sums over episodes, means over all processes, one JSON line a step.

Everything but ``"time"`` follows from the configuration: on CPU two runs of it give equal lines.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentgym_train.types import Group, Status


def episode_sums(groups: Sequence[Group]) -> dict[str, float]:
    """Returns what the means of :func:`episode_means` are made of."""
    episodes = [t for g in groups for t in g.trajectories]
    turns = [turn for t in episodes for turn in t.turns]
    return {
        "episodes": len(episodes),
        "success": sum(t.success for t in episodes),
        "score": sum(t.score for t in episodes),
        "return": sum(t.total_reward for t in episodes),
        "turns": len(turns),
        "invalid": sum(turn.invalid for turn in turns),
        "truncated_horizon": sum(t.status is Status.TRUNCATED_HORIZON for t in episodes),
        "truncated_context": sum(t.status is Status.TRUNCATED_CONTEXT for t in episodes),
        "mixed_groups": sum(len({t.total_reward for t in g.trajectories}) > 1 for g in groups),
        "groups": len(groups),
        "action_tokens": sum(len(turn.action_ids) for turn in turns),
        "tokens": sum(len(turn.prompt_ids) + len(turn.action_ids) for turn in turns),
    }


def episode_means(sums: dict[str, float]) -> dict[str, float]:
    """Turns summed counts into rates: per episode, per turn for ``invalid``, per group for ``mixed_groups``."""
    episodes, turns, groups = (max(sums[k], 1.0) for k in ("episodes", "turns", "groups"))
    rates = {k: sums[k] / episodes for k in ("success", "score", "return", "turns", "truncated_horizon", "truncated_context")}
    counts = {k: sums[k] for k in ("episodes", "tokens", "action_tokens")}
    return {**rates, "invalid": sums["invalid"] / turns, "mixed_groups": sums["mixed_groups"] / groups, **counts}


class MetricsFile:
    """A file of JSON objects, each with its ``step``.

    Args:
        path: the file.
        start: steps to keep; later lines, from before a crash, are dropped.
        owner: this process writes; the others read what it has written.
    """

    def __init__(self, path: Path, *, start: int, owner: bool = True):
        self.path, self.owner = path, owner
        self.kept = [row for row in read(path) if row["step"] <= start] if path.exists() else []
        """The lines of earlier steps."""
        if owner:
            draft = path.with_suffix(".tmp")
            draft.write_text("".join(json.dumps(row) + "\n" for row in self.kept), encoding="utf-8")
            os.replace(draft, path)

    def write(self, *rows: dict[str, Any]) -> None:
        """Appends lines."""
        if self.owner:
            with self.path.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)


def read(path: Path) -> list[dict[str, Any]]:
    """Returns the complete lines of a metrics file; a line that a crash cut off is left out."""
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
