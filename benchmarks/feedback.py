"""Trains a policy from comparisons, with a scripted annotator in place of a person.

    python benchmarks/feedback.py --seeds 3 --work runs/feedback

For each seed:

1. A policy is trained half-way (80 steps of the quickstart).
2. It plays two episodes of each of 400 training mazes, and a script chooses the better one.
3. A reward model learns from the choices (``configs/reward_model.toml``).
4. Three runs continue the policy (``configs/learned_reward.toml``): with both rewards, with the
   environment's reward alone, and with the learned reward alone.

The script prefers a success to a failure, and of two successes the one with fewer turns. Successes
of equal length are ties. For two failures it answers "neither".

Writes ``benchmarks/results/feedback.md``. After an interruption, the same command resumes.
"""

import json
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import long_tables
import runs
import typer

from agentgym_envs import pool
from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.feedback import record
from agentgym_train import config as configuration
from agentgym_train.config import Config
from agentgym_train.evaluation import episodes
from agentgym_train.files import write_whole

HERE = Path(__file__).parent
MAZES = 400  # number of compared mazes
SIDES, CHOICES = ("a", "b"), ("a", "b", "tie", "neither")
METRICS, PLAYED = ("accuracy", "log_loss", "calibration_error"), ("success", "turns", "invalid")
POLICIES = {
    "start": "half-trained",
    "alone": "environment's reward",
    "learned": "environment's and learned",
    "only": "learned reward alone",
}
REPORT = """# A learned reward from comparisons

`{command}`

**The annotator is a script**, not a person. It compares two episodes of a maze.
The same half-trained policy has played both.

- It prefers a success to a failure, and of two successes the one with fewer turns.
- Successes of equal length are ties.
- For two failures it answers "neither", and the reward model does not learn from them.

The mazes have 6 to 14 rooms, and an episode has at most 30 turns.
The runs used one thread, beside other work.

Choices of the script on 400 training mazes:

{choices}

Reward model on comparisons of held-out mazes (a coin: accuracy 0.5, log loss 0.693):

{judges}

Policies on 200 held-out mazes, one episode each. Turns are means; a failure counts 30.

- All runs start from the half-trained policy and differ only in the reward, with one exception.
- "Learned reward alone" also has a KL coefficient of 0.1 instead of 0.02.
- No run has a discount, so the environment's reward does not depend on the number of turns.

{policies}
"""
START = {"run.steps": 80, "eval.every": 0}
REPLACE = {"scorer.0.replace": "true", "algorithm.kl_coef": 0.1}
"""Replaces the environment's reward; the larger KL penalty keeps the policy near its start."""
ONE = {"env.workers": 1}  # one environment process, because the machine can be shared


def main(
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds, starting at 0.")] = 3,
    work: Annotated[Path, typer.Option(help="Folder of the training runs.")] = Path(
        "runs/feedback"
    ),
) -> None:
    results = [one(seed, work / f"seed{seed}") for seed in range(seeds)]
    command = f"python benchmarks/feedback.py --seeds {seeds} --work {work}"
    long_tables.write(HERE / "results" / "feedback.md", text(command, results), shown)


def one(seed: int, home: Path) -> dict[str, Any]:
    """Runs all steps of one seed; returns the choices and the evaluations of each run."""
    home.mkdir(parents=True, exist_ok=True)
    comparisons = home / "comparisons.jsonl"
    start = runs.train(HERE / "quickstart.toml", home / "start", {**START, **ONE, "run.seed": seed})
    if not comparisons.exists():
        write_whole(
            comparisons, "".join(json.dumps(row) + "\n" for row in compared(home / "start"))
        )
    model = {"run.seed": seed, "model.path": home / "start" / "model"}
    judge = runs.train(
        HERE / "configs" / "reward_model.toml",
        home / "judge",
        {**model, "comparisons.files": [str(comparisons)]},
    )
    policy, score = (
        HERE / "configs" / "learned_reward.toml",
        {"scorer.0.path": home / "judge" / "model"},
    )
    learned = runs.train(policy, home / "learned", {**model, **score, **ONE})
    alone = runs.train(policy, home / "alone", {**model, "scorer": [], **ONE})
    only = runs.train(policy, home / "only", {**model, **score, **ONE, **REPLACE})
    choices = [row["choice"] for row in record.read(comparisons)[0]]
    return {
        "choices": choices,
        "start": start,
        "judge": judge,
        "learned": learned,
        "alone": alone,
        "only": only,
    }


def compared(run: Path) -> list[EpisodeRow]:
    """Plays two episodes per maze with the policy of a run; returns the script's comparisons."""
    config = configuration.load(
        run / "config.toml",
        [f"eval.episodes={MAZES}", "eval.kwargs={split='train'}", "eval.horizon=30"],
    )
    described = pool.describe(config.env.id, **config.env.kwargs)
    first, second = (played(config, run, described, take) for take in ("first", "second"))
    assert [row["task_id"] for row in first] == [row["task_id"] for row in second]
    pairs = [
        dict(zip(SIDES, map(record.episode, ("first", "second"), pair), strict=True))
        for pair in zip(first, second, strict=True)
    ]
    return [
        {
            **{
                "row": "comparison",
                "env_id": config.env.id,
                "task_id": row["task_id"],
                "instructions": described.instructions,
            },
            **{**pair, "choice": preferred(**pair), "comment": "", "annotator": "script"},
        }
        for row, pair in zip(first, pairs, strict=True)
    ]


def played(
    config: Config, run: Path, described: pool.EnvDescription, take: str
) -> list[EpisodeRow]:
    """Plays one episode of each maze; ``take`` seeds the sampling noise."""
    return episodes.rows(
        config, runs.play(config, described, run / "model", take), described, step=0
    )


def preferred(a: EpisodeRow, b: EpisodeRow) -> str:
    """Returns the choice of the scripted annotator."""
    if a["success"] != b["success"]:
        return "a" if a["success"] else "b"
    if not a["success"]:
        return "neither"
    turns = len(a["turns"]) - len(b["turns"])
    return "tie" if not turns else "a" if turns < 0 else "b"


def shown(cells: list[str]) -> bool:
    """Returns whether the page has a row: choices, means, and reward models after training."""
    return len(cells) == 5 or cells[0].startswith("mean") or cells[0].endswith("after")


def text(command: str, results: list[dict[str, Any]]) -> str:
    """Returns the report."""
    choices = [
        [seed, *(result["choices"].count(choice) for choice in CHOICES)]
        for seed, result in enumerate(results)
    ]
    judges = [
        [f"{seed}, {key}", row["pairs"], row["ties"], *(f"{row[name]:.3f}" for name in METRICS)]
        for seed, result in enumerate(results)
        for key, row in result["judge"].items()
    ]
    policies = [
        [f"{seed}, {label}", *(f"{result[run]['after'][name]:.3f}" for name in PLAYED)]
        for seed, result in enumerate(results)
        for run, label in POLICIES.items()
    ]
    means = [
        [
            f"mean, {label}",
            *(f"{fmean(result[run]['after'][name] for result in results):.3f}" for name in PLAYED),
        ]
        for run, label in POLICIES.items()
    ]
    return REPORT.format(
        command=command,
        choices=runs.table(["seed", *CHOICES], choices),
        judges=runs.table(
            [
                "seed, when",
                "comparisons",
                "ties among them",
                "accuracy",
                "log loss",
                "calibration error",
            ],
            judges,
        ),
        policies=runs.table(
            ["seed, policy", *PLAYED], policies + (means if len(results) > 1 else [])
        ),
    )


if __name__ == "__main__":
    typer.run(main)
