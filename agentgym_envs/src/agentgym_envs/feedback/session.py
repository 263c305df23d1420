"""A session of judging: chooses the next pair, hides the sides and stores choices.

The page and the terminal share it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.feedback.agreement import AnnotatorAgreement, agreement
from agentgym_envs.feedback.record import ComparisonFile, EpisodePair, ordered, standing, undo
from agentgym_envs.tasks import stable_hash

Choice = Literal["left", "right", "tie", "neither"]
SHOWN: tuple[Choice, ...] = ("left", "right", "tie", "neither")
LONGEST = 80  # largest number of characters of a name


@dataclass(frozen=True)
class JudgingQuestion:
    """A pair as an annotator sees it, without runs and scores."""

    number: int
    env_id: str
    task_id: str
    instructions: str
    left: EpisodeRow
    """The keys end, last and turns.

    A turn has observation, response, action, invalid, and seat if there are several seats.
    """
    right: EpisodeRow
    choice: Choice | None = None
    """The annotator's choice that was undone."""
    comment: str = ""


@dataclass(frozen=True)
class JudgingProgress:
    """The progress of an annotator."""

    annotator: str
    done: int
    total: int
    question: JudgingQuestion | None
    """None if all pairs are judged."""
    agreement: str
    """The agreement of all annotators, in a sentence."""


class JudgingSession:
    """Pairs to judge, and the file of judgements. Calls must not overlap.

    Args:
        pairs: comparisons without a choice.
        file: the judgements of all annotators; receives the new ones.
        seed: decides which side is on the left.
    """

    def __init__(self, pairs: Sequence[EpisodeRow], file: ComparisonFile, *, seed: int):
        self.pairs, self._file = [ordered(row) for row in pairs], file
        self._keys = [EpisodePair.of(row) for row in pairs]
        self._turned = [bool(stable_hash(json.dumps([seed, *key])) % 2) for key in self._keys]
        self._undone: dict[
            tuple[str, EpisodePair], EpisodeRow
        ] = {}  # undone choices, to show them again

    def state(self, annotator: str) -> JudgingProgress:
        """Returns the progress of an annotator.

        Raises:
            ArgumentError: the name is empty or too long.
        """
        if not annotator.strip() or len(annotator) > LONGEST:
            raise ArgumentError(
                f"annotator={annotator!r}: a name has from 1 to {LONGEST} characters"
            )
        judged = {EpisodePair.of(row) for row in self._standing() if row["annotator"] == annotator}
        left = [number for number, key in enumerate(self._keys) if key not in judged]
        question = self._question(left[0], annotator) if left else None
        return JudgingProgress(
            annotator, len(self.pairs) - len(left), len(self.pairs), question, str(self.agreement())
        )

    def judge(self, annotator: str, number: int, choice: str, comment: str) -> JudgingProgress:
        """Stores a judgement of the annotator's next pair.

        A judgement of any other pair changes nothing.

        Args:
            annotator: the annotator's name.
            number: the number of the question.
            choice: "left", "right", "tie" or "neither".
            comment: any text.

        Raises:
            ArgumentError: an unknown choice.
        """
        if choice not in SHOWN:
            raise ArgumentError(f"choice={choice!r}: must be one of {', '.join(SHOWN)}")
        question = self.state(annotator).question
        if question is not None and question.number == number:
            chosen = {
                "choice": self._recorded(number, choice),
                "comment": comment,
                "annotator": annotator,
            }
            self._file.add({"row": "comparison", **self.pairs[number], **chosen})
        return self.state(annotator)

    def undo(self, annotator: str) -> JudgingProgress:
        """Takes the annotator's last judgement back; the pair comes again."""
        mine = [row for row in self._standing() if row["annotator"] == annotator]
        if mine:
            self._undone[annotator, EpisodePair.of(mine[-1])] = mine[-1]
            self._file.add(undo(mine[-1]))
        return self.state(annotator)

    def agreement(self) -> AnnotatorAgreement:
        """Returns the agreement of all annotators on these pairs."""
        return agreement(self._standing())

    def _standing(self) -> list[EpisodeRow]:
        keys = set(self._keys)
        return [row for row in standing(self._file.rows) if EpisodePair.of(row) in keys]

    def _recorded(self, number: int, choice: str) -> str:
        """Returns the choice with "left" and "right" replaced by "a" and "b"."""
        sides = (
            {"left": "a", "right": "b"} if not self._turned[number] else {"left": "b", "right": "a"}
        )
        return sides.get(choice, choice)

    def _question(self, number: int, annotator: str) -> JudgingQuestion:
        row = self.pairs[number]
        sides = [_shown(row[side]) for side in ("a", "b")]
        left, right = reversed(sides) if self._turned[number] else sides
        before = self._undone.get((annotator, self._keys[number]), {"choice": None, "comment": ""})
        chosen = next(
            (shown for shown in SHOWN if self._recorded(number, shown) == before["choice"]), None
        )
        named = {key: row[key] for key in ("env_id", "task_id", "instructions")}
        return JudgingQuestion(
            number=number, **named, left=left, right=right, choice=chosen, comment=before["comment"]
        )


def _shown(episode: EpisodeRow) -> dict[str, Any]:
    turns = [
        {key: value for key, value in turn.items() if key != "reward"} for turn in episode["turns"]
    ]
    return {"end": episode["end"], "last": episode["last"], "turns": turns}
