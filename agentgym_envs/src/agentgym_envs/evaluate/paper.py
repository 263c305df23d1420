"""Published success rates, in percent, with their sources.

The tasks of the papers differ from ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass

AGENTGYM_RL = "arXiv 2509.08755"  # Xi et al., 2025
REACT = "arXiv 2210.03629"  # Yao et al., 2023, and the README of its repository
GIGPO = "arXiv 2505.10978"  # Feng et al., 2025
TAU_BENCH = (
    "tau-bench's README"  # github.com/sierra-research/tau-bench; the paper has other figures
)


@dataclass(frozen=True)
class Published:
    """One row of published figures."""

    who: str
    """The model and its training."""
    source: str
    """The paper or repository; also the set of tasks if it has several."""
    figures: Mapping[str, float]
    """Success in percent by scenario."""


PUBLISHED = (
    Published(
        "Qwen2.5-7B, untrained",
        AGENTGYM_RL,
        {
            "web": 9.76,
            "search": 18.75,
            "textcraft": 42.0,
            "babyai": 66.67,
            "scienceworld": 1.5,
        },
    ),
    Published(
        "7B, RL at a fixed horizon",
        AGENTGYM_RL,
        {
            "web": 22.0,
            "search": 34.0,
            "textcraft": 89.0,
            "babyai": 92.22,
            "scienceworld": 50.5,
        },
    ),
    Published(
        "7B, ScalingInter-RL",
        AGENTGYM_RL,
        {
            "web": 26.0,
            "search": 38.25,
            "textcraft": 91.0,
            "babyai": 96.67,
            "scienceworld": 57.0,
        },
    ),
    Published("PaLM-540B, ReAct", REACT, {"household": 70.9, "shop": 40.0}),
    Published("GPT-4o, prompted", GIGPO, {"household": 48.0, "shop": 23.7}),
    Published("Qwen2.5-7B, ReAct", GIGPO, {"household": 31.2, "shop": 19.5}),
    Published("Qwen2.5-7B, GRPO", GIGPO, {"household": 77.6, "shop": 66.1}),
    Published("Qwen2.5-7B, GiGPO", GIGPO, {"household": 90.8, "shop": 72.8}),
    Published("GPT-4o, tool calls", f"{TAU_BENCH}, retail", {"tools": 60.4}),
    Published("GPT-4o, tool calls", f"{TAU_BENCH}, airline", {"tools": 42.0}),
)
NOTE = "Published figures are of the papers' own tasks, which differ from these."
