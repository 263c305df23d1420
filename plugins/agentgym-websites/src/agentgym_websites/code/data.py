"""Fills the code host's database: people, projects, files, commits, issues, merge requests.

The data is always the same. One generator draws the events first. Files and texts follow from the
events and draw from other generators: they can change without a change of the events.
"""

import hashlib
import random
import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from agentgym_websites.code import pipelines, wiki
from agentgym_websites.code.history import IDEAS, SPIKES, About, History, Plan
from agentgym_websites.code.projects import (
    COMMITS,
    FURTHER,
    ISSUES,
    LABELS,
    PARTS,
    PROJECTS,
    ROLES,
)
from agentgym_websites.code.projects import ME as ME
from agentgym_websites.code.projects import MINE as MINE  # imported by the tasks
from agentgym_websites.code.repository import SCHEMA as REPOSITORY
from agentgym_websites.code.texts import EXTRAS
from agentgym_websites.code.words import Writer, label_of
from agentgym_websites.grammar import Known
from agentgym_websites.people import full_names
from agentgym_websites.site import TODAY, add, password

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, login TEXT, password TEXT, bio TEXT, status TEXT DEFAULT '');
CREATE TABLE projects (id INTEGER PRIMARY KEY, name TEXT, owner_id INT, description TEXT, language TEXT, visibility TEXT, created TEXT);
CREATE TABLE labels (id INTEGER PRIMARY KEY, project_id INT, name TEXT, colour TEXT);
CREATE TABLE milestones (id INTEGER PRIMARY KEY, project_id INT, title TEXT, due TEXT, state TEXT DEFAULT 'open');
CREATE TABLE issues (id INTEGER PRIMARY KEY, project_id INT, number INT, title TEXT, body TEXT, author_id INT, assignee_id INT, milestone_id INT,
  state TEXT DEFAULT 'open', opened TEXT, merge INT DEFAULT 0, source TEXT DEFAULT '', base INT, head INT);
CREATE TABLE issue_labels (issue_id INT, label_id INT, PRIMARY KEY (issue_id, label_id));
CREATE TABLE comments (id INTEGER PRIMARY KEY, issue_id INT, author_id INT, body TEXT, written TEXT);
CREATE TABLE approvals (issue_id INT, person_id INT, PRIMARY KEY (issue_id, person_id)) WITHOUT ROWID;
CREATE TABLE members (project_id INT, person_id INT, role TEXT, PRIMARY KEY (project_id, person_id));
CREATE TABLE stars (project_id INT, person_id INT, PRIMARY KEY (project_id, person_id));
CREATE INDEX issues_of ON issues (project_id, number);
CREATE INDEX comments_of ON comments (issue_id);
"""
PEOPLE = 110


class Issue(NamedTuple):
    """An issue or a merge request before its texts are written."""

    title: str
    author: int
    assignee: int | None
    milestone: int | None
    state: str
    opened: str
    merge: int
    source: str
    labels: Sequence[int]
    comments: list[tuple[str, int]]


def fill(db: sqlite3.Connection) -> None:
    """Creates the tables and their rows."""
    rng, known = random.Random("code"), Known()
    db.executescript(SCHEMA + REPOSITORY + pipelines.SCHEMA + wiki.SCHEMA)
    for n, name in enumerate(["Mika Sorel", *full_names(rng, PEOPLE - 1)], 1):
        login = name.lower().replace(" ", "-").replace("ö", "o")
        bio = rng.choice(
            ("", "Maintainer by accident.", "Writes small tools.", "Here for the reviews.")
        )
        add(db, "people", (n, name, login, "harbor2026" if n == ME else password(login), bio))
    for project, (name, description, language) in enumerate(PROJECTS, 1):
        owner = ME if name in MINE else rng.randint(2, PEOPLE)
        created = TODAY - timedelta(days=rng.randint(500, 1500))
        add(
            db,
            "projects",
            (
                project,
                name,
                owner,
                description,
                language,
                rng.choice(("Public",) * 5 + ("Internal",)),
                str(created),
            ),
        )
        team = [
            owner,
            *rng.sample([n for n in range(2, PEOPLE + 1) if n != owner], rng.randint(3, 8)),
        ]
        add(
            db,
            "members",
            *[(project, who, "Owner" if who == owner else rng.choice(ROLES[:-1])) for who in team],
        )
        add(
            db,
            "stars",
            *[(project, who) for who in rng.sample(range(2, PEOPLE + 1), rng.randint(1, 38))],
        )
        for label, colour in LABELS:
            db.execute(
                "INSERT INTO labels (project_id, name, colour) VALUES (?, ?, ?)",
                (project, label, colour),
            )
        for n in range(3):
            due = str(TODAY + timedelta(days=40 * n - 30))
            db.execute(
                "INSERT INTO milestones (project_id, title, due) VALUES (?, ?, ?)",
                (project, f"{1 + project % 3}.{n + project % 5}", due),
            )
        about = _about(rng, project, name, description, language)
        plans = _plans(rng, project, team)
        issues = _issues(db, rng, project, team)
        _tell(db, about, plans, issues, team, known)
    pipelines.fill(db)
    wiki.fill(db)
    db.commit()


def _about(rng: random.Random, project: int, name: str, description: str, language: str) -> About:
    last, licence = rng.randint(0, 9), rng.choice(("MIT", "Apache-2.0", "BSD-3-Clause"))
    port = rng.randint(3000, 9800)
    parts = rng.sample([p.replace(" ", "_") for p in PARTS[:8]], 4)
    limits = {p: rng.randint(8, 512) for p in parts}
    if language == "Python":  # a second draw keeps the later draws as they are
        limits = {p: rng.randint(8, 512) for p in parts}
    return About(
        project,
        name,
        description,
        language,
        (1 + project % 3, project % 5, last),
        licence,
        port,
        limits,
    )


def _plans(rng: random.Random, project: int, team: list[int]) -> list[Plan]:
    plans = []
    for ago in sorted((rng.randint(0, 420) for _ in range(rng.randint(25, 70))), reverse=True):
        message = rng.choice(COMMITS).format(p=rng.choice(PARTS))
        sha = hashlib.sha1(f"{project} {ago} {message} {rng.random()}".encode()).hexdigest()[:8]
        author, made = rng.choice(team), str(TODAY - timedelta(days=ago))
        plans.append(Plan(sha, author, message, made, rng.randint(1, 240), rng.randint(0, 90)))
    return plans


def _issues(
    db: sqlite3.Connection, rng: random.Random, project: int, team: list[int]
) -> list[Issue]:
    labels = [r[0] for r in db.execute("SELECT id FROM labels WHERE project_id = ?", (project,))]
    milestones = [
        r[0] for r in db.execute("SELECT id FROM milestones WHERE project_id = ?", (project,))
    ]
    titles = rng.sample([t.format(p=p) for t in ISSUES for p in PARTS], 40)
    changes = rng.sample([t.format(p=p) for t in COMMITS for p in PARTS], 11)
    days = sorted((rng.randint(1, 400) for _ in range(51)), reverse=True)
    kinds = [0] * 40 + [1] * 11
    rng.shuffle(kinds)
    issues = []
    for ago, merge in zip(days, kinds, strict=True):
        title = changes.pop() if merge else titles.pop()
        state = (
            rng.choice(("open", "open", "merged", "closed"))
            if merge
            else rng.choice(("open", "open", "closed"))
        )
        # A removed text was drawn here; this draw keeps the later draws as they are.
        rng.randrange(4)
        author, assignee = (
            rng.choice((rng.choice(team), rng.randint(2, PEOPLE))),
            rng.choice((None, *team)),
        )
        milestone = rng.choice((None, None, *milestones))
        source = title.lower().replace(" ", "-")[:30].strip("-") if merge else ""
        given = (
            rng.sample(labels, rng.choice((0, 1, 1, 2))) if merge else _labels(rng, title, labels)
        )
        comments = []
        for _ in range(rng.choice((0, 0, 1, 2, 3))):
            written = str(TODAY - timedelta(days=rng.randint(0, ago)))
            comments.append((written, rng.randint(2, PEOPLE)))
            rng.randrange(7)  # keeps the later draws as they are
        opened = str(TODAY - timedelta(days=ago))
        issues.append(
            Issue(title, author, assignee, milestone, state, opened, merge, source, given, comments)
        )
    return issues


def _labels(rng: random.Random, title: str, labels: Sequence[int]) -> list[int]:
    """Returns labels of an issue: usually the one that fits its title, and sometimes another."""
    names = [name for name, _ in LABELS]
    fits, extra = (
        labels[names.index(label_of(title))],
        rng.choice([labels[names.index(n)] for n in FURTHER]),
    )
    return [*([fits] if rng.random() < 0.75 else []), *([extra] if rng.random() < 0.25 else [])]


def _sha(*parts: Any) -> str:
    return hashlib.sha1(" ".join(map(str, parts)).encode()).hexdigest()[:8]


def _tell(
    db: sqlite3.Connection,
    about: About,
    plans: list[Plan],
    issues: list[Issue],
    team: list[int],
    known: Known,
) -> None:
    """Creates files and texts from the events."""
    rng = random.Random(f"code texts {about.name}")
    history = History(db, rng, about)
    merged = _landed(plans, issues)
    plans = [
        plan._replace(message=issues[merged[n]].title) if n in merged else plan
        for n, plan in enumerate(plans)
    ]
    plans[0] = plans[0]._replace(message=f"Import {about.name} from its old home")
    history.tell(plans)
    landed = {issue: n for n, issue in merged.items()}
    major, minor, last = about.version
    writer = Writer(rng, about.name, history.versions(), history.modules, known)
    logins = dict(db.execute("SELECT id, login FROM people").fetchall())
    for n, issue in enumerate(issues):
        facts = writer.facts(
            issue.title,
            f"{major}.{minor}.{last + 1}" if rng.random() < 0.5 else f"{major}.{minor + 1}",
        )
        base = head = None
        if n in landed:
            head = history.line[landed[n]][0]
            base = history.line[landed[n] - 1][0]
        elif issue.merge:
            base, head = _propose(rng, history, about.key, issue)
        body = (
            writer.merge(facts, _closes(issues, n))
            if issue.merge
            else writer.issue(issue.title, facts)
        )
        values = (
            about.key, n + 1, issue.title, body, issue.author, issue.assignee, issue.milestone, issue.state, issue.opened, issue.merge, issue.source, base, head,
        )  # fmt: skip
        key = db.execute(
            "INSERT INTO issues (project_id, number, title, body, author_id, assignee_id, milestone_id, state, opened, merge, source, base, head)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values,
        ).lastrowid  # fmt: skip
        add(db, "issue_labels", *[(key, label) for label in issue.labels])
        if issue.merge:
            reviewers = [who for who in team if who not in (ME, issue.author)]
            add(
                db,
                "approvals",
                *[
                    (key, who)
                    for who in rng.sample(reviewers, min(len(reviewers), rng.choice((0, 1, 1, 2))))
                ],
            )
        order = [
            place
            for _, place in sorted(
                (written, place) for place, (written, _) in enumerate(issue.comments)
            )
        ]
        texts = writer.comments(
            facts, [issue.comments[c][1] for c in order], logins, issue.author, bool(issue.merge)
        )
        by_place = dict(zip(order, texts, strict=True))
        for place, (written, author) in enumerate(issue.comments):
            sql = "INSERT INTO comments (issue_id, author_id, body, written) VALUES (?, ?, ?, ?)"
            db.execute(sql, (key, author, by_place[place], written))
    for name, idea in zip(rng.sample(SPIKES, 3), rng.sample(IDEAS, 3), strict=True):
        made = str(TODAY - timedelta(days=rng.randint(1, 60)))
        plan = Plan(_sha(about.name, name), rng.choice(team), "Try an idea", made, 0, 0)
        history.branch(name, plan, texts=history.spike(idea))


def _landed(plans: Sequence[Plan], issues: Sequence[Issue]) -> dict[int, int]:
    """Returns the commits of the main branch that brought the merge requests.

    Each merge request gets the first free commit after it was opened.
    """
    found: dict[int, int] = {}
    for n, issue in enumerate(issues):
        if issue.merge and issue.state == "merged":
            free = [c for c in range(1, len(plans) - 1) if c not in found]
            found[next((c for c in free if plans[c].made >= issue.opened), free[-1])] = n
    return found


def _propose(rng: random.Random, history: History, project: int, issue: Issue) -> tuple[int, int]:
    plan = Plan(_sha(project, issue.source), issue.author, issue.title, issue.opened, 0, 0)
    extra = None
    if rng.random() < 0.5:
        extra = plan._replace(sha=_sha(project, issue.source, 2), message=rng.choice(EXTRAS))
    return history.branch(issue.source, plan, extra)


def _closes(issues: Sequence[Issue], n: int) -> int | None:
    """Returns the number of an older issue about the same part; None without one."""
    part = next(p for p in PARTS if f"the {p}" in issues[n].title)
    return next(
        (
            k + 1
            for k in range(n)
            if not issues[k].merge and f"the {part}" in issues[k].title.lower()
        ),
        None,
    )
