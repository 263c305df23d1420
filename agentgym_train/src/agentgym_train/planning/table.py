"""The table of `agentgym-train plan`, and the line with which a run warns."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Column, Table

from agentgym_train.planning.plan import RESERVE, Plan

GIB = 2**30


def write(plan: Plan, memory: float, console: Console) -> None:
    """Prints the table of a plan and what it is for.

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


def verdict(plan: Plan, memory: float, found: tuple[Sequence[str], Plan] | None) -> str:
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


def compared(plan: Plan, memory: float) -> str:
    """Returns the need of a plan beside the memory that is left after the reserve."""
    usable = gib(memory * (1 - RESERVE))
    return f"{gib(plan.peak)} GiB of {usable} GiB on each card"
