r"""Decides which actions reach the interpreter.

The interpreter (dumb frotz) reads backslashes as commands and keys of its own: a line that starts with ``\help`` or ``\boxed``
never returns and prints to the terminal. The game's parser reads a comma as an order ("me, save"), which also saves, quits and
writes files. TextWorld compiles commands into its games that print the whole world.
"""

import re

from agentgym_envs.core import command

INPUT_LIMIT = 100
"""Characters of a command that a Z-machine game reads."""
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
"""First words of commands that save, quit or rewind the interpreter, write files, or switch TextWorld's own options."""
_META_PREFIXES = ("transcrip", "print_st", "tw-", "@", "*")  # the Z-machine's dictionary compares the first nine letters only
_UNREADABLE = re.compile(r"[\\\"\x00-\x1f\x7f]")
_SEVERAL = re.compile(r"[.,;]|\bthen\b", re.IGNORECASE)


def normalized(action: str) -> str:
    """Returns an action as one line of ASCII without a full stop at its end."""
    return command(action[: 4 * INPUT_LIMIT].encode("ascii", "ignore").decode())


def is_meta(command: str) -> bool:
    """Says whether a command is for the interpreter or for TextWorld's bookkeeping rather than for the game."""
    word = command.lower().partition(" ")[0]
    return word in META or word.startswith(_META_PREFIXES)


def is_readable(command: str) -> bool:
    """Says whether a normalized command may reach the interpreter."""
    return bool(command) and len(command) <= INPUT_LIMIT and not _UNREADABLE.search(command) and not is_meta(command)


def is_single(command: str) -> bool:
    """Says whether a command holds no second one, and no order to somebody."""
    return not _SEVERAL.search(command)
