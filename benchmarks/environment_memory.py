"""Memory of many environments in one process, for the speed benchmarks of families."""

import subprocess
import sys

NUMBERS = (1, 64, 1000)
_CHILD = """
import resource, gymnasium, agentgym_envs
def used():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20
before = used()
envs = [gymnasium.make({env_id!r}) for _ in range({number})]
for seed, env in enumerate(envs):
    env.reset(seed=seed)
    env.step(env.unwrapped.actions()[0])
print(used() - before, used())
"""


def table(env_id: str) -> list[str]:
    """Returns a table of the memory of new processes with :data:`NUMBERS` of environments.

    Each environment has begun an episode. The tables of tasks and rules are loaded by the first.
    """
    return [
        "| environments in a process | MiB added by them and by what they share | MiB in all |",
        "|---|---|---|",
        *(_row(env_id, number) for number in NUMBERS),
    ]


def _row(env_id: str, number: int) -> str:
    code = _CHILD.format(env_id=env_id, number=number)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    added, whole = map(float, done.stdout.split())
    return f"| {number:,} | {added:.0f} | {whole:.0f} |"
