"""The number of groups of a step, for an environment with a number of tokens per step."""

from collections.abc import Mapping, Sequence
from typing import Any


class TokenBudget:
    """Chooses as many groups as the tokens of earlier groups suggest.

    The first step plays all groups, since nothing is measured. A step that played too many tokens
    leaves a debt, and one that played too few leaves a credit. The next steps pay them back.

    Args:
        tokens: tokens per step over all processes; 0: all groups are always played.
        groups: numbers of the environment's groups.

    >>> budget = TokenBudget(1000, range(8))
    >>> budget.observe(groups=8, tokens=2000)
    >>> list(budget.playing())
    [0, 2, 4, 6]
    """

    def __init__(self, tokens: int, groups: Sequence[int]):
        self._tokens, self._groups = tokens, groups
        self._per_group = 0.0  # of the latest step that played
        self._credit = 0.0

    def playing(self) -> Sequence[int]:
        """Returns the numbers of the groups to play next, spread evenly over all numbers."""
        most = len(self._groups)
        if not self._tokens or not self._per_group:
            return self._groups
        count = min(max(round((self._tokens + self._credit) / self._per_group), 0), most)
        return [self._groups[place * most // count] for place in range(count)]

    def observe(self, *, groups: int, tokens: float) -> None:
        """Receives the number of groups of a step and their tokens, over all processes."""
        first = not self._per_group
        if groups and tokens:
            self._per_group = tokens / groups
        if not first:
            # Limited: an environment with too few groups would otherwise save credit for ever. The
            # limit allows one group, however long it is.
            limit = max(self._tokens, self._per_group)
            self._credit = min(max(self._credit + self._tokens - tokens, -limit), limit)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that a resumed run needs."""
        return {"per_group": self._per_group, "credit": self._credit}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores the state that ``state_dict`` returned."""
        self._per_group, self._credit = state["per_group"], state["credit"]
