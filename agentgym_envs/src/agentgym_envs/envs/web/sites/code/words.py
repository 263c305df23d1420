"""Composes what people write about a project, each text once."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_envs.envs.web.sites.code.languages import CONSTANTS, LANGUAGES
from agentgym_envs.envs.web.sites.code.source import Module, cased, constant
from agentgym_envs.envs.web.sites.code.texts import COMMENT, ISSUE, MERGE, ORDER, REPORTS, SYSTEMS
from agentgym_envs.envs.web.sites.grammar import Rules, compose


class Writer:
    """Writes about one project.

    Args:
        rng: draws.
        name: of the project.
        versions: that have been released.
        modules: the project's, by their paths.
        said: texts that must not come again, of all projects; they grow.
    """

    def __init__(
        self, rng: random.Random, name: str, versions: Sequence[str], modules: Mapping[str, Module], said: dict[str, None]
    ):
        self.rng, self.name, self.versions, self.modules, self.said = rng, name, versions, modules, said

    def facts(self, title: str, next_version: str) -> dict[str, Any]:
        """Returns what is true of the part that a title names."""
        rng = self.rng
        path, module = next(
            ((path, m) for path, m in self.modules.items() if f"the {m.part}" in title.lower()),
            rng.choice(sorted(self.modules.items(), key=lambda item: item[0])),
        )
        part = next((p for p in (module.part, "tests", "documentation") if f"the {p}" in title.lower()), module.part)
        function = rng.choice(module.functions)
        tuned = rng.choice(sorted(module.constants))
        return {
            "name": self.name,
            "part": "test suite" if part == "tests" else part,
            "word": part.replace(" ", "_"),
            "path": path,
            "function": cased(function.row[0], LANGUAGES[module.language].camel),
            "problem": function.row[4],
            "constant": constant(tuned, module.language),
            "values": CONSTANTS[tuned],
            "title": title[0].lower() + title[1:],
            "next": next_version,
        }

    def _once(self, rules: Rules, text: str, facts: Mapping[str, Any], **more: Any) -> str:
        """Composes a text that nobody has written yet."""
        rng = self.rng
        while True:
            seconds = rng.randint(12, 95)
            numbers = {
                "seconds": seconds, "fewer": rng.randint(2, seconds - 5), "minutes": rng.randint(3, 48), "count": rng.randint(3, 12), "tens": rng.randint(11, 89),
                "amount": rng.randint(120, 9800), "gigabytes": rng.choice((2, 4, 6, 8, 12, 16, 24, 32)), "megabytes": rng.randint(20, 900), "lines": rng.randint(15, 60),
                "days": rng.randint(2, 30), "line": rng.randint(5, 70), "status": rng.randint(2, 9), "value": rng.choice(facts["values"]),
                "system": rng.choice(SYSTEMS), "version": rng.choice(self.versions),
            }  # fmt: skip
            found = compose(rng, rules, text, **{**numbers, **facts, **more}).strip().replace("  ", " ")
            if found not in self.said:
                self.said[found] = None
                return found

    def issue(self, title: str, facts: Mapping[str, Any]) -> str:
        """Writes an issue."""
        reports = next(texts for words, texts in REPORTS.items() if words in title)
        return self._once({**ISSUE, "report": reports}, "{issue}", facts)

    def merge(self, facts: Mapping[str, Any], closes: int | None) -> str:
        """Writes a merge request; ``closes`` is the issue that it is about."""
        return self._once(MERGE, "{merge}", facts, closes="" if closes is None else f"Closes #{closes}.")

    def comments(
        self, facts: Mapping[str, Any], authors: Sequence[int], logins: Mapping[int, str], by: int, merge: bool
    ) -> list[str]:
        """Writes comments, the oldest first.

        Args:
            facts: what is true of the part that they are about.
            authors: who writes each.
            logins: of everybody.
            by: whose issue it is; they do not ask themselves.
            merge: whether it is a merge request.
        """
        kinds, texts = list[str](), list[str]()
        for n, author in enumerate(authors):
            fits = [
                k
                for k in (("review",) if merge else ORDER[min(n, len(ORDER) - 1)])
                if not (k in ("cause", "workaround") and k in kinds) and not (author == by and k == "ask")
            ]
            kinds.append(self.rng.choice(fits))
            texts.append(self._once(COMMENT, f"{{{kinds[-1]}}}", facts, author=logins[by]))
        return texts
