"""The command `agentgym-train plan`, and the warning of `agentgym-train run`."""

import os

import torch
from rich.console import Console
from transformers.utils import logging as transformers_logging

from agentgym_train import plugins
from agentgym_train.assembly import check_group_size, naming
from agentgym_train.config import SCRATCH, Config, Settings
from agentgym_train.errors import ConfigError, ModelError
from agentgym_train.generators.hf import HF, expected_method
from agentgym_train.planning import table
from agentgym_train.planning.plan import make, shape_of
from agentgym_train.planning.switches import fitting
from agentgym_train.planning.trace import empty_model
from agentgym_train.planning.zero import Cards


def show_plan(config: Settings, gpus: int, memory: float, console: Console) -> bool:
    """Prints the plan of a run; returns whether it fits.

    Args:
        config: the run.
        gpus: number of cards.
        memory: of a card, in GiB.
        console: where to print.

    Raises:
        ConfigError: the configuration is that of a reward model, or its groups are too small.
        AgentGymError: see :func:`agentgym_train.planning.plan.make`, or the generator refuses the
            model.
    """
    if (policy := config.policy) is None:
        raise ConfigError(
            "the file has a section [comparisons]: only runs of a policy can be planned, not those"
            " of a reward model"
        )
    transformers_logging.set_verbosity_error()
    for one in policy.each():
        with naming(one, several=len(policy.envs) > 1):
            check_group_size(one)
    cards, size = Cards(gpus), memory * table.GIB
    plan = make(policy, cards)
    method = method_name(policy)
    table.write(plan, size, console)
    if method:
        console.print(
            f"Generator: {method}, by the model's structure. The run tries it at its start.",
            highlight=False,
        )
    fits = plan.fits(size)
    found = None if fits else fitting(policy, cards, size)
    console.print(table.verdict(plan, size, found), markup=False, highlight=False, soft_wrap=True)
    return fits


def method_name(config: Config) -> str | None:
    """Returns the expected method of the embedded generator, or None with another generator.

    Raises:
        ModelError: see :func:`agentgym_train.generators.hf.expected_method`.
    """
    generator = plugins.make(plugins.GENERATOR, config.generator)
    if generator.cls is not HF:
        return None
    model = empty_model(shape_of(config), config.model)
    return expected_method(model, allow_slower=generator.options.allow_slower).name


def warning(config: Settings, processes: int) -> str | None:
    """Returns a line for the user if a run does not fit this machine, or None.

    The plan is compared with the memory of an accelerator. Without one it is compared with main
    memory, which all processes share. A model from scratch on the CPU is small, so it is not
    planned.

    Args:
        config: the run.
        processes: number of processes on this machine.
    """
    accelerated = torch.accelerator.is_available()
    policy = config.policy
    if policy is None or (policy.model.path == SCRATCH and not accelerated):
        return None
    try:
        plan = make(policy, Cards(processes, cpu=not accelerated))
    except ModelError:  # an architecture that cannot be planned can still be trained
        return None
    memory = _accelerator() if accelerated else main_memory() / processes
    if plan.fits(memory):
        return None
    return (
        f"the run may not fit this machine: {table.compared(plan, memory)} at the longest episodes;"
        f" see agentgym-train plan --gpus {processes} --memory {memory / table.GIB:.0f}"
    )


def main_memory() -> float:
    """Returns the bytes of the machine's main memory."""
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _accelerator() -> float:
    """Returns the bytes of the accelerator's memory."""
    return float(torch.accelerator.get_memory_info()[1])
