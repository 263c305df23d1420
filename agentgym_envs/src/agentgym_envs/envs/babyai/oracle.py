"""minigrid's BabyAI bot, extended to episodes in progress and to keys in boxes."""

from collections.abc import Iterator
from typing import Any

from minigrid.envs.babyai.core.verifier import AfterInstr, ObjDesc, PutNextInstr, SeqInstr
from minigrid.utils.baby_ai_bot import BabyAIBot, DropSubgoal, GoNextToSubgoal


class Bot(BabyAIBot):  # type: ignore[misc]
    """The bot, with a plan for the remaining part of an instruction."""

    def _process_instr(self, instr: Any) -> None:
        if isinstance(instr, SeqInstr) and "success" in (instr.a_done, instr.b_done):
            self._process_instr(instr.instr_b if instr.a_done == "success" else instr.instr_a)
        elif isinstance(instr, PutNextInstr) and any(
            o is self.mission.carrying for o in instr.desc_move.obj_set
        ):
            self.stack.append(DropSubgoal(self))
            self.stack.append(GoNextToSubgoal(self, instr.desc_fixed, reason="PutNext"))
        elif isinstance(instr, SeqInstr):
            first, then = (
                (instr.instr_b, instr.instr_a)
                if isinstance(instr, AfterInstr)
                else (instr.instr_a, instr.instr_b)
            )
            self._process_instr(then)
            self._process_instr(first)
        else:
            super()._process_instr(instr)


def solve(level: Any) -> Iterator[Any]:
    """Yields minigrid actions that solve a level from its current state.

    The caller steps the level with each action before it asks for the next one.
    """
    box = _box_with_the_key(level)
    if box is not None:
        yield from _go_to(level, box)
        yield level.actions.toggle
    bot = Bot(level)
    while True:
        action = bot.replan()
        if action == level.actions.done:
            return
        yield action


def _box_with_the_key(level: Any) -> Any:
    """Returns a box that holds the key of a locked door, or None.

    minigrid's bot does not look for keys in boxes.
    """
    cells = [c for c in level.grid.grid if c is not None]
    locked = {c.color for c in cells if c.type == "door" and c.is_locked}
    keys = {c.color for c in [*cells, level.carrying] if c is not None and c.type == "key"}
    for cell in cells:
        inside = getattr(cell, "contains", None)
        if (
            cell.type == "box"
            and inside is not None
            and inside.type == "key"
            and inside.color in locked - keys
        ):
            return cell
    return None


def _go_to(level: Any, thing: Any) -> Iterator[Any]:
    target = ObjDesc(thing.type, thing.color)
    target.find_matching_objs(level)
    bot = Bot(level)
    bot.stack = [GoNextToSubgoal(bot, target)]
    while (action := bot.replan()) != level.actions.done:
        yield action
