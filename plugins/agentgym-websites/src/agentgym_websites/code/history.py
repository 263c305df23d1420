"""Creates the history of a project: commits with real files, tags, branches, merge requests."""

import copy
import random
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agentgym_websites.code.diff import compare
from agentgym_websites.code.projects import changes, defaults, guide, readme
from agentgym_websites.code.repository import shrink, store
from agentgym_websites.code.source import (
    FOLDERS,
    FUNCTIONS,
    LANGUAGES,
    Function,
    Module,
    cased,
    change,
    filled,
    grow,
    make_module,
    render,
    tune,
)

# Branches that are never merged.
SPIKES = (
    "next",
    "spike",
    "prototype",
    "playground",
    "wip",
    "draft",
    "experiment",
    "tryout",
    "sketch",
)
IDEAS = (
    "prefetch", "sharding", "bloom_filter", "heatmap", "watcher", "journal", "compactor", "throttle", "snapshot", "autotune", "fan_out", "mirror",
    "tracer", "sampler", "quota", "ledger", "digest", "beacon", "relay", "checksum", "backlog", "replay", "dedupe", "warmup",
)  # fmt: skip
CASES = "tests/cases.csv"
RECENT = 3  # number of commits that a branch can be behind


class Plan(NamedTuple):
    """A commit of the main branch, or the only one of another branch; drawn before its files."""

    sha: str
    author: int
    message: str
    made: str
    added: int
    removed: int


class About(NamedTuple):
    """The facts that a project's documents state."""

    key: int
    name: str
    description: str
    language: str
    version: tuple[int, int, int]
    licence: str
    port: int
    limits: Mapping[str, int]


class History:
    """The files of a project during the creation of its history.

    Args:
        db: the database.
        rng: draws the changes.
        about: the project.

    Attributes:
        modules: modules by their paths.
        files: texts by their paths.
    """

    def __init__(self, db: sqlite3.Connection, rng: random.Random, about: About):
        self.db, self.rng, self.about = db, rng, about
        self.end = LANGUAGES[about.language].end
        self.modules: dict[str, Module] = {}
        self.files: dict[str, str] = {}
        self._blobs: dict[str, int] = {}
        self._news: list[str] = []  # entries of the next release
        self._releases: list[tuple[str, list[str]]] = []
        self._cases = 0
        self.head: int | None = None
        # Commits of the main branch, their days, and the files that each changed.
        self.line: list[tuple[int, str, tuple[str, ...]]] = []

    def begin(self) -> dict[str, str]:
        """Returns the files of the first commit."""
        about, rng = self.about, self.rng
        for part in FUNCTIONS:
            word = part.replace(" ", "_")
            if part == "installer":
                self.modules["scripts/install.sh"] = make_module(rng, part, about.name, "Shell")
            elif word in about.limits:
                self.modules[f"src/{word}.{self.end}"] = make_module(
                    rng, part, about.name, about.language, about.limits[word]
                )
            else:
                self.modules[f"{FOLDERS[part]}/{word}.{self.end}"] = make_module(
                    rng, part, about.name, about.language
                )
        tests = {self._test_path(part): self._test(part) for part in rng.sample(sorted(FOLDERS), 3)}
        return {
            **{path: render(module) for path, module in self.modules.items()},
            **tests,
            **self._release(self.versions()[0]),
            "LICENSE": f"{about.licence} licence\n",
            "config/defaults.toml": defaults(rng, about.port),
            "docs/guide.md": guide(rng, about.name, about.description),
            CASES: "input,wanted\n" + "".join(self._case() for _ in range(100)),
        }

    def versions(self) -> list[str]:
        """Returns the releases, oldest first."""
        major, minor, last = self.about.version
        return [f"{major}.{minor}.{n}" for n in range(max(0, last - 2), last + 1)]

    def _release(self, version: str) -> dict[str, str]:
        first = [] if self._releases else ["First stable release"]
        self._releases.insert(0, (version, [*first, *self._news]))
        self._news = []
        about = self.about
        text = readme(
            about.name, about.description, about.language, version, about.port, about.licence
        )
        return {
            "VERSION": f"{version}\n",
            "README.md": text,
            "CHANGELOG.md": changes(self._releases, []),
        }

    def _case(self) -> str:
        self._cases += 1
        return f"{self._cases * 7919 % 10007},{self.rng.randint(10, 999)}\n"

    def _test_path(self, part: str) -> str:
        return f"tests/test_{part.replace(' ', '_')}.{self.end}"

    def _test(self, part: str) -> str:
        """Returns a test of an existing function of a part."""
        language = LANGUAGES[self.about.language]
        functions = next((m.functions for m in self.modules.values() if m.part == part), [])
        name = self.rng.choice(functions).row[0] if functions else "run"
        given, wanted = self.rng.randint(100, 999), self.rng.randint(2, 99)
        values = {
            "name": f"{name}_{given}",
            "call": cased(name, language.camel),
            "given": given,
            "wanted": wanted,
        }
        return filled(language.test, values)

    def _effect(self, message: str, modules: dict[str, Module]) -> dict[str, str]:
        """Returns the files that a commit changes, and changes the modules."""
        rng = self.rng
        part = next((p for p in FUNCTIONS if f"the {p}" in message), None)
        if part is None and "documentation" in message:
            return {"docs/guide.md": self._longer("docs/guide.md", "\n### ", self._note(), message)}
        if part is None or message.startswith("Add tests"):
            about = part if part in FOLDERS else rng.choice(sorted(FOLDERS))
            path = self._test_path(about)
            return {path: self._longer(path, "\n\n", self._test(about), message)}
        path, module = next((path, m) for path, m in modules.items() if m.part == part)
        if message.startswith("Split") and len(module.functions) > 1:
            moved: Function = module.functions[-1]
            target = f"{FOLDERS.get(part, 'scripts')}/{moved.row[0]}.{path.rpartition('.')[2]}"
            if target not in self.files:
                module.functions.pop()
                return {
                    path: render(module),
                    target: render(
                        Module(part, self.about.name, module.language, None, {}, [moved])
                    ),
                }
        change(rng, module, message)
        return {path: render(module)}

    def _longer(self, path: str, mark: str, text: str, message: str) -> str:
        """Returns a document or a test file with one section more; removals have one less."""
        there = self.files.get(path, "")
        if message.startswith("Remove") and mark in there:
            return there.rpartition(mark)[0].rstrip("\n") + "\n"
        return there + ("\n" if there else "") + text

    def _note(self) -> str:
        part = self.rng.choice(sorted(FOLDERS))
        module = next(m for m in self.modules.values() if m.part == part)
        f = self.rng.choice(module.functions)
        name = cased(f.row[0], LANGUAGES[module.language].camel)
        return f"### {name}\n\nPart of the {part}. {f.row[-1]} It stops with “{f.row[4]}” when something is wrong.\n"

    def _write(
        self, plan: Plan, texts: Mapping[str, str], parent: int | None, *, main: bool
    ) -> int:
        """Adds a commit."""
        diffs = [compare(path, self.files.get(path), text) for path, text in texts.items()]
        added, removed = sum(d.added for d in diffs), sum(d.removed for d in diffs)
        sql = "INSERT INTO commits (project_id, sha, author_id, message, made, added, removed, parent) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        values: Sequence[Any] = (
            self.about.key,
            plan.sha,
            plan.author,
            plan.message,
            plan.made,
            added,
            removed,
            parent,
        )
        key = self.db.execute(sql, values).lastrowid
        assert key is not None
        for path, text in sorted(texts.items()):
            blob = store(self.db, text, None if main else self._blobs.get(path))
            if main and path in self._blobs:
                shrink(self.db, self._blobs[path], blob)
            if main:
                self._blobs[path] = blob
            self.db.execute("INSERT INTO changes VALUES (?, ?, ?)", (key, path, blob))
        return key

    def advance(self, plan: Plan, texts: Mapping[str, str]) -> None:
        """Adds a commit to the main branch."""
        self.head = self._write(plan, texts, self.head, main=True)
        self.files |= texts
        self.line.append((self.head, plan.made, tuple(sorted(texts))))

    def tell(self, plans: Sequence[Plan]) -> None:
        """Creates the main branch.

        Every commit changes files. The last one changes as many lines as planned.
        """
        releases = dict(zip(self._places(len(plans)), self.versions(), strict=False))
        self.advance(plans[0], self.begin())
        self._tag(self.versions()[0])
        for n, plan in enumerate(plans[1:-1], 1):
            texts = self._effect(plan.message, self.modules)
            self._news.append(plan.message)
            if n in releases:
                texts |= self._release(releases[n])
            self.advance(plan, texts)
            if n in releases:
                self._tag(releases[n])
        self.advance(plans[-1], self._exactly(plans[-1]))
        self.db.execute("INSERT INTO branches VALUES (?, 'main', ?)", (self.about.key, self.head))

    def _places(self, count: int) -> list[int]:
        """Returns the commits with a release; the first one has the first version."""
        return [0, *(count * n // len(self.versions()) for n in range(1, len(self.versions())))]

    def _tag(self, version: str) -> None:
        self.db.execute(
            "INSERT INTO tags VALUES (?, ?, ?)", (self.about.key, f"v{version}", self.head)
        )

    def _exactly(self, plan: Plan) -> dict[str, str]:
        """Returns files with the planned numbers of added and removed lines.

        They contain the change that the message states, and other test cases.
        """
        modules = copy.deepcopy(self.modules)
        texts = self._effect(plan.message, modules)
        diffs = [compare(path, self.files.get(path), text) for path, text in texts.items()]
        added, removed = (
            plan.added - sum(d.added for d in diffs),
            plan.removed - sum(d.removed for d in diffs),
        )
        if added < 0 or removed < 0:
            texts, added, removed = {}, plan.added, plan.removed
        else:
            self.modules = modules
        lines = self.files[CASES].splitlines(True)
        lines[5 : 5 + removed] = [self._case() for _ in range(added)]
        return texts | ({CASES: "".join(lines)} if added or removed else {})

    def branch(
        self,
        name: str,
        plan: Plan,
        extra: Plan | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> tuple[int, int]:
        """Creates a branch; returns its base on the main branch and its last commit.

        Args:
            name: name of the branch.
            plan: its first commit.
            extra: its second commit.
            texts: files of the first commit; None: the change that its message states.
        """
        modules = copy.deepcopy(self.modules)
        there = dict(self.files)
        first = texts or self._effect(plan.message, modules)
        second: Mapping[str, str] = {}
        if extra is not None:
            path = next((p for p in sorted(first) if p in modules), "")
            if path and not grow(self.rng, modules[path]):
                tune(self.rng, modules[path])
            second = {path: render(modules[path])} if path else {}
        touched = {*first, *second}
        # The base is a commit after which the branch's files have not changed.
        behind = 0
        while behind < RECENT and not touched & set(self.line[-1 - behind][2]):
            behind += 1
        start, since, _ = self.line[-1 - self.rng.randint(0, behind)]
        plan = plan._replace(made=max(plan.made, since))
        last = self._write(plan, first, start, main=False)
        if extra is not None and second and second != {p: first[p] for p in second}:
            self.files |= first
            last = self._write(extra._replace(made=plan.made), second, last, main=False)
        self.files = there
        self.db.execute("INSERT INTO branches VALUES (?, ?, ?)", (self.about.key, name, last))
        return start, last

    def spike(self, idea: str) -> dict[str, str]:
        """Returns a file that exists on one branch only."""
        part = self.rng.choice(sorted(FOLDERS))
        module = make_module(self.rng, part, self.about.name, self.about.language)
        return {f"src/{idea}/{idea}.{self.end}": render(module)}
