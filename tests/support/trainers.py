"""Real trainers of tiny models with environments, a generator and DeepSpeed."""

import small_run
import tiny

from agentgym_train import config as configuration
from agentgym_train.assembly import assemble
from agentgym_train.run import prepare
from agentgym_train.run.folder import claim_folder
from agentgym_train.trainer import PolicyTrainer


def make(home, options):
    """Returns the trainer of one process; a second call resumes the run.

    ``options`` replaces sections of the configuration of ``small_run``.
    """
    model = tiny.save(home / "model", template=tiny.CHATML)
    options = {**options, "run": {"folder": str(home / "run"), **options.get("run", {})}}
    config = configuration.load(
        small_run.write(home, **({"model": {"path": model, "max_context": 512}} | options))
    )
    prepare.check(config)
    return PolicyTrainer(assemble(config, claim_folder(config)))
