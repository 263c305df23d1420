r"""Reads corpora and question files in the field's formats, one record at a time.

=====================  ===========================================================================================
corpus                 JSON lines ``{"id", "contents": "\\"Title\\"\\ntext"}`` (Search-R1's wiki-18, FlashRAG)
questions              JSON lines ``{"question", "golden_answers"}`` (FlashRAG's form of all seven data sets)
NQ-open                JSON lines ``{"question", "answer": [...]}``
TriviaQA               JSON ``{"Data": [{"Question", "QuestionId", "Answer": {"Value", "Aliases"}}]}``
PopQA                  tab-separated, ``question`` and ``possible_answers`` (a JSON list)
HotpotQA, 2Wiki        a JSON list of ``{"_id", "question", "answer"}``
MuSiQue                JSON lines ``{"id", "question", "answer", "answer_aliases", "answerable"}``
Bamboogle              comma-separated, ``Question`` and ``Answer``
=====================  ===========================================================================================
"""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentgym_envs.envs.search.world import Passage, Question
from agentgym_envs.errors import TaskError


def read_corpus(path: str | Path) -> Iterator[Passage]:
    """Yields the passages of a JSON-lines corpus of any size.

    Raises:
        TaskError: a line that is no passage, with its number.
    """
    with _open(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                title, _, text = str(row["contents"]).partition("\n")
                yield Passage(str(row["id"]), title.strip('"'), text)
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                raise TaskError(f"{path}:{number} is no passage: a line looks like {_PASSAGE}") from error


def read_questions(path: str | Path) -> list[Question]:
    """Returns the questions of a file in any of the formats above; those marked as unanswerable are left out.

    Raises:
        TaskError: a record without question or answer, or a file without questions.
    """
    questions = []
    for number, row in enumerate(_records(Path(path))):
        lowered = {str(k).lower(): v for k, v in row.items()} if isinstance(row, Mapping) else {}
        if lowered.get("answerable") is False:
            continue
        answers = _answers(lowered)
        if not lowered.get("question") or not answers:
            raise TaskError(f"{path}: record {number + 1} has no question or no answer: {str(row)[:200]}")
        name = next((lowered[k] for k in ("id", "_id", "questionid") if k in lowered), number)
        questions.append(Question(f"{Path(path).stem}-{name}", str(lowered["question"]), answers))
    if not questions:
        raise TaskError(f"{path} has no questions")
    return questions


_PASSAGE = json.dumps({"id": "0", "contents": '"Title"\ntext'})


def _records(path: Path) -> Iterator[Any]:
    with _open(path) as file:
        if path.suffix in (".tsv", ".csv"):
            yield from csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            return
        if path.suffix == ".jsonl":
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _parse(line, f"{path}:{number}")
            return
        whole = _parse(file.read(), str(path))
        yield from whole["Data"] if isinstance(whole, dict) and "Data" in whole else whole


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise TaskError(f"{where} is not JSON: {error}") from error


def _answers(row: Mapping[str, Any]) -> tuple[str, ...]:
    found: list[Any] = []
    for key in ("golden_answers", "answer", "answer_aliases", "possible_answers"):
        value = row.get(key)
        if key == "possible_answers" and isinstance(value, str):
            value = json.loads(value)
        if isinstance(value, Mapping):  # TriviaQA
            value = [value["Value"], *value.get("Aliases", [])]
        found += value if isinstance(value, list) else [] if value is None else [value]
    return tuple(dict.fromkeys(str(a) for a in found if str(a).strip()))


def _open(path: str | Path) -> Any:
    try:
        return open(path, encoding="utf-8", newline="")
    except OSError as error:
        raise TaskError(f"cannot read {str(path)!r}: {error.strerror}") from error
