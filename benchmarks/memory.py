"""Memory of a policy: activations of one long trajectory, and plans beside measured peaks.

    python benchmarks/memory.py [--small]

The first table needs no weights: the forward and backward pass of a trajectory runs on fake
tensors. The second one trains and generates with a small model on this machine. Writes
``benchmarks/results/memory.md``.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import long_tables
import torch
import typer
from transformers import AutoModelForCausalLM, Qwen2Config

from agentgym_train import config as configuration
from agentgym_train.config import ModelConfig
from agentgym_train.models.loading import choose_trained
from agentgym_train.planning import plan
from agentgym_train.planning.card_memory import TrainingCards
from agentgym_train.planning.trace import (
    ACTIONS,
    Counting,
    TraceSetting,
    empty_model,
    fake,
    fill,
    trace,
)

RESULT = Path(__file__).parent / "results" / "memory.md"
PEAKS = Path(__file__).parent / "peaks.py"
GIB = 2**30
TOKENS = 32768
SIZES = {
    "0.5B": (896, 4864, 24, 14, 2, 151936, True),
    "1.5B": (1536, 8960, 28, 12, 2, 151936, True),
    "3B": (2048, 11008, 36, 16, 2, 151936, True),
    "7B": (3584, 18944, 28, 28, 4, 152064, False),
}
"""Qwen2.5: hidden size, intermediate size, layers, heads, key heads, vocabulary, tied embedding."""
SMALL = (192, 768, 4, 4, 2, 4000, True)
"""The model whose peaks are measured; its vocabulary is large beside its layers, as in the others.
"""
CASES = (
    (1, ["engine.zero_stage=0"]),
    (1, ["engine.zero_stage=2"]),
    (2, ["engine.zero_stage=1"]),
    (2, ["engine.zero_stage=2"]),
    (2, ["engine.zero_stage=2", "model.dtype=bfloat16"]),
    (2, ["engine.zero_stage=3"]),
    (2, ["engine.zero_stage=3", "model.dtype=bfloat16"]),
    (2, ["engine.zero_stage=2", "algorithm.name=ppo"]),
    (2, ["engine.zero_stage=3", "algorithm.name=ppo", "critic.kind=head"]),
    (2, ["model.last_layers=1"]),
    (2, ["model.checkpointing=off"]),
)
"""Processes and settings whose peaks are measured."""
FILE = """
[run]
folder = "{folder}/run"
steps = 1
[env]
id = "agentgym/Maze-v1"
groups = 4
group_size = 2
[model]
path = "{folder}"
max_context = {context}
[rollout]
max_new_tokens = 8
[algorithm]
name = "rloo"
[curriculum]
name = "fixed"
turns = 4
[eval]
episodes = 1
[engine]
micro_batch_tokens = {context}
zero = {{ reduce_bucket_size = 300000, allgather_bucket_size = 300000 }}
"""


def shape(sizes: tuple[Any, ...], positions: int = TOKENS) -> Qwen2Config:
    """Returns the configuration of a model."""
    hidden, intermediate, layers, heads, key_heads, vocab, tied = sizes
    return Qwen2Config(
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        vocab_size=vocab,
        tie_word_embeddings=tied,
        max_position_embeddings=positions,
    )


def whole_logits(sizes: tuple[Any, ...], tokens: int, checkpointing: str) -> float:
    """Returns the peak of a trajectory with the logits of all action tokens at once, in GiB."""
    config = ModelConfig(path="qwen", dtype="bfloat16", checkpointing=checkpointing)  # type: ignore[arg-type]
    count = int(ACTIONS * tokens)
    model = empty_model(shape(sizes), config)
    choose_trained(model, config)
    with fake(), Counting(count) as live:
        fill(model)
        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
        ids = torch.zeros((1, tokens), dtype=torch.int64)
        place_N = torch.zeros(count, dtype=torch.int64)
        live.restart()
        held = live.now
        hidden = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
        logits_NV = model.get_output_embeddings()(hidden[0, place_N])
        logp_NV = (logits_NV.float() / 1.0).log_softmax(-1)
        logp_N = logp_NV.gather(1, place_N[:, None])[:, 0]
        with torch.no_grad():
            entropy_N = -(logp_NV.exp() * logp_NV).sum(-1)
        logp_N.sum().backward()
        del entropy_N
        return (live.peak - held) / GIB


def chunked(sizes: tuple[Any, ...], tokens: int) -> float:
    """Returns the peak of the run's own passes with checkpointing, in GiB."""
    made = shape(sizes)
    config = ModelConfig(path="qwen", dtype="bfloat16", checkpointing="on")
    return (
        trace(TraceSetting(made, made.to_json_string(), config, None, False, 1, tokens)).activations
        / GIB
    )


def activations(sizes: dict[str, tuple[Any, ...]], tokens: int) -> list[str]:
    """Returns the lines of the first table."""
    lines = ["| model | all logits | and checkpointing | and a chunked head |", "|---|---|---|---|"]
    for name, size in sizes.items():
        values = (
            whole_logits(size, tokens, "off"),
            whole_logits(size, tokens, "on"),
            chunked(size, tokens),
        )
        lines.append(f"| {name} | " + " | ".join(f"{value:.1f}" for value in values) + " |")
    return lines


def peaks(folder: Path, *, context: int, cases: Any) -> list[str]:
    """Returns the lines of the second table."""
    AutoModelForCausalLM.from_config(shape(SMALL, 4096)).save_pretrained(folder)
    file = folder / "config.toml"
    file.write_text(FILE.format(folder=folder, context=context))
    lines = [
        "| processes | settings | phase | measured MiB | planned MiB | planned / measured |",
        "|---|---|---|---|---|---|",
    ]
    for count, sets in cases:
        measured = measure(file, count, sets)
        planned = plan.make(configuration.load(file, sets), TrainingCards(count, cpu=True))
        for phase, size in measured.items():
            said = planned.total(phase)
            lines.append(
                f"| {count} | {', '.join(sets)} | {phase} | {size / 2**20:.0f} |"
                f" {said / 2**20:.0f} | {said / size:.2f} |"
            )
    return lines


def measure(file: Path, processes: int, sets: list[str]) -> dict[str, int]:
    """Returns the peaks of the first of some processes."""
    launcher = ["-m", "torch.distributed.run", "--nproc_per_node", str(processes)]
    free = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    start = [*launcher, *free] if processes > 1 else []
    done = subprocess.run(
        [sys.executable, *start, str(PEAKS), str(file), *sets],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    found: dict[str, int] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main(small: bool = False, out: Path = RESULT) -> None:
    """Measures and writes both tables; ``--small`` has one model, few tokens and two cases."""
    sizes = {"small": SMALL} if small else SIZES
    tokens, context = (512, 544) if small else (TOKENS, 2112)
    with tempfile.TemporaryDirectory() as folder:
        tables = (
            activations(sizes, tokens),
            peaks(Path(folder), context=context, cases=CASES[:1] if small else CASES),
        )
    first, second = ("\n".join(table) for table in tables)
    long_tables.write(
        out,
        f"""# Memory of a policy

`python benchmarks/memory.py`

## Activations of one trajectory

GiB for {tokens:,} tokens in bfloat16, 30 % of them actions, on fake tensors. Weights are not
counted; of the gradients, only one parameter's at a time. The peak of the whole forward and
backward pass counts: with a chunked head it is in the backward pass of a layer, whose activations
are all there.

{first}

## Plans beside measured peaks

A model with random weights, hidden size 192, four layers and 4,000 words, on the CPU: {context:,}
tokens per trajectory, eight episodes over all processes. The storage of every tensor of the first
process is counted. The table has the rows that differ by 3 % or more.

{second}""",
        lambda cells: len(cells) == 4 or abs(float(cells[5]) - 1) > 0.025,
    )
    print(f"wrote {out}")


if __name__ == "__main__":
    typer.run(main)
