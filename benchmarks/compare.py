"""Several ways to train at an equal budget of tokens: same start, tasks and seeds.

    python benchmarks/compare.py run locked_maze --tokens 2000000 --seeds 5 --jobs 2
    python benchmarks/compare.py run scaling_inter_maze --tokens 2000000 --seeds 3 --jobs 2
    python benchmarks/compare.py run scaling_inter_coin_collector --tokens 800000 --seeds 3 --jobs 2
    python benchmarks/compare.py run scaling_inter_textcraft --tokens 500000 --seeds 3 --jobs 2
    python benchmarks/compare.py run algorithms --tokens 600000 --seeds 3 --jobs 2

``benchmarks/compare/<name>.toml`` is a configuration, the sections in which its methods differ, a title, the horizon that the
policies are tested with at the end and, if they are not eight, the ``points`` at which they are tested before. Writes
``benchmarks/results/<name>.{json,md,png}`` and ``<name>-why.png``. Success is a function of seed and configuration on a given
machine, not of its load, so jobs may run side by side. Interrupted, it goes on with the runs that are missing if ``--work`` names
a folder.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, NamedTuple

import compare_report
import torch
import typer
from rich.console import Console
from transformers import AutoTokenizer, PreTrainedModel

from agentgym_train import config as configuration
from agentgym_train.data.batching import pack
from agentgym_train.data.types import Group
from agentgym_train.engine.logps import token_logps
from agentgym_train.evaluation import evaluate
from agentgym_train.files import write_whole
from agentgym_train.learning import streams
from agentgym_train.models import scratch
from agentgym_train.models.loading import load_model
from agentgym_train.reporting import report
from agentgym_train.rollout.environments import make_training_envs
from agentgym_train.run.folder import claim_folder
from agentgym_train.run.prepare import check, describe
from agentgym_train.trainer import Trainer

HERE = Path(__file__).parent
TRAINING = ("success", "turns", "invalid", "entropy", "grad_norm")  # of the steps between two evaluations
app = typer.Typer(add_completion=False)


class BudgetSpent(Exception):
    """The run has seen its tokens."""


class Comparison(NamedTuple):
    """A file of ``benchmarks/compare``.

    Attributes:
        shared: the configuration.
        methods: the sections that each has for its own.
        title: of the pictures.
        test_horizon: of the last test.
        points: held-out evaluations along a run.
    """

    shared: dict[str, Any]
    methods: dict[str, dict[str, Any]]
    title: str
    test_horizon: int
    points: int


def load(name: str) -> Comparison:
    """Reads a comparison."""
    raw = tomllib.loads((HERE / "compare" / f"{name}.toml").read_text())
    return Comparison(raw, raw.pop("methods"), raw.pop("title"), raw.pop("test_horizon"), raw.pop("points", 8))


@app.command()
def start(name: str, seed: int, work: Path) -> None:
    """Makes the model that all methods of a seed begin with."""
    config, draft = configuration.of(load(name).shared), work / f".init-{name}-{seed}"
    shutil.rmtree(draft, ignore_errors=True)
    if config.model.path != configuration.SCRATCH:
        shutil.copytree(config.model.path, draft)
    else:
        options: dict[str, Any] = {"seed": seed, "max_context": config.model.max_context}
        with report.Display(Console()) as display:
            scratch.make(draft, config.envs, config.scratch, progress=display.advance, **options)
    draft.rename(work / f"init-{name}-{seed}")


@app.command()
def teach(name: str, work: Path) -> None:
    """Plays the demonstrations that methods with a ``source`` of files learn from: the oracle's."""
    env = load(name).shared["env"]
    options = ["--agent", "oracle", "--split", "train", "--episodes", "400", "--out", str(work / f"teacher-{name}")]
    keywords = [part for key, value in env["kwargs"].items() if key != "split" for part in ("--set", f"{key}={value}")]
    subprocess.run([sys.executable, "-m", "agentgym_envs.cli", "eval", env["id"], *options, *keywords], check=True)


@app.command()
def one(name: str, method: str, seed: int, tokens: int, work: Path, out: Path) -> None:
    """One run: trains until the budget is spent and evaluates at even distances of tokens."""
    comparison = load(name)
    raw = comparison.shared | comparison.methods[method]
    if "folders" in raw.get("source", {}):
        raw["source"]["folders"] = [str(work / f"teacher-{name}")]
    raw["run"] |= {"folder": str(out.with_suffix("")), "seed": seed}
    raw["model"]["path"] = str(work / f"init-{name}-{seed}")
    config = configuration.of(raw)
    check(config)
    folder = claim_folder(config)
    tokenizer = AutoTokenizer.from_pretrained(config.model.path)
    training, held_out = describe(config)
    envs = make_training_envs(config, [training], tokenizer)
    trainer = Trainer(config, folder, model_path=config.model.path, tokenizer=tokenizer, envs=envs)
    model = load_model(config.model.path, config.model.dtype, last_layers=config.model.last_layers)
    curve: list[dict[str, Any]] = []
    begun = work / f"start-{name}-{seed}.json"  # all methods begin with the same policy: it is tested once
    last: list[Any] = []  # episodes of the latest evaluation
    rows: list[dict[str, Any]] = []  # of the steps since the last evaluation
    seen = [0]

    def play(horizon: int) -> list[Any]:
        longer = replace(config, eval=replace(config.eval, horizon=horizon))
        key = f"benchmark {len(curve)}"
        return evaluate.evaluate(longer, trainer.generator, tokenizer, held_out, key=key).trajectories

    def measure(step: int, horizon: int, groups: list[Group]) -> None:
        means = {key: fmean(row[key] for row in rows) for key in TRAINING} if rows else {}
        if groups and "value" not in trainer.algorithm.required_streams:  # what a critic adds to the loss is no policy gradient
            means["gradient_noise"] = gradient_noise(trainer, model, groups)
        rows.clear()
        if curve or not begun.exists():
            last[:] = play(evaluate.horizon(config))
            now = evaluate.summary(last)
        else:
            now = json.loads(begun.read_text())
        if not curve:
            write_whole(begun, json.dumps(now))
        curve.append({"tokens": seen[0], "step": step, "horizon": horizon, **now, "training": means})

    def on_step(row: dict[str, Any], groups: list[Group]) -> None:
        seen[0] += int(row["tokens"])
        rows.append(row)
        if seen[0] >= tokens * len(curve) / comparison.points:
            measure(row["step"], row["horizon"], groups)
        if seen[0] >= tokens:
            raise BudgetSpent

    measure(0, envs[0].horizon(0), [])
    try:
        trainer.train(on_step, lambda step: None)
    except BudgetSpent:
        same = comparison.test_horizon == evaluate.horizon(config)
        turns = [len(t.turns) if t.success else None for t in (last if same else play(comparison.test_horizon))]
        write_whole(out, json.dumps({"method": method, "seed": seed, "curve": curve, "turns": turns}))
    trainer.close()


def gradient_noise(trainer: Trainer, model: PreTrainedModel, groups: list[Group]) -> float:
    """Estimates the share of a step's squared gradient that is chance (McCandlish et al., 2018), under the policy after the step.

    It is the variance of the gradient's mean over groups, which are drawn independently, over its squared norm: above 1 where
    groups contradict each other.

    Args:
        trainer: its weights are copied.
        model: where to; what is frozen does not count.
        groups: the step's.
    """
    limit, algorithm = trainer.config.engine.micro_batch_tokens, trainer.algorithm
    batch = streams.fill(
        pack(groups), algorithm.required_streams, trainer.producers, distributed=trainer.distributed, max_tokens=limit
    )
    batch = algorithm.compute_advantages(batch, groups, trainer.distributed)
    model.load_state_dict(dict(trainer.engine.weights()), strict=False)  # an unembedding may be the embedding
    learning = [p for p in model.parameters() if p.requires_grad]
    parts = []
    for number in batch.group_B.unique().tolist():
        own = batch.take((batch.group_B == number).nonzero()[:, 0].tolist())
        forward = token_logps(model, own, trainer.config.rollout.temperature, bonus="entropy" in algorithm.required_streams)
        gradients = torch.autograd.grad(algorithm.loss(forward, own)[0], learning)
        parts.append(torch.cat([gradient.flatten() for gradient in gradients]))
    part_GP = torch.stack(parts)
    return float(part_GP.var(0).sum() / len(parts) / part_GP.mean(0).square().sum())


@app.command()
def run(
    name: str, tokens: int = 2_500_000, seeds: int = 3, jobs: int = 2, work: Annotated[Path | None, typer.Option()] = None
) -> None:
    """All methods and seeds, then the table and the pictures."""
    _, methods, title, *_ = load(name)
    work = work or Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    plan = [(m, s, work / f"{name}-{number}-{s}.json") for s in range(seeds) for number, m in enumerate(methods)]
    began = time.monotonic()

    def call(*command: object) -> None:
        environ = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run([sys.executable, __file__, *map(str, command)], check=True, env=environ, stdout=subprocess.DEVNULL)

    def launch(out: Path, *command: object) -> None:
        if not out.exists():
            call(*command)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda seed: launch(work / f"init-{name}-{seed}", "start", name, seed, work), range(seeds)))
        if any("folders" in sections.get("source", {}) for sections in methods.values()):
            call("teach", name, work)
        list(pool.map(lambda p: launch(p[2], "one", name, p[0], p[1], tokens, work, p[2]), plan))
    print(f"{(time.monotonic() - began) / 60:.0f} minutes")
    command = f"python benchmarks/compare.py run {name} --tokens {tokens} --seeds {seeds} --jobs {jobs}"
    compare_report.write(HERE / "results" / name, title, command, [json.loads(p.read_text()) for *_, p in plan])


if __name__ == "__main__":
    app()
