"""Compares training methods at an equal budget of tokens, with the same start, tasks and seeds.

    python benchmarks/compare.py run locked_maze --tokens 2000000 --seeds 5 --jobs 2
    python benchmarks/compare.py run scaling_inter_maze --tokens 2000000 --seeds 3 --jobs 2
    python benchmarks/compare.py run scaling_inter_coin_collector --tokens 800000 --seeds 3 --jobs 2
    python benchmarks/compare.py run scaling_inter_textcraft --tokens 500000 --seeds 3 --jobs 2
    python benchmarks/compare.py run algorithms --tokens 600000 --seeds 3 --jobs 2

``benchmarks/compare/<name>.toml`` holds a configuration and:

- ``methods``: the sections in which the methods differ;
- ``title``;
- ``test_horizon``: the horizon of the test at the end;
- ``points``: the number of evaluations during a run (default 8);
- ``reference``: the method that the others are compared with by seed (optional);
- ``sets``: several sets of tasks, each with ``kwargs`` of the environment, the budget ``tokens``
  and the ``horizon`` of evaluations (optional). ``NAME/SET`` then names a comparison. The start is
  the same in all sets.

The command writes ``benchmarks/results/<name>.{json,md,png}`` and ``<name>-why.png``. On a given
machine, success depends on the seed and the configuration but not on the load, so jobs can run side
by side. With ``--work FOLDER``, the same command resumes after an interruption.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, NamedTuple

import compare_report
import torch
import typer
from rich.console import Console
from transformers import PreTrainedModel

from agentgym_train import config as configuration
from agentgym_train.assembly import assemble
from agentgym_train.data.batching import pack
from agentgym_train.data.types import Group
from agentgym_train.evaluation import evaluate
from agentgym_train.files import write_whole
from agentgym_train.learning.episodes import add_advantages
from agentgym_train.learning.update import fill_streams
from agentgym_train.models import scratch
from agentgym_train.models.loading import load_policy
from agentgym_train.models.policy import token_logps
from agentgym_train.reporting import report
from agentgym_train.run.folder import claim_folder
from agentgym_train.run.prepare import check
from agentgym_train.trainer import PolicyTrainer

HERE = Path(__file__).parent
TRAINING = ("success", "turns", "invalid", "entropy", "grad_norm")
"""Metrics that are averaged over the steps between two evaluations."""
RECORDED = ("horizon", "tokens", "success", "truncated_horizon", "invalid", "kl")
"""Metrics of every step that ``NAME-METHOD-SEED.steps`` in the work folder has."""

app = typer.Typer(add_completion=False)


class BudgetSpent(Exception):
    """The run has used its budget of tokens."""


class Comparison(NamedTuple):
    """A file of ``benchmarks/compare``.

    Attributes:
        shared: the configuration that all methods share.
        methods: the sections that each method replaces.
        title: title of the report and the pictures.
        test_horizon: horizon of the test at the end.
        points: number of held-out evaluations during a run.
        reference: the method that the others are compared with, if any.
    """

    shared: dict[str, Any]
    methods: dict[str, dict[str, Any]]
    title: str
    test_horizon: int
    points: int
    reference: str | None


def read(name: str) -> dict[str, Any]:
    """Reads a file of ``benchmarks/compare``."""
    return tomllib.loads((HERE / "compare" / f"{name}.toml").read_text())


def load(name: str) -> Comparison:
    """Reads a comparison; ``NAME/SET`` is the comparison ``NAME`` on one of its sets of tasks."""
    name, _, chosen = name.partition("/")
    raw = read(name)
    sets = raw.pop("sets", {})
    if chosen:
        raw["env"]["kwargs"] |= sets[chosen]["kwargs"]
        raw["eval"]["horizon"] = raw["test_horizon"] = sets[chosen]["horizon"]
    return Comparison(
        raw,
        raw.pop("methods"),
        raw.pop("title"),
        raw.pop("test_horizon"),
        raw.pop("points", 8),
        raw.pop("reference", None),
    )


def label(name: str) -> str:
    """Returns the name of a comparison as a part of file names."""
    return name.replace("/", "-")


def beginning(name: str, seed: int, work: Path) -> Path:
    """Returns the folder of the model from which all methods of a seed start."""
    return work / f"init-{name.partition('/')[0]}-{seed}"


@app.command()
def start(name: str, seed: int, work: Path) -> None:
    """Makes the model from which all methods of a seed start."""
    config, folder = configuration.of(load(name).shared), beginning(name, seed, work)
    draft = folder.with_name(f".{folder.name}")
    shutil.rmtree(draft, ignore_errors=True)
    if config.model.path != configuration.SCRATCH:
        shutil.copytree(config.model.path, draft)
    else:
        options: dict[str, Any] = {"seed": seed, "max_context": config.model.max_context}
        with report.RunDisplay(Console()) as display:
            scratch.make(draft, config.envs, config.scratch, progress=display.advance, **options)
    draft.rename(folder)


@app.command()
def teach(name: str, work: Path) -> None:
    """Plays the oracle's demonstrations for the methods that learn from files."""
    env = load(name).shared["env"]
    options = [
        "--agent",
        "oracle",
        "--split",
        "train",
        "--episodes",
        "400",
        "--out",
        str(work / f"teacher-{label(name)}"),
    ]
    keywords = [
        part
        for key, value in env["kwargs"].items()
        if key != "split"
        for part in ("--set", f"{key}={value}")
    ]
    subprocess.run(
        [sys.executable, "-m", "agentgym_envs.cli", "eval", env["id"], *options, *keywords],
        check=True,
    )


@app.command()
def one(name: str, method: str, seed: int, tokens: int, work: Path, out: Path) -> None:
    """Trains one run until its budget is spent; evaluates it at equal distances of tokens."""
    comparison = load(name)
    raw = comparison.shared | comparison.methods[method]
    if "folders" in raw.get("source", {}):
        raw["source"]["folders"] = [str(work / f"teacher-{label(name)}")]
    raw["run"] |= {"folder": str(out.with_suffix("")), "seed": seed}
    raw["model"]["path"] = str(beginning(name, seed, work))
    config = configuration.of(raw)
    check(config)
    parts = assemble(config, claim_folder(config))
    trainer, tokenizer, held_out = PolicyTrainer(parts), parts.tokenizer, parts.held_out[0]
    model = load_policy(config.model, config.model.path, seed=seed)
    curve: list[dict[str, Any]] = []
    # All methods share the start, so one evaluation is enough.
    first = work / f"start-{label(name)}-{seed}.json"
    last: list[Any] = []  # episodes of the latest evaluation
    rows: list[dict[str, Any]] = []  # metrics of the steps since the latest evaluation
    steps: list[list[float]] = []  # RECORDED of every step
    seen = [0]

    def play(horizon: int) -> list[Any]:
        longer = replace(config, eval=replace(config.eval, horizon=horizon))
        key = f"benchmark {len(curve)}"
        return evaluate.evaluate(
            longer, trainer.generator, tokenizer, held_out, key=key
        ).trajectories

    def measure(step: int, horizon: int, groups: list[Group]) -> None:
        means = {key: fmean(row[key] for row in rows) for key in TRAINING} if rows else {}
        # With a critic, the gradient is not a policy gradient only.
        if groups and "value" not in trainer.algorithm.required_streams:
            means["gradient_noise"] = gradient_noise(trainer, model, groups)
        rows.clear()
        if curve or not first.exists():
            last[:] = play(evaluate.horizon(config))
            now = evaluate.summary(last)
        else:
            now = json.loads(first.read_text())
        if not curve:
            write_whole(first, json.dumps(now))
        curve.append(
            {"tokens": seen[0], "step": step, "horizon": horizon, **now, "training": means}
        )

    def on_step(row: dict[str, Any], groups: list[Group]) -> None:
        seen[0] += int(row["tokens"])
        rows.append(row)
        steps.append([round(row.get(key, 0.0), 4) for key in RECORDED])
        if seen[0] >= tokens * len(curve) / comparison.points:
            measure(row["step"], row["horizon"], groups)
        if seen[0] >= tokens:
            raise BudgetSpent

    measure(0, trainer.envs[0].plan(0).horizon, [])
    try:
        trainer.train(on_step, lambda step: None)
    except BudgetSpent:
        same = comparison.test_horizon == evaluate.horizon(config)
        turns = [
            len(t.turns) if t.success else None
            for t in (last if same else play(comparison.test_horizon))
        ]
        write_whole(out.with_suffix(".steps"), json.dumps({"metrics": RECORDED, "steps": steps}))
        write_whole(
            out, json.dumps({"method": method, "seed": seed, "curve": curve, "turns": turns})
        )
    trainer.close()


def gradient_noise(trainer: PolicyTrainer, model: PreTrainedModel, groups: list[Group]) -> float:
    """Estimates the share of chance in the squared gradient of a step (McCandlish et al., 2018).

    The share is the variance of the mean gradient over groups, divided by its squared norm. The
    groups are drawn independently. A value above 1 means that groups contradict each other. The
    gradient is computed under the policy after the step.

    Args:
        trainer: source of the weights.
        model: receives the weights; frozen parameters are excluded.
        groups: groups of the step.
    """
    limit, algorithm = trainer.config.engine.micro_batch_tokens, trainer.algorithm
    batch = fill_streams(
        pack(groups),
        algorithm.required_streams,
        trainer.producers,
        distributed=trainer.distributed,
        max_tokens=limit,
        groups=groups,
    )
    batch = add_advantages(batch, algorithm, groups, trainer.distributed)
    # Not strict, since the unembedding can be tied to the embedding.
    model.load_state_dict(dict(trainer.engine.weights()), strict=False)
    learning = [p for p in model.parameters() if p.requires_grad]
    parts = []
    for number in batch.group_B.unique().tolist():
        own = batch.take((batch.group_B == number).nonzero()[:, 0].tolist())
        forward = token_logps(
            model,
            own,
            trainer.config.rollout.temperature,
            bonus="entropy" in algorithm.required_streams,
        )
        gradients = torch.autograd.grad(algorithm.loss(forward, own)[0], learning)
        parts.append(torch.cat([gradient.flatten() for gradient in gradients]))
    part_GP = torch.stack(parts)
    return float(part_GP.var(0).sum() / len(parts) / part_GP.mean(0).square().sum())


@app.command()
def run(
    name: str,
    tokens: int = 2_500_000,
    seeds: int = 3,
    jobs: int = 2,
    first_seed: int = 0,
    work: Annotated[Path | None, typer.Option()] = None,
) -> None:
    """Runs all methods and seeds; writes the table and the pictures."""
    comparison = load(name)
    (runs,) = train_all({name: tokens}, range(first_seed, first_seed + seeds), jobs, work)
    command = (
        f"python benchmarks/compare.py run {name} --tokens {tokens} --seeds {seeds} --jobs {jobs}"
        + (f" --first-seed {first_seed}" if first_seed else "")
    )
    compare_report.write(
        HERE / "results" / name, comparison.title, command, runs, comparison.reference
    )


def train_all(
    budgets: Mapping[str, int], seeds: Sequence[int], jobs: int, work: Path | None
) -> list[list[dict[str, Any]]]:
    """Trains all methods of some comparisons with all seeds, unless ``work`` has the results.

    Args:
        budgets: comparison → tokens of a run.
        seeds: seeds of the starts and of the training.
        jobs: number of processes side by side.
        work: folder of the results; None: a temporary folder.

    Returns:
        For each comparison, a dictionary per run (see :func:`compare_report.write`).
    """
    work = work or Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    names = dict.fromkeys(name.partition("/")[0] for name in budgets)
    starts = [
        (beginning(name, seed, work), ("start", name, seed, work))
        for name in names
        for seed in seeds
    ]
    plans = [
        [
            (out, ("one", name, method, seed, tokens, work, out))
            for seed in seeds
            for number, method in enumerate(load(name).methods)
            for out in [work / f"{label(name)}-{number}-{seed}.json"]
        ]
        for name, tokens in budgets.items()
    ]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(_unless_there, starts))
        for name in names:
            methods = load(name).methods.values()
            if any("folders" in sections.get("source", {}) for sections in methods):
                _call("teach", name, work)
        list(pool.map(_unless_there, chain(*plans)))
    print(f"{(time.monotonic() - started) / 60:.0f} minutes")
    return [[json.loads(out.read_text()) for out, _ in plan] for plan in plans]


def _unless_there(job: tuple[Path, tuple[object, ...]]) -> None:
    out, command = job
    if not out.exists():
        _call(*command)


def _call(*command: object) -> None:
    """Runs a command of this file in a new process with one thread."""
    subprocess.run(
        [sys.executable, __file__, *map(str, command)],
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
    )


if __name__ == "__main__":
    app()
