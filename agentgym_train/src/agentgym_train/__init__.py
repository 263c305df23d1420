"""A DeepSpeed ZeRO trainer: multi-turn reinforcement learning in Gymnasium text environments.

Plugins import everything that they need from this module; ``__init__.pyi`` lists the names. A name
is loaded at its first use, so ``import agentgym_train`` loads no torch.
"""

from typing import Any

import lazy_loader

__version__ = "0.1.0"
_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

RENAMED = {
    "Failure": "EpisodeFailure",
    "Status": "EpisodeStatus",
    "Forward": "ForwardOutput",
    "Sample": "ActionSample",
    "Sampling": "SamplingOptions",
    "Session": "GeneratorSession",
    "Chat": "ChatTokens",
}


def __getattr__(name: str) -> Any:
    kind = name.removesuffix("Plugin")
    if kind != name and kind in __all__:
        raise ImportError(
            f"{name} is now {kind}: a plugin is one class, and its options are a nested dataclass"
            " 'Options', or the class itself if it has no state"
        )
    if name in RENAMED:
        raise ImportError(f"{name} is now {RENAMED[name]}")
    return _load(name)
