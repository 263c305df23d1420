"""Speed and peak memory of an update of a real model: plain, with the settings that save memory.

    python benchmarks/update_memory.py run runs/smollm2

``benchmarks/real_model.py unpack runs/smollm2`` writes the model, SmolLM2-135M-Instruct. Each
measurement is a process of its own: one untimed update, then timed ones. The variants alternate.
Memory is the peak of the process above its memory before the first update, so it holds gradients,
the optimizer and activations. The plain variant keeps all activations and the logits of all action
tokens, as transformers does by default. Writes ``benchmarks/results/update_memory.md``.
"""

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import torch
import typer

from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.config import EngineConfig, LoraConfig, ModelConfig
from agentgym_train.data.batching import Batch, ForwardOutput, pack
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.engine.deepspeed import TrainingEngine
from agentgym_train.learning.episodes import add_advantages
from agentgym_train.learning.update import update
from agentgym_train.models.loading import load_policy

RESULT = Path(__file__).parent / "results" / "update_memory.md"
EPISODES, TURNS, PROMPT, ACTION = 2, 16, 45, 19  # 1,024 tokens per episode, 30 % of them sampled
GIB = 2**30
VARIANTS = {
    "plain": ModelConfig(checkpointing="off"),
    "chunked head": ModelConfig(checkpointing="off"),
    "chunked head, checkpointing": ModelConfig(checkpointing="on"),
    "chunked head, checkpointing, LoRA": ModelConfig(
        checkpointing="on", lora=LoraConfig(rank=16, alpha=32.0)
    ),
}
FOOT = """The logits of 608 sampled tokens take 0.11 GiB, less than one slice of the chunked head.
The head therefore saves memory only with more sampled tokens or a larger vocabulary."""
app = typer.Typer(pretty_exceptions_enable=False)


def groups(vocabulary: int) -> list[Group]:
    """Returns a group of synthetic episodes of which half succeed."""
    draw = torch.Generator().manual_seed(0)

    def ids(count: int) -> list[int]:
        made: list[int] = torch.randint(vocabulary, (count,), generator=draw).tolist()
        return made

    def trajectory(number: int) -> Trajectory:
        turns = [
            Turn("", [Call(ids(PROMPT), ids(ACTION), [-5.0] * ACTION)], reward=float(number % 2))
            for _ in range(TURNS)
        ]
        return Trajectory("", number, turns)

    return [Group(0, [trajectory(number) for number in range(EPISODES)])]


def plain_forward(model: Any, micro: Batch) -> ForwardOutput:
    """Returns the log-probabilities from the logits of all action tokens at once."""
    wanted_BT = micro.action_BT[:, 1:]
    hidden_BTD = model.base_model(input_ids=micro.id_BT, use_cache=False).last_hidden_state
    logits_NV = torch.nn.functional.linear(hidden_BTD[:, :-1][wanted_BT], model.lm_head.weight)
    logp_NV = logits_NV.float().log_softmax(-1)
    logp_N = logp_NV.gather(1, micro.id_BT[:, 1:][wanted_BT][:, None])[:, 0]
    with torch.no_grad():
        entropy_N = -(logp_NV.exp() * logp_NV).sum(-1)

    def spread(stream_N: torch.Tensor) -> torch.Tensor:
        stream_BT = stream_N.new_zeros(wanted_BT.shape).masked_scatter(wanted_BT, stream_N)
        return torch.nn.functional.pad(stream_BT, (1, 0))

    return ForwardOutput(spread(logp_N), spread(entropy_N))


def memory(key: str) -> int:
    """Returns VmRSS, the memory of this process, or VmHWM, its peak, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


@app.command()
def one(model: str, variant: str, updates: int) -> None:
    """Measures a variant in this process; prints seconds per update and bytes as JSON."""
    config = EngineConfig(zero_stage=2, lr=1e-5, micro_batch_tokens=4096)
    policy = load_policy(replace(VARIANTS[variant], path=model), model, seed=0)
    engine = TrainingEngine(policy, config, dtype="float32")
    if variant == "plain":
        engine.forward = lambda micro, **_: plain_forward(policy, micro)  # type: ignore[method-assign]
    algorithm, made = GRPO(), groups(policy.config.vocab_size)
    batch = add_advantages(pack(made), algorithm, made, engine.distributed)
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    seconds = []
    for _ in range(updates + 1):
        began = time.perf_counter()
        update(engine, algorithm, batch, groups=1, config=config)
        seconds.append(time.perf_counter() - began)
    peak = memory("VmHWM")
    print(json.dumps({"seconds": seconds[1:], "above": peak - before, "peak": peak}), flush=True)
    os._exit(0)  # gloo's threads abort an interpreter that shuts down


@app.command()
def run(model: str, rounds: int = 3, updates: int = 1) -> None:
    """Measures all variants in alternation and writes the table."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in VARIANTS}
    for _ in range(rounds):
        for name in VARIANTS:
            command = [sys.executable, __file__, "one", model, name, str(updates)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found[name].append(json.loads(done.stdout.splitlines()[-1]))
            print(name, found[name][-1], flush=True)
    lines = [head(model, rounds, updates), *map(row, found.items()), "", FOOT, ""]
    RESULT.write_text("\n".join(lines))


def head(model: str, rounds: int, updates: int) -> str:
    """Returns the text above the table's rows."""
    tokens = EPISODES * TURNS * (PROMPT + ACTION)
    return f"""# Memory and speed of an update

`python benchmarks/update_memory.py run {Path(model).name} --rounds {rounds}`:
SmolLM2-135M-Instruct, float32, one process with {torch.get_num_threads()} threads on
{platform.machine()}, GRPO on {EPISODES} synthetic episodes of
{tokens // EPISODES:,} tokens, {ACTION / (PROMPT + ACTION):.0%} of
them sampled, micro-batches of 4,096 tokens. Median of {rounds} processes with {updates} timed
updates each, with the range. Memory is the peak above the process with the loaded model. It holds
gradients, optimizer and activations.

| variant | tokens/s | memory, GiB |
|---|---|---|"""


def row(item: tuple[str, list[dict[str, Any]]]) -> str:
    """Returns a variant's row."""
    name, runs = item
    tokens = EPISODES * TURNS * (PROMPT + ACTION)
    rates = sorted(tokens / second for run in runs for second in run["seconds"])
    peaks = sorted(run["above"] / GIB for run in runs)
    return (
        f"| {name} | {median(rates):.0f} ({rates[0]:.0f}–{rates[-1]:.0f})"
        f" | {median(peaks):.2f} ({peaks[0]:.2f}–{peaks[-1]:.2f}) |"
    )


if __name__ == "__main__":
    app()
