"""What an environment does in other processes, and what it leaves behind."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import gymnasium

from agentgym_envs.testing.subject import Subject, children, expect
from agentgym_envs.testing.transcripts import record

HASH_SEEDS = ("0", "4242")
_TRANSCRIBE = """
import sys, json
from agentgym_envs.testing import transcript
print(json.dumps(transcript(sys.argv[1], json.loads(sys.argv[2]))))
"""


def determinism(subject: Subject) -> None:
    """The same seed and actions give the same bytes, here and in processes with other hash seeds."""
    with ThreadPoolExecutor(len(HASH_SEEDS)) as pool:
        jobs = {hash_seed: pool.submit(_elsewhere, subject, hash_seed) for hash_seed in HASH_SEEDS}
        here = record(subject.shown)
        again = record(subject.shown)
        elsewhere = {f"with PYTHONHASHSEED={hash_seed}": job.result() for hash_seed, job in jobs.items()}
    for which, there in {"again in one process": again, **elsewhere}.items():
        where = next((a, b) for a, b in zip(here, there, strict=False) if a != b) if here != there else ("", "")
        expect(here == there, f"played {which}, {where[0][:200]} became {where[1][:200]}")


def _elsewhere(subject: Subject, hash_seed: str) -> list[str]:
    environ = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-c", _TRANSCRIBE, subject.env_id, json.dumps(subject.kwargs)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=300)
    expect(done.returncode == 0, f"a second process failed: {done.stderr[-500:]}")
    lines: list[str] = json.loads(done.stdout.splitlines()[-1])
    return lines


def vector(subject: Subject) -> None:
    """Make_vec gives the same episodes as single environments."""
    many = gymnasium.make_vec(subject.env_id, num_envs=2, **subject.kwargs)
    try:
        first, second = many.reset(seed=11)[0], many.step(("look", "look"))[0]
    finally:
        many.close()
    for i in range(2):
        expect(subject.plain.reset(seed=11 + i)[0] == first[i], f"environment {i} of the vector began differently")
        expect(subject.plain.step("look")[0] == second[i], f"environment {i} of the vector went on differently")


def leftovers(subject: Subject) -> None:
    """After close, which may be called twice, no process and no file in the working folder is left."""
    subject.close()
    subject.close()
    new = set(os.listdir()) - subject.files
    expect(not new, f"the working folder has new files: {sorted(new)}")
    more = set(children()) - subject.processes
    expect(not more, f"processes {sorted(more)} are left after close")
