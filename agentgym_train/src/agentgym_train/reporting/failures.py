"""``failures.jsonl``: one line per failure of an environment, over all processes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from agentgym_train.data.types import Failure
from agentgym_train.distributed import Distributed
from agentgym_train.reporting.metrics import MetricsFile, read


class FailureLog:
    """Writes failures to a file and counts the episodes that were given up.

    Args:
        path: the file.
        distributed: the processes; the main one writes.
        start: steps to keep; lines of later steps, from before a crash, are dropped.
    """

    def __init__(self, path: Path, distributed: Distributed, *, start: int):
        self.path, self.distributed = path, distributed
        self._file = MetricsFile(path, start=start, distributed=distributed)
        lost = (row["env"] for row in self._file.kept if row["given_up"] and not row["evaluation"])
        self.given_up = Counter(lost)
        """Training episodes that were given up, per environment."""

    def add(
        self, step: int, name: str, failures: Sequence[Failure], *, evaluation: bool = False
    ) -> list[Failure]:
        """Writes the failures of an environment; returns those of all processes.

        All processes call it.

        Args:
            step: the training step, or the step before the evaluation.
            name: of the environment.
            failures: of this process.
            evaluation: whether they belong to an evaluation, which has no failure budget.
        """
        everywhere = [f for part in self.distributed.gather(list(failures)) for f in part]
        shared = {"step": step, "env": name, "evaluation": evaluation}
        self._file.write(*(shared | asdict(f) for f in everywhere))
        if not evaluation:
            self.given_up[name] += sum(f.given_up for f in everywhere)
        return everywhere

    def most_frequent(self, name: str) -> str:
        """Returns the three most frequent errors that ended training episodes of an environment.

        All processes call it.
        """
        often = Counter(
            (row["task_id"] or f"seed {row['seed']}", row["error"])
            for row in self.distributed.from_main(lambda: read(self.path))
            if row["given_up"] and not row["evaluation"] and row["env"] == name
        ).most_common(3)
        return "; ".join(f"{count} × {where}: {error}" for (where, error), count in often)
