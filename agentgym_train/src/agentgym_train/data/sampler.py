"""A shuffled order over items, each once per pass."""

from agentgym_envs.tasks import stable_hash


class EpochSampler:
    """Draws 0, …, ``count`` − 1 in a new order for each pass.

    The order depends on the seed and the pass only, so a resumed run needs no state.

    Args:
        count: number of items.
        seed: fixes the orders.

    >>> sampler = EpochSampler(3, seed=1)
    >>> sorted(sampler.place(number) for number in range(3))
    [0, 1, 2]
    """

    def __init__(self, count: int, *, seed: int):
        self._count, self._seed = count, seed
        self._order: tuple[int, list[int]] = (-1, [])  # the latest pass and its order

    def place(self, number: int) -> int:
        """Returns the item at position ``number`` of all draws, counted from 0."""
        epoch, place = divmod(number, self._count)
        if self._order[0] != epoch:
            key = f"deal {self._seed} {epoch}"
            order = sorted(range(self._count), key=lambda item: stable_hash(f"{key} {item}"))
            self._order = (epoch, order)
        return self._order[1][place]
