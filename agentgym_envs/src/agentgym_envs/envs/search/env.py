"""``agentgym/Search-v0``: answer a question with the help of a search engine, in the protocol of Search-R1 (Jin et al., 2025)."""

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any

from agentgym_envs.core import Outcome, TextEnv
from agentgym_envs.envs.search import retrievers
from agentgym_envs.envs.search.datasets import read_questions
from agentgym_envs.envs.search.scoring import exact_match, f1
from agentgym_envs.envs.search.world import Passage, Question, corpus, questions
from agentgym_envs.errors import MissingExtra, TaskError
from agentgym_envs.tasks import Task, TaskSet, split_of

OBSERVATION_LIMIT = 2000  # characters, about 500 tokens
QUERY_LIMIT = 500
_ASKED = {"country": "country capital currency domain", "city": "city inhabitants", "element": "chemical element"}
_TAG = re.compile(r"<(search|answer)>(.*?)</\1>", re.DOTALL)


class SearchEnv(TextEnv):
    """Search with ``<search>``, then give one ``<answer>``, which ends the episode.

    Args:
        corpus: a JSON-lines file to index; the embedded corpus without it.
        questions: a question file; the embedded questions without it. It is the task list of every split.
        retriever: the URL of a Search-R1-compatible server, or a callable of query and number; an index of the corpus without it.
        topk: passages a search.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    instructions = (
        "Answer the question. To search, write <search>query</search>: the passages that fit best come back between "
        "<information> and </information>. Search as often as you need.\n"
        "When you know the answer, write <answer>answer</answer>, as short as possible. The first answer ends the episode. "
        "Of several tags in one response, the first counts."
    )

    tools = {
        "search": "<search>{query}</search>",
        "answer": "<answer>{answer}</answer>",
    }

    def __init__(
        self,
        *,
        corpus: str | None = None,
        questions: str | None = None,
        retriever: str | Callable[[str, int], list[Passage]] | None = None,
        topk: int = 3,
        **kwargs: Any,
    ):
        if find_spec("tantivy") is None or find_spec("httpx") is None:
            raise MissingExtra(type(self).__name__, "search")
        if topk < 1:
            raise ValueError(f"topk must be positive, not {topk}")
        if questions is None and (corpus is not None or retriever is not None):
            raise TaskError("questions: the embedded questions are about the embedded corpus; give a question file for your own")
        self._corpus, self._source, self._topk, self._file = corpus, retriever, topk, questions
        self._retrieve: Any = None
        super().__init__(**kwargs)

    def make_tasks(self) -> TaskSet:
        """Returns one task a question; the difficulty is the number of hops, where it is known."""
        if self._file is None:
            return _embedded_tasks()
        rows = read_questions(self._file)
        return TaskSet(Task(id=q.id, split=self.split, data={"question": q}) for q in rows)

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Asks the question; opens the retriever at the first one."""
        self._question: Question = task.data["question"]
        self._titles: list[str] = []
        if self._retrieve is None:
            self._retrieve = self.open_retriever()
        return f"Question: {self._question.text}", self._question.text

    def act(self, action: str) -> Outcome:
        """Takes the first tag of a response."""
        match = _TAG.search(action)
        if match is None:
            return Outcome(
                "This response has no action. Write <search>query</search> to search, or <answer>answer</answer> to answer.",
                0.0,
                invalid=True,
            )
        kind, text = match[1], match[2].encode("utf-8", "replace").decode().strip()
        if kind == "search":
            passages = self._retrieve(text[:QUERY_LIMIT], self._topk)
            self._titles = [p.title for p in passages]
            return Outcome(_information(passages), 0.0)
        score = exact_match(text, self._question.answers)
        return Outcome(
            "The answer was recorded.", score, done=True, success=score == 1.0, extra={"f1": f1(text, self._question.answers)}
        )

    def actions(self) -> list[str]:
        """Returns a search for the question, and a search for and an answer with each title of the last results."""
        found = dict.fromkeys(self._titles)
        listed = [f"<search>{self._question.text}</search>", *(f"<search>{t}</search>" for t in found)]
        return [*listed, *(f"<answer>{t}</answer>" for t in found)]

    def oracle(self) -> Iterator[str]:
        """Searches for each gold passage in turn, then answers."""
        for passage in self._question.gold:
            kind, _, _ = passage.partition("-")
            yield f"<search>{_by_id()[passage].title} {_ASKED[kind]}</search>"
        yield f"<answer>{self._question.answers[0]}</answer>"

    def open_retriever(self, *, on_passage: Callable[[], None] | None = None) -> Callable[[str, int], list[Passage]]:
        """Returns the retriever, building the index if need be."""
        if isinstance(self._source, str):
            return retrievers.HTTPRetriever(self._source)
        return self._source or retrievers.BM25(self._corpus, on_passage=on_passage)

    def prepare(self, *, workers: int | None, on_item: Callable[[], None]) -> None:
        """Builds the index ahead."""
        self.open_retriever(on_passage=on_item)

    def close(self) -> None:
        """Closes the connections to a server."""
        if isinstance(self._retrieve, retrievers.HTTPRetriever):
            self._retrieve.close()
        self._retrieve = None


def _information(passages: list[Passage]) -> str:
    """Returns passages as Search-R1 shows them, cut at the limit with a mark."""
    text = "\n".join(f"Doc {n}(Title: {p.title}) {p.text}" for n, p in enumerate(passages, 1)) or "Nothing was found."
    text = text if len(text) <= OBSERVATION_LIMIT else text[:OBSERVATION_LIMIT] + " … (cut)"
    return f"\n\n<information>{text}</information>\n\n"


@cache
def _by_id() -> dict[str, Passage]:
    return {p.id: p for p in corpus()}


@cache
def _embedded_tasks() -> TaskSet:
    rows = questions()
    return TaskSet(Task(id=q.id, split=split_of(q.id), difficulty=len(q.gold), data={"question": q}) for q in rows)
