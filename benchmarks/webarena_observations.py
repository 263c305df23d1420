"""Our observations beside those of WebArena's own code, line by line, on the same pages in the same browser.

    python -m venv other && other/bin/python -m pip install --no-deps libwebarena==0.0.5
    other/bin/python -m pip install numpy gymnasium playwright Pillow requests beartype==0.12
    python benchmarks/webarena_observations.py other/bin/python

Both show what is in view of 1280 × 720 pixels. Not compared are elements' ids, which are theirs alone; links' addresses, which
browsers tell only since WebArena was made; and the options of drop-down lists, which ours shows for its ``select``. Writes
``benchmarks/results/webarena_observations.md``.
"""

import difflib
import json
import random
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import typer

from agentgym_envs.core import Outcome
from agentgym_envs.envs.web.chromium import find, own_executable
from agentgym_envs.envs.web.env import WebEnv
from agentgym_envs.envs.web.proxy import Reply, Request
from agentgym_envs.envs.web.session import Session
from agentgym_envs.envs.web.sites.host import Servers
from agentgym_envs.tasks import Task, TaskSet

RESULT = Path(__file__).parent / "results" / "webarena_observations.md"
PAGES = {
    "shop": ("/", "/search?q=lamp", "/category/1", "/product/7", "/login", "/cart"),
    "admin": ("/",),
    "forum": ("/", "/f/1", "/post/5", "/search?q=garden", "/login"),
    "code": ("/", "/projects", "/search?q=parser", "/login"),
    "map": ("/", "/search?q=library", "/directions", "/place/3", "/towns", "/nearby"),
}
THEIRS = """
import importlib.util, json, os, sys, types
from pathlib import Path
folder = Path(importlib.util.find_spec("webarena").submodule_search_locations[0])
for name in ("webarena", "webarena.browser_env"):  # without their __init__, which would ask for more
    module = types.ModuleType(name)
    module.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
    sys.modules[name] = module
for name in ("REDDIT", "SHOPPING", "SHOPPING_ADMIN", "GITLAB", "WIKIPEDIA", "MAP", "HOMEPAGE"):
    os.environ.setdefault(name, f"http://{name.lower()}.test")
from webarena.browser_env.processors import TextObervationProcessor
from playwright.sync_api import sync_playwright
size = {"width": 1280, "height": 720}
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=sys.argv[1])
    for url in json.loads(sys.argv[2]):
        page = browser.new_context(viewport=size, locale="en-US", timezone_id="UTC").new_page()
        page.goto(url, wait_until="load")
        page.wait_for_timeout(300)
        client = page.context.new_cdp_session(page)
        client.send("Accessibility.enable")
        processor = TextObervationProcessor("accessibility_tree", True, size)
        print(json.dumps(processor.process(page, client)), flush=True)
        page.context.close()
    browser.close()
"""


class AnyPage(WebEnv):
    """Shows an address of this machine."""

    def __init__(self, urls: list[str], **kwargs: Any):
        self._urls = urls
        super().__init__(viewport=True, max_length=10**6, **kwargs)

    def make_tasks(self) -> TaskSet:
        """Returns a task an address."""
        return TaskSet(Task(id=f"page-{i}", split="train", data={"url": url}) for i, url in enumerate(self._urls))

    def serve(self, request: Request) -> Reply | bool:
        """Lets all requests pass."""
        return True

    def open(self, task: Task, rng: random.Random, session: Session) -> str:
        """Opens the address."""
        session.open(task.data["url"])
        return "look"

    def judge(self, action: Any, session: Session) -> Outcome:
        """Ends with any action."""
        return Outcome("", 0.0, done=True)

    def oracle(self) -> Any:
        """Yields nothing."""
        yield from ()


def lines(text: str) -> list[str]:
    """Returns the tree's lines without ids, addresses and options."""
    shown = [re.sub(r"^(\t*)\[\d+\] ", r"\1", line) for line in text.split("\n\n")[1].splitlines()]
    return [re.sub(r" url: \S+", "", line) for line in shown if not line.strip().startswith("option ")]


def main(python: Path) -> None:
    """Compares, and writes the table."""
    servers, browser = Servers(), find(None, own_executable())
    pages = [(f"{site}{path}", servers.origins[site] + path) for site, paths in PAGES.items() for path in paths]
    urls = [url for _, url in pages]
    env = AnyPage(urls, browser=browser, split="train")
    ours = [lines(str(env.reset(options={"task_id": f"page-{i}"})[0])) for i in range(len(urls))]
    env.close()
    process = subprocess.run([str(python), "-c", THEIRS, browser, json.dumps(urls)], stdout=subprocess.PIPE, text=True, check=True)
    theirs = [lines(json.loads(line)) for line in process.stdout.splitlines()]
    servers.close()
    rows, differing, equal, total = [], Counter[str](), 0, 0
    for (name, _), mine, upstream in zip(pages, ours, theirs, strict=True):
        same = sum(block.size for block in difflib.SequenceMatcher(None, mine, upstream, autojunk=False).get_matching_blocks())
        longest = max(len(mine), len(upstream))
        equal, total = equal + same, total + longest
        rows.append(f"| {name} | {len(mine)} | {len(upstream)} | {same} |")
        for line in difflib.ndiff(upstream, mine):
            if line[:2] in ("- ", "+ "):
                differing[f"`{line[0]} {re.sub(chr(9), '', line[2:])[:90]}`"] += 1
    table = [
        "# WebArena's observations and ours",
        "",
        "`python benchmarks/webarena_observations.py other/bin/python`",
        "",
        f"**{equal} of {total} lines are equal ({equal / total:.1%})**.",
        "",
        "Not compared: ids, the addresses of links, which browsers tell only since WebArena was made, and options, ours.",
        "",
        "| page | our lines | WebArena's | equal |",
        "|---|---|---|---|",
        *rows,
        "",
        "Lines that differ, most frequent first (`-` WebArena's, `+` ours):",
        "",
        *[f"- {line} {count}×" for line, count in differing.most_common(12)],
    ]
    RESULT.write_text("\n".join(table) + "\n", encoding="utf-8")
    typer.echo("\n".join(table))


if __name__ == "__main__":
    typer.run(main)
