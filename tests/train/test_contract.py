"""The contract of plugins: its import is cheap."""

import subprocess
import sys

from agentgym_train import generator_protocol, protocols

CONTRACT = [
    name
    for module in (protocols, generator_protocol)
    for name, member in vars(module).items()
    if getattr(member, "__module__", None) == module.__name__
]
HEAVY = {"torch", "transformers", "deepspeed", "pydantic", "numpy", "gymnasium"}


def test_the_contract_imports_nothing_heavy():
    names = {"Algorithm", "Curriculum", "Generator", "RunContext", "GeneratorSession"}
    assert names < set(CONTRACT)
    imported = ", ".join([*CONTRACT, "Distributed", "Group", "Trajectory"])
    code = f"import sys; from agentgym_train import {imported}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "agentgym_train.protocols" in loaded
    assert not HEAVY & loaded
