"""The run folder: how it is made and recognised, and when it is rejected."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TypeVar

from agentgym_envs import manifests
from agentgym_envs.errors import AgentGymError
from agentgym_train import config as configuration
from agentgym_train import plugins
from agentgym_train.config import SharedSettings
from agentgym_train.engine import checkpoint
from agentgym_train.errors import RunFolderError
from agentgym_train.files import checksum_file, sealed_fault, write_sealed, writing
from agentgym_train.reward import config as reward

S = TypeVar("S", bound=SharedSettings)
CHANGEABLE = frozenset(
    {
        "run.folder",
        "run.steps",
        "run.save_every",
        "run.keep",
        "run.threads",
        "env.workers",
        "env.hosts",
        "env.timeout",
        "env.retries",
        "env.failure_budget",
        "rollout.batch_wait",
        "model.checkpointing",
        "rollout.max_rows",
        "generator.allow_slower",
        "engine.micro_batch_tokens",
        "engine.sleep",
        "engine.collective_timeout",
        "eval.every",
        "comparisons.every",
    }
)
"""Keys that do not change the results of a run; they can change when a run is resumed."""
PAUSES = frozenset({"run.save_every", "eval.every"})
"""Keys that decide where a run with ``rollout.ahead`` pauses, so there they change results."""
# The files of a start that was interrupted before it wrote config.toml.
UNFINISHED = {".lock", ".config.toml-draft", "..config.toml.blake2b-draft"}


def claim_folder(config: SharedSettings) -> Path:
    """Makes the run folder, or recognises it as this run's, and writes the configuration into it.

    Raises:
        RunFolderError: it cannot be written, holds something else, or belongs to a run with another
            configuration.
    """
    folder = Path(config.run.folder)
    recognise(folder, config)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_sealed(folder / "config.toml", configuration.dumps(config))
    return folder


def saved_config(folder: Path) -> tuple[SharedSettings | None, str]:
    """Returns the configuration of a run folder, or its copy in a checkpoint.

    Returns:
        The configuration, None if there is none, and a line about damage, empty without any.

    Raises:
        ConfigError: the file is as it was written, and this version cannot read it.
    """
    place = folder / "config.toml"
    found = sealed_fault(place)
    if found is None:
        return reward.load(place), ""
    newest = checkpoint.intact(folder)
    for kept in newest:
        if manifests.is_intact(kept, place.name):
            return reward.load(kept / place.name), f"{place} {found}: its copy in {kept} is used"
    if newest or place.exists() or checksum_file(place).exists():
        return None, f"{place} {found}: the given configuration is written to it"
    return None, ""


def config_fault(folder: Path) -> str | None:
    """Returns the fault of the ``config.toml`` of a run folder or a checkpoint, or None."""
    if (folder / manifests.MANIFEST).exists():
        intact = manifests.is_intact(folder, "config.toml")
        return None if intact else f"does not match {manifests.MANIFEST}"
    return sealed_fault(folder / "config.toml")


def dated(config: S, saved: SharedSettings | None) -> S:
    """Returns the configuration with a date for chat templates.

    It is the date of the configuration, else that of the saved configuration, else today.

    Args:
        config: the configuration of a run.
        saved: that of the run folder.
    """
    known = config.run.date or (saved.run.date if saved else "")
    return replace(config, run=replace(config.run, date=known or date.today().isoformat()))


def recognise(folder: Path, config: SharedSettings) -> None:
    """Rejects a folder that holds anything other than this run. Changes nothing.

    Raises:
        RunFolderError: says what the folder holds, or which keys differ in what way.
    """
    old, damage = saved_config(folder)
    if old is not None:
        ahead = config.policy and config.policy.rollout.ahead
        ignored = CHANGEABLE - PAUSES if ahead else CHANGEABLE
        if not old.run.date:  # a run of a version that kept no date
            ignored |= {"run.date"}
        changed = configuration.difference(_complete(old), _complete(config), ignore=ignored)
        if changed:
            raise RunFolderError(
                f"{folder} holds a run with another configuration: {changed}. Choose another"
                " run.folder"
            )
    elif (
        not damage
        and folder.exists()
        and (not folder.is_dir() or {path.name for path in folder.iterdir()} - UNFINISHED)
    ):
        raise RunFolderError(f"{folder} exists and is not a run folder. Choose another run.folder")


def _complete(config: S) -> S:
    """Returns the configuration with all options of its plugins.

    A run of an earlier version lacks the options that are new; their defaults change nothing.
    """
    try:
        return plugins.resolved(config)
    except AgentGymError:  # such as a plugin that is not installed any more
        return config


def changed_code(config: SharedSettings, folder: Path) -> list[str]:
    """Returns a line for the user per plugin whose file differs from that of the checkpoint."""
    newest = checkpoint.latest(folder)
    old = checkpoint.read_state(newest).code if newest else {}
    return [
        f"the code of {name} has changed since {newest}: the steps before it used the old code"
        for name, checksum in plugins.code(config).items()
        if old.get(name, checksum) != checksum
    ]


def check_progress(config: SharedSettings, folder: Path) -> None:
    """Rejects a number of steps that the run has already passed.

    Raises:
        RunFolderError: says both numbers.
    """
    newest = checkpoint.latest(folder)
    done = checkpoint.read_state(newest).step if newest else 0
    if done > config.run.steps:
        raise RunFolderError(
            f"{folder} has {done} steps behind it, more than run.steps={config.run.steps}"
        )
