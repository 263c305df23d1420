"""Fills the code host's database: people, projects, files, commits, issues, merge requests. The same every time."""

import hashlib
import random
import sqlite3
from datetime import timedelta

from agentgym_envs.envs.web.sites.code.projects import COMMITS, EXTENSIONS, ISSUES, LABELS, PARTS, PROJECTS, REPLIES, ROLES, TEXTS
from agentgym_envs.envs.web.sites.people import full_names
from agentgym_envs.envs.web.sites.site import TODAY, add, password

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, login TEXT, password TEXT, bio TEXT, status TEXT DEFAULT '');
CREATE TABLE projects (id INTEGER PRIMARY KEY, name TEXT, owner_id INT, description TEXT, language TEXT, visibility TEXT, created TEXT);
CREATE TABLE files (id INTEGER PRIMARY KEY, project_id INT, path TEXT, content TEXT);
CREATE TABLE commits (id INTEGER PRIMARY KEY, project_id INT, sha TEXT, author_id INT, message TEXT, made TEXT, added INT, removed INT);
CREATE TABLE labels (id INTEGER PRIMARY KEY, project_id INT, name TEXT, colour TEXT);
CREATE TABLE milestones (id INTEGER PRIMARY KEY, project_id INT, title TEXT, due TEXT, state TEXT DEFAULT 'open');
CREATE TABLE issues (id INTEGER PRIMARY KEY, project_id INT, number INT, title TEXT, body TEXT, author_id INT, assignee_id INT, milestone_id INT,
  state TEXT DEFAULT 'open', opened TEXT, merge INT DEFAULT 0, source TEXT DEFAULT '');
CREATE TABLE issue_labels (issue_id INT, label_id INT, PRIMARY KEY (issue_id, label_id));
CREATE TABLE comments (id INTEGER PRIMARY KEY, issue_id INT, author_id INT, body TEXT, written TEXT);
CREATE TABLE members (project_id INT, person_id INT, role TEXT, PRIMARY KEY (project_id, person_id));
CREATE TABLE stars (project_id INT, person_id INT, PRIMARY KEY (project_id, person_id));
CREATE INDEX issues_of ON issues (project_id, number);
CREATE INDEX commits_of ON commits (project_id);
"""
ME, MINE = 1, ("tidepool", "inkwell", "glasswing", "osprey")  # who is logged in, and the projects that they own


def fill(db: sqlite3.Connection) -> None:
    """Creates the tables and their rows."""
    rng = random.Random("code")
    db.executescript(SCHEMA)
    for n, name in enumerate(["Mika Sorel", *full_names(rng, 41)], 1):
        login = name.lower().replace(" ", "-").replace("ö", "o")
        bio = rng.choice(("", "Maintainer by accident.", "Writes small tools.", "Here for the reviews."))
        add(db, "people", (n, name, login, "harbor2026" if n == ME else password(login), bio))
    for project, (name, description, language) in enumerate(PROJECTS, 1):
        owner = ME if name in MINE else rng.randint(2, 42)
        created = TODAY - timedelta(days=rng.randint(500, 1500))
        add(
            db, "projects", (project, name, owner, description, language, rng.choice(("Public",) * 5 + ("Internal",)), str(created))
        )
        team = [owner, *rng.sample([n for n in range(2, 43) if n != owner], rng.randint(3, 8))]
        add(db, "members", *[(project, who, "Owner" if who == owner else rng.choice(ROLES[:-1])) for who in team])
        add(db, "stars", *[(project, who) for who in rng.sample(range(2, 43), rng.randint(1, 38))])
        for label, colour in LABELS:
            db.execute("INSERT INTO labels (project_id, name, colour) VALUES (?, ?, ?)", (project, label, colour))
        for n in range(3):
            due = str(TODAY + timedelta(days=40 * n - 30))
            db.execute(
                "INSERT INTO milestones (project_id, title, due) VALUES (?, ?, ?)",
                (project, f"{1 + project % 3}.{n + project % 5}", due),
            )
        _files(db, rng, project, name, description, language)
        _history(db, rng, project, team)
        _issues(db, rng, project, team)
    db.commit()


def _files(db: sqlite3.Connection, rng: random.Random, project: int, name: str, description: str, language: str) -> None:
    end = EXTENSIONS[language]
    version = f"{1 + project % 3}.{project % 5}.{rng.randint(0, 9)}"
    licence = rng.choice(("MIT", "Apache-2.0", "BSD-3-Clause"))
    readme = (
        f"# {name}\n\n{description}.\n\n## Install\n\nDownload version {version}, or build it from source with `make`.\n\n"
        f"## Settings\n\nThe default port is {rng.randint(3000, 9800)}. Set {name.upper()}_HOME to change the data folder.\n\n## License\n\n{licence}\n"
    )
    parts = rng.sample([p.replace(" ", "_") for p in PARTS[:8]], 4)
    code = {
        p: f"// {p.replace('_', ' ')} of {name}\n\nlimit = {rng.randint(8, 512)}\n\nfunction run(input) {{\n  return input.slice(0, limit)\n}}\n"
        for p in parts
    }
    if language == "Python":
        code = {
            p: f'"""The {p.replace("_", " ")} of {name}."""\n\nLIMIT = {rng.randint(8, 512)}\n\n\ndef run(items):\n    return items[:LIMIT]\n'
            for p in parts
        }
    files = {
        "README.md": readme,
        "LICENSE": f"{licence} licence\n",
        "CHANGELOG.md": f"# Changes\n\n## {version}\n\n- First stable release\n",
    }
    files |= {f"src/{p}.{end}": text for p, text in code.items()}
    for path, content in sorted(files.items()):
        db.execute("INSERT INTO files (project_id, path, content) VALUES (?, ?, ?)", (project, path, content))


def _history(db: sqlite3.Connection, rng: random.Random, project: int, team: list[int]) -> None:
    for ago in sorted((rng.randint(0, 420) for _ in range(rng.randint(25, 70))), reverse=True):
        message = rng.choice(COMMITS).format(p=rng.choice(PARTS))
        sha = hashlib.sha1(f"{project} {ago} {message} {rng.random()}".encode()).hexdigest()[:8]
        values = (
            project,
            sha,
            rng.choice(team),
            message,
            str(TODAY - timedelta(days=ago)),
            rng.randint(1, 240),
            rng.randint(0, 90),
        )
        db.execute(
            "INSERT INTO commits (project_id, sha, author_id, message, made, added, removed) VALUES (?, ?, ?, ?, ?, ?, ?)", values
        )


def _issues(db: sqlite3.Connection, rng: random.Random, project: int, team: list[int]) -> None:
    labels = [r[0] for r in db.execute("SELECT id FROM labels WHERE project_id = ?", (project,))]
    milestones = [r[0] for r in db.execute("SELECT id FROM milestones WHERE project_id = ?", (project,))]
    titles = rng.sample([t.format(p=p) for t in ISSUES for p in PARTS], 40)
    changes = rng.sample([t.format(p=p) for t in COMMITS for p in PARTS], 11)
    days = sorted((rng.randint(1, 400) for _ in range(51)), reverse=True)
    kinds = [0] * 40 + [1] * 11
    rng.shuffle(kinds)
    for n, (ago, merge) in enumerate(zip(days, kinds, strict=True), 1):
        title = changes.pop() if merge else titles.pop()
        state = rng.choice(("open", "open", "merged", "closed")) if merge else rng.choice(("open", "open", "closed"))
        values = (
            project, n, title, rng.choice(TEXTS), rng.choice((rng.choice(team), rng.randint(2, 42))), rng.choice((None, *team)),
            rng.choice((None, None, *milestones)), state, str(TODAY - timedelta(days=ago)), merge,
            title.lower().replace(" ", "-")[:30].strip("-") if merge else "",
        )  # fmt: skip
        key = db.execute(
            "INSERT INTO issues (project_id, number, title, body, author_id, assignee_id, milestone_id, state, opened, merge, source)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values,
        ).lastrowid  # fmt: skip
        add(db, "issue_labels", *[(key, label) for label in rng.sample(labels, rng.choice((0, 1, 1, 2)))])
        for _ in range(rng.choice((0, 0, 1, 2, 3))):
            written = str(TODAY - timedelta(days=rng.randint(0, ago)))
            db.execute(
                "INSERT INTO comments (issue_id, author_id, body, written) VALUES (?, ?, ?, ?)",
                (key, rng.randint(2, 42), rng.choice(REPLIES), written),
            )
