"""Peaks of the phases of several configurations, measured on each process.

    phases.py RESULT CONFIG CASES

CASES is JSON: a list of lists of overrides. The first process writes the peaks to RESULT as JSON.
"""

import json
import sys
from pathlib import Path

import processes

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import peaks

from agentgym_train import config as configuration
from agentgym_train.engine.rendezvous import end_process

PROMPT = 39
"""Tokens of a prompt. With one sampled token, four turns end just after the cache has grown."""


def work(rank, result, file, cases):
    """Measures all cases one after the other."""
    peaks.PROMPT_TOKENS = PROMPT
    measured = [peaks.measure(configuration.load(file, case)) for case in cases]
    if rank == 0:
        Path(result).write_text(json.dumps(measured))
    end_process()


if __name__ == "__main__":
    number, result, file, cases = sys.argv[1:]
    sys.exit(processes.fork(int(number), work, result, file, json.loads(cases)))
