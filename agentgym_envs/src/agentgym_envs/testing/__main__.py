"""A subprocess of the kit: writes the transcript of an environment.

Its argument is JSON from ``subprocesses.start``.
"""

import json
import logging
import sys
import warnings
from pathlib import Path
from typing import Any

from agentgym_envs.testing.author import failure
from agentgym_envs.testing.elsewhere import move, shift
from agentgym_envs.testing.transcripts import game_transcript, transcript


def main(setup: dict[str, Any]) -> None:
    """Plays the episodes and writes the transcript to a file."""
    # The parent's working directory comes last and therefore hides no installed module.
    sys.path += setup["path"]
    # Logs and warnings do not count as printed output.
    logging.lastResort = None
    logging.raiseExceptions = False
    warnings.showwarning = lambda *args: None
    if setup["later"]:
        shift(setup["later"])
    if setup["machine"]:
        move()
    write = game_transcript if setup["game"] else transcript
    try:
        lines = write(setup["env_id"], setup["kwargs"])
    except Exception as error:
        sys.stderr.write(failure(error, setup["env_id"]))
        sys.exit(1)
    Path(setup["result"]).write_text(json.dumps(lines))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
