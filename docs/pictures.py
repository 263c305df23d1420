"""Pictures of the documentation.

    python docs/pictures.py

The script draws the plots from the JSON files beside them, and takes screenshots of pages. It needs
the extras ``web`` and ``tensorboard``, and Chromium. ``--run runs/quickstart`` first reads the
metrics of a new run of the quickstart.

A plot and a page of this project have a version for dark pages, ``NAME-dark``. For the web
environments, the oracle plays the first turns of a task, and the picture shows the page that an
agent sees then.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import islice, product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

DOCS = Path(__file__).parent
STATIC, IMAGES = DOCS / "_static", DOCS / "images"
BENCHMARKS = DOCS.parent / "benchmarks"
SITES, MINIWOB = "agentgym/WebSites-v1", "agentgym/MiniWoB-v1"
WIDTH = 960
"""Pixels of a picture of a whole window; a MiniWoB page is smaller and keeps its size."""
MINIWOB_PAGE = (0, 0, 160, 210)
KEPT = ("horizon", "success", "return", "turns", "invalid", "entropy", "kl", "grad_norm", "tokens")
"""The metrics of the quickstart in ``images/quickstart.json``."""
SETTLED = 1_000
"""Milliseconds until a page has drawn what it shows."""
SHOWN = re.compile(
    r'<picture>\s*<source media="[^"]+" srcset="([^"]+)">\s*'
    r'<img alt="([^"]+)" src="([^"]+)" width="(\d+)">\s*</picture>'
)
"""A picture in Markdown, with its version for dark pages."""


class Picture(NamedTuple):
    """A page of a web environment.

    Attributes:
        env_id: the environment.
        task_id: the task.
        turns: number of the oracle's actions before the picture.
        caption: the text below the picture.
    """

    env_id: str
    task_id: str
    turns: int
    caption: str

    @property
    def file(self) -> Path:
        """The file of the picture."""
        return STATIC / f"{self.task_id}.webp"


PICTURES = (
    Picture(SITES, "shop-07-0", 2, "Shop: the products of a category"),
    Picture(SITES, "admin-12-0", 11, "Admin of the shop: a sales report"),
    Picture(SITES, "forum-05-0", 0, "Forum: the front page"),
    Picture(SITES, "code-05-0", 2, "Code host: a project"),
    Picture(SITES, "map-12-0", 9, "Map: directions between two places"),
    Picture(MINIWOB, "book-flight-91", 1, "`book-flight`"),
    Picture(MINIWOB, "choose-date-91", 1, "`choose-date`"),
    Picture(MINIWOB, "email-inbox-91", 0, "`email-inbox`"),
    Picture(MINIWOB, "terminal-91", 1, "`terminal`"),
)

HEAD = """\
The pictures show the page after some actions of the oracle, as `observation="screenshot"` does.
`python docs/pictures.py` takes them."""


def section(env_ids: Sequence[str]) -> str:
    """Returns the section "Pictures" of the page of environments; empty without pictures."""
    figures = [
        f":::{{figure}} ../_static/{picture.file.name}\n:alt: {picture.caption.strip('`')}\n\n"
        f"{picture.caption}\n:::"
        for picture in PICTURES
        if picture.env_id in env_ids
    ]
    return "\n\n".join(["## Pictures", HEAD, *figures]) + "\n" if figures else ""


def placed(text: str, source: Path, page: Path) -> str:
    """Returns Markdown whose ``<picture>`` elements are a light and a dark image of the site.

    A browser chooses the source of a ``<picture>`` by its own setting, but a reader of the site can
    choose dark pages there.

    Args:
        text: the Markdown.
        source: the folder to which its paths are relative.
        page: the folder of its place in the site.
    """

    def images(found: re.Match[str]) -> str:
        dark, alt, light, width = found.groups()
        return "\n\n".join(
            f":::{{image}} {os.path.relpath(source / file, page)}\n:alt: {alt}\n"
            f":class: only-{scheme}\n:width: {width}px\n:::"
            for scheme, file in (("light", light), ("dark", dark))
        )

    return SHOWN.sub(images, text)


def draw_plots(run: Path | None) -> None:
    """Draws the plots of the quickstart and of the benchmarks.

    Args:
        run: the folder of a run of the quickstart whose metrics replace the stored ones.
    """
    sys.path.insert(0, str(BENCHMARKS))
    import compare_report
    import horizons

    from agentgym_train.reporting import metrics, plots, report

    stored = IMAGES / "quickstart.json"
    if run is not None:
        rows = metrics.read(run / "metrics.jsonl")
        kept = [{"step": r["step"], **{key: round(r[key], 4) for key in KEPT}} for r in rows]
        lines = ",\n".join(map(json.dumps, kept))
        evaluation = json.dumps(json.loads((run / "evaluation.json").read_text()))
        stored.write_text(f'{{"metrics": [\n{lines}\n],\n"evaluation": {evaluation}}}\n')
    curve = json.loads(stored.read_text())
    plots.save_both(stored.with_suffix(".png"), lambda: report.draw_curve(**curve))
    for data in sorted((BENCHMARKS / "results").glob("*.json")):
        if data == horizons.RESULT.with_suffix(".json"):
            horizons.draw_pictures(json.loads(data.read_text()))
        elif data.with_suffix(".png").exists():
            compare_report.draw_pictures(data.with_suffix(""), json.loads(data.read_text()))


def take_environments() -> None:
    """Takes the pages of the web environments."""
    from agentgym_envs import registry

    STATIC.mkdir(exist_ok=True)
    for env_id in (SITES, MINIWOB):
        env = registry.make(env_id, render_mode="rgb_array", max_episode_steps=-1)
        for picture in PICTURES:
            if picture.env_id == env_id:
                take(env, picture)
        env.close()


def take(env: Any, picture: Picture) -> None:
    """Plays up to a picture's page and writes the picture."""
    from PIL import Image

    env.reset(options={"task_id": picture.task_id})
    for action in islice(env.unwrapped.oracle(), picture.turns):
        env.step(action)
    page = Image.fromarray(env.render())
    if picture.env_id == MINIWOB:
        page = page.crop(MINIWOB_PAGE)
    page.thumbnail((WIDTH, WIDTH))
    page.save(picture.file, quality=80, method=6)


def take_reports(work: Path) -> None:
    """Takes the page of ``agentgym report``, and that of ``agentgym view``."""
    results = [str(work / "results" / agent) for agent in ("random", "oracle")]
    for folder in results:
        agent = Path(folder).name
        options = ["--episodes", "20", "--attempts", "2", "--out", folder]
        call("eval", "agentgym/TextCraft-v2", "--agent", agent, *options)
    call("report", *results, "--html", str(work / "report.html"))
    shoot((work / "report.html").as_uri(), Shot("report", height=820))
    with started("agentgym_envs.cli", "view", str(work / "results")) as address:
        listed = Shot("view", height=640, show=show_list)
        shoot(address, listed, Shot("episode", height=640, show=show_episode))


def show_list(page: Any) -> None:
    """Scrolls to the list of episodes."""
    page.locator("#filters").evaluate("form => form.parentElement.scrollIntoView()")


def show_episode(page: Any) -> None:
    """Opens the newest solved episode and scrolls to its second turn."""
    page.locator("#rows .entry", has_text="solved").first.click()
    page.locator(".turn").nth(1).evaluate("turn => turn.scrollIntoView({block: 'center'})")


def take_tensorboard(work: Path) -> None:
    """Takes TensorBoard's page of the quickstart."""
    from agentgym_train.trackers.tensorboard import TensorBoard

    tracker = TensorBoard(TensorBoard.Options(), {}, work / "runs/quickstart")
    for row in json.loads((IMAGES / "quickstart.json").read_text())["metrics"]:
        tracker.log(row["step"], row, [])
    tracker.finish()
    with started("tensorboard.main", "--logdir", str(work / "runs"), "--port", "0") as address:
        cards = Shot("tensorboard", height=640, width=760, part=".main", show=show_cards)
        shoot(f"{address}?tagFilter=^(success|turns)$", cards)


def show_cards(page: Any) -> None:
    """Closes TensorBoard's settings."""
    page.get_by_label("Toggle settings side pane").evaluate("button => button.click()")


def call(*arguments: str) -> None:
    """Runs a command of ``agentgym``."""
    command = [sys.executable, "-m", "agentgym_envs.cli", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def started(module: str, *arguments: str) -> Iterator[str]:
    """Runs a server until the end of the block; gives the address that it prints."""
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield next(filter(None, (re.search(r"http://\S+", line) for line in server.stdout)))[0]
        finally:
            server.terminate()


class Shot(NamedTuple):
    """A screenshot of a page.

    Attributes:
        name: the picture's name, without its folder and ending.
        height: height of the window in CSS pixels.
        width: width of the window. The pages of this project are shown as wide as a plot.
        part: the part of the window to show, as a selector.
        show: brings Playwright's page to what it shows.
    """

    name: str
    height: int
    width: int = 560
    part: str | None = None
    show: Callable[[Any], None] = lambda page: None


def shoot(address: str, *shots: Shot) -> None:
    """Takes screenshots of a page, light and dark."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    from agentgym_envs.envs.web.chromium import find

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        browser = playwright.chromium.launch(executable_path=find(None, own))
        for shot, (scheme, end) in product(shots, (("light", ""), ("dark", "-dark"))):
            page = browser.new_page(
                viewport={"width": shot.width, "height": shot.height},
                device_scale_factor=2,
                color_scheme=scheme,
            )
            page.goto(address)
            page.wait_for_load_state("networkidle")
            shot.show(page)
            page.wait_for_timeout(SETTLED)
            taken = page.locator(shot.part).screenshot() if shot.part else page.screenshot()
            with Image.open(BytesIO(taken)) as image:
                image.save(IMAGES / f"{shot.name}{end}.webp", quality=80, method=6)
            page.close()
        browser.close()


def main(run: Annotated[Path | None, typer.Option()] = None) -> None:
    """Draws and takes all pictures."""
    draw_plots(run)
    take_environments()
    with tempfile.TemporaryDirectory() as work:
        take_reports(Path(work))
        take_tensorboard(Path(work))


if __name__ == "__main__":
    typer.run(main)
