"""Replies of earlier runs, in a folder."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agentgym_envs.errors import ArgumentError
from agentgym_envs.files import replacing
from agentgym_envs.models.answers import ModelReply, TokenUsage, ToolCall

MARK, CONTENT = "agentgym-replies.json", {"format": 1}


class ReplyCache:
    """A folder with one file per reply. Several processes can use it at once.

    The key of a reply is a hash of its whole request, so a cache of other models never matches.

    Args:
        folder: created if it does not exist.

    Raises:
        ArgumentError: the folder is not a cache, or cannot be written.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        if folder.exists() and not folder.is_dir():
            raise ArgumentError(f"the cache {folder} is a file: pass a folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            names = [name for name in os.listdir(folder) if not name.startswith(f".{MARK}")]
            mark = _read(folder / MARK) if MARK in names else None
            if not names:
                _write(folder / MARK, CONTENT)
        except OSError as error:
            raise ArgumentError(f"cannot use the cache {folder}: {error.strerror}") from error
        if names and mark != CONTENT:
            raise ArgumentError(f"{folder} is not a cache of replies: pass an empty folder")

    def get(self, place: Sequence[str], request: Mapping[str, Any]) -> ModelReply | None:
        """Returns a reply, or ``None`` if the cache does not have it.

        Args:
            place: the API, its URL and the sample.
            request: the whole request.

        Raises:
            ArgumentError: the file is damaged.
        """
        path = self._path(place, request)
        try:
            found = _read(path)
        except FileNotFoundError:
            return None
        try:
            usage = found.pop("usage")
            calls = tuple(ToolCall(**call) for call in found.pop("tool_calls"))
            return ModelReply(
                **found, tool_calls=calls, usage=TokenUsage(**usage) if usage else None
            )
        except (TypeError, AttributeError, LookupError) as error:
            raise ArgumentError(f"{path} is not a cached reply: delete it") from error

    def put(self, place: Sequence[str], request: Mapping[str, Any], reply: ModelReply) -> None:
        """Keeps a reply.

        Raises:
            ArgumentError: the file cannot be written.
        """
        path = self._path(place, request)
        try:
            path.parent.mkdir(exist_ok=True)
            _write(path, asdict(reply))
        except OSError as error:
            raise ArgumentError(f"cannot write {path}: {error.strerror}") from error

    def _path(self, place: Sequence[str], request: Mapping[str, Any]) -> Path:
        text = json.dumps([list(place), request], sort_keys=True)
        name = hashlib.sha256(text.encode()).hexdigest()
        return self.folder / name[:2] / f"{name}.json"


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None


def _write(path: Path, content: Any) -> None:
    with replacing(path) as file:
        json.dump(content, file)
