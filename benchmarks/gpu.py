"""One command measures the trainer on a GPU.

    python benchmarks/gpu.py
    python benchmarks/gpu.py --small --out gpu.md     # a few seconds on a CPU, without meaning

Each section runs on the GPU if there is one, else on the CPU. Writes ``benchmarks/results/gpu.md``.
A section that fails is reported in its place, and the exit status is 1.
"""

import gc
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import typer
from peaks import measure
from transformers import AutoModelForCausalLM, Qwen2Config

from agentgym_train import config as configuration
from agentgym_train.config import EngineConfig
from agentgym_train.data.batching import Batch, pack
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.engine.deepspeed import TrainingEngine
from agentgym_train.generators.hf import HF
from agentgym_train.models.loading import device, load_model
from agentgym_train.planning import plan
from agentgym_train.planning.card_memory import TrainingCards
from agentgym_train.protocols import SamplingOptions

HERE = Path(__file__).parent
RESULT = HERE / "results" / "gpu.md"
STEPS = 5
"""Optimizer steps with which stages and precisions are compared."""
GIB = 2**30


@dataclass(frozen=True)
class Size:
    """The scale of all sections."""

    hidden: int
    layers: int
    heads: int
    vocab: int
    context: int
    rows: int
    """Episodes that generate at the same time, and trajectories of a training batch."""
    decoded: int
    """Tokens generated per row."""
    matrix: int
    """Rows and columns of the multiplied matrices."""
    copied: int
    """Bytes of the copied tensor."""
    quickstart: tuple[str, ...]
    """Overrides of the quickstart."""


LARGE = Size(
    hidden=768,
    layers=12,
    heads=12,
    vocab=32000,
    context=4096,
    rows=16,
    decoded=128,
    matrix=8192,
    copied=4 * GIB,
    quickstart=("model.dtype=bfloat16",),
)
SMALL = Size(
    hidden=32,
    layers=2,
    heads=2,
    vocab=300,
    context=160,
    rows=4,
    decoded=4,
    matrix=128,
    copied=2**20,
    quickstart=(
        "scratch.hidden=16",
        "scratch.layers=1",
        "scratch.heads=2",
        "scratch.episodes=8",
        "scratch.steps=2",
        "env.groups=2",
        "env.group_size=2",
        "engine.minibatches=2",
        "curriculum={name='fixed', turns=2}",
        "algorithm.entropy_coef=0.01",  # without a reward, nothing else has a gradient
        "run.steps=1",
        "eval.episodes=2",
        "eval.horizon=2",
    ),
)


class Bounds:
    """What the device can do at most, measured on it."""

    def __init__(self, size: Size):
        self.device = device()
        self.dtype = torch.bfloat16 if self.device.type != "cpu" else torch.float32
        self.bandwidth = self._bandwidth(size.copied)
        """Bytes read and written per second."""
        self.flops = self._flops(size.matrix)
        """Floating-point operations of a matrix product per second."""

    def _bandwidth(self, count: int) -> float:
        source = torch.ones(count, dtype=torch.uint8, device=self.device)
        target = torch.empty_like(source)
        return 2 * count / timed(lambda: target.copy_(source))

    def _flops(self, count: int) -> float:
        left, right = (
            torch.randn(count, count, device=self.device, dtype=self.dtype) for _ in range(2)
        )
        return 2 * count**3 / timed(lambda: left @ right)


def timed(work: Callable[[], object], *, times: int = 5) -> float:
    """Returns the seconds of one call, the fastest of a few, after one that is not counted."""
    seconds = []
    for _ in range(times + 1):
        began = time.perf_counter()
        work()
        wait()
        seconds.append(time.perf_counter() - began)
    return min(seconds[1:])


def wait() -> None:
    """Waits until the device has finished."""
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()


def free() -> None:
    """Returns unused memory to the device."""
    gc.collect()
    if torch.accelerator.is_available():
        torch.accelerator.empty_cache()


def save_model(folder: Path, size: Size) -> str:
    """Saves a model with random weights; returns its folder."""
    torch.manual_seed(0)
    shape = Qwen2Config(
        vocab_size=size.vocab,
        hidden_size=size.hidden,
        intermediate_size=4 * size.hidden,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.heads // 2,
        max_position_embeddings=max(2 * size.context, 512),
        tie_word_embeddings=True,
    )
    AutoModelForCausalLM.from_config(shape).save_pretrained(folder)
    return str(folder)


def batch(size: Size, rows: int) -> Batch:
    """Returns trajectories of the whole context, 30 % of them actions."""
    draw = torch.Generator().manual_seed(0)

    def ids(count: int) -> list[int]:
        return torch.randint(1, size.vocab, (count,), generator=draw).tolist()

    def turn() -> Turn:
        return Turn("", [Call(ids(7), ids(3), [-5.0] * 3)])

    played = [Trajectory("", 0, [turn() for _ in range(size.context // 10)]) for _ in range(rows)]
    return pack([Group(0, played)])


def train(path: str, stage: int, dtype: str, micro: Batch) -> tuple[list[float], torch.Tensor]:
    """Returns the losses of some steps that clone a trajectory, and the weights after them."""
    engine = TrainingEngine(
        load_model(path, dtype), EngineConfig(zero_stage=stage, lr=1e-4), dtype=dtype
    )
    micro = micro.to(engine.device)
    losses = []
    for _ in range(STEPS):
        loss = -engine.forward(micro).logp_BT.sum() / micro.action_tokens
        engine.backward(loss)
        engine.step()
        losses.append(float(loss.detach()))
    weights = torch.cat([weight.float().flatten().cpu() for _, weight in engine.weights()])
    engine.close()
    free()
    return losses, weights


def stages(path: str, size: Size, bounds: Bounds) -> list[str]:
    """Compares stages of one precision, and bfloat16 with float32."""
    micro = batch(size, 1)
    start = torch.cat([p.detach().flatten() for p in load_model(path, "float32").parameters()])
    lines = [
        "| precision | ZeRO | loss, first and last step |"
        " largest difference of a loss from float32 |"
        " weights: difference from float32 / their change |"
        " weights: difference from the precision's first stage / their change |",
        "|---|---|---|---|---|---|",
    ]
    exact: tuple[list[float], torch.Tensor] | None = None
    for dtype, tried in {"float32": (0, 1, 2, 3), "bfloat16": (1, 2, 3)}.items():
        first: torch.Tensor | None = None
        for stage in tried:
            losses, weights = train(path, stage, dtype, micro)
            exact = exact or (losses, weights)
            first = weights if first is None else first
            change = (exact[1] - start).norm()
            most = max(abs(a - b) for a, b in zip(exact[0], losses, strict=True))
            shares = [float((weights - other).norm() / change) for other in (exact[1], first)]
            lines.append(
                f"| {dtype} | {stage} | {losses[0]:.4f}, {losses[-1]:.4f} | {most:.1e} |"
                f" {shares[0]:.1e} | {shares[1]:.1e} |"
            )
    note = (
        "One process, so nothing is shared out. In bfloat16, stage 1 runs the code of stage 2, so"
        " their difference is that of two equal runs. bfloat16 rounds weights to 8 bits, which can"
        " be coarser than their change in a few steps."
    )
    return [*lines, "", note]


def generation(path: str, size: Size, bounds: Bounds) -> list[str]:
    """Compares decoding with the time to read weights and cache once per token."""
    model = AutoModelForCausalLM.from_pretrained(path, dtype=bounds.dtype).to(bounds.device)
    generator = HF(model)
    sampling = SamplingOptions(temperature=1.0, max_new_tokens=size.decoded, stop_ids=frozenset())
    prompt = size.context // 2

    def play(tokens: int) -> float:
        session = generator.session(list(range(size.rows)), sampling)
        for row in range(size.rows):
            session.submit(row, [5] * tokens)
        began = time.perf_counter()
        session.poll()
        wait()
        return time.perf_counter() - began

    play(prompt)
    seconds = play(prompt)
    rate = size.rows * size.decoded / seconds
    item = torch.finfo(bounds.dtype).bits // 8
    shape = model.config
    cached = 2 * shape.num_hidden_layers * shape.num_key_value_heads * size.hidden // size.heads
    read = item * (sum(p.numel() for p in model.parameters()) + size.rows * prompt * cached)
    bound = size.rows * bounds.bandwidth / read
    return [
        "| rows | prompt | tokens/s | memory bound, tokens/s | share |",
        "|---|---|---|---|---|",
        f"| {size.rows} | {prompt:,} | {rate:,.0f} | {bound:,.0f} | {rate / bound:.1%} |",
        "",
        "The prompt's forward pass is part of the seconds and not of the bound.",
    ]


def training(path: str, size: Size, bounds: Bounds) -> list[str]:
    """Compares training with the matrix products that it needs (MFU)."""
    dtype = "bfloat16" if bounds.dtype == torch.bfloat16 else "float32"
    model = load_model(path, dtype)
    shape, total = model.config, sum(p.numel() for p in model.parameters())
    engine = TrainingEngine(model, EngineConfig(zero_stage=2, lr=1e-4), dtype=dtype)
    micro = batch(size, max(1, size.rows // 4)).to(engine.device)
    rows, tokens = micro.id_BT.shape

    def step() -> None:
        engine.backward(-engine.forward(micro).logp_BT.sum() / micro.action_tokens)
        engine.step()

    seconds = timed(step, times=3)
    engine.close()
    # Forward and backward: 6 operations per weight and token. The embedding looks up; the head,
    # with the same weight, computes action tokens only. Attention sees half of the context.
    embedding = size.vocab * size.hidden
    products = 6 * (total - embedding) * rows * tokens + 6 * embedding * micro.action_tokens
    attention = 6 * shape.num_hidden_layers * size.hidden * rows * tokens**2
    share = (products + attention) / seconds / bounds.flops
    return [
        "| parameters | trajectories × tokens | tokens/s | share of the matrix bound (MFU) |",
        "|---|---|---|---|",
        f"| {total / 1e6:.0f} M | {rows} × {tokens:,} | {rows * tokens / seconds:,.0f} |"
        f" {share:.1%} |",
        "",
        "Optimizer step included; work that is done twice does not count.",
    ]


def quickstart(path: str, size: Size, bounds: Bounds) -> list[str]:
    """Trains the quickstart's model from scratch."""
    sets = " ".join(f"--set {shlex.quote(override)}" for override in size.quickstart)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        overrides = [*size.quickstart, f"run.folder={run}"]
        began = time.perf_counter()
        call(
            *("-m", "agentgym_train.cli", "run", str(HERE / "quickstart.toml")),
            *[part for override in overrides for part in ("--set", override)],
        )
        seconds = time.perf_counter() - began
        rows = json.loads((run / "evaluation.json").read_text())
        metrics = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    rates = ", ".join(f"{name} {rows[name]['success']:.3f}" for name in ("before", "after"))
    tokens = sum(row["tokens"] for row in metrics)
    return [
        f"`agentgym-train run benchmarks/quickstart.toml {sets}`",
        "",
        f"{len(metrics)} steps, {tokens:,.0f} tokens, {seconds:.0f} s with language modelling and"
        f" evaluations. Held-out success: {rates}.",
    ]


def peaks(path: str, size: Size, bounds: Bounds) -> list[str]:
    """Compares plans with measured peaks."""
    dtype = "bfloat16" if bounds.device.type != "cpu" else "float32"
    file = Path(path) / "peaks.toml"
    file.write_text(
        f"""[run]
folder = "{path}/run"
steps = 1
[env]
id = "agentgym/Maze-v1"
groups = {size.rows}
group_size = 2
[model]
path = "{path}"
dtype = "{dtype}"
max_context = {size.context}
[rollout]
max_new_tokens = 8
[algorithm]
name = "rloo"
[curriculum]
name = "fixed"
turns = 4
[engine]
micro_batch_tokens = {2 * size.context}
zero = {{ reduce_bucket_size = {20_000 * size.hidden} }}
[eval]
episodes = 1
"""
    )
    lines = [
        "| ZeRO | phase | measured GiB | planned GiB | planned / measured |",
        "|---|---|---|---|---|",
    ]
    for stage in (2, 3):
        sets = [f"engine.zero_stage={stage}"]
        config = configuration.load(file, sets)
        measured = measure(config)
        planned = plan.make(config, TrainingCards(1, cpu=bounds.device.type == "cpu"))
        for phase, found in measured.items():
            said = planned.total(phase)
            lines.append(
                f"| {stage} | {phase} | {found / GIB:.2f} | {said / GIB:.2f} | {said / found:.2f} |"
            )
    return lines


def call(*arguments: str) -> str:
    """Runs Python; returns its output.

    Raises:
        RuntimeError: it failed; has the end of its messages.
    """
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout)[-2000:])
    return done.stdout


SECTIONS = {
    "bfloat16 and ZeRO against float32": stages,
    "Generation": generation,
    "Training": training,
    "Plans beside measured peaks": peaks,
    "The quickstart": quickstart,
}


def report(size: Size, out: Path) -> bool:
    """Writes the text of each section as soon as it has ended; returns whether none failed."""
    began = time.perf_counter()
    bounds = Bounds(size)
    free()
    name = torch.cuda.get_device_name() if bounds.device.type == "cuda" else bounds.device.type
    lines = [
        "# One accelerator",
        "",
        "`python benchmarks/gpu.py`",
        "",
        f"{name}, torch {torch.__version__}, {str(bounds.dtype).removeprefix('torch.')}. Measured:"
        f" {bounds.bandwidth / 1e9:,.1f} GB/s of memory traffic and"
        f" {bounds.flops / 1e12:,.3f} TFLOP/s in a product of two {size.matrix} × {size.matrix}"
        " matrices.",
    ]
    if bounds.device.type == "cpu":
        lines += ["", "**No GPU was found, so all numbers are of the CPU.**"]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        path = save_model(Path(folder), size)
        for title, section in SECTIONS.items():
            try:
                text = section(path, size, bounds)
            except Exception as error:
                traceback.print_exc()
                text, good = [f"**Failed: {type(error).__name__}: {error}**"], False
            lines += ["", f"## {title}", "", *text]
            seconds = f"{time.perf_counter() - began:.0f} s in all."
            out.write_text("\n".join([*lines, "", seconds, ""]), encoding="utf-8")
            free()
    return good


def main(small: bool = False, out: Path = RESULT) -> None:
    """Measures everything and writes the result."""
    if out == RESULT and not torch.accelerator.is_available():
        print("no GPU was found: name another file with --out for numbers of the CPU")
        raise typer.Exit(1)
    good = report(SMALL if small else LARGE, out)
    print(out.read_text(encoding="utf-8"))
    sys.stdout.flush()
    os._exit(0 if good else 1)  # gloo's threads abort an interpreter that shuts down


if __name__ == "__main__":
    typer.run(main)
