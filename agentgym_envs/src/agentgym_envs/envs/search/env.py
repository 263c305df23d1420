"""``agentgym/Search-v1``: answer a question with the help of a search engine.

The protocol is that of Search-R1 (Jin et al., 2025).
"""

import os
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agentgym_envs.core import Outcome, TextEnv
from agentgym_envs.envs.search import retrievers
from agentgym_envs.envs.search.datasets import check_corpus, question_prefix, read_questions
from agentgym_envs.envs.search.scoring import exact_match, f1
from agentgym_envs.envs.search.server import HTTPRetriever
from agentgym_envs.envs.search.world import Passage, SearchQuestion, corpus, questions
from agentgym_envs.errors import ArgumentError, MissingExtra, TaskError, UnknownName
from agentgym_envs.tasks import SPLITS, Task, TaskSet, split_of

OBSERVATION_LIMIT = 2000  # characters, about 500 tokens
QUERY_LIMIT = 500
FilePath = str | os.PathLike[str]
KINDS = ("search", "answer")


class SearchEnv(TextEnv):
    """Questions to answer with a search engine. One ``<answer>`` ends the episode.

    Args:
        corpus: a JSON-lines file to index. The default is the embedded corpus.
        questions: a question file, which the hash of the questions' ids splits, or a file per
            split, ``{"train": path, "test": path}``. The default is the embedded questions. If two
            of the files have the same name, the ids of the tasks begin with the split.
        retriever: the URL of a Search-R1-compatible server, or a callable of query and number of
            passages. The default is an index of the corpus.
        topk: number of passages per search.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.

    Raises:
        ArgumentError: a keyword has a wrong type or value.
        TaskError: a file is missing or broken (the error names the line), or the files have no
            question in the split.
    """

    instructions = (
        "Answer the question. To search, write <search>query</search>: the passages that fit best"
        " come back between <information> and </information>. Search as often as you need.\nWhen"
        " you know the answer, write <answer>answer</answer>, as short as possible. The first"
        " answer ends the episode. Of several tags in one response, the first counts."
    )

    tools = {
        "search": "<search>{query}</search>",
        "answer": "<answer>{answer}</answer>",
    }

    def __init__(
        self,
        *,
        corpus: FilePath | None = None,
        questions: FilePath | Mapping[str, FilePath] | None = None,
        retriever: str | Callable[[str, int], list[Passage]] | None = None,
        topk: int = 3,
        **kwargs: Any,
    ):
        if find_spec("tantivy") is None:
            raise MissingExtra(type(self).__name__, "search")
        _check_types(corpus, questions, retriever, topk)
        if questions is None and (corpus is not None or retriever is not None):
            raise TaskError(
                "questions: the embedded questions need the embedded corpus; give a question file"
                " for your corpus"
            )
        if isinstance(retriever, str) and not retriever.startswith(("http://", "https://")):
            raise ArgumentError(
                "retriever must be a URL that begins with http:// or https://, or a callable, not"
                f" {retriever!r}"
            )
        self._corpus, self._source, self._topk, self._files = corpus, retriever, topk, questions
        self._retrieve: Any = None
        super().__init__(**kwargs)
        if corpus is not None and retriever is None:
            check_corpus(corpus)

    def make_tasks(self) -> TaskSet:
        """Returns one task per question.

        The difficulty is the number of hops, or 0 if it is unknown.
        """
        if self._files is None:
            return _embedded_tasks()
        if isinstance(self._files, Mapping):
            tasks = _split_files(self._files)
        else:
            tasks = TaskSet(_task(q, split_of(q.id)) for q in read_questions(self._files))
        if self.split in SPLITS and not tasks.ids(self.split):
            one_split = {self.split: "FILE"}
            raise TaskError(
                f"questions={self._files!r} has no question in split {self.split!r}; "
                f"questions={one_split} puts a whole file into it"
            )
        return tasks

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Asks the question. The first episode also opens the retriever."""
        self._question: SearchQuestion = task.data["question"]
        self._titles: list[str] = []
        if self._retrieve is None:
            self._retrieve = self.open_retriever()
        return f"Question: {self._question.text}", self._question.text

    def act(self, action: str) -> Outcome:
        """Executes the first tag of a response."""
        found = first_tag(action)
        if found is None:
            return Outcome(
                "This response has no action. Write <search>query</search> to search, or"
                " <answer>answer</answer> to answer.",
                0.0,
                invalid=True,
            )
        kind, text = found[0], found[1].encode("utf-8", "replace").decode().strip()
        if kind == "search":
            passages = self._retrieve(text[:QUERY_LIMIT], self._topk)
            self._titles = [p.title for p in passages]
            return Outcome(_information(passages), 0.0)
        score = exact_match(text, self._question.answers)
        return Outcome(
            "The answer was recorded.",
            score,
            done=True,
            success=score == 1.0,
            extra={"f1": f1(text, self._question.answers)},
        )

    def actions(self) -> list[str]:
        """Returns a search for the question, and two actions per title of the last results.

        The two actions are a search for the title and an answer with it.
        """
        found = dict.fromkeys(self._titles)
        listed = [
            f"<search>{self._question.text}</search>",
            *(f"<search>{t}</search>" for t in found),
        ]
        return [*listed, *(f"<answer>{t}</answer>" for t in found)]

    def oracle(self) -> Iterator[str]:
        """Searches for each gold passage in turn, then answers."""
        for passage in self._question.gold:
            yield f"<search>{_by_id()[passage].title}</search>"
        yield f"<answer>{self._question.answers[0]}</answer>"

    def open_retriever(
        self, *, on_passage: Callable[[], None] | None = None
    ) -> Callable[[str, int], list[Passage]]:
        """Returns the retriever. Builds the index if it does not exist yet."""
        if isinstance(self._source, str):
            return HTTPRetriever(self._source)
        return self._source or retrievers.BM25Retriever(self._corpus, on_passage=on_passage)

    def prepare(self, *, workers: int | None, on_item: Callable[[], None]) -> None:
        """Builds the index before the first episode."""
        self.open_retriever(on_passage=on_item)

    def close(self) -> None:
        """Closes the connections to a server."""
        if isinstance(self._retrieve, HTTPRetriever):
            self._retrieve.close()
        self._retrieve = None


def first_tag(response: str) -> tuple[str, str] | None:
    """Returns the kind and the content of the first closed tag, or None.

    Only the first opening tag of each kind can be closed: if no closing tag follows it, no closing
    tag follows a later one. So the time is linear in the length of the response.

    >>> first_tag("I know it. <answer>Nay Pyi Taw</answer>")
    ('answer', 'Nay Pyi Taw')
    """
    found = []
    for kind in KINDS:
        start = response.find(f"<{kind}>")
        content = start + len(f"<{kind}>")
        end = response.find(f"</{kind}>", content) if start >= 0 else -1
        if end >= 0:
            found.append((start, kind, response[content:end]))
    return min(found)[1:] if found else None


def _information(passages: list[Passage]) -> str:
    """Returns passages as Search-R1 shows them. A mark shows where a long text was cut."""
    text = (
        "\n".join(f"Doc {n}(Title: {p.title}) {p.text}" for n, p in enumerate(passages, 1))
        or "Nothing was found."
    )
    text = text if len(text) <= OBSERVATION_LIMIT else text[:OBSERVATION_LIMIT] + " … (cut)"
    return f"\n\n<information>{text}</information>\n\n"


@cache
def _by_id() -> dict[str, Passage]:
    return {p.id: p for p in corpus()}


def _check_types(corpus: Any, questions: Any, retriever: Any, topk: Any) -> None:
    """Raises an ArgumentError for a keyword with a wrong type or value."""
    if isinstance(topk, bool) or not isinstance(topk, int) or topk < 1:
        raise ArgumentError(f"topk must be a whole number of at least 1, not {topk!r}")
    if not (retriever is None or isinstance(retriever, str) or callable(retriever)):
        raise ArgumentError(f"retriever must be a URL or a callable, not {retriever!r}")
    if not (corpus is None or isinstance(corpus, str | os.PathLike)):
        raise ArgumentError(f"corpus must be the path of a file, not {corpus!r}")
    for split, path in (
        questions.items()
        if isinstance(questions, Mapping)
        else [("", questions)]
        if questions is not None
        else []
    ):
        if not (isinstance(split, str) and isinstance(path, str | os.PathLike)):
            raise ArgumentError(
                f"questions must be the path of a file, or a path per split, not {questions!r}"
            )


def _split_files(files: Mapping[str, FilePath]) -> TaskSet:
    """Returns the tasks of one question file per split."""
    for split in files:
        if split not in SPLITS:
            raise UnknownName("split", split, SPLITS)
    if len({Path(path).resolve() for path in files.values()}) < len(files):
        raise TaskError(
            f"questions={files!r} has the same file for two splits; questions=FILE splits one file"
        )
    read = [(split, q) for split, path in files.items() for q in read_questions(path)]
    if len({question_prefix(path) for path in files.values()}) < len(files):
        read = [(split, replace(q, id=f"{split}-{q.id}")) for split, q in read]
    return TaskSet(_task(q, split) for split, q in read)


def _task(question: SearchQuestion, split: str) -> Task:
    return Task(
        id=question.id, split=split, difficulty=len(question.gold), data={"question": question}
    )


@cache
def _embedded_tasks() -> TaskSet:
    return TaskSet(_task(q, split_of(q.id)) for q in questions())
