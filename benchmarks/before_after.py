"""Policies before and after training: self-play, debaters, a second attempt, a pretrained model.

    python benchmarks/before_after.py self_play --seeds 3
    python benchmarks/before_after.py debaters --seeds 3
    python benchmarks/before_after.py two_attempts --seeds 3
    python benchmarks/before_after.py smollm2 --seeds 1

An experiment is a configuration (``configs/<name>.toml``), the ways to train with it, and the tests
that a model plays on held-out tasks before and after training. The command writes
``benchmarks/results/<name>.md``. After an interruption, the same command resumes the experiment.
"""

import json
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, NamedTuple

import long_tables
import runs
import typer

from agentgym_envs import pool
from agentgym_envs.envs.debate.tasks import tasks as debates
from agentgym_envs.envs.debate.votes import canonical, read_answer
from agentgym_envs.evaluate.metrics import wilson
from agentgym_train import config as configuration
from agentgym_train.files import write_whole

HERE = Path(__file__).parent


class Experiment(NamedTuple):
    """A page of ``benchmarks/results``.

    Attributes:
        title: title of the page.
        description: one paragraph about the experiment.
        ways: configuration values of each way to train.
        tests: keywords of the environment for each test. The names seed the sampling noise.
        chained: each way starts from the model that the previous way trained. Otherwise all ways
            start from the same model.
        pools: names of additional rows, each with the tests that it averages.
    """

    title: str
    description: str
    ways: dict[str, dict[str, Any]]
    tests: dict[str, dict[str, Any]]
    chained: bool = False
    pools: dict[str, list[str]] = {}


def against(seat: str, player: str) -> dict[str, Any]:
    return {"seats": seat, "opponents": player}


SEATS = ("player_0", "player_1")
EXPERIMENTS = {
    "self_play": Experiment(
        "Self-play in Connect4",
        "One small policy learns in both seats, from the positions of the training split. It "
        "meets no other player. It is tested in one seat against scripted opponents. `random`"
        " plays at random. `greedy` wins, or prevents a win, where one move does. The player "
        "who moves first can force a win in each position, and `oracle` would. Each seat can "
        "win about half of the positions, so two equally good players win half of the games "
        "over both seats, less the draws.",
        {"self-play": {}},
        {
            f"{seat}, against {player}": against(seat, player)
            for player in ("random", "greedy")
            for seat in SEATS
        },
        pools={
            f"both seats, against {player}": [f"{seat}, against {player}" for seat in SEATS]
            for player in ("random", "greedy")
        },
    ),
    "debaters": Experiment(
        "Debaters trained together",
        "Multi-hop questions: the internet domain of the country of a city. A model is first "
        "trained alone and sees both passages. Then two copies of it are trained together, "
        "and each sees one of the two passages. Both speak at once, twice. Their second "
        "answers are votes. If the votes differ, the first debater's vote counts. `first` is "
        "the share of right first answers: the success of each debater alone with one "
        "passage.",
        {
            "trained alone": {"env.kwargs.debaters": 1, "source.name": "rollout"},
            "then together": {"run.steps": 80, "algorithm.kl_coef": 0.1},
        },
        {"alone, both passages": {"debaters": 1}, "two, a passage each": {"debaters": 2}},
        chained=True,
    ),
    "two_attempts": Experiment(
        "Gain of a second attempt",
        "Two attempts at the same maze in one episode. The reward is the second attempt's "
        "score plus α times its gain over the first.",
        {"α = 1": {}, "α = 0": {"env.kwargs.alpha": 0.0}},
        {"both attempts": {"alpha": 1.0}},
    ),
    "smollm2": Experiment(
        "SmolLM2-135M on TextCraft",
        "SmolLM2-135M-Instruct has cloned episodes of a teacher (`configs/smollm2_cloning.toml`)."
        " GRPO then trains an adapter on the training tasks of depths 1 and 2, with horizons that"
        " grow from 6 to 16 turns. The tests are held-out tasks of these depths, with at most 16"
        " turns.",
        {"after": {}},
        {"dev": {"split": "dev"}, "test": {"split": "test"}},
        pools={"dev and test": ["dev", "test"]},
    ),
}


def main(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(EXPERIMENTS)}.")],
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds, starting at 0.")] = 3,
    work: Annotated[Path, typer.Option(help="Folder of the training runs.")] = Path(
        "runs/before_after"
    ),
) -> None:
    experiment, config = EXPERIMENTS[name], HERE / "configs" / f"{name}.toml"
    rows = [row for seed in range(seeds) for row in one(experiment, config, seed, work / name)]
    command = f"python benchmarks/before_after.py {name} --seeds {seeds}"
    text = page(experiment, command, rows)
    long_tables.write(
        HERE / "results" / f"{name}.md",
        text,
        lambda cells: ", against" not in cells[0] or "both" in cells[0],
    )


def one(experiment: Experiment, config: Path, seed: int, work: Path) -> list[dict[str, Any]]:
    """Trains one seed in each way; returns one row per test and model."""
    start = initial = configuration.load(config).model.path
    rows: list[dict[str, Any]] = []
    for number, (way, values) in enumerate(experiment.ways.items()):
        folder = work / f"{seed}-{number}"
        runs.train(config, folder, {"run.seed": seed, "model.path": start, **values})
        models = {way: folder / "model"}
        if not number:
            scratch = initial == configuration.SCRATCH
            models = {"before": folder / "init" if scratch else Path(initial)} | models
            start = str(models["before"])
        if experiment.chained:
            start = str(folder / "model")
        for when, model in models.items():
            for test, kwargs in experiment.tests.items():
                result = folder / f"{when} {test}.json"
                if not result.exists():
                    write_whole(result, json.dumps(tested(folder, model, kwargs, test)))
                rows.append(
                    {"seed": seed, "model": when, "test": test, **json.loads(result.read_text())}
                )
    return rows + pooled(experiment, rows)


def pooled(experiment: Experiment, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns a row for each model and pool of tests: means over the episodes of its tests."""
    added = []
    for name, tests in experiment.pools.items():
        for model in dict.fromkeys(row["model"] for row in rows):
            own = [row for row in rows if row["model"] == model and row["test"] in tests]
            count = sum(row["episodes"] for row in own)
            means = {
                key: sum(row[key] * row["episodes"] for row in own) / count
                for key in ("success", "score", "turns")
            }
            added.append({**own[0], **means, "test": name, "episodes": count})
    return added


def tested(folder: Path, model: Path, kwargs: dict[str, Any], key: str) -> dict[str, float]:
    """Plays a test; returns means over episodes, and the success of first attempts or answers."""
    config = configuration.load(
        folder / "config.toml", [f"eval.kwargs.{name}={value}" for name, value in kwargs.items()]
    )
    held_out = config.env.kwargs | config.eval.kwargs
    described = pool.describe(config.env.id, **held_out)
    played = runs.play(config, described, model, key)
    row = {name: fmean(getattr(t, name) for t in played) for name in ("success", "score")}
    if alpha := held_out.get("alpha"):
        row["first"] = fmean(t.score - (t.total_reward - t.score) / alpha for t in played)
    if "Debate" in config.env.id:
        row["first"] = fmean(
            canonical(read_answer(t.turns[0].action) or "") == answer(t.task_id) for t in played
        )
    agents = len(described.several) or 1  # each agent has a trajectory of the same episode
    return row | {"turns": fmean(len(t.turns) for t in played), "episodes": len(played) // agents}


def answer(task_id: str) -> str:
    """Returns the right answer of a debate in the form in which votes are compared."""
    return canonical(debates().get(task_id).data["problem"].answer)


def shown(cells: list[str]) -> bool:
    """Returns whether the page has a row; those of a single seat of a game are in a CSV file."""
    return ", against" not in cells[0] or cells[0].startswith("both seats")


def page(experiment: Experiment, command: str, rows: list[dict[str, Any]]) -> str:
    """Returns the report: means over seeds, then the results of each seed."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["test"], row["model"]), []).append(row)
    keys = [key for key in ("first", "success", "score", "turns") if key in rows[0]]
    means = [
        [*names, group[0]["episodes"], *(spread([row[key] for row in group]) for key in keys)]
        for names, group in groups.items()
    ]
    seeds = [[*names, *(interval(row) for row in group)] for names, group in groups.items()]
    count = len(next(iter(groups.values())))
    head = f"Means over {count} seeds (lowest and highest seed)" if count > 1 else "One seed"
    return f"""# {experiment.title}

`{command}`

{experiment.description}

{head}:

{runs.table(["test", "model", "held-out episodes", *keys], means)}

Success of each seed, with its 95 % interval over episodes (Wilson's):

{runs.table(["test", "model", *(f"seed {seed}" for seed in range(count))], seeds)}
"""


def spread(values: list[float]) -> str:
    """Returns the mean, with the lowest and the highest of several values."""
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{fmean(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def interval(row: dict[str, Any]) -> str:
    """Returns the success of one seed with Wilson's interval."""
    low, high = wilson(round(row["success"] * row["episodes"]), row["episodes"])
    return f"{row['success']:.2f} ({low:.2f}–{high:.2f})"


if __name__ == "__main__":
    typer.run(main)
