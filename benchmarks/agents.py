"""Agents in training: what they learn, and what their prompts cost.

    python benchmarks/agents.py learn FOLDER           # success before and after, three seeds
    python benchmarks/agents.py compare FOLDER         # the same agents, by `agentgym eval`
    python benchmarks/agents.py cost                   # tokens that the model computes

``learn`` trains ``plan``, ``correct``, ``reflect`` and a window on small mazes, from random weights
and random play, with PPO. Each agent is compared with its own start. ``compare`` serves the trained
models with transformers' ``generate`` behind OpenAI's API, and evaluates the same agents on the
same split by ``agentgym eval``. A task of ``reflect`` counts as solved if one of two attempts is.

``cost`` plays 40 turns of a large maze with the embedded generator and counts the tokens that enter
its model. Exact reuse would compute those tokens of a prompt that follow its common prefix with the
call before, each sampled token once, and no padding. Actions are fixed, so only prompts differ
between the agents.
"""

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import fmean
from threading import Lock, Thread
from typing import Any
from unittest.mock import patch

import torch
import typer
from runs import table
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

from agentgym_envs import agents
from agentgym_envs.evaluate import record
from agentgym_envs.evaluate.metrics import wilson
from agentgym_envs.pool import EnvPool, describe
from agentgym_train.data.types import Trajectory
from agentgym_train.generators import hf
from agentgym_train.models import scratch
from agentgym_train.models.chat import ChatTokens
from agentgym_train.protocols import SamplingOptions
from agentgym_train.rollout.build import player_maker
from agentgym_train.rollout.collector import EpisodeCollector
from agentgym_train.rollout.tasks import EpisodeStart

RESULTS = Path(__file__).parent / "results"
CONFIG = """
[run]
folder = "FOLDER"
steps = 40
threads = 1
[env]
id = "agentgym/Maze-v1"
kwargs = { split = "train", rooms = [4, 6] }
groups = 32
group_size = 1
action_format = "plain"
[model]
path = "scratch"
max_context = 1024
[scratch]
steps = 200
episodes = 800
turns = 10
[rollout]
max_new_tokens = 6
[algorithm]
name = "ppo"
gamma = 0.95
lam = 0.95
kl_coef = 0.02
[critic]
kind = "head"
[curriculum]
name = "fixed"
turns = 10
[engine]
lr = 7e-4
minibatches = 2
[eval]
kwargs = { split = "test" }
episodes = 100
horizon = 10
"""
HORIZON = 10
LEARNERS = ("plan", "reflect", "chat window=2", "correct")
SEEDS = (0, 1, 2)
MAZE, EPISODES, TURNS, THOUGHT = "agentgym/Maze-v1", 16, 40, 12
DROPS = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['role'] == 'assistant' %}{{ m['content'].split('</think>')[-1] }}"
    "{% else %}{{ m['content'] }}{% endif %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A template that drops the thoughts of earlier turns."""
app = typer.Typer(pretty_exceptions_enable=False)


@app.command()
def learn(folder: Path) -> None:
    """Trains the agents and writes ``results/agents_learn.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(CONFIG)
    rows = []
    for learner in LEARNERS:
        for seed in SEEDS:
            own = place(folder, learner, seed)
            name, *options = learner.split()
            sets = [f"run.folder={own}", f"run.seed={seed}", f"agent.name={name}"]
            sets += [f"agent.{option}" for option in options]
            command = ["agentgym-train", "run", str(folder / "config.toml")]
            command += [part for one in sets for part in ("--set", one)]
            if not finished(own):
                subprocess.run(command, check=True)
            lines = [json.loads(line) for line in (own / "metrics.jsonl").read_text().splitlines()]
            shares = [shown(finished(own)[when]["success"]) for when in ("before", "after")]
            rows.append([learner, seed, *shares, f"{lines[-1]['samples']:.1f}"])
    head = ["agent", "seed", "before", "after", "samples of an episode"]
    write("learn", head, rows)


@app.command()
def compare(folder: Path) -> None:
    """Evaluates the trained models by `agentgym eval`; writes ``results/agents_compare.md``."""
    rows = []
    for learner in LEARNERS:
        own = place(folder, learner, SEEDS[0])
        name, *options = learner.split()
        out = own / "agentgym-eval"
        with served(own / "model") as address:
            command = ["agentgym", "eval", MAZE, "--agent", name, "--model", "policy"]
            command += ["--base-url", address, "--out", str(out), "--format", "plain"]
            command += ["--set", "rooms=[4,6]", "--episodes", "100", "--horizon", str(HORIZON)]
            command += ["--max-tokens", "6", "--concurrency", "4"]
            command += ["--attempts", "2" if name == "reflect" else "1"]
            command += [part for option in options for part in ("--option", option)]
            subprocess.run(command, check=True)
        played, _ = record.read(out)
        wins: dict[str, bool] = {}
        for row in record.episodes(played):
            wins[row["task_id"]] = wins.get(row["task_id"], False) or row["success"]
        trained = finished(own)["after"]["success"]
        rows.append([learner, shown(trained), shown(fmean(wins.values()), len(wins))])
    write("compare", ["agent", "by the trainer", "by agentgym eval"], rows)


def place(folder: Path, learner: str, seed: int) -> Path:
    """Returns the run folder of an agent and a seed."""
    return folder / f"{learner.replace(' ', '-')}-{seed}"


def finished(folder: Path) -> dict[str, Any]:
    """Returns the evaluations of a run; empty before its end."""
    file = folder / "evaluation.json"
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return found if "after" in found else {}


def shown(share: float, count: int = 100) -> str:
    """Returns a share with its interval of 95 %."""
    low, high = wilson(round(share * count), count)
    return f"{share:.2f} ({low:.2f} to {high:.2f})"


PAGES = {
    "learn": (
        "Agents with inner calls, lessons and windows learn",
        "Success on 100 held-out mazes of 4 and 6 rooms in at most 10 turns, before and after 40"
        " steps of PPO with 32 episodes, from random weights that have learned random play. In"
        " parentheses: the 95 % interval. Random play reaches 0.28. The samples are those of the"
        " last step. `reflect` has two attempts at a maze.",
    ),
    "compare": (
        "The trained agent is the evaluated agent",
        "The models of seed 0 after training. The trainer plays 100 held-out mazes with its own"
        " generator. `agentgym eval` plays 100 mazes of the same split with the same agent, over an"
        " API of OpenAI's form in front of transformers' `generate`. A maze of `reflect` counts as"
        " solved if one of two attempts is.",
    ),
    "cost": (
        "Tokens that the prompts of an agent need",
        f"{EPISODES} episodes of {TURNS} turns in a maze of 40 rooms, a Qwen2 with 4 layers of"
        " width 256, fixed actions. Tokens that enter the model, padding included, per sampled"
        " token. Exact reuse computes the tokens of a prompt that follow its common prefix with the"
        " call before, and each sampled token once, without padding.",
    ),
}
"""By command: the title of its page and what the figures are."""


def write(command: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Prints a table and writes its page."""
    title, about = PAGES[command]
    folder = "" if command == "cost" else " FOLDER"
    text = table(head, rows)
    print(text)
    page = f"# {title}\n\n`python benchmarks/agents.py {command}{folder}`\n\n{about}\n\n{text}\n"
    (RESULTS / f"agents_{command}.md").write_text(page)


@contextmanager
def served(model_folder: Path) -> Iterator[str]:
    """Serves a model on this machine; yields the address of its API."""
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model, lock = AutoModelForCausalLM.from_pretrained(model_folder), Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = tokenizer.apply_chat_template(
                asked["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=True
            )
            limit = asked.get("max_tokens") or asked["max_completion_tokens"]
            with lock, torch.inference_mode():
                ids = model.generate(
                    **prompt, do_sample=True, temperature=1.0, top_k=0, max_new_tokens=limit
                )[0, prompt["input_ids"].shape[1] :]
            text = tokenizer.decode(ids, skip_special_tokens=True)
            choice = {"index": 0, "message": {"role": "assistant", "content": text}}
            body = json.dumps({"choices": [choice | {"finish_reason": "stop"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Writes nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


class Fixed:
    """Samples the tokens of fixed texts."""

    def __init__(self, chat: ChatTokens, texts: Sequence[str]):
        self.actions = [[*chat.ids(text), chat.end_ids[-1]] for text in texts]

    def choose(self, logits_RV: torch.Tensor, noise: Sequence[Any], **_: Any) -> Any:
        """Takes the place of the sampler; ``noise`` holds turn and place of each row's token."""
        tokens = [self.actions[turn % len(self.actions)][place] for turn, place in noise]
        return tokens, [0.0] * len(tokens)


@app.command()
def cost() -> None:
    """Counts tokens and CPU seconds; writes ``results/agents_cost.md``."""
    rows = []
    for label, template, options in (
        ("chat", None, {}),
        ("chat, window = 4", None, {"window": 4}),
        ("chat, thoughts dropped by the template", DROPS, {}),
        ("chat, thoughts kept", DROPS, {"thoughts": "keep"}),
    ):
        rows.append([label, *played(template, options)])
    head = [
        "agent",
        "samples",
        "tokens of prompts per sampled token",
        "computed",
        "exact reuse",
        "share",
        "CPU seconds",
    ]
    write("cost", head, rows)


def played(template: str | None, options: dict[str, Any]) -> list[Any]:
    """Plays the episodes of an agent; returns the figures of a row."""
    described = describe(MAZE, action_format="plain", rooms=[40])
    tokenizer = scratch.train_tokenizer(["Exits: north east south west", "go north"] * 20, 400)
    special = ["<|im_start|>", "<|im_end|>"]
    tokenizer.add_special_tokens({"additional_special_tokens": special, "eos_token": special[1]})
    tokenizer.chat_template = template or DROPS.replace(".split('</think>')[-1]", "")
    chat = ChatTokens(tokenizer, described.instructions, must_grow=False)
    thought = f"<think>{'so ' * THOUGHT}</think>" if template else ""
    fixed = Fixed(chat, [f"{thought}go {way}" for way in ("north", "east", "south", "west")])
    torch.manual_seed(0)
    shape = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=256,
        intermediate_size=1024,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=16384,
    )
    generator = hf.HF(Qwen2ForCausalLM(shape))
    counted = [0]
    generator._model.get_input_embeddings().register_forward_hook(
        lambda _, inputs, __: counted.__setitem__(0, counted[0] + inputs[0].numel())
    )
    sampling = SamplingOptions(1.0, 64, chat.stop_ids)
    maker = player_maker(agents.load("chat", options), described, chat)
    with (
        EnvPool(MAZE, EPISODES, workers=1, max_episode_steps=-1, rooms=[40]) as pool,
        patch.object(hf, "noise", lambda _, turn, place: (turn, place)),
        patch.object(hf, "choose", fixed.choose),
    ):
        collector = EpisodeCollector(pool, generator, chat, max_context=16384, make_player=maker)
        began = time.process_time()
        groups = collector.collect(
            [EpisodeStart(n, n) for n in range(EPISODES)],
            max_turns=TURNS,
            sampling=sampling,
            noise="cost",
        )
        seconds = time.process_time() - began
    episodes = [t for group in groups for t in group.trajectories]
    sampled = sum(len(call.action_ids) for t in episodes for call in t.calls)
    least = sum(map(exact, episodes))
    prompts = sum(len(tokens) for t in episodes for tokens in prompts_of(t))
    return [
        f"{fmean(len(t.samples) for t in episodes):.1f}",
        f"{prompts / sampled:.1f}",
        f"{counted[0] / sampled:.2f}",
        f"{least / sampled:.2f}",
        f"{least / counted[0]:.2f}",
        f"{seconds:.1f}",
    ]


def prompts_of(trajectory: Trajectory) -> list[list[int]]:
    """Returns the whole prompt of each call."""
    held: dict[int, list[int]] = {}
    prompts = []
    for call in trajectory.calls:
        prompt = [*held.get(call.sample, []), *call.prompt_ids]
        prompts.append(prompt)
        held[call.sample] = [*prompt, *call.action_ids]
    return prompts


def exact(trajectory: Trajectory) -> int:
    """Returns the tokens that exact reuse would compute, without padding."""
    before: list[int] = []
    computed = 0
    for prompt, call in zip(prompts_of(trajectory), trajectory.calls, strict=True):
        shared = min(common(prompt, before), len(prompt) - 1)
        computed += len(prompt) - shared + len(call.action_ids) - 1
        before = [*prompt, *call.action_ids]
    return computed


def common(a: Sequence[int], b: Sequence[int]) -> int:
    """Returns the length of the common prefix."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((n for n, (x, y) in pairs if x != y), min(len(a), len(b)))


if __name__ == "__main__":
    app()
