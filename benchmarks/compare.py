"""Several ways to train at an equal budget of tokens: same start, tasks and seeds.

    python benchmarks/compare.py run scaling_inter_maze --tokens 2000000 --seeds 3 --jobs 2
    python benchmarks/compare.py run scaling_inter_coin_collector --tokens 800000 --seeds 3 --jobs 2
    python benchmarks/compare.py run scaling_inter_textcraft --tokens 500000 --seeds 3 --jobs 2
    python benchmarks/compare.py run algorithms --tokens 1000000 --seeds 3 --jobs 2

``benchmarks/compare/<name>.toml`` is a configuration, the sections in which its methods differ, and a title. Writes
``benchmarks/results/<name>.{json,md,png}``. Success is a function of seed and configuration on a given
machine, not of its load, so jobs may run side by side; no time is reported.
"""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Any

import typer
from matplotlib.figure import Figure
from rich.console import Console
from transformers import AutoTokenizer

from agentgym_train import config as configuration
from agentgym_train import evaluate, report, scratch
from agentgym_train.lanes import make_lanes
from agentgym_train.run.folder import claim_folder
from agentgym_train.run.prepare import check, describe
from agentgym_train.trainer import Trainer

HERE = Path(__file__).parent
POINTS = 8  # held-out evaluations along a run
app = typer.Typer(add_completion=False)


class BudgetSpent(Exception):
    """The run has seen its tokens."""


def load(name: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]], str]:
    """Returns the shared configuration, the sections that each method has for its own, and the title."""
    raw = tomllib.loads((HERE / "compare" / f"{name}.toml").read_text())
    return raw, raw.pop("methods"), raw.pop("title")


@app.command()
def start(name: str, seed: int, work: Path) -> None:
    """Makes the model that all methods of a seed begin with."""
    config = configuration.of(load(name)[0])
    options: dict[str, Any] = {"seed": seed, "max_context": config.model.max_context}
    with report.Display(Console()) as display:
        scratch.make(work / f"init-{name}-{seed}", config.envs, config.scratch, progress=display.advance, **options)


@app.command()
def one(name: str, method: str, seed: int, tokens: int, work: Path, out: Path) -> None:
    """One run: trains until the budget is spent and evaluates at even distances of tokens."""
    raw, methods, _ = load(name)
    raw |= methods[method]
    raw["run"] |= {"folder": str(out.with_suffix("")), "seed": seed}
    raw["model"]["path"] = str(work / f"init-{name}-{seed}")
    config = configuration.of(raw)
    check(config)
    folder = claim_folder(config)
    tokenizer = AutoTokenizer.from_pretrained(config.model.path)
    training, held_out = describe(config)
    lanes = make_lanes(config, [training], tokenizer)
    trainer = Trainer(config, folder, model_path=config.model.path, tokenizer=tokenizer, lanes=lanes)
    curve, seen = [], [0]

    def measure(step: int, horizon: int) -> None:
        played = evaluate.evaluate(config, trainer.generator, lanes[0].chat, held_out.task_ids, key=f"benchmark {len(curve)}")
        row = evaluate.summary(played.trajectories)
        curve.append({"tokens": seen[0], "step": step, "horizon": horizon, **row})

    def on_step(row: dict[str, Any], groups: Any) -> None:
        seen[0] += int(row["tokens"])
        if seen[0] >= tokens * len(curve) / POINTS:
            measure(row["step"], row["horizon"])
        if seen[0] >= tokens:
            raise BudgetSpent

    measure(0, lanes[0].horizon(0))
    try:
        trainer.train(on_step, lambda step: None)
    except BudgetSpent:
        out.write_text(json.dumps({"method": method, "seed": seed, "curve": curve}))
    trainer.engine.close()


@app.command()
def run(
    name: str, tokens: int = 2_500_000, seeds: int = 3, jobs: int = 2, work: Annotated[Path | None, typer.Option()] = None
) -> None:
    """All methods and seeds, then the table and the picture."""
    _, methods, title = load(name)
    work = work or Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    plan = [(m, s, work / f"{name}-{number}-{s}.json") for s in range(seeds) for number, m in enumerate(methods)]

    def launch(out: Path, *command: object) -> None:
        if not out.exists():
            environ = {**os.environ, "OMP_NUM_THREADS": "1"}
            subprocess.run([sys.executable, __file__, *map(str, command)], check=True, env=environ, stdout=subprocess.DEVNULL)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda seed: launch(work / f"init-{name}-{seed}", "start", name, seed, work), range(seeds)))
        list(pool.map(lambda p: launch(p[2], "one", name, p[0], p[1], tokens, work, p[2]), plan))
    write(name, title, f"run {name} --tokens {tokens} --seeds {seeds} --jobs {jobs}", [json.loads(p.read_text()) for *_, p in plan])


def write(name: str, title: str, arguments: str, runs: list[dict[str, Any]]) -> None:
    """Writes the data, the table and the picture."""
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    base = folder / name
    base.with_suffix(".json").write_text(json.dumps(runs, indent=1) + "\n")
    methods = list(dict.fromkeys(r["method"] for r in runs))
    command = f"python benchmarks/compare.py {arguments}"
    lines = [f"# {title}", "", f"`{command}`", ""]
    lines += [
        "| method | before | best | at the end (mean ± sd) | seeds at the end | steps | invalid at the end |",
        "|---|---|---|---|---|---|---|",
    ]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for method in methods:
        curves = [r["curve"] for r in runs if r["method"] == method]
        end = [c[-1]["success"] for c in curves]
        spread = stdev(end) if len(end) > 1 else 0.0
        best = fmean(max(p["success"] for p in c) for c in curves)
        steps = fmean(c[-1]["step"] for c in curves)
        invalid = fmean(c[-1]["invalid"] for c in curves)
        lines.append(
            f"| {method} | {fmean(c[0]['success'] for c in curves):.3f} | {best:.3f} | {fmean(end):.3f} ± {spread:.3f} "
            f"| {', '.join(f'{e:.3f}' for e in end)} | {steps:.0f} | {invalid:.1%} |"
        )
        length = min(map(len, curves))
        x = [fmean(c[i]["tokens"] for c in curves) / 1e6 for i in range(length)]
        rows = [[c[i]["success"] for c in curves] for i in range(length)]
        (line,) = axes.plot(x, [fmean(r) for r in rows], "o-", label=method)
        axes.fill_between(x, [min(r) for r in rows], [max(r) for r in rows], alpha=0.15, color=line.get_color())
    axes.set(xlabel="training tokens (millions)", ylabel="held-out success at the full horizon", ylim=(0, 1.02))
    axes.legend(loc="upper left")
    axes.set_title(f"{title}: mean of {len(runs) // len(methods)} seeds, band from lowest to highest", fontsize=10)
    figure.savefig(base.with_suffix(".png"), dpi=120)
    base.with_suffix(".md").write_text("\n".join(lines) + f"\n\n![curves]({base.name}.png)\n")


if __name__ == "__main__":
    app()
