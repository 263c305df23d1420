"""Shows a run while it plays.

In a terminal, two lines are redrawn: the progress, and the latest error with the time of the next
try. Elsewhere a line is printed every ten seconds. An error of a new kind is printed at once in
both.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from agentgym_envs.errors import (
    ContextExceeded,
    ConversationRefused,
    ProviderError,
    ProviderRefused,
    escaped,
)
from agentgym_envs.evaluate.budget import UsageTotals
from agentgym_envs.evaluate.prompt_limit import warning
from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.evaluate.tables import counted
from agentgym_envs.models.answers import ModelReply

EVERY = 10.0  # seconds between two lines outside a terminal
SAMPLE, MANY = 20, 0.05  # replies before a warning, and the share of cut ones that it is about
KINDS = 10  # kinds of errors that are printed; the folder has all of them
COLUMNS = (
    TextColumn("{task.description}", markup=False),
    BarColumn(bar_width=24),
    MofNCompleteColumn(),
    TimeElapsedColumn(),
    TimeRemainingColumn(),
)


class RunCounts:
    """Counts what a run does.

    Args:
        done: lines of earlier runs.
        total: episodes in all.
        used: the tokens and the cost of all runs.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        done: Sequence[EpisodeRow],
        total: int,
        used: UsageTotals,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.total, self._used, self._clock = total, used, clock
        self.done = self._solved = self._faults = self._turns = 0
        self.replies = self.cut = 0
        self._began, self._calls, self._tokens = clock(), used.calls, used.completion_tokens
        self._error, self._since = "", 0.0
        self._next: float | None = None
        for row in done:
            self.row(row)

    def row(self, row: EpisodeRow) -> None:
        """Takes a new line in."""
        if row["row"] == "fault":
            self._faults += 1
        else:
            self.done += 1
            self._solved += bool(row["success"])

    def turn(self) -> None:
        """Counts a turn."""
        self._turns += 1

    def reply(self, reply: ModelReply) -> None:
        """Counts a reply."""
        self.replies += 1
        self.cut += reply.finish == "length"

    def failure(self, error: str, wait: float | None = None) -> None:
        """Notes an error, and in how many seconds the next try follows."""
        self._error, self._since = error, self._clock()
        self._next = None if wait is None else self._since + wait

    @property
    def news(self) -> str:
        """Success so far, faults, tokens, cost, turns and calls; a narrow terminal cuts the last.

        The bounds are the success of all episodes if the others fail, and if they are solved. The
        tables have intervals, which take too long for a line that is redrawn.
        """
        parts = []
        if self.done:
            parts.append(f"success {self._solved / self.done:.2f}")
        if 0 < self.done < self.total:
            parts[0] += f" of the finished ({self._bounds} of all)"
        if self._faults:
            parts.append(counted(self._faults, "fault"))
        if self.cut:
            parts.append(f"{self.cut} of {counted(self.replies, 'reply', 'replies')} cut")
        calls = self._used.calls - self._calls
        if calls:
            parts.append(self._used.spent)
        parts.append(f"{self._turns:,} turns")
        if calls:
            rate = (self._used.completion_tokens - self._tokens) / self._seconds
            parts += [f"{calls:,} calls", f"{rate:,.1f} generated tokens/s"]
        return ", ".join(parts)

    @property
    def trouble(self) -> str:
        """The latest error, its age, and the time until the next try; empty without an error."""
        if not self._error:
            return ""
        now = self._clock()
        left = "" if self._next is None else f", next try in {max(0.0, self._next - now):.0f} s"
        return f"{now - self._since:.0f} s ago{left}: {self._error}"

    @property
    def _bounds(self) -> str:
        missing = self.total - self.done
        least, most = self._solved / self.total, (self._solved + missing) / self.total
        return f"{least:.2f}–{most:.2f}"

    @property
    def _seconds(self) -> float:
        return max(self._clock() - self._began, 1e-3)


class ErrorPrinter:
    """Prints errors of a new kind. Two errors that differ in numbers alone are of one kind.

    Args:
        console: where to.
    """

    def __init__(self, console: Console):
        self._console, self._seen = console, set[str]()

    def add(self, error: str, more: str = "", begin: str = "") -> None:
        """Prints an error between two texts, if its kind is new and not too many were printed."""
        kind, text = re.sub(r"\w*\d\w*", "#", error), begin + error + more
        if kind in self._seen or len(self._seen) > KINDS:
            return
        self._seen.add(kind)
        if len(self._seen) > KINDS:
            text = "further kinds of errors are not printed: the results folder has every fault"
        self._console.print(Text(escaped(text), style="yellow"), soft_wrap=True)


class LiveDisplay:
    """The display of a run; use it in ``async with``.

    Args:
        console: where to.
        title: the player and the target.
        state: the counts of the run.
        max_tokens: the limit of a reply.
    """

    def __init__(self, console: Console, title: str, state: RunCounts, max_tokens: int = 0):
        self._console, self._title, self.state = console, title, state
        self._most = max_tokens
        self._kinds = ErrorPrinter(console)
        self._bars = _Bars(state, title, console) if console.is_terminal else None

    async def __aenter__(self) -> Self:
        if self._bars:
            self._bars.start()
        else:
            self._lines = asyncio.create_task(self._print_lines())
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._bars:
            self._bars.stop()
        else:
            self._lines.cancel()

    def row(self, row: EpisodeRow) -> None:
        """Takes a new line in."""
        self.state.row(row)
        if limit := row.get("prompt_limit"):
            self._kinds.add(warning(limit))
        if row["row"] == "fault" and row["fault"] != "provider":  # those were seen by ``failure``
            self.state.failure(row["error"])
            self._kinds.add(row["error"], f" (task {row['task_id']}, try {row['try']})")

    def reply(self, reply: ModelReply) -> None:
        """Takes a reply in; warns once if many reach the limit of tokens."""
        state = self.state
        state.reply(reply)
        if state.replies >= SAMPLE and state.cut > MANY * state.replies:
            of = f"{state.cut} of {counted(state.replies, 'reply', 'replies')}"
            remedy = "they are played as they are; reasoning counts towards the limit: raise it"
            self._kinds.add(f"{of} reached --max-tokens {self._most}: {remedy}")

    def failure(self, error: ProviderError, wait: float | None) -> None:
        """Takes a failed request in."""
        self.state.failure(str(error), wait)
        if isinstance(error, ProviderRefused | ConversationRefused | ContextExceeded):
            return  # ends the run or one episode, whose line has it
        again = "" if wait is None else f"; the next try follows in {wait:.1f} s"
        self._kinds.add(str(error), again)

    async def _print_lines(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            trouble = self.state.trouble
            parts = (f"{self._title}: {self.state.done}/{self.state.total}", self.state.news)
            text = ", ".join(parts) + (f"; latest error {trouble}" if trouble else "")
            self._console.print(Text(text), soft_wrap=True)


class _Bars(Progress):
    """The redrawn lines."""

    def __init__(self, state: RunCounts, title: str, console: Console):
        self._state = state
        super().__init__(*COLUMNS, console=console, transient=True)
        self.add_task(title, total=state.total)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Returns the bar, the counts and the latest error."""
        for task in self.tasks:
            self.update(task.id, completed=self._state.done)
        yield self.make_tasks_table(self.tasks)
        yield Text(self._state.news, no_wrap=True, overflow="ellipsis")
        if trouble := self._state.trouble:
            yield Text(trouble, style="yellow", no_wrap=True, overflow="ellipsis")
