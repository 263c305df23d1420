"""minigrid's levels without what words do not need: the image of each step, and the printing of rejected layouts."""

import re
from functools import cache
from importlib import import_module
from typing import Any

import gymnasium
import minigrid  # noqa: F401  registers the levels
from minigrid.envs.babyai.core.roomgrid_level import RejectSampling, RoomGridLevel


class _Plain(RoomGridLevel):  # type: ignore[misc]
    """Comes before the level's own class, whose rules all stay."""

    def gen_obs(self) -> dict[str, Any]:
        """Returns nothing: the image costs more than the step."""
        return {}

    def _gen_grid(self, width: int, height: int) -> None:
        """Draws layouts until one is accepted, as minigrid does; it prints those that are not."""
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
    """Makes a level, to be reset with a seed as often as one likes.

    Args:
        name: between ``BabyAI-`` and the version, such as "GoToObjS4"; the newest version is taken.
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
