"""Dealing: which of a number of things comes next, each once a pass."""

from agentgym_envs.tasks import stable_hash


class EpochSampler:
    """Deals 0, …, ``count`` − 1 in an order that changes with each pass: a function of seed and pass alone.

    Args:
        count: things there are.
        seed: fixes the orders.

    >>> sampler = EpochSampler(3, seed=1)
    >>> sorted(sampler.place(number) for number in range(3))
    [0, 1, 2]
    """

    def __init__(self, count: int, *, seed: int):
        self._count, self._seed = count, seed
        self._order: tuple[int, list[int]] = (-1, [])  # of a pass

    def place(self, number: int) -> int:
        """Returns which is the ``number``-th to be dealt."""
        turn, place = divmod(number, self._count)
        if self._order[0] != turn:
            key = f"deal {self._seed} {turn}"
            self._order = (
                turn,
                sorted(range(self._count), key=lambda one: stable_hash(f"{key} {one}")),
            )
        return self._order[1][place]
