"""Speed of three generation methods that keep or recompute the history of an episode.

    python benchmarks/generation.py

- one cache: kept for all turns, without padding;
- padded cache: for models that do not accept a mask of columns;
- full history: computed again at each turn, for models with sliding windows or convolutions.

The model of this benchmark supports all three. The methods use the same model, prompts and lengths
and run in alternation. Environments take no time. A rate is the number of sampled tokens per second
over whole episodes. Writes ``benchmarks/results/generation.md``.
"""

import platform
import time
from pathlib import Path
from statistics import median

import torch
import typer
from rich.progress import track
from transformers import Qwen2Config, Qwen2ForCausalLM

from agentgym_train.generators.hf import HF, METHODS, MemoryMethod
from agentgym_train.generators.probe import ask
from agentgym_train.protocols import SamplingOptions

ROWS, OBSERVATION, ACTION = 16, 48, 8  # episodes, tokens per observation, tokens per action
NO_STOP = SamplingOptions(temperature=1.0, max_new_tokens=ACTION, stop_ids=frozenset())


def model() -> Qwen2ForCausalLM:
    """Returns a model of about a million weights."""
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=1024,
        hidden_size=128,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
    )
    return Qwen2ForCausalLM(config).eval()


def play(generator: HF, turns: int) -> None:
    """Plays one batch of episodes."""
    session = generator.session(range(ROWS), NO_STOP)
    for turn in range(turns):
        ask(session, {row: observation(row, turn) for row in range(ROWS)})


def observation(row: int, turn: int) -> list[int]:
    """Returns synthetic tokens of uneven length, ``OBSERVATION`` on average."""
    return [(row * 131 + turn * 17 + i) % 1024 for i in range(OBSERVATION - 8 + (row + turn) % 17)]


def seconds(generator: HF, method: MemoryMethod, turns: int) -> float:
    """Returns the seconds that one batch of episodes takes."""
    generator.method = method
    start = time.perf_counter()
    play(generator, turns)
    return time.perf_counter() - start


def ratio(values: list[float]) -> str:
    """Returns the median with the lowest and the highest value."""
    return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def main(repeats: int = 5) -> None:
    """Measures and writes the table."""
    policy = model()
    weights = sum(p.numel() for p in policy.parameters())
    generator = HF(policy)
    methods = METHODS[:3]
    seconds(generator, methods[0], 2)
    lines = [
        "# Generation with the cache kept across turns",
        "",
        (
            f"`python benchmarks/generation.py --repeats {repeats}` on {torch.get_num_threads()}"
            f" threads, Python {platform.python_version()}, torch"
            f" {torch.__version__.partition('+')[0]}: {weights / 1e6:.2f} M weights, {ROWS}"
            f" episodes at a time, {OBSERVATION} tokens per observation and {ACTION} per action."
            f" Medians of {repeats} alternating runs; speed-up of the first method with lowest and"
            " highest value."
        ),
        "",
        (
            "| turns | one cache, tokens/s | padded, tokens/s | full history, tokens/s | over"
            " padded | over full history |"
        ),
        "|---|---|---|---|---|---|",
    ]
    for turns in track((5, 10, 20, 40), description="turns"):
        runs = [[seconds(generator, method, turns) for method in methods] for _ in range(repeats)]
        rates = [
            f"{ROWS * ACTION * turns / median(of_method):,.0f}"
            for of_method in zip(*runs, strict=True)
        ]
        cells = [
            str(turns),
            *rates,
            ratio([run[1] / run[0] for run in runs]),
            ratio([run[2] / run[0] for run in runs]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    target = Path(__file__).parent / "results" / "generation.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    typer.run(main)
