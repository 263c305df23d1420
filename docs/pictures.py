"""Pictures of the web environments for the documentation.

    python docs/pictures.py

The oracle plays the first turns of a task. The picture shows the page that an agent sees then.
The script needs the extra ``web`` and Chromium. It writes WebP files into ``docs/_static``.
"""

from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

STATIC = Path(__file__).parent / "_static"
SITES, MINIWOB = "agentgym/WebSites-v1", "agentgym/MiniWoB-v1"
WIDTH = 960
"""Pixels of a picture of a whole window; a MiniWoB page is smaller and keeps its size."""
MINIWOB_PAGE = (0, 0, 160, 210)


class Picture(NamedTuple):
    """A page to show.

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


def section() -> str:
    """Returns the section "Pictures" of the web environments' page."""
    figures = [
        f":::{{figure}} ../_static/{picture.file.name}\n:alt: {picture.caption.strip('`')}\n\n"
        f"{picture.caption}\n:::"
        for picture in PICTURES
    ]
    return "\n\n".join(["## Pictures", HEAD, *figures]) + "\n"


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


def main() -> None:
    """Takes all pictures."""
    from agentgym_envs import registry

    STATIC.mkdir(exist_ok=True)
    for env_id in (SITES, MINIWOB):
        env = registry.make(env_id, render_mode="rgb_array", max_episode_steps=-1)
        for picture in PICTURES:
            if picture.env_id == env_id:
                take(env, picture)
        env.close()


if __name__ == "__main__":
    main()
