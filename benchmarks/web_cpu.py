"""CPU time of WebSites by type of process, for several settings of the browser.

    sudo apt-get install chromium chromium-headless-shell
    python benchmarks/web_cpu.py

Plays the oracle on a fixed list of tasks. The settings take turns, round by round, and each keeps
its browser. A setting is a browser with further arguments, or pages without styles. Writes
``benchmarks/results/web_cpu.md``.
"""

import re
import shlex
import shutil
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import gymnasium
import psutil
import typer
from rich.progress import track

import agentgym_envs
from agentgym_envs.envs.web.chromium import UNPACED
from agentgym_envs.envs.web.proxy import ProxyReply, ProxyRequest
from agentgym_envs.tasks import spread

FULL, SHELL = "chromium", "chromium-headless-shell"
TYPES = ("Python", "driver", "browser", "network", "renderer", "GPU", "other")
# A zygote has the CPU time of renderers that ended.
NAMES = {"renderer": "renderer", "zygote": "renderer", "gpu-process": "GPU"}
RESULT = Path(__file__).parent / "results" / "web_cpu.md"


class Variant(NamedTuple):
    """A browser program with arguments, with or without the styles of pages."""

    name: str
    program: str
    arguments: tuple[str, ...] = ()
    styles: bool = True


BEFORE = Variant("headless shell, frames without a limit (the default before)", SHELL, (UNPACED,))
VARIANTS = (
    BEFORE,
    Variant("headless shell, at most 60 frames a second (the default)", SHELL),
    Variant("the default, GPU process within the browser's", SHELL, ("--in-process-gpu",)),
    Variant(
        "the default, one raster thread, grey text",
        SHELL,
        ("--num-raster-threads=1", "--disable-lcd-text"),
    ),
    Variant(
        "the default, JavaScript without optimization", SHELL, ("--js-flags=--no-opt --no-maglev",)
    ),
    Variant("the default, pages without styles", SHELL, styles=False),
    Variant("Chromium, frames without a limit", FULL, (UNPACED,)),
    Variant("Chromium, at most 60 frames a second", FULL),
)


class Round(NamedTuple):
    """CPU milliseconds by type of process, and the number of steps."""

    spent: Counter[str]
    steps: int

    @property
    def step(self) -> float:
        """CPU milliseconds per step, resets included."""
        return self.spent.total() / self.steps


def type_of(process: psutil.Process) -> str:
    """Returns the type of one of Chromium's processes."""
    words = " ".join(process.cmdline())
    if "NetworkService" in words:
        return "network"
    _, found, kind = words.partition("--type=")
    return NAMES.get(kind.split()[0], "other") if found else "browser"


def spent(browser: int) -> Counter[str]:
    """Returns the CPU milliseconds of this process, Playwright's driver and a browser, by type.

    Child processes that ended are included.
    """
    me, top = psutil.Process(), psutil.Process(browser)
    driver = next(child for child in me.children() if "playwright" in " ".join(child.cmdline()))
    found = Counter({"Python": sum(me.cpu_times()[:2]), "driver": sum(driver.cpu_times()[:2])})
    for process in [top, *top.children(recursive=True)]:
        found[type_of(process)] += sum(process.cpu_times()[:4])
    return Counter({kind: round(1000 * seconds) for kind, seconds in found.items()})


def make(variant: Variant, folder: Path) -> Any:
    """Returns the environment. Its browser is a script that adds the arguments."""
    script = folder / str(VARIANTS.index(variant))
    script.write_text(
        f'#!/bin/sh\nexec {shutil.which(variant.program)} "$@" {shlex.join(variant.arguments)}\n'
    )
    script.chmod(0o755)
    env = gymnasium.make(
        "agentgym/WebSites-v1", split="train", max_episode_steps=-1, browser=str(script)
    )
    if not variant.styles:
        without_styles(env.unwrapped)
    return env


def without_styles(env: Any) -> None:
    """Removes the styles from every page."""
    serve = env.serve

    def bare(request: ProxyRequest) -> ProxyReply | bool:
        reply: ProxyReply | bool = serve(request)
        return (
            reply._replace(body=re.sub(rb"(?s)<style>.*?</style>", b"", reply.body))
            if isinstance(reply, ProxyReply)
            else reply
        )

    env.serve = bare


def play(env: Any, tasks: Sequence[str]) -> Round:
    """Plays the oracle once on each task."""
    before, steps = spent(env.unwrapped._chromium.pid), 0
    for task_id in tasks:
        env.reset(options={"task_id": task_id})
        for action in env.unwrapped.oracle():
            steps += 1
            if env.step(action)[2]:
                break
    after = spent(env.unwrapped._chromium.pid)
    after.subtract(before)
    return Round(after, steps)


def row(name: str, rounds: Sequence[Round], before: Sequence[Round], episodes: int) -> str:
    """Returns a variant's table row."""
    ratios = [r.step / b.step for r, b in zip(rounds, before, strict=True)]
    kinds = [f"{statistics.median(r.spent[kind] / r.steps for r in rounds):.1f}" for kind in TYPES]
    step = statistics.median(r.step for r in rounds)
    ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
    return (
        f"| {name} | {ratio} | {step:.0f} | {step * rounds[0].steps / episodes:.0f} |"
        f" {' | '.join(kinds)} |"
    )


def main(rounds: int = 5, episodes: int = 8) -> None:
    """Measures and writes the table."""
    with TemporaryDirectory() as folder:
        envs = {variant: make(variant, Path(folder)) for variant in VARIANTS}
        tasks = spread(envs[BEFORE].unwrapped.task_ids, episodes)
        for env in envs.values():  # the browser starts, and Python fills its caches
            env.reset(options={"task_id": tasks[0]})
            play(env, tasks)
        found: dict[Variant, list[Round]] = {variant: [] for variant in VARIANTS}
        for _ in track(range(rounds), description="rounds"):
            for variant, env in envs.items():
                found[variant].append(play(env, tasks))
        for env in envs.values():
            env.close()
    lines = [
        "# CPU time of WebSites",
        "",
        (
            f"`python benchmarks/web_cpu.py --rounds {rounds} --episodes {episodes}`, agentgym-envs"
            f" {agentgym_envs.__version__}"
        ),
        "",
        (
            f"The oracle plays {episodes} tasks ({found[BEFORE][0].steps} steps) in each of"
            f" {rounds} rounds."
        ),
        (
            "The settings take turns within a round. CPU time is in milliseconds. The time of a"
            " step includes its share of the reset."
        ),
        "",
        (
            "| setting | ratio to the first row (lowest–highest round) | a step | an episode |"
            f" {' | '.join(TYPES)} |"
        ),
        f"|---|---|---|---|{'---|' * len(TYPES)}",
        *(row(variant.name, found[variant], found[BEFORE], episodes) for variant in VARIANTS),
    ]
    RESULT.write_text("\n".join(lines) + "\n")
    typer.echo("\n".join(lines))


if __name__ == "__main__":
    typer.run(main)
