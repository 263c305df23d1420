"""Speed of our web environments, BrowserGym, and Farama's miniwob with Selenium.

    python -m venv other && other/bin/python -m pip install browsergym-miniwob miniwob
    sudo apt-get install chromium chromium-driver chromium-headless-shell
    python benchmarks/web_throughput.py other/bin/python

Each side plays the same MiniWoB++ pages with the same seeds and clicks, through its interface and
the system's Chromium, on the same machine in alternating rounds. Our sites are played in Chromium
and in its headless shell, which is preferred if it is installed. Nothing else should run. Writes
``benchmarks/results/web_throughput.md``.
"""

import json
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import typer

import agentgym_envs
from agentgym_envs.envs.web.look import find
from agentgym_envs.tasks import spread

# The clicked element of each page: a button, or the text field.
PAGES = {"click-test": "Click Me!", "click-test-2": "ONE", "focus-text": None}
ROUNDS, EPISODES = 5, 12
RESULT = Path(__file__).parent / "results" / "web_throughput.md"
Times = tuple[float, float, float]  # seconds for all episodes; medians of a reset and a step


def timed(env: Any, episodes: int, start: Any, answer: Any) -> Times:
    """Plays episodes of one action; returns the times.

    Args:
        env: the environment.
        episodes: number of episodes.
        start: resets for a page and a seed; returns the observation.
        answer: returns the action for an observation.
    """
    resets, steps, begin = [], [], time.perf_counter()
    for number in range(episodes):
        page = list(PAGES)[number % len(PAGES)]
        at = time.perf_counter()
        shown = start(env, page, number)
        resets.append(time.perf_counter() - at)
        action = answer(env, page, shown)
        at = time.perf_counter()
        env.step(action)
        steps.append(time.perf_counter() - at)
    return time.perf_counter() - begin, statistics.median(resets), statistics.median(steps)


def ours(rounds: int) -> Iterator[Times]:
    """Plays in this process."""
    env = gymnasium.make("agentgym/MiniWoB-v1", browser="chromium")

    def start(env: Any, page: str, seed: int) -> str:
        return str(env.reset(options={"task_id": f"{page}-{seed}"})[0])

    def answer(env: Any, page: str, shown: str) -> str:
        target = PAGES[page]
        return f"click [{find(shown, target, role='button' if target else 'textbox').id}]"

    timed(env, EPISODES, start, answer)  # the browser starts
    for _ in range(rounds):
        yield timed(env, EPISODES, start, answer)
    env.close()


OTHER = {
    "browsergym": (
        """
import gymnasium, browsergym.miniwob, os, pathlib, miniwob, shutil
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    own = pathlib.Path(playwright.chromium.executable_path)
if not own.exists():  # the same Chromium for all
    own.parent.mkdir(parents=True)
    own.symlink_to(shutil.which("chromium"))
os.environ["MINIWOB_URL"] = (pathlib.Path(miniwob.__file__).parent / "html/miniwob").as_uri() + "/"
from browsergym.core.env import BrowserEnv
from browsergym.miniwob import all as tasks
found = [c for c in tasks.__dict__.values() if isinstance(c, type) and hasattr(c, "subdomain")]
CLASSES = {c.subdomain: c for c in found}
class Env:
    def __init__(self): self.envs = {}
    def reset(self, page, seed):
        if page not in self.envs: self.envs[page] = BrowserEnv(CLASSES[page])
        self.env = self.envs[page]
        return self.env.reset(seed=seed)[0]
    def step(self, action): return self.env.step(action)
def start(env, page, seed): return env.reset(page, seed)
def answer(env, page, shown):
    role = "button" if PAGES[page] else "textbox"
    for node in shown["axtree_object"]["nodes"]:
        name = node.get("name", {}).get("value")
        if node["role"]["value"] == role and PAGES[page] in (None, name):
            return f"click('{node['browsergym_id']}')"
"""
    ),
    "selenium": (
        """
import gymnasium, miniwob
from miniwob.action import ActionTypes
from selenium import webdriver
gymnasium.register_envs(miniwob)
class Env:
    def __init__(self): self.envs = {}
    def reset(self, page, seed):
        if page not in self.envs: self.envs[page] = gymnasium.make(f"miniwob/{page}-v1")
        self.env = self.envs[page]
        return self.env.reset(seed=seed)[0]
    def step(self, action): return self.env.step(action)
def start(env, page, seed): return env.reset(page, seed)
def answer(env, page, shown):
    for e in shown["dom_elements"]:
        is_button = (e["tag"], e["text"]) == ("button", PAGES[page])
        if is_button if PAGES[page] else e["tag"].startswith("input"):
            return env.env.unwrapped.create_action(ActionTypes.CLICK_ELEMENT, ref=e["ref"])
"""
    ),
}
SERVE = """
import json, statistics, sys, time
PAGES = json.loads(sys.argv[1])
{other}
{timed}
env = Env()
timed(env, int(sys.argv[2]), start, answer)
for line in sys.stdin:
    print("TIMES", *timed(env, int(sys.argv[2]), start, answer), flush=True)
"""


def theirs(python: Path, name: str, rounds: int) -> Iterator[Times]:
    """Plays in another process with the other side's environment."""
    import inspect

    source = inspect.getsource(timed).replace("-> Times", "").replace(": Any", "")
    program = SERVE.replace("{other}", OTHER[name]).replace("{timed}", source)
    command = [str(python), "-c", program, json.dumps(PAGES), str(EPISODES)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(rounds):
            print("go", file=process.stdin, flush=True)
            line = next(text for text in process.stdout if text.startswith("TIMES"))
            a, b, c = map(float, line.split()[1:])
            yield a, b, c
        process.stdin.close()


def sites(browser: str) -> list[str]:
    """Returns rows for our sites: the oracle's steps on a hundred tasks."""
    env = gymnasium.make(
        "agentgym/WebSites-v1", split="train", max_episode_steps=-1, browser=browser
    )
    chosen = spread(env.unwrapped.task_ids, 100)
    env.reset(options={"task_id": chosen[0]})
    resets, steps = [], []
    for task_id in chosen:
        at = time.perf_counter()
        env.reset(options={"task_id": task_id})
        resets.append(time.perf_counter() - at)
        for action in env.unwrapped.oracle():
            at = time.perf_counter()
            env.step(action)
            steps.append(time.perf_counter() - at)
    env.close()

    def line(name: str, times: list[float]) -> str:
        low, middle, high = statistics.quantiles([1000 * t for t in times], n=20)[::9][:3]
        return f"| {name}, {browser} | {middle:.0f} ms | {low:.0f}–{high:.0f} ms |"

    return [line("reset", resets), line("step", steps)]


def side_by_side(count: int, seconds: float) -> float:
    """Returns the steps per second of environments in at most two worker processes of a pool."""
    from agentgym_envs.pool import EnvPool

    done = 0
    with EnvPool("agentgym/WebSites-v1", num_envs=count, workers=min(2, count), timeout=60) as pool:
        for i in range(count):
            pool.reset(i, seed=i)
        begin = None
        while begin is None or time.perf_counter() - begin < seconds:
            for result in pool.recv():
                if begin is None and result.index == count - 1:
                    begin = time.perf_counter()
                done += begin is not None
                if result.error is not None:
                    raise result.error
                if result.truncated:
                    pool.reset(result.index)
                else:
                    pool.send(result.index, "scroll [down]")
    return done / (time.perf_counter() - begin)


def main(python: Path, rounds: int = ROUNDS) -> None:
    """Measures all and writes the table."""
    sides = {
        "ours": ours(rounds),
        "BrowserGym": theirs(python, "browsergym", rounds),
        "miniwob, Selenium": theirs(python, "selenium", rounds),
    }
    times: dict[str, list[Times]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            times[name].append(next(side))
    lines = [
        "# Web environments",
        "",
        (
            "`python benchmarks/web_throughput.py other/bin/python`, agentgym-envs"
            f" {agentgym_envs.__version__}"
        ),
        "",
    ]
    lines += [
        "| MiniWoB++ | episodes/s | reset | step | ours is faster (lowest–highest round) |",
        "|---|---|---|---|---|",
    ]
    for name, rounds_ in times.items():
        ratios = [
            theirs_[0] / ours_[0] for ours_, theirs_ in zip(times["ours"], rounds_, strict=True)
        ]
        total, reset, step = (statistics.median(column) for column in zip(*rounds_, strict=True))
        compared = (
            ""
            if name == "ours"
            else f"{statistics.median(ratios):.1f}× ({min(ratios):.1f}–{max(ratios):.1f})"
        )
        lines.append(
            f"| {name} | {EPISODES / total:.2f} | {1000 * reset:.0f} ms | {1000 * step:.0f} ms |"
            f" {compared} |"
        )
    lines += ["", "| WebSites | median | 5th–95th percentile |", "|---|---|---|"]
    lines += [row for browser in ("chromium", "chromium-headless-shell") for row in sites(browser)]
    lines += [
        "",
        "| WebSites side by side, 2 worker processes, chromium-headless-shell | steps/s |",
        "|---|---|",
    ]
    lines += [f"| {n} | {side_by_side(n, 5.0):.1f} |" for n in (1, 2, 4, 8)]
    lines += [
        "",
        (
            "Each side plays three pages in turn. Ours keeps a tab a page; the Selenium side keeps"
            " a browser a page, and"
        ),
    ]
    lines += ["describes it by its DOM elements."]
    RESULT.write_text("\n".join(lines) + "\n")
    typer.echo("\n".join(lines))


if __name__ == "__main__":
    typer.run(main)
