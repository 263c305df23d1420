"""A run that goes on with another number of processes: ``regrouped.py MODEL HOME STAGE-DTYPE BEFORE AFTER``.

HOME/same went on as it began, HOME/other with AFTER processes.
"""

import shutil
import sys
from pathlib import Path

import small_run
from interrupted import play

from agentgym_train import checkpoint


def write(home, name, model, stage, dtype, steps):
    sections = {k: dict(v) for k, v in small_run.HASH.items()}
    sections["run"] |= {"folder": str(home / name), "steps": steps, "save_every": 2}
    sections["model"] |= {"path": model, "dtype": dtype}
    zero = {"stage3_param_persistence_threshold": 0} if stage == "3" else {}
    sections["engine"] |= {"zero_stage": int(stage), "zero": zero}
    return small_run.write(home, **sections)


def main(model, home, case, before, after):
    home, (stage, dtype) = Path(home), case.split("-")
    play(write(home, "same", model, stage, dtype, 2), int(before))
    shutil.copytree(home / "same", home / "other")
    play(write(home, "same", model, stage, dtype, 4), int(before))
    checkpoint.convert(checkpoint.latest(home / "other"), processes=int(after))
    play(write(home, "other", model, stage, dtype, 4), int(after))


if __name__ == "__main__":
    main(*sys.argv[1:])
