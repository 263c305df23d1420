"""The paper's success rates on its tasks, in percent.

Source: Xi et al., 2025, arXiv 2509.08755, with Qwen2.5.
"""

from collections.abc import Mapping

PUBLISHED: Mapping[str, Mapping[str, float]] = {
    "Qwen2.5-7B, untrained": {
        "web": 9.76,
        "search": 18.75,
        "textcraft": 42.0,
        "babyai": 66.67,
        "scienceworld": 1.5,
    },
    "7B, RL at a fixed horizon": {
        "web": 22.0,
        "search": 34.0,
        "textcraft": 89.0,
        "babyai": 92.22,
        "scienceworld": 50.5,
    },
    "7B, ScalingInter-RL": {
        "web": 26.0,
        "search": 38.25,
        "textcraft": 91.0,
        "babyai": 96.67,
        "scienceworld": 57.0,
    },
}
NOTE = "Published figures are of the paper's own tasks, which are others than these."
