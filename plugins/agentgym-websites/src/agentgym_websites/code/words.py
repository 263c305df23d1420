"""Composes people's texts about a project; no sentence occurs twice on the site."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_websites.code.source import CONSTANTS, LANGUAGES, Module, cased, constant
from agentgym_websites.code.texts import (
    COMMENT,
    ISSUES,
    LABEL_OF,
    MERGE,
    MERGES,
    ORDER,
    PLACES,
    REPORTS,
    SYSTEMS,
)
from agentgym_websites.grammar import Author, Known


def label_of(title: str) -> str:
    """Returns the name of the label that fits an issue's title."""
    return next(label for words, label in LABEL_OF.items() if words in title)


class Writer:
    """Writes about one project.

    Args:
        rng: draws the texts.
        name: name of the project.
        versions: the released versions.
        modules: the project's modules, by their paths.
        known: the used sentences of all projects; the writer adds its own.
    """

    def __init__(
        self,
        rng: random.Random,
        name: str,
        versions: Sequence[str],
        modules: Mapping[str, Module],
        known: Known,
    ):
        self.rng, self.name, self.versions, self.modules = rng, name, versions, modules
        self.issues, self.merges, self.talk = (
            Author(rng, rules, known) for rules in (PLACES, MERGE, COMMENT)
        )

    def facts(self, title: str, next_version: str) -> dict[str, Any]:
        """Returns the facts about the part that a title names."""
        rng = self.rng
        path, module = next(
            ((path, m) for path, m in self.modules.items() if f"the {m.part}" in title.lower()),
            rng.choice(sorted(self.modules.items(), key=lambda item: item[0])),
        )
        part = next(
            (p for p in (module.part, "tests", "documentation") if f"the {p}" in title.lower()),
            module.part,
        )
        function = rng.choice(module.functions)
        tuned = rng.choice(sorted(module.constants))
        version = rng.choice(self.versions)
        return {
            "name": self.name,
            "part": "test suite" if part == "tests" else part,
            "word": part.replace(" ", "_"),
            "path": path,
            "function": cased(function.row[0], LANGUAGES[module.language].camel),
            "problem": function.row[4],
            "constant": constant(tuned, module.language),
            "value": rng.choice(CONSTANTS[tuned]),
            "title": title[0].lower() + title[1:],
            "next": next_version,
            "system": rng.choice(SYSTEMS),
            "version": version,
            "old": rng.choice([v for v in self.versions if v != version] or ["the last beta"]),
        }

    def issue(self, title: str, facts: Mapping[str, Any]) -> str:
        """Writes an issue."""
        reports = next(texts for words, texts in REPORTS.items() if words in title)
        first, second = self.rng.sample(reports, 2)
        layout = self.rng.choice(ISSUES)
        author = self.issues
        author.rules = {**PLACES, "report1": (first,), "report2": (second,)}
        return author.write(layout, {**facts, "label": label_of(title)})

    def merge(self, facts: Mapping[str, Any], closes: int | None) -> str:
        """Writes a merge request; ``closes`` is the number of the issue that it is about."""
        closing = "" if closes is None else f"Closes #{closes}."
        return self.merges.write(
            self.rng.choice(MERGES), {**facts, "closes": closing, "label": "review"}
        )

    def comments(
        self,
        facts: Mapping[str, Any],
        authors: Sequence[int],
        logins: Mapping[int, str],
        by: int,
        merge: bool,
    ) -> list[str]:
        """Writes comments, oldest first.

        Args:
            facts: facts about the part that the comments are about.
            authors: author of each comment.
            logins: logins of all people.
            by: author of the issue, who does not ask questions about it.
            merge: whether it is a merge request.
        """
        kinds, texts = list[str](), list[str]()
        for n, author in enumerate(authors):
            fits = [
                k
                for k in (("review",) if merge else ORDER[min(n, len(ORDER) - 1)])
                if not (k in ("cause", "workaround") and k in kinds)
                and not (author == by and k == "ask")
            ]
            kinds.append(self.rng.choice(fits))
            texts.append(
                self.talk.write(
                    f"{{{kinds[-1]}}}",
                    {**facts, "author": logins[by], "system": self.rng.choice(SYSTEMS)},
                )
            )
        return texts
