r"""Reads corpora and question files in the formats of common data sets, one record at a time.

- Corpus: JSON lines ``{"id", "contents": "\\"Title\\"\\ntext"}``, as Search-R1's wiki-18 in
  FlashRAG.
- Questions: JSON lines ``{"question", "golden_answers"}``, FlashRAG's form of seven data sets.
- NQ-open: JSON lines ``{"question", "answer": [...]}``.
- TriviaQA: JSON ``{"Data": [{"Question", "QuestionId", "Answer": {"Value", "Aliases"}}]}``.
- PopQA: tab-separated, ``question`` and ``possible_answers`` (a JSON list).
- HotpotQA and 2Wiki: a JSON list of ``{"_id", "question", "answer"}``.
- MuSiQue: JSON lines ``{"id", "question", "answer", "answer_aliases", "answerable"}``.
- Bamboogle: comma-separated, ``SearchQuestion`` and ``Answer``.

Files can be compressed with gzip if their name ends in ``.gz``: ``nq.jsonl.gz``.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from agentgym_envs.envs.search.files import bare_name, lines, parse, records
from agentgym_envs.envs.search.world import Passage, SearchQuestion
from agentgym_envs.errors import TaskError

CHECKED = 1000  # lines of a corpus to check at construction; building the index checks the rest
_PASSAGE = '{"id": "0", "contents": "\\"Title\\"\\ntext"}'


def read_corpus(path: str | os.PathLike[str]) -> Iterator[Passage]:
    """Yields the passages of a JSON-lines corpus of any size.

    Raises:
        TaskError: a line is not a passage (the error names the line), or the file has no passages.
    """
    found = False
    for where, line in lines(path):
        if line.strip():
            row = parse(line, where)
            if not isinstance(row, Mapping) or "id" not in row:
                raise TaskError(f"{where} is not a passage; a line looks like {_PASSAGE}")
            yield read_passage(row, where)
            found = True
    if not found:
        raise TaskError(f"{path}:1: the file has no passages; a line looks like {_PASSAGE}")


def check_corpus(path: str | os.PathLike[str]) -> None:
    """Checks the first ``CHECKED`` passages of a corpus.

    Raises:
        TaskError: see :func:`read_corpus`.
    """
    for _ in islice(read_corpus(path), CHECKED):
        pass


def read_passage(row: Mapping[str, Any], where: str) -> Passage:
    """Returns the passage of a record.

    The title is the first line of ``contents``, without the quotation marks around it.

    Raises:
        TaskError: ``contents`` is not a text.
    """
    if not isinstance(row.get("contents"), str):
        value = str(row.get("contents"))[:50]
        raise TaskError(
            f"{where} is not a passage: 'contents' is {value!r}, not a text; see {_PASSAGE}"
        )
    title, _, text = _clean(row["contents"]).partition("\n")
    return Passage(_clean(str(row.get("id", ""))), title.strip('"'), text)


def question_prefix(path: str | os.PathLike[str]) -> str:
    """Returns the file's name without its endings. The ids of its questions begin with it.

    >>> question_prefix("data/nq.jsonl.gz")
    'nq'
    """
    return Path(bare_name(Path(path))).stem


def read_questions(path: str | os.PathLike[str]) -> list[SearchQuestion]:
    """Returns the questions of a file in any of the formats above.

    Questions that are marked as unanswerable are left out.

    Raises:
        TaskError: a record has no question or no answer, two records have the same id, or the file
            has no questions.
    """
    questions: dict[str, SearchQuestion] = {}
    for number, (where, row) in enumerate(records(Path(path))):
        lowered = {str(k).lower(): v for k, v in row.items()} if isinstance(row, Mapping) else {}
        if lowered.get("answerable") is False:
            continue
        text, answers = lowered.get("question"), _answers(lowered, where)
        if not isinstance(text, str) or not text.strip() or not answers:
            raise TaskError(f"{where} has no question or no answer: {str(row)[:200]}")
        name = next((lowered[k] for k in ("id", "_id", "questionid") if k in lowered), number)
        question = SearchQuestion(
            f"{question_prefix(path)}-{_clean(str(name))}", _clean(text), answers
        )
        if questions.setdefault(question.id, question) is not question:
            raise TaskError(f"{where} has the same id as an earlier question: {name!r}")
    if not questions:
        raise TaskError(f"{path}:1: the file has no questions")
    return list(questions.values())


def _answers(row: Mapping[str, Any], where: str) -> tuple[str, ...]:
    found: list[Any] = []
    for key in ("golden_answers", "answer", "answer_aliases", "possible_answers"):
        value = row.get(key)
        if key == "possible_answers" and isinstance(value, str):
            value = parse(value, where)
        if isinstance(value, Mapping) and "Value" in value:  # TriviaQA
            aliases = value.get("Aliases")
            value = [value["Value"], *(aliases if isinstance(aliases, list) else [])]
        found += value if isinstance(value, list) else [] if value is None else [value]
    for answer in found:
        if isinstance(answer, bool) or not isinstance(answer, str | int | float):
            raise TaskError(
                f"{where}: an answer must be a text or a number, not {str(answer)[:100]}"
            )
    return tuple(dict.fromkeys(_clean(str(a)) for a in found if str(a).strip()))


def _clean(text: str) -> str:
    """Returns the text as valid Unicode, because JSON can hold half a surrogate pair."""
    return text.encode("utf-8", "replace").decode()
