"""``agentgym view``: a page that follows evaluations, served to browsers on this machine."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from agentgym_envs.errors import ArgumentError
from agentgym_envs.pages.server import LocalHandler, LocalServer
from agentgym_envs.report.following import FollowedRuns
from agentgym_envs.report.html import PLACE, SERVED, page
from agentgym_envs.terminal import CommandConsole

out = CommandConsole(markup=False, emoji=False, highlight=False)
err = CommandConsole(stderr=True, markup=False, emoji=False, highlight=False)


def view(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Results of agentgym eval, folders of them, or agentgym-train runs."),
    ],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The page's port; 0 takes any free port.")
    ] = 0,
) -> None:
    """Serves a page that follows evaluations in your browser until Ctrl-C."""
    following = FollowedRuns(folders)
    for problem in following.broken + following.waiting:
        err.print(f"warning: {problem}", style="yellow", soft_wrap=True)
    with ViewServer(following, port=port) as server:
        out.print(f"the page: {server.address()}", soft_wrap=True)
        out.print("Ctrl-C ends it; evaluations go on.", style="dim")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            out.print()


class ViewServer(LocalServer):
    """Serves runs until it is shut down.

    Args:
        following: the runs.
        port: the port to listen on; 0 for any free port.

    Raises:
        ArgumentError: the port is not available.
    """

    def __init__(self, following: FollowedRuns, *, port: int = 0):
        content = page(SERVED, connect_src="'self'").replace(PLACE, "")
        super().__init__(_ViewHandler, content, port=port)
        self._following, self._lock = following, threading.Lock()

    def ask(self, question: Callable[[FollowedRuns], Any]) -> Any:
        """Calls the runs, one request at a time."""
        with self._lock:
            return question(self._following)


class _ViewHandler(LocalHandler):
    server: ViewServer

    def get(self, place: str) -> None:
        """Answers with news, the texts of an episode, or the numbers of found episodes."""
        if place not in QUESTIONS:
            super().get(place)
            return
        self.answer(lambda: self.server.ask(lambda runs: QUESTIONS[place](runs, self)))

    def number(self, name: str) -> int:
        """Returns an integer of the query.

        Raises:
            ArgumentError: it is none.
        """
        try:
            return int(self.given(name))
        except ValueError:
            raise ArgumentError(f"{name}={self.given(name)!r}: must be an integer") from None


QUESTIONS: dict[str, Callable[[FollowedRuns, _ViewHandler], Any]] = {
    "news": lambda runs, ask: runs.news(
        ask.number("version"), ask.number("start"), ask.number("shown")
    ),
    "episode": lambda runs, ask: runs.texts(ask.number("number")),
    "search": lambda runs, ask: runs.search(ask.given("text"), ask.number("start")),
}
