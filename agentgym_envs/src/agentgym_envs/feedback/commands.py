"""``agentgym compare`` and ``agentgym export``."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from agentgym_envs.errors import ArgumentError, UnknownName
from agentgym_envs.files import replacing
from agentgym_envs.lines import JsonRow
from agentgym_envs.terminal import CommandConsole

if TYPE_CHECKING:
    from agentgym_envs.feedback.session import JudgingSession

if TYPE_CHECKING:
    pass

Folders = Annotated[
    list[Path],
    typer.Argument(help="One or two results of agentgym eval or runs of agentgym-train."),
]
out = CommandConsole(markup=False, emoji=False, highlight=False)
err = CommandConsole(stderr=True, markup=False, emoji=False, highlight=False)


def compare(
    folders: Folders,
    file: Annotated[
        Path, typer.Option("--out", help="The file of comparisons; new ones are appended.")
    ] = Path("comparisons.jsonl"),
    annotator: Annotated[
        str, typer.Option(help="The annotator's name; default: the page asks.")
    ] = "",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The page's port; 0 takes any free port.")
    ] = 0,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Compare in the terminal, without a page.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Decides which episode is on the left.")] = 0,
) -> None:
    """Asks people which of two episodes of the same task is better.

    The episodes come from two runs, or from one run with several attempts per task.
    """
    from agentgym_envs.feedback.record import ComparisonFile
    from agentgym_envs.feedback.session import JudgingSession

    pairs = _pairs(folders)
    opened = ComparisonFile(file)
    try:
        if opened.cut:
            err.print(
                f"warning: {file} ended in half a line, which is dropped",
                style="yellow",
                soft_wrap=True,
            )
        session = JudgingSession(pairs, opened, seed=seed)
        (_in_terminal if terminal else partial(_in_browser, port=port))(session, annotator)
        out.print(f"{file}: {session.agreement()}", soft_wrap=True)
    finally:
        opened.close()


def export(
    file: Annotated[Path, typer.Argument(help="Comparisons.")],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="A JSONL file; an existing one is replaced.")
    ],
    form: Annotated[str, typer.Option("--to", help="rewards, dpo or kto.")] = "rewards",
) -> None:
    """Writes comparisons in the form of TRL's RewardTrainer, DPOTrainer or KTOTrainer."""
    from agentgym_envs.feedback import record
    from agentgym_envs.feedback.export import FORMS, exported, written

    if file.exists() and target.resolve().exists() and target.resolve().samefile(file):
        raise ArgumentError(
            f"{target} is the file of the comparisons itself, which would be lost: name another one"
            " to write"
        )
    if form not in FORMS:
        raise UnknownName("form", form, FORMS)
    rows, left_out = exported(record.standing(record.read(file)[0]), form)
    if not rows:
        raise ArgumentError(f"{file} has no comparison for --to {form}{_why(left_out)}")
    verb = "replaced" if target.is_file() else "wrote"
    _write(target, written(rows))
    out.print(f"{verb} {target}: {len(rows)} rows{_why(left_out)}", soft_wrap=True)


def _write(target: Path, text: str) -> None:
    """Writes a file atomically, or directly into a pipe such as /dev/stdout.

    Raises:
        ArgumentError: the file cannot be written; an existing file stays unchanged.
    """
    path = target.resolve()  # keeps a symbolic link
    piped = target.exists() and not path.is_file()
    try:
        with target.open("w", encoding="utf-8", newline="\n") if piped else replacing(path) as file:
            file.write(text)
    except OSError as error:
        raise ArgumentError(f"cannot write {target}: {error.strerror}") from error


def _why(left_out: Mapping[str, int]) -> str:
    return "".join(f"; left out, as {reason}: {count}" for reason, count in left_out.items())


def _pairs(folders: list[Path]) -> list[JsonRow]:
    """Returns the pairs of episodes of result folders.

    Raises:
        ArgumentError: more than two runs, or no pair.
    """
    from agentgym_envs.evaluate import record
    from agentgym_envs.evaluate.folders import expanded, named
    from agentgym_envs.feedback.pairs import instructions, pairs

    found = expanded(folders)
    if len(found) > 2:
        names = ", ".join(str(folder) for folder in found)
        raise ArgumentError(
            f"two runs can be compared, and these are {len(found)}: {names}. Name two of them"
        )
    runs = [
        (name, record.read(folder)[0]) for name, folder in zip(named(found), found, strict=True)
    ]
    kwargs = record.read_settings(found[0]).get("kwargs", {})
    made = pairs(runs, lambda env_id: instructions(env_id, kwargs))
    if not made:
        what = (
            "the two runs share no task and attempt"
            if len(runs) == 2
            else f"{found[0]} has no second attempt at any task"
        )
        raise ArgumentError(f"there is nothing to compare: {what}, or all of them went alike")
    return made


def _in_browser(session: "JudgingSession", annotator: str, *, port: int) -> None:
    from agentgym_envs.feedback.server import JudgingServer

    with JudgingServer(session, port=port) as server:
        out.print(f"{len(session.pairs)} pairs: {server.address(annotator)}", soft_wrap=True)
        out.print("Ctrl-C ends it; finished judgements are saved.", style="dim")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            out.print()


def _in_terminal(session: "JudgingSession", annotator: str) -> None:
    from agentgym_envs.feedback.terminal import compare as ask

    try:
        ask(session, annotator or input("Your name: "), console=Console(), ask=input)
    except (KeyboardInterrupt, EOFError):
        out.print()
