"""Speed of training steps: this trainer and TRL's GRPOTrainer on the same mazes.

    python -m pip install trl==1.16.0 -e plugins/agentgym-trl
    python benchmarks/trainer_throughput.py run

Both train the same model (Qwen2 with random play of mazes) on mazes of the same distribution: GRPO
without KL penalty, AdamW in float32, one process. TRL plays through ``agentgym_trl.Rollouts``: a
turn is one call of its ``generate``, and all environments of the step wait for each other. Both
trainers use ``agentgym_envs.pool.EnvPool``. Their micro-batches have about the same number of
tokens. Actions are sampled, so lengths differ a little; results are per token of the trained
episodes. The trainers alternate, each measurement in a process of its own. Its first step is not
timed. Writes ``benchmarks/results/trainer_throughput.md``.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import torch
import typer
from rich.console import Console
from torch import Tensor

from agentgym_train import config as configuration
from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.assembly import assemble
from agentgym_train.data.batching import Batch
from agentgym_train.models.loading import load_tokenizer
from agentgym_train.reporting import report
from agentgym_train.run.prepare import prepare
from agentgym_train.trainer import PolicyTrainer

RESULT = Path(__file__).parent / "results" / "trainer_throughput.md"
TRAINERS = ("agentgym-train", "TRL")
TURNS = (5, 20, 40)
GROUPS, GROUP_SIZE, STEPS = 4, 8, 3
NEW_TOKENS, MICRO_BATCH_TOKENS, LR = 6, 4096, 1e-5
CONFIG = f"""
[run]
folder = "FOLDER"
steps = {STEPS + 1}
[env]
id = "agentgym/Maze-v1"
kwargs = {{ split = "train", rooms = [40] }}
groups = {GROUPS}
group_size = {GROUP_SIZE}
[model]
path = "scratch"
max_context = 4096
checkpointing = "off"
[scratch]
layers = 4
hidden = 256
steps = 100
episodes = 400
[rollout]
max_new_tokens = {NEW_TOKENS}
[algorithm]
name = "grpo"
[curriculum]
name = "fixed"
turns = 40
[engine]
lr = {LR}
micro_batch_tokens = {MICRO_BATCH_TOKENS}
"""
app = typer.Typer(pretty_exceptions_enable=False)


class WholeGRPO(GRPO):
    """GRPO that also runs trajectories without loss, as TRL does."""

    def zero_loss_B(self, batch: Batch) -> Tensor:
        """Returns that no trajectory is left out."""
        return torch.zeros(len(batch.group_B), dtype=torch.bool)


class Clock:
    """Measures the timed steps: seconds, CPU seconds with those of the environments, and tokens."""

    def __init__(self) -> None:
        self.tokens = self.turns = 0
        self._process = psutil.Process()

    def start(self) -> None:
        """Forgets everything before."""
        self.tokens = self.turns = 0
        self._began, self._cpu = time.perf_counter(), self._cpu_seconds()

    def stop(self) -> dict[str, float]:
        """Returns the results."""
        return {
            "seconds": time.perf_counter() - self._began,
            "cpu": self._cpu_seconds() - self._cpu,
            "tokens": self.tokens,
            "turns": self.turns,
        }

    def _cpu_seconds(self) -> float:
        processes = [self._process, *self._process.children(recursive=True)]
        times = [process.cpu_times() for process in processes]
        return sum(t.user + t.system for t in times)


def ours(folder: Path, turns: int, clock: Clock) -> dict[str, float]:
    """Runs steps of this trainer."""
    own = Path(tempfile.mkdtemp(dir=folder))
    config = configuration.load(
        folder / "config.toml",
        [
            f"run.folder={own}",
            f"model.path={folder / 'made/init'}",
            f"curriculum.turns={turns}",
        ],
    )
    prepare(config, report.RunDisplay(Console(quiet=True))).release()
    trainer = PolicyTrainer(assemble(config, own))
    trainer.algorithm = WholeGRPO()
    env = trainer.envs[0]
    env.open(trainer.distributed, trainer.generator, trainer.algorithm)
    for step in range(STEPS + 1):
        if step == 1:
            clock.start()
        _, groups = trainer.take_step(step)
        episodes = [t for group in groups for t in group.trajectories]
        clock.turns += sum(len(t.turns) for t in episodes)
        clock.tokens += sum(t.length for t in episodes)
    return clock.stop()


def trl(folder: Path, turns: int, clock: Clock, *, rows: int) -> dict[str, float]:
    """Runs steps of TRL's trainer.

    Args:
        folder: has the configuration and the model.
        turns: the horizon.
        clock: measures.
        rows: rows of a micro-batch.
    """
    from agentgym_trl import Rollouts
    from transformers import AutoModelForCausalLM, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    config = configuration.load(folder / "config.toml", [])
    path, episodes = str(folder / "made/init"), GROUPS * GROUP_SIZE
    rollouts = Rollouts(
        config.env.id,
        load_tokenizer(path),
        turns=turns,
        max_context=config.model.max_context,
        **config.env.kwargs,
    )

    def play(prompts: Any, trainer: Any) -> dict[str, list[Any]]:
        output = rollouts.play(prompts, trainer)
        clock.tokens += sum(map(len, output["prompt_ids"] + output["completion_ids"]))
        clock.turns += sum(episode.turns for episode in trainer.environments)
        return output

    class Timing(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
            if state.global_step == 1:
                clock.start()

    arguments = rollouts.arguments()
    arguments["callbacks"].append(Timing())
    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(path),
        args=GRPOConfig(
            output_dir=str(folder / "trl"),
            max_steps=STEPS + 1,
            per_device_train_batch_size=rows,
            gradient_accumulation_steps=episodes // rows,
            num_generations=GROUP_SIZE,
            max_completion_length=NEW_TOKENS,
            learning_rate=LR,
            beta=0.0,
            loss_type="dapo",
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=rollouts.dataset(),
        **arguments | {"rollout_func": play},
    )
    trainer.train()
    result = clock.stop()
    rollouts.close()
    return result


@app.command()
def one(trainer: str, folder: Path, turns: int, rows: int = 1) -> None:
    """Measures a trainer in this process; prints the result as JSON."""
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
    clock = Clock()
    if trainer == "TRL":
        result = trl(folder, turns, clock, rows=rows)
    else:
        result = ours(folder, turns, clock)
    print(json.dumps(result), flush=True)
    os._exit(0)  # gloo's threads abort an interpreter that shuts down


@app.command()
def run(rounds: int = 3, turns: list[int] = list(TURNS)) -> None:  # noqa: B006
    """Measures both trainers in alternation and writes the table."""
    found: dict[tuple[str, int], list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "config.toml").write_text(CONFIG.replace("FOLDER", str(folder / "made")))
        config = configuration.load(folder / "config.toml", [])
        prepare(config, report.RunDisplay(Console(quiet=True))).release()
        for _ in range(rounds):
            for horizon in turns:
                rows = 1
                for trainer in TRAINERS:
                    command = [sys.executable, __file__, "one", trainer, str(folder), str(horizon)]
                    done = subprocess.run(
                        [*command, "--rows", str(rows)], check=True, stdout=subprocess.PIPE
                    )
                    result = json.loads(done.stdout.splitlines()[-1])
                    print(trainer, horizon, result, flush=True)
                    found.setdefault((trainer, horizon), []).append(result)
                    rows = fitting(result["tokens"] / (STEPS * GROUPS * GROUP_SIZE))
    RESULT.write_text("\n".join([head(rounds), *(row(found, horizon) for horizon in turns), ""]))


def fitting(length: float) -> int:
    """Returns how many rows of this length fit into a micro-batch; it divides the episodes."""
    episodes = GROUPS * GROUP_SIZE
    rows = [n for n in range(1, episodes + 1) if episodes % n == 0]
    return max([n for n in rows if n * length <= MICRO_BATCH_TOKENS], default=1)


def head(rounds: int) -> str:
    """Returns the text above the table's rows."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("trl", "transformers", "torch"))
    return f"""# Speed of training steps beside TRL's

`python benchmarks/trainer_throughput.py run --rounds {rounds}`: {versions}, one process with
{torch.get_num_threads()} threads on {platform.machine()}. {GROUPS * GROUP_SIZE} episodes per step
on mazes of 40 rooms, a Qwen2 with 4 layers of width 256, up to {NEW_TOKENS} tokens per action.
Median of the rounds, with {STEPS} timed steps each. A ratio is TRL's figure over this trainer's in
the same round, with the range. CPU time is in ms per token.

| turns | tokens per episode | s/step | TRL, s/step | ratio | CPU | TRL, CPU | ratio |
|---|---|---|---|---|---|---|---|"""


def row(found: dict[tuple[str, int], list[dict[str, float]]], horizon: int) -> str:
    """Returns the line of a horizon."""
    mine, theirs = (found[name, horizon] for name in TRAINERS)
    length = median(r["tokens"] for r in mine) / (STEPS * GROUPS * GROUP_SIZE)
    cells = [f"{horizon}", f"{length:.0f}"]
    for scale, below in (
        (1.0, lambda r: r["seconds"] / STEPS),
        (1000.0, lambda r: r["cpu"] / r["tokens"]),
    ):
        columns = [[scale * below(r) for r in results] for results in (mine, theirs)]
        ratios = [b / a for a, b in zip(*columns, strict=True)]
        cells += [f"{median(column):.2f}" for column in columns]
        cells += [f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    app()
