"""From comparisons to a policy, with a scripted annotator in place of a person.

    python benchmarks/feedback.py --seeds 3 --work runs/feedback

Of each seed: a policy is trained half-way (the quickstart, 80 of its steps) and plays two episodes of each of 400 training
mazes. A script says which is better: the one that succeeds, and of two that do the one with fewer turns; two as long as each other
tie, and of two failures it says "neither". A reward model learns from that (``configs/reward_model.toml``), and the policy goes on
three times (``configs/learned_reward.toml``): with the environment's reward plus the learned one, and with each alone.
Writes ``benchmarks/results/feedback.md``. Interrupted, it goes on where it was.
"""

import json
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import runs
import typer

from agentgym_envs import pool
from agentgym_envs.evaluate.record import Row
from agentgym_envs.feedback import record
from agentgym_train import config as configuration
from agentgym_train.config import Config
from agentgym_train.evaluation import episodes
from agentgym_train.files import write_whole

HERE = Path(__file__).parent
MAZES = 400  # compared
SIDES, CHOICES = ("a", "b"), ("a", "b", "tie", "neither")
TOLD, PLAYED = ("accuracy", "log_loss", "calibration_error"), ("success", "turns", "invalid")
POLICIES = {
    "start": "half-trained",
    "alone": "environment's reward",
    "learned": "environment's and learned",
    "only": "learned reward alone",
}
REPORT = """# A learned reward from comparisons

`{command}`

**The annotator is a script**, not a person: of two episodes of a maze, both played by the same half-trained policy, it
prefers the one that succeeds, and of two that do the one with fewer turns. Equal ones tie; of two failures it says neither,
from which nothing is learned. Mazes of 6 to 14 rooms, at most 30 turns. One thread, beside other work.

What it said of 400 training mazes:

{choices}

The reward model on comparisons of mazes that it did not learn from (a coin: accuracy 0.5, log loss 0.693):

{judges}

Policies on 200 held-out mazes, one episode each; turns are means over all episodes, 30 for one that fails. All runs start
from the half-trained policy and differ in the reward alone, but for the last, which has no other than the learned one and a
divergence of 0.1 in place of 0.02. None has a discount, so that the environment's own reward says nothing of turns.

{policies}
"""
START = {"run.steps": 80, "eval.every": 0}
INSTEAD = {"scorer.0.replace": "true", "algorithm.kl_coef": 0.1}  # of the environment's reward: nearer to the start
ONE = {"env.workers": 1}  # environment process: the machine may be shared


def main(
    seeds: Annotated[int, typer.Option(min=1, help="How many, from 0.")] = 3,
    work: Annotated[Path, typer.Option(help="For what lies in between.")] = Path("runs/feedback"),
) -> None:
    results = [one(seed, work / f"seed{seed}") for seed in range(seeds)]
    command = f"python benchmarks/feedback.py --seeds {seeds} --work {work}"
    write_whole(HERE / "results" / "feedback.md", text(command, results))


def one(seed: int, home: Path) -> dict[str, Any]:
    """Plays a seed; returns the choices, and the notes of each run."""
    home.mkdir(parents=True, exist_ok=True)
    said = home / "comparisons.jsonl"
    start = runs.train(HERE / "quickstart.toml", home / "start", {**START, **ONE, "run.seed": seed})
    if not said.exists():
        write_whole(said, "".join(json.dumps(row) + "\n" for row in compared(home / "start")))
    model = {"run.seed": seed, "model.path": home / "start" / "model"}
    judge = runs.train(HERE / "configs" / "reward_model.toml", home / "judge", {**model, "comparisons.files": [str(said)]})
    policy, score = HERE / "configs" / "learned_reward.toml", {"scorer.0.path": home / "judge" / "model"}
    learned = runs.train(policy, home / "learned", {**model, **score, **ONE})
    alone = runs.train(policy, home / "alone", {**model, "scorer": [], **ONE})
    only = runs.train(policy, home / "only", {**model, **score, **ONE, **INSTEAD})
    choices = [row["choice"] for row in record.read(said)[0]]
    return {"choices": choices, "start": start, "judge": judge, "learned": learned, "alone": alone, "only": only}


def compared(run: Path) -> list[Row]:
    """Plays two episodes of each maze with a run's policy and lets the script compare them."""
    config = configuration.load(run / "config.toml", [f"eval.episodes={MAZES}", "eval.kwargs={split='train'}", "eval.horizon=30"])
    described = pool.describe(config.env.id, **config.env.kwargs)
    first, second = (played(config, run, described, take) for take in ("first", "second"))
    assert [row["task_id"] for row in first] == [row["task_id"] for row in second]
    pairs = [
        dict(zip(SIDES, map(record.episode, ("first", "second"), pair), strict=True)) for pair in zip(first, second, strict=True)
    ]
    return [
        {
            **{"row": "comparison", "env_id": config.env.id, "task_id": row["task_id"], "instructions": described.instructions},
            **{**pair, "choice": preferred(**pair), "comment": "", "annotator": "script"},
        }
        for row, pair in zip(first, pairs, strict=True)
    ]


def played(config: Config, run: Path, described: pool.Description, take: str) -> list[Row]:
    """Plays an episode of each maze."""
    return episodes.rows(config, runs.play(config, described, run / "model", take), described, step=0)


def preferred(a: Row, b: Row) -> str:
    """The scripted annotator."""
    if a["success"] != b["success"]:
        return "a" if a["success"] else "b"
    if not a["success"]:
        return "neither"
    turns = len(a["turns"]) - len(b["turns"])
    return "tie" if not turns else "a" if turns < 0 else "b"


def text(command: str, results: list[dict[str, Any]]) -> str:
    """Returns the report."""
    choices = [[seed, *(result["choices"].count(choice) for choice in CHOICES)] for seed, result in enumerate(results)]
    judges = [
        [f"{seed}, {key}", row["pairs"], row["ties"], *(f"{row[name]:.3f}" for name in TOLD)]
        for seed, result in enumerate(results)
        for key, row in result["judge"].items()
    ]
    policies = [
        [f"{seed}, {label}", *(f"{result[run]['after'][name]:.3f}" for name in PLAYED)]
        for seed, result in enumerate(results)
        for run, label in POLICIES.items()
    ]
    means = [
        [f"mean, {label}", *(f"{fmean(result[run]['after'][name] for result in results):.3f}" for name in PLAYED)]
        for run, label in POLICIES.items()
    ]
    return REPORT.format(
        command=command,
        choices=runs.table(["seed", *CHOICES], choices),
        judges=runs.table(["seed, when", "comparisons", "of them ties", "accuracy", "log loss", "calibration error"], judges),
        policies=runs.table(["seed, policy", *PLAYED], policies + (means if len(results) > 1 else [])),
    )


if __name__ == "__main__":
    typer.run(main)
