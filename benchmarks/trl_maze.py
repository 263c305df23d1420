"""TRL's GRPOTrainer and this trainer on small mazes, with equal numbers of tokens.

    python -m pip install trl==1.16.0 -e plugins/agentgym-trl
    python benchmarks/trl_maze.py run --tokens 400000 --seeds 3

TRL plays through ``agentgym_trl.Rollouts``. Both trainers start from the same model and train on
the same mazes with GRPO: the same groups, discount, learning rate, weight of the KL penalty and
horizons, and two optimizer steps per batch of episodes. Everything else is each trainer's default.
TRL has no discount, so a reward function applies it. A token is a token of an episode: rules,
observations and actions. The models are tested with this project's evaluation. Writes
``benchmarks/results/trl_maze.md``. With ``--work FOLDER``, the same command
resumes after an interruption.
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import runs
import torch
import typer
from rich.console import Console
from transformers import PreTrainedModel

from agentgym_train import config as configuration
from agentgym_train.assembly import assemble
from agentgym_train.data.types import Group
from agentgym_train.files import write_whole
from agentgym_train.models.loading import load_policy, load_tokenizer
from agentgym_train.reporting import report
from agentgym_train.rollout.build import describe
from agentgym_train.run.folder import claim_folder
from agentgym_train.run.prepare import prepare
from agentgym_train.trainer import PolicyTrainer

RESULT = Path(__file__).parent / "results" / "trl_maze.md"
TRAINERS = ("agentgym-train", "TRL")
POINTS = 4  # evaluations of a run after its start, at equal distances of tokens
GROUPS, GROUP_SIZE, NEW_TOKENS, CONTEXT = 8, 8, 6, 1024
LR, KL, GAMMA, TURNS = 5e-4, 0.1, 0.95, 20
MINIBATCHES = 2
ROOMS, ROUNDS, EVERY = [4, 6, 8], [10, 20], 25
CONFIG = f"""
[run]
folder = "FOLDER"
steps = 100000
save_every = 100000
[env]
id = "agentgym/Maze-v1"
kwargs = {{ split = "train", rooms = {ROOMS} }}
groups = {GROUPS}
group_size = {GROUP_SIZE}
[model]
path = "scratch"
max_context = {CONTEXT}
[rollout]
max_new_tokens = {NEW_TOKENS}
[algorithm]
name = "grpo"
gamma = {GAMMA}
kl_coef = {KL}
[curriculum]
name = "scaling_inter"
rounds = {ROUNDS}
every = {EVERY}
[engine]
lr = {LR}
minibatches = {MINIBATCHES}
[eval]
kwargs = {{ split = "test" }}
episodes = 200
horizon = {TURNS}
"""
NOTES = """
The standard error of a success of 0.8 is 0.03. Two CPU cores were shared with other work.

An earlier run had a KL penalty of 0.02, 300000 tokens and two seeds. With it TRL's policy became
nearly deterministic and hardly learned: 0.415 and 0.475 at the end, and this trainer 0.835 and
0.580. The cause was not found. From the same start, TRL's samples had the model's probabilities,
and its gradient of a batch was the one written out by hand; a test of agentgym-trl repeats that.
"""
app = typer.Typer(pretty_exceptions_enable=False)


class BudgetSpent(Exception):
    """The run has used its budget of tokens."""


class Budget:
    """Counts tokens, and saves the model at equal distances of them."""

    def __init__(self, folder: Path, tokens: int):
        self.folder, self.tokens, self.seen, self.steps, self.saved = folder, tokens, 0, 0, 0

    def save(self, model: PreTrainedModel) -> None:
        """Saves the model if a point is reached."""
        while self.saved < POINTS and self.seen >= self.tokens * (self.saved + 1) / POINTS:
            self.saved += 1
            model.save_pretrained(self.folder / str(self.saved))

    @property
    def spent(self) -> bool:
        """Whether no tokens are left."""
        return self.seen >= self.tokens


def ours(config: configuration.Config, budget: Budget) -> None:
    """Trains with this trainer."""
    parts = assemble(config, claim_folder(config))
    trainer = PolicyTrainer(parts)
    model = load_policy(config.model, config.model.path, seed=config.run.seed)

    def on_step(row: dict[str, Any], groups: list[Group]) -> None:
        budget.seen += int(row["tokens"])
        budget.steps += 1
        model.load_state_dict(dict(trainer.engine.weights()), strict=False)  # tied embeddings
        budget.save(model)
        if budget.spent:
            raise BudgetSpent

    try:
        trainer.train(on_step, lambda step: None)
    except BudgetSpent:
        trainer.close()


def trl(config: configuration.Config, budget: Budget) -> None:
    """Trains with TRL."""
    from agentgym_trl import Rollouts
    from transformers import TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    rollouts = Rollouts(
        config.env.id,
        load_tokenizer(config.model.path),
        turns=TURNS,
        # TRL counts optimizer steps, and trains MINIBATCHES of them on a batch of episodes.
        curriculum={**config.curriculum, "every": EVERY * MINIBATCHES},
        max_context=CONTEXT,
        **config.env.kwargs,
    )

    class Counting(TrainerCallback):  # type: ignore[misc]
        def on_step_end(
            self, args: Any, state: Any, control: Any, *, model: Any = None, **_: Any
        ) -> None:
            budget.save(model)
            control.should_training_stop = budget.spent

    def play(prompts: Any, trainer: Any) -> dict[str, list[Any]]:
        output = rollouts.play(prompts, trainer)
        rows = output["prompt_ids"] + output["completion_ids"]
        budget.seen += sum(len(ids) for ids in rows)
        budget.steps += 1
        return output

    def discounted(environments: Any, log_metric: Any, **columns: Any) -> list[float | None]:
        rewards = arguments["reward_funcs"][0](environments, log_metric, **columns)
        pairs = zip(rewards, environments, strict=True)
        return [None if r is None else r * GAMMA ** (e.turns - 1) for r, e in pairs]

    arguments = rollouts.arguments()
    arguments["callbacks"].append(Counting())
    trainer = GRPOTrainer(
        model=load_policy(config.model, config.model.path, seed=config.run.seed),
        args=GRPOConfig(
            output_dir=str(budget.folder / "trl"),
            seed=config.run.seed,
            max_steps=config.run.steps,
            per_device_train_batch_size=GROUPS * GROUP_SIZE // MINIBATCHES,
            steps_per_generation=MINIBATCHES,
            num_generations=GROUP_SIZE,
            max_completion_length=NEW_TOKENS,
            learning_rate=LR,
            lr_scheduler_type="constant",
            beta=KL,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=rollouts.dataset(),
        **arguments | {"rollout_func": play, "reward_funcs": [discounted]},
    )
    trainer.train()


def configured(folder: Path, seed: int, **values: Any) -> configuration.Config:
    """Returns the configuration of a run."""
    path = folder / f"{seed}.toml"
    path.write_text(CONFIG.replace("FOLDER", str(folder / f"start-{seed}")))
    sets = {"run.seed": seed} | values
    return configuration.load(path, [f"{key}={value}" for key, value in sets.items()])


@app.command()
def one(trainer: str, seed: int, tokens: int, work: Path) -> None:
    """Trains and tests one run in this process."""
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
    torch.set_num_threads(1)
    folder, start = work / f"{trainer}-{seed}", work / f"start-{seed}" / "init"
    folder.mkdir(exist_ok=True)
    budget = Budget(folder, tokens)
    values = {"run.folder": folder / "run", "model.path": start}
    config = configured(work, seed, **values)
    (trl if trainer == "TRL" else ours)(config, budget)
    described, curve = describe(config)[1], []
    for point in range(POINTS + 1):
        model = folder / str(point) if point else start
        if point:
            load_tokenizer(str(start)).save_pretrained(model)
        episodes = runs.play(config, described, model, f"trl maze {seed}")
        curve.append(fmean(t.success for t in episodes))
    result = {"trainer": trainer, "seed": seed, "steps": budget.steps, "curve": curve}
    write_whole(work / f"{trainer}-{seed}.json", json.dumps(result))


@app.command()
def run(
    tokens: int = 400_000,
    seeds: int = 3,
    jobs: int = 2,
    work: Annotated[Path | None, typer.Option()] = None,
) -> None:
    """Runs both trainers with each seed and writes the table."""
    work = work or Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    for seed in range(seeds):
        if not (work / f"start-{seed}" / "init").exists():
            prepare(configured(work, seed), report.RunDisplay(Console(quiet=True))).release()

    def launch(trainer: str, seed: int) -> dict[str, Any]:
        out = work / f"{trainer}-{seed}.json"
        if not out.exists():
            parts = ("one", trainer, seed, tokens, work)
            subprocess.run([sys.executable, __file__, *map(str, parts)], check=True)
        found: dict[str, Any] = json.loads(out.read_text())
        print(found, flush=True)
        return found

    plan = [(trainer, seed) for seed in range(seeds) for trainer in TRAINERS]
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda one: launch(*one), plan))
    command = f"python benchmarks/trl_maze.py run --tokens {tokens} --seeds {seeds}"
    RESULT.write_text(page(command, tokens, results))


def page(command: str, tokens: int, results: list[dict[str, Any]]) -> str:
    """Returns the page of results."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("trl", "transformers", "torch"))
    shares = ", ".join(f"{point / POINTS:.0%}" for point in range(POINTS + 1))
    rows = [
        [
            found["trainer"],
            found["seed"],
            ", ".join(f"{success:.3f}" for success in found["curve"]),
            found["steps"],
        ]
        for found in sorted(results, key=lambda found: (found["trainer"], found["seed"]))
    ]
    return f"""# TRL beside this trainer, on mazes

`{command}`: {versions}, one thread per run. Mazes of {ROOMS[0]} to {ROOMS[-1]} rooms, GRPO with
{GROUPS} groups of {GROUP_SIZE} episodes, discount {GAMMA}, KL penalty {KL}, learning rate {LR:g},
at most {" → ".join(map(str, ROUNDS))} turns. Success on 200 test mazes with at most {TURNS}
turns, at {shares} of {tokens} tokens.

{runs.table(["trainer", "seed", "success", "batches"], rows)}
{NOTES}"""


if __name__ == "__main__":
    app()
