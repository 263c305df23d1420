"""Comparison in the terminal: two columns, and a letter per choice."""

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from agentgym_envs.feedback.session import Choice, JudgingProgress, JudgingQuestion, JudgingSession

LETTERS: dict[str, Choice] = {"a": "left", "b": "right", "t": "tie", "n": "neither"}
KEYS = (
    "a, b: this one is better   t: equally good   n: neither is good   u: undo   q: stop   a word"
    " after a letter is a comment"
)


def compare(
    session: JudgingSession, annotator: str, *, console: Console, ask: Callable[[str], str]
) -> None:
    """Asks until all pairs are judged, or until the annotator stops.

    Args:
        session: the pairs to judge.
        annotator: the annotator's name.
        console: the output.
        ask: returns a line for a prompt; EOFError stops.

    Raises:
        ArgumentError: an invalid name.
    """
    state, shown = session.state(annotator), None
    while question := state.question:
        if question != shown:
            _show(console, state, question)
            shown = question
        try:
            letter, _, comment = ask("a b t n u q > ").strip().partition(" ")
        except EOFError:
            return
        if letter == "q":
            return
        if letter == "u":
            state, shown = session.undo(annotator), None
        elif letter in LETTERS:
            state = session.judge(
                annotator, question.number, LETTERS[letter], comment.strip() or question.comment
            )
        else:
            console.print(Text(KEYS, style="dim"))


def _show(console: Console, state: JudgingProgress, question: JudgingQuestion) -> None:
    console.rule(
        _text(f"{state.done + 1} of {state.total} · {question.env_id} · {question.task_id}")
    )
    if state.done == 0:
        console.print(_text(question.instructions, "dim"))
    table = Table("A", "B", box=box.SIMPLE_HEAD, show_lines=True, expand=True)
    for column in table.columns:
        column.ratio, column.overflow = 1, "fold"
    left, right = (_cells(side) for side in (question.left, question.right))
    for row in zip_longest(left, right, fillvalue=Text("over", style="dim")):
        table.add_row(*row)
    console.print(table)
    console.print(Text(KEYS, style="dim"))
    if question.choice:
        console.print(_text(f"before: {question.choice} {question.comment}".rstrip(), "yellow"))


def _cells(side: dict[str, Any]) -> list[Group]:
    """Returns the turns and the end of an episode.

    Its texts are never markup, and control characters are replaced.
    """
    cells = [_turn(number, turn) for number, turn in enumerate(side["turns"], 1)]
    return [*cells, Group(Text(f"End: {side['end']}", style="bold"), _text(side["last"]))]


def _turn(number: int, turn: dict[str, Any]) -> Group:
    who = f" {turn['seat']}" if "seat" in turn else ""
    bad = " (invalid)" if turn["invalid"] else ""
    said = [] if turn["response"] == turn["action"] else [_text(turn["response"], "italic")]
    head = _text(f"Turn {number}{who}{bad}", "dim")
    return Group(head, _text(turn["observation"]), *said, _text(f"> {turn['action']}", "bold"))


def _text(text: str, style: str = "") -> Text:
    kept = "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
    return Text(kept, style=style)
