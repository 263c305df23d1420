"""Runs the Python blocks of pages with this interpreter: ``python .ci/snippets.py PAGE...``.

It needs nothing but the packages that the blocks import, so it can test an installation. Blocks of
another package are left out: a block runs if its page is not the trainer's and it does not import
the trainer.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path


def main(pages: list[str]) -> int:
    """Returns the number of blocks that failed; prints a line for each block."""
    failed = 0
    for page in pages:
        for number, code in enumerate(
            re.findall(r"^```python\n(.*?)^```", Path(page).read_text(), re.M | re.S)
        ):
            if "agentgym_train" in code:
                continue
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [sys.executable, "-c", code],
                    capture_output=True,
                    text=True,
                    cwd=folder,
                    check=False,
                )
            failed += done.returncode != 0
            sys.stdout.write(
                f"{page} block {number}: {'failed' if done.returncode else 'ok'}\n{done.stderr}"
            )
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
