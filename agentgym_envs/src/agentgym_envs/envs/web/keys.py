"""The keys of a US keyboard, in the form of DevTools commands."""

from collections.abc import Iterator
from typing import Any

# Code, key code, the character alone and with Shift.
_MARKS = (
    ("Space", 32, " ", " "),
    ("Backquote", 192, "`", "~"),
    ("Minus", 189, "-", "_"),
    ("Equal", 187, "=", "+"),
    ("BracketLeft", 219, "[", "{"),
    ("BracketRight", 221, "]", "}"),
    ("Backslash", 220, "\\", "|"),
    ("Semicolon", 186, ";", ":"),
    ("Quote", 222, "'", '"'),
    ("Comma", 188, ",", "<"),
    ("Period", 190, ".", ">"),
    ("Slash", 191, "/", "?"),
    ("Enter", 13, "\n", "\n"),
    *((f"Digit{digit}", 48 + digit, str(digit), mark) for digit, mark in enumerate(")!@#$%^&*(")),
    *(
        (f"Key{letter}", ord(letter), letter.lower(), letter)
        for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    ),
)
_KEYS = {
    character: (code, number) for code, number, *characters in _MARKS for character in characters
}
ENTER = "\n"


def strokes(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the commands that type a text: a method and its parameters.

    Characters without a key are inserted as text.
    """
    for character in text.replace("\r\n", ENTER):
        if character not in _KEYS:
            yield "Input.insertText", {"text": character}
            continue
        code, number = _KEYS[character]
        key, written = ("Enter", "\r") if character == ENTER else (character, character)
        names = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        yield (
            "Input.dispatchKeyEvent",
            {"type": "keyDown", "text": written, "unmodifiedText": written, **names},
        )
        yield "Input.dispatchKeyEvent", {"type": "keyUp", **names}
