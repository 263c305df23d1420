"""Agreement of annotators: pure functions over comparisons.

Sources: J. Cohen, "A coefficient of agreement for nominal scales" (1960); J. L. Fleiss, "Measuring
nominal scale agreement among many raters" (1971).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from agentgym_envs.evaluate.metrics import grouped
from agentgym_envs.feedback.record import CHOICES, EpisodePair
from agentgym_envs.lines import JsonRow

Choices = dict[str, str]
"""The choices for one pair, by annotator."""


@dataclass(frozen=True)
class AnnotatorAgreement:
    """Agreement on the pairs that at least two annotators have judged."""

    annotators: tuple[str, ...]
    pairs: int
    raw: float | None
    """Share of equal choices of two annotators, in [0, 1], mean over pairs.

    None without such a pair.
    """
    kappa: float | None
    """Agreement above chance: Cohen's for two annotators, Fleiss' for more.

    Annotators can skip pairs. None if all choices are the same.
    """

    def __str__(self) -> str:
        """Returns the agreement as one line."""
        if self.raw is None:
            return "agreement: no pair was judged by several annotators"
        name = "Cohen's" if len(self.annotators) == 2 else "Fleiss'"
        kappa = "–, as only one choice was made" if self.kappa is None else f"{self.kappa:.2f}"
        names = f"{', '.join(self.annotators)} on {self.pairs} pair{'' if self.pairs == 1 else 's'}"
        return f"agreement of {names}: {self.raw:.2f}, {name} κ {kappa}"


def agreement(comparisons: Iterable[JsonRow]) -> AnnotatorAgreement:
    """Returns the agreement of all annotators.

    Args:
        comparisons: the valid comparisons (:func:`agentgym_envs.feedback.record.standing`).
    """
    by_pair = [
        {row["annotator"]: row["choice"] for row in rows}
        for rows in grouped(comparisons, EpisodePair.of).values()
    ]
    shared = [choices for choices in by_pair if len(choices) > 1]
    annotators = tuple(sorted({name for choices in shared for name in choices}))
    if not shared:
        return AnnotatorAgreement((), 0, None, None)
    raw = fmean(_alike(list(choices.values())) for choices in shared)
    chance = _cohens_chance(shared, annotators) if len(annotators) == 2 else _fleiss_chance(shared)
    return AnnotatorAgreement(
        annotators, len(shared), raw, None if chance == 1 else (raw - chance) / (1 - chance)
    )


def _alike(choices: Sequence[str]) -> float:
    """Returns the share of annotator pairs with equal choices."""
    n = len(choices)
    return sum(count * (count - 1) for count in Counter(choices).values()) / (n * (n - 1))


def _cohens_chance(shared: Sequence[Choices], annotators: Sequence[str]) -> float:
    """Returns the chance that two annotators agree, with each one's shares of choices."""
    one, two = (Counter(choices[name] for choices in shared) for name in annotators)
    return sum(one[choice] * two[choice] for choice in CHOICES) / len(shared) ** 2


def _fleiss_chance(shared: Sequence[Choices]) -> float:
    """Returns the chance that two annotators agree, with the shares of all choices."""
    counts = Counter(choice for choices in shared for choice in choices.values())
    return sum((count / counts.total()) ** 2 for count in counts.values())
