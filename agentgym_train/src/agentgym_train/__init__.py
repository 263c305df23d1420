"""A DeepSpeed ZeRO trainer: multi-turn reinforcement learning in Gymnasium text environments.

Plugins import everything that they need from this module; ``__init__.pyi`` lists the names. A name
is loaded at its first use, so ``import agentgym_train`` loads no torch.
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
