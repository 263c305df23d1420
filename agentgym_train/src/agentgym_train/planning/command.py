"""The command `agentgym-train plan`, its table, and the line with which a run warns."""

import os
from collections.abc import Sequence

import torch
from rich.console import Console
from rich.table import Column, Table
from transformers.utils import logging as transformers_logging

from agentgym_train import plugins
from agentgym_train.assembly import check_group_size, naming
from agentgym_train.config import SCRATCH, Config, SharedSettings
from agentgym_train.errors import ConfigError, ModelError
from agentgym_train.generators.hf import HF, expected_method
from agentgym_train.planning.card_memory import TrainingCards
from agentgym_train.planning.plan import RESERVE, MemoryPlan, make, shape_of
from agentgym_train.planning.switches import fitting
from agentgym_train.planning.trace import empty_model


def show_plan(config: SharedSettings, gpus: int, memory: float, console: Console) -> bool:
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
    cards, size = TrainingCards(gpus), memory * GIB
    plan = make(policy, cards)
    method = method_name(policy)
    write_table(plan, size, console)
    if method:
        console.print(
            f"Generator: {method}, by the model's structure. The run tries it at its start.",
            highlight=False,
        )
    fits = plan.fits(size)
    found = None if fits else fitting(policy, cards, size)
    console.print(verdict(plan, size, found), markup=False, highlight=False, soft_wrap=True)
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


def warning(config: SharedSettings, processes: int) -> str | None:
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
        plan = make(policy, TrainingCards(processes, cpu=not accelerated))
    except ModelError:  # an architecture that cannot be planned can still be trained
        return None
    memory = _accelerator() if accelerated else main_memory() / processes
    if plan.fits(memory):
        return None
    return (
        f"the run may not fit this machine: {compared(plan, memory)} at the longest episodes;"
        f" see agentgym-train plan --gpus {processes} --memory {memory / GIB:.0f}"
    )


def main_memory() -> float:
    """Returns the bytes of the machine's main memory."""
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _accelerator() -> float:
    """Returns the bytes of the accelerator's memory."""
    return float(torch.accelerator.get_memory_info()[1])


GIB = 2**30


def write_table(plan: MemoryPlan, memory: float, console: Console) -> None:
    """Prints the table of a plan, and the load that it is made for.

    Args:
        plan: the plan.
        memory: bytes of a card.
        console: where to print.
    """
    phases = (Column(name, justify="right", no_wrap=True) for name in plan.phases)
    table = Table(Column("GiB on each card", overflow="fold"), *phases)
    for row in plan.rows:
        table.add_row(row.name, *(gib(getattr(row, phase)) for phase in plan.phases))
    table.add_section()
    table.add_row("total", *(gib(plan.total(phase)) for phase in plan.phases))
    table.add_row(f"reserve, {RESERVE:.0%}", *[gib(RESERVE * memory)] * len(plan.phases))
    table.add_row("memory", *[gib(memory)] * len(plan.phases))
    console.print(table)
    console.print(
        f"For {plan.episodes} episodes at a time and micro-batches of {plan.tokens:,} tokens on"
        f" each of {plan.cards.count} cards."
        f" Main memory of all processes: {gib(plan.load)} GiB while models load,"
        f" {gib(plan.host)} GiB of moved state later.",
        highlight=False,
    )


def gib(size: float) -> str:
    """Returns bytes in GiB, with two decimal places."""
    return f"{size / GIB:.2f}"


def verdict(plan: MemoryPlan, memory: float, found: tuple[Sequence[str], MemoryPlan] | None) -> str:
    """Returns whether the plan fits, and the changes with which it does.

    Args:
        plan: the plan.
        memory: bytes of a card.
        found: see :func:`agentgym_train.planning.switches.fitting`; unused if the plan fits.
    """
    if plan.fits(memory):
        return f"It fits: {compared(plan, memory)}."
    if found is None:
        return (
            f"It does not fit: {compared(plan, memory)}. No change that was tried is enough: use"
            " more cards, fewer episodes at a time (env.groups, env.group_size, eval.episodes) or a"
            " smaller model."
        )
    changes, changed = found
    options = " ".join(f"--set {change}" for change in changes)
    return (
        f"It does not fit: {compared(plan, memory)}. It fits in {gib(changed.peak)} GiB with"
        f" {options}"
    )


def compared(plan: MemoryPlan, memory: float) -> str:
    """Returns the need of a plan beside the memory that is left after the reserve."""
    usable = gib(memory * (1 - RESERVE))
    return f"{gib(plan.peak)} GiB of {usable} GiB on each card"
