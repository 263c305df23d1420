"""The second process of the kit: prints the transcript of an environment. Its argument is JSON: env_id, kwargs, game, path."""

import json
import sys

from agentgym_envs.testing.transcripts import game_transcript, transcript

if __name__ == "__main__":
    setup = json.loads(sys.argv[1])
    sys.path += setup["path"]  # the working directory, where this process's maker had it: last, so that it hides nothing
    write = game_transcript if setup["game"] else transcript
    sys.stdout.write(json.dumps(write(setup["env_id"], setup["kwargs"])))
