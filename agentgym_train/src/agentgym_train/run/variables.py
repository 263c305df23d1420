"""Environment variables that go with a run to the other machines of a hostfile.

DeepSpeed's launcher puts variables on command lines, which all users of a machine can read, and
knows few. A file that only the user can read carries these.
"""

import json
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from agentgym_train.files import write_private

CARRIED = (
    "AGENTGYM_*",
    "HF_*",
    "HUGGING_FACE_*",
    "TRANSFORMERS_*",
    "TOKENIZERS_*",
    "VLLM_*",
    "WANDB_*",
    "TRACKIO_*",
    "*_API_KEY",
    "GLOO_*",
    "NCCL_*",
    "TORCH_*",
    "OMP_*",
    "MKL_*",
    "*_PROXY",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
)
"""Patterns of their names, in capital letters."""


@contextmanager
def carried(folder: Path, variables: Mapping[str, str]) -> Iterator[Path]:
    """Yields a file in the run folder that holds variables, and removes it afterwards.

    Args:
        folder: the run folder, on a disk that all machines share.
        variables: of the environment; those of :data:`CARRIED` are kept.
    """
    path = folder / ".variables.json"
    kept = {
        name: value
        for name, value in variables.items()
        if any(fnmatchcase(name.upper(), pattern) for pattern in CARRIED)
    }
    write_private(path, json.dumps(kept))
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def adopt(path: Path, variables: MutableMapping[str, str]) -> None:
    """Sets the variables of a file that this machine does not set itself."""
    for name, value in json.loads(path.read_text(encoding="utf-8")).items():
        variables.setdefault(name, value)
