"""minigrid's levels without the image of each step and without prints of rejected layouts."""

import re
from functools import cache
from importlib import import_module
from typing import Any

import gymnasium
import minigrid  # noqa: F401  registers the levels
from minigrid.envs.babyai.core.roomgrid_level import RejectSampling, RoomGridLevel


class _Plain(RoomGridLevel):  # type: ignore[misc]
    """A mixin before the level's class. It changes no rule of the level."""

    def gen_obs(self) -> dict[str, Any]:
        """Returns an empty observation, because the image costs more than the step."""
        return {}

    def _gen_grid(self, width: int, height: int) -> None:
        """Draws layouts until one is accepted, as minigrid does, but prints no rejected layout."""
        while True:
            try:
                super(RoomGridLevel, self)._gen_grid(width, height)
                self.gen_mission()
                self.validate_instrs(self.instrs)
            except (RecursionError, RejectSampling):
                continue
            self.surface = self.mission = self.instrs.surface(self)
            return


def make_level(name: str) -> Any:
    """Returns a new level. It can be reset with a seed any number of times.

    Args:
        name: minigrid's id without ``BabyAI-`` and the version, such as "GoToObjS4". The newest
            version is used.
    """
    kind, kwargs = _kind(name)
    return kind(**kwargs)


@cache
def _kind(name: str) -> tuple[Any, dict[str, Any]]:
    newest = max(i for i in gymnasium.registry if re.fullmatch(rf"BabyAI-{name}-v\d", i))
    spec = gymnasium.spec(newest)
    assert isinstance(spec.entry_point, str)
    module, _, kind = spec.entry_point.partition(":")
    return type(name, (_Plain, getattr(import_module(module), kind)), {}), spec.kwargs
