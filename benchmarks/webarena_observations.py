"""Compares our observations with those of WebArena's code, line by line.

    python -m venv other && other/bin/python -m pip install --no-deps libwebarena==0.0.5
    other/bin/python -m pip install numpy gymnasium playwright Pillow requests beartype==0.12
    python benchmarks/webarena_observations.py other/bin/python

Both sides show the same pages in the same browser, in a view of 1280 × 720 pixels. The pages are
one of each kind of our sites, found by following links as a signed-in user, and the hand-written
pages of ``observation_pages.py``. The comparison leaves out:

- ids;
- the addresses of links, which browsers add only since WebArena was made;
- options of drop-down lists, and values of sliders and date fields, which only our side shows.

Writes ``benchmarks/results/webarena_observations.md``.
"""

import difflib
import html
import json
import random
import re
import subprocess
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import long_tables
import typer
from observation_pages import PAGES, serve
from werkzeug.exceptions import HTTPException

from agentgym_envs.core import Outcome
from agentgym_envs.envs.web.chromium import find, own_executable
from agentgym_envs.envs.web.env import WebEnv
from agentgym_envs.envs.web.proxy import ProxyReply, ProxyRequest
from agentgym_envs.envs.web.session import BrowserSession
from agentgym_envs.tasks import Task, TaskSet
from agentgym_websites.host import SITES, Servers, application
from agentgym_websites.site import signed_in

RESULT = Path(__file__).parent / "results" / "webarena_observations.md"
MOST = 20  # maximum kinds of pages per site
THEIRS = """
import importlib.util, json, os, sys, types
from pathlib import Path
folder = Path(importlib.util.find_spec("webarena").submodule_search_locations[0])
# without their __init__, which would need more packages
for name in ("webarena", "webarena.browser_env"):
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
        context = browser.new_context(viewport=size, locale="en-US", timezone_id="UTC")
        context.add_cookies(json.loads(sys.argv[3]))
        page = context.new_page()
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
    """Shows addresses of this machine."""

    def __init__(self, urls: list[str], cookies: list[dict[str, Any]], **kwargs: Any):
        self._urls, self._cookies = urls, cookies
        super().__init__(viewport=True, max_length=10**6, **kwargs)

    def make_tasks(self) -> TaskSet:
        """Returns one task per address."""
        return TaskSet(
            Task(id=f"page-{i}", split="train", data={"url": url})
            for i, url in enumerate(self._urls)
        )

    def serve(self, request: ProxyRequest) -> ProxyReply | bool:
        """Allows all requests."""
        return True

    def open(self, task: Task, rng: random.Random, session: BrowserSession) -> str:
        """Opens the address, signed in."""
        session.add_cookies(self._cookies)
        session.open(task.data["url"])
        return "look"

    def judge(self, action: Any, session: BrowserSession) -> Outcome:
        """Ends with any action."""
        return Outcome("", 0.0, done=True)

    def oracle(self) -> Any:
        """Yields nothing."""
        yield from ()


def crawl(servers: Servers, cookies: list[dict[str, Any]]) -> dict[str, str]:
    """Returns one address per kind of page, by name, in the order of a breadth-first search."""
    found: dict[str, str] = {}
    for site, origin in servers.origins.items():
        routes = application(site).url_map.bind("")
        signed = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in cookies)
        paths, seen = ["/"], set()
        while paths and len(seen) < MOST:
            path = paths.pop(0)
            try:
                kind = routes.match(urlsplit(path).path)[0]
            except HTTPException:
                continue
            if kind in seen:
                continue
            request = urllib.request.Request(origin + path, headers={"Cookie": signed})
            with urllib.request.urlopen(request) as answer:
                page = answer.read().decode()
                if (
                    not answer.headers["Content-Type"].startswith("text/html")
                    or answer.url != origin + path
                ):
                    continue
            seen.add(kind)
            found[f"{site}{path}"] = origin + path
            paths += [html.unescape(link) for link in re.findall(r'href="(/[^"#]*)"', page)]
    return found


def lines(text: str) -> list[str]:
    """Returns the tree's lines without ids, addresses, options and values."""
    shown = [re.sub(r"^(\t*)\[\d+\] ", r"\1", line) for line in text.split("\n\n")[1].splitlines()]
    plain = [
        re.sub(r" url: \S+", "", line) for line in shown if not line.strip().startswith("option ")
    ]
    return [re.sub(r" value: .*", "", line) for line in plain]


def compare(
    name: str, mine: list[str], theirs: list[str], differing: Counter[str]
) -> tuple[str, int, int]:
    """Compares the lines of a page.

    Args:
        name: name of the page.
        mine: our lines.
        theirs: WebArena's lines.
        differing: counts the lines that differ.

    Returns:
        The table row, the number of equal lines, and the number of lines of the longer side.
    """
    same = sum(
        block.size
        for block in difflib.SequenceMatcher(
            None, mine, theirs, autojunk=False
        ).get_matching_blocks()
    )
    for line in difflib.ndiff(theirs, mine):
        if line[:2] in ("- ", "+ "):
            differing[f"`{line[0]} {re.sub(chr(9), '', line[2:])[:90]}` ({name})"] += 1
    return f"| {name} | {len(mine)} | {len(theirs)} | {same} |", same, max(len(mine), len(theirs))


def shown(cells: list[str]) -> bool:
    """Returns whether the page shows a row: pages that differ, and lines that differ twice."""
    return cells[0] != "1" if len(cells) == 2 else len(set(cells[1:])) > 1


def observe(
    python: Path, urls: list[str], cookies: list[dict[str, Any]]
) -> tuple[list[list[str]], list[list[str]]]:
    """Returns our lines and WebArena's lines, one list per address."""
    browser = find(None, own_executable())
    env = AnyPage(urls, cookies, browser=browser, split="train")
    ours = [lines(str(env.reset(options={"task_id": f"page-{i}"})[0])) for i in range(len(urls))]
    env.close()
    command = [str(python), "-c", THEIRS, browser, json.dumps(urls), json.dumps(cookies)]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return ours, [lines(json.loads(line)) for line in process.stdout.splitlines()]


def main(python: Path) -> None:
    """Compares the observations and writes the table."""
    servers, own = Servers(), serve()
    cookies = [
        {
            "name": f"session_{name}",
            "value": signed_in(application(name), site.user),
            "url": servers.origins[name],
        }
        for name, site in SITES.items()
    ]
    of_sites = crawl(servers, cookies)
    written = {
        f"hand-written: {name}": f"http://127.0.0.1:{own.server_port}/{name}" for name in PAGES
    }
    pages = of_sites | written
    ours, theirs = observe(python, list(pages.values()), cookies)
    servers.close()
    own.shutdown()
    differing = Counter[str]()
    rows = [
        compare(name, mine, other, differing)
        for name, mine, other in zip(pages, ours, theirs, strict=True)
    ]
    parts = {
        "our sites, signed in": rows[: len(of_sites)],
        "hand-written": rows[len(of_sites) :],
        "all": rows,
    }
    sums = {
        name: (len(part), sum(row[1] for row in part), sum(row[2] for row in part))
        for name, part in parts.items()
    }
    table = [
        "# WebArena's observations and ours",
        "",
        "`python benchmarks/webarena_observations.py other/bin/python`",
        "",
        "| pages | number | lines | equal |",
        "|---|---|---|---|",
        *[
            f"| {name} | {number} | {total} | **{equal / total:.1%}** ({equal}) |"
            for name, (number, equal, total) in sums.items()
        ],
        "",
        (
            "Not compared: ids; the addresses of links, which browsers add only since WebArena was"
            " made; options, values."
        ),
        "",
        (
            "Reasons of the differences below. WebArena leaves out a text that occurs anywhere in"
            " the three lines above, also in an id"
        ),
        (
            "or an address. Ours looks at roles, names and properties, and always shows what a"
            " field holds. WebArena shows images"
        ),
        "without a name, since browsers renamed their role, and a narrow blank as a text.",
        "",
        "| page | our lines | WebArena's | equal |",
        "|---|---|---|---|",
        *[row[0] for row in rows],
        "",
        "All lines that differ (`-` WebArena's, `+` ours):",
        "",
        "| number | line |",
        "|---|---|",
        *[f"| {count} | {line} |" for line, count in differing.most_common()],
    ]
    typer.echo(long_tables.write(RESULT, "\n".join(table), shown))


if __name__ == "__main__":
    typer.run(main)
