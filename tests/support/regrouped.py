"""A run that is resumed with a different number of processes.

    regrouped.py MODEL HOME CASE BEFORE AFTER

CASE is STAGE-DTYPE, STAGE-DTYPE-CRITIC for PPO, STAGE-DTYPE-last to train only the last layer,
or STAGE-DTYPE-lora to train an adapter.
HOME/same is resumed with BEFORE processes, HOME/other with AFTER processes.
"""

import shutil
import sys
from pathlib import Path

import small_run
from interrupted import play

from agentgym_train.engine import checkpoint


def write(home, name, model, case, steps):
    stage, dtype, *kind = case.split("-")
    sections = {k: dict(v) for k, v in small_run.HASH.items()}
    sections["run"] |= {"folder": str(home / name), "steps": steps, "save_every": 2}
    sections["model"] |= {"path": model, "dtype": dtype}
    zero = {"stage3_param_persistence_threshold": 0} if stage == "3" else {}
    sections["engine"] |= {"zero_stage": int(stage), "zero": zero}
    if kind == ["last"]:
        sections["model"]["last_layers"] = 1
    elif kind == ["lora"]:
        sections["model"]["lora"] = {"rank": 4}
    elif kind:
        sections |= small_run.with_critic(kind[0])
    return small_run.write(home, **sections)


def main(model, home, case, before, after):
    home = Path(home)
    play(write(home, "same", model, case, 2), int(before))
    shutil.copytree(home / "same", home / "other")
    play(write(home, "same", model, case, 4), int(before))
    checkpoint.convert(checkpoint.latest(home / "other"), processes=int(after))
    play(write(home, "other", model, case, 4), int(after))


if __name__ == "__main__":
    main(*sys.argv[1:])
