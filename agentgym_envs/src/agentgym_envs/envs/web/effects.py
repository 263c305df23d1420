"""Effects of an episode beside its pages: dialogs, downloads, and stopped requests."""

import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

DOWNLOADS = 20
"""Limit of downloads per episode."""
DOWNLOAD_BYTES = 10_000_000
"""Limit of a download's size."""
DIALOGS = 3
"""Limit of dialogs in one observation."""
INSIDE = frozenset(
    (
        "http",
        "https",
        "ws",
        "wss",
        "about",
        "data",
        "blob",
        "javascript",
        "filesystem",
        "chrome-error",
        "chrome",
        "devtools",
    )
)
"""Schemes that the browser handles itself. Other schemes would start a program of the host."""


FORBIDDEN = re.compile(
    r"Not allowed to (?:load local resource|navigate top frame to data URL): (\S+)"
)
"""Chromium's message for addresses that no page can open, such as those of files."""


class EffectNote(NamedTuple):
    """A line of the next observation.

    Attributes:
        kind: in capitals.
        text: with the real addresses, not the public names.
    """

    kind: str
    text: str


class EpisodeEffects:
    """Collects the effects of an episode.

    Args:
        folder: existing folder for downloads.

    Attributes:
        refused: stopped attempts as pairs: the kind or origin, and the address or number of the
            attempt.
        files: finished downloads, oldest first.
        notes: lines for the next observation.
        dialogs: the number of dialogs during the current action.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.forget()

    def forget(self) -> None:
        """Begins a new episode: deletes the downloads."""
        self.refused: set[tuple[str, str]] = set()
        self.files: list[Path] = []
        self.notes: list[EffectNote] = []
        self.dialogs = self._begun = 0
        self._loading: dict[str, str] = {}  # names of downloads by the browser's numbers
        # Documents that the last action asked for: addresses by the browser's numbers.
        self._documents: dict[str, str] = {}
        self._errors: dict[str, str] = {}  # of those documents, by address
        for file in self.folder.iterdir():
            file.unlink()

    @property
    def counts(self) -> Counter[str]:
        """Stopped attempts by kind or origin."""
        return Counter(kind for kind, _ in self.refused)

    def refuse(self, kind: str) -> None:
        """Counts an attempt that has no address."""
        self.refused.add((kind, str(len(self.refused))))

    def document_requested(self, number: str, url: str) -> bool:
        """Notes a document that a page asks for.

        Args:
            number: the browser's number of the request. A new window has its address instead.
            url: the document's address.

        Returns:
            Whether the browser handles the scheme itself.
        """
        scheme = url.partition(":")[0].lower()
        if scheme in INSIDE:
            self._documents[number] = url
            return True
        if (f"{scheme}:", url) not in self.refused:
            self.refused.add((f"{scheme}:", url))
            self.notes.append(
                EffectNote("BLOCKED", f"{url[:200]} would start a program outside of the browser")
            )
        return False

    def failed(self, number: str, error: str) -> None:
        """Notes that a document did not load, with the browser's name of the error."""
        if number in self._documents and error != "net::ERR_ABORTED":
            self._errors[self._documents[number]] = error

    def reported(self, url: str) -> None:
        """Notes that another line already says why an address did not open."""
        self._documents = {n: asked for n, asked in self._documents.items() if asked != url}

    def logged(self, text: str) -> None:
        """Notes a link that the browser refused to open; its log is the only sign."""
        found = FORBIDDEN.match(text)
        if (
            found is not None
            and (attempt := (f"{found[1].partition(':')[0]}:", found[1])) not in self.refused
        ):
            self.refused.add(attempt)
            self.notes.append(EffectNote("BLOCKED", f"{found[1][:200]} cannot be opened by a page"))

    def dialog(self, kind: str, message: str) -> None:
        """Notes a dialog."""
        self.dialogs += 1
        self.notes.append(
            EffectNote("DIALOG", f"{kind}: {' '.join(message.split())[:200]} (accepted)")
        )

    def begin_download(self, number: str, name: str) -> bool:
        """Notes the start of a download; returns whether it can go on."""
        self._begun += 1
        if self._begun > DOWNLOADS:
            self.stop_download(number, name, f"an episode may download {DOWNLOADS} files")
            return False
        self._loading[number] = name
        return True

    def stop_download(self, number: str, name: str, reason: str) -> None:
        """Notes a download that was stopped."""
        self._loading.pop(number, None)
        self.refuse("download")
        self.notes.append(EffectNote("DOWNLOAD", f"{name[:100]} was stopped: {reason}"))

    def downloaded(self, number: str, state: str, received: float) -> bool:
        """Follows a download; returns whether it can go on."""
        name = self._loading.get(number)
        if name is None:
            return True
        if received > DOWNLOAD_BYTES:
            self.stop_download(number, name, f"a download may have {DOWNLOAD_BYTES:,} bytes")
            return False
        if state == "completed":
            del self._loading[number]
            self._keep(self.folder / number, name)
        elif state == "canceled":
            self.stop_download(number, name, "its server or page ended it")
        return True

    def _keep(self, file: Path, name: str) -> None:
        """Renames a finished download to its file name."""
        bare = Path(name.replace("\\", "/")).name[:100].strip(". ") or "download"
        place, number = self.folder / bare, 1
        while place.exists():
            number += 1
            place = self.folder / f"{Path(bare).stem} ({number}){Path(bare).suffix}"
        os.replace(file, place)
        self.files.append(place)
        self.notes.append(EffectNote("DOWNLOAD", f"{place.name} ({place.stat().st_size:,} bytes)"))

    @property
    def downloading(self) -> bool:
        """Whether a download is still running."""
        return bool(self._loading)

    def reason(self) -> str:
        """Returns why the last requested address does not open, or "" if the reason is unknown."""
        return next((note.text for note in reversed(self.notes) if note.kind == "BLOCKED"), "")

    def take_notes(
        self, refused: Callable[[str], bool], reason: Callable[[str], str]
    ) -> list[EffectNote]:
        """Returns the notes since the last observation.

        Args:
            refused: says whether the proxy refused an address.
            reason: says why the proxy could not open an address; "" if it could.
        """
        documents = dict.fromkeys(self._documents.values())
        blocked = [url for url in documents if refused(url)]
        failed = {
            url: why
            for url in documents
            if url not in blocked and (why := reason(url) or self._errors.get(url))
        }
        dialogs = [note for note in self.notes if note.kind == "DIALOG"]
        others = [note for note in self.notes if note.kind != "DIALOG"]
        notes = (
            dialogs[:DIALOGS]
            + [EffectNote("BLOCKED", f"{url[:200]} is not part of this task") for url in blocked]
            + [
                EffectNote("FAILED", f"{url[:200]} did not open: {why}")
                for url, why in failed.items()
            ]
            + others
        )
        self.notes = []
        self._documents.clear()
        self._errors.clear()
        return notes
