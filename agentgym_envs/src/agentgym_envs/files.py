"""Files that are replaced in one step."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Opens a draft of a UTF-8 text file. The draft replaces the file at the end of the block.

    Other processes see the old file or the whole new one. After an exception the old file stays
    and the draft is removed. A killed process can leave a draft: its name begins with a dot and the
    name of the file. Several processes can write at once, because each draft has a unique name.

    A link stays: its target is replaced. A device or a pipe, such as ``/dev/null``, is written to.

    Args:
        path: the file, in an existing folder.

    Raises:
        OSError: the file cannot be written.
    """
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    path = Path(os.path.realpath(path))
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        os.replace(draft, path)
    finally:
        with suppress(OSError):  # the draft does not exist after the replacement
            draft.unlink()
