"""Where generated games and indices are kept between runs."""

import os
from collections.abc import Mapping
from pathlib import Path


def cache_folder(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Returns ``name`` in $AGENTGYM_CACHE, $XDG_CACHE_HOME/agentgym or ~/.cache/agentgym."""
    home = environ.get("AGENTGYM_CACHE") or Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentgym"
    return Path(home) / name
