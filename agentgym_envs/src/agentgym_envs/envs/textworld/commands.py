r"""Decides which actions reach the interpreter.

Three kinds of actions must not reach it:

- Backslashes: the interpreter (dumb frotz) reads them as its commands and keys. A line that starts
  with ``\help`` or ``\boxed`` never returns and prints to the terminal.
- Commas: the game's parser reads them as an order ("me, save"), which can save, quit and write
  files.
- TextWorld's commands: each game contains commands that print the whole world.
"""

import re

from agentgym_envs.core import command

INPUT_LIMIT = 100
"""Maximum characters of a command that a Z-machine game reads."""
META = frozenset(
    [
        "quit",
        "q",
        "restart",
        "restore",
        "save",
        "undo",
        "script",
        "unscript",
        "record",
        "replay",
        "verify",
        "version",
        "notify",
        "enable",
        "disable",
        "restrict",
    ]
)
"""First words of commands that save, quit or rewind, write files, or switch TextWorld's options."""
# The Z-machine's dictionary compares the first nine letters only.
_META_PREFIXES = ("transcrip", "print_st", "tw-", "@", "*")
_UNREADABLE = re.compile(r"[\\\"\x00-\x1f\x7f]")
_SEVERAL = re.compile(r"[.,;]|\bthen\b", re.IGNORECASE)


def normalized(action: str) -> str:
    """Returns an action as one line of ASCII without a full stop at its end.

    >>> normalized(" open  the door. ")
    'open the door'
    """
    return command(action[: 4 * INPUT_LIMIT].encode("ascii", "ignore").decode())


def is_meta(command: str) -> bool:
    """Returns whether a command is for the interpreter or TextWorld's bookkeeping, not the game."""
    word = command.lower().partition(" ")[0]
    return word in META or word.startswith(_META_PREFIXES)


def is_readable(command: str) -> bool:
    """Returns whether the interpreter can safely read a normalized command."""
    return (
        bool(command)
        and len(command) <= INPUT_LIMIT
        and not _UNREADABLE.search(command)
        and not is_meta(command)
    )


def is_single(command: str) -> bool:
    """Returns whether a text is one command, without a second command and without an order."""
    return not _SEVERAL.search(command)
