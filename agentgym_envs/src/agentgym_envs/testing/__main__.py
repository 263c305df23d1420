"""Another process of the kit: writes the transcript of an environment.

Its argument is JSON, from ``subprocesses.play``.
"""

import json
import logging
import sys
import warnings
from pathlib import Path
from typing import Any

from agentgym_envs.testing.clock import shift
from agentgym_envs.testing.transcripts import game_transcript, transcript


def main(setup: dict[str, Any]) -> None:
    """Plays and writes the result."""
    sys.path += setup[
        "path"
    ]  # the working directory, where this process's maker had it: last, so that it hides nothing
    logging.lastResort = None  # a log is not a print
    logging.raiseExceptions = False
    warnings.showwarning = lambda *args: None  # nor is a warning
    if setup["later"]:
        shift(setup["later"])
    write = game_transcript if setup["game"] else transcript
    lines = write(setup["env_id"], setup["kwargs"])
    Path(setup["result"]).write_text(json.dumps(lines))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
