"""The order of collecting, learning and loading weights.

Weights change only between two collections, so all tokens of a batch have the same version.

======================  ======================================================================
on-policy               collect 1 · learn 1 · load · collect 2 · learn 2 · load · …
one step ahead          collect 1 · learn 1 and collect 2 · load · learn 2 and collect 3 · …
======================  ======================================================================
"""

from collections.abc import Callable

from agentgym_train.protocols import Generator
from agentgym_train.rollout.collection import Collection
from agentgym_train.rollout.environments import Collected


class OnPolicy:
    """Collects with the newest weights; the generator sleeps while the policy learns.

    Args:
        collection: the environments.
        generator: the policy's.
        load: passes the policy's weights to the generator.
    """

    def __init__(self, collection: Collection, generator: Generator, load: Callable[[], None]):
        self._collection, self._generator, self._load = collection, generator, load

    def collect(self, step: int) -> list[Collected]:
        """Returns the episodes of a step (counted from 0), one entry per environment."""
        self._collection.start(step)
        collected = self._collection.finish()
        self._generator.sleep()
        return collected

    def begin_update(self, step: int, *, pause: bool) -> None:
        """Is called before the policy learns from a step.

        Args:
            step: the step, counted from 0.
            pause: no step is collected before the weights have been saved or evaluated.
        """

    def end_update(self) -> None:
        """Is called after the update; the generator has the newest weights unless it collects."""
        self._generator.wake()
        self._load()


class OneAhead(OnPolicy):
    """Collects the next step while the policy learns.

    The generator then has the weights from before the update. The step after a pause is collected
    with the newest weights, since nothing is in progress during a pause.
    """

    _started: int | None = None
    """The step that is collected."""
    _stale = False
    """Whether the policy has learned since the last load."""

    def collect(self, step: int) -> list[Collected]:
        """Waits for the episodes of a step."""
        if self._started != step:
            self._collection.start(step)
        self._started = None
        return self._collection.finish()

    def begin_update(self, step: int, *, pause: bool) -> None:
        """Starts the collection of the next step."""
        if pause:
            return
        if self._stale:
            self._load()
        self._collection.start(step + 1)
        self._started = step + 1

    def end_update(self) -> None:
        """Loads the newest weights for a pause."""
        self._stale = self._started is not None
        if not self._stale:
            self._load()
