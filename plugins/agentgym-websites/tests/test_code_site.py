"""The code host: texts, versions of files, branches, merge requests, its script."""

import json
import re
import urllib.parse

import gymnasium
import pytest

import agentgym_envs  # noqa: F401  it registers the environment
from agentgym_envs.envs.web.look import find
from agentgym_envs.envs.web.proxy import ProxyRequest
from agentgym_websites import host as hosts
from agentgym_websites.code import repository
from agentgym_websites.code.diff import blame, compare
from agentgym_websites.site import ORIGINS, open_database

CODE = ORIGINS["code"]
NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def db():
    return open_database(hosts.snapshot("code"))


class Visitor:
    """A signed-in person on a separate code host."""

    def __init__(self):
        self.host = hosts.Host()
        self.cookie = next(
            f"{c['name']}={c['value']}" for c in self.host.cookies() if c["url"] == CODE
        )

    def asks(self, method, path, form=None):
        headers = {"content-type": "application/x-www-form-urlencoded", "cookie": self.cookie}
        reply = self.host.serve(
            ProxyRequest(method, CODE + path, headers, urllib.parse.urlencode(form or {}).encode())
        )
        self.cookie = reply.headers.get("Set-Cookie", self.cookie).partition(";")[0]
        return reply

    def sees(self, path):
        reply = self.asks("GET", path)
        assert reply.status == 200, path
        return reply.body.decode()

    def sends(self, path, /, **form):
        """Returns the messages of the page after the form."""
        reply = self.asks("POST", path, form)
        assert reply.status == 302, path
        return self.sees(reply.headers["Location"])

    def value(self, sql, *values):
        return self.host.database("code").execute(sql, values).fetchone()[0]

    def text(self, project, branch, path):
        database = self.host.database("code")
        key = self.value("SELECT id FROM projects WHERE name = ?", project)
        return repository.load(
            database, repository.tree(database, repository.head(database, key, branch))[path].blob
        )


@pytest.fixture
def visitor():
    return Visitor()


def mains(db):
    return db.execute("SELECT project_id, head FROM branches WHERE name = 'main'").fetchall()


@pytest.mark.parametrize(("table", "count"), [("issues", 3672), ("comments", 4439)])
def test_no_text_comes_twice(db, table, count):
    texts = [r[0] for r in db.execute(f"SELECT body FROM {table}")]
    assert len(texts) == len(set(texts)) == count
    assert not [t for t in texts if re.search(r"\{\w+\}|  ", t)], (
        "a blank was left, or nothing stands where something should"
    )


def test_texts_name_files_and_functions_that_their_project_has(db):
    trees = {p: repository.tree(db, head) for p, head in mains(db)}
    told = db.execute(
        "SELECT project_id, title, body FROM issues UNION ALL SELECT project_id, title, c.body FROM"
        " comments c JOIN issues i ON i.id = issue_id"
    ).fetchall()
    files = functions = 0
    for project, title, text in told:
        for path in re.findall(r"`((?:src|scripts|tests|docs)/[\w/.]+)`", text):
            assert path in trees[project], (title, text)
            files += 1
        for function, path in re.findall(r"`(\w+)` in `([\w/.]+)`", text):
            assert function in repository.load(db, trees[project][path].blob), (title, text)
            functions += 1
    assert files > 500
    assert functions > 50


def test_an_issue_is_about_what_its_title_says(db):
    words = {
        "crashes on empty files": "empty|0 bytes|bytes in every",
        "ignores the timeout": "timeout",
        "dry run": "dry|review what|steps",
        "Show progress": "silen|hangs|percentage|alive|without a word|shows that it works",
    }
    for title, word in words.items():
        bodies = [
            r[0]
            for r in db.execute(
                "SELECT body FROM issues WHERE merge = 0 AND title LIKE ?", (f"%{title}%",)
            )
        ]
        assert len(bodies) > 40
        assert [b for b in bodies if not re.search(word, b)] == []


def test_nobody_asks_themselves_and_a_cause_is_found_once(db):
    asked = (
        "SELECT count(*) FROM comments c JOIN issues i ON i.id = issue_id JOIN people p ON p.id ="
        " i.author_id WHERE c.body LIKE '@' || login || ' %'"
    )
    assert db.execute(asked).fetchone()[0] > 100
    assert db.execute(asked + " AND c.author_id = i.author_id").fetchone()[0] == 0
    known = " OR ".join(
        f"body LIKE '%{part}%'"
        for part in ("I traced it", "The cause is", "is to blame", "never expected", "goes wrong")
    )
    causes = f"SELECT count(*) FROM comments WHERE {known} GROUP BY issue_id"
    assert {r[0] for r in db.execute(causes)} == {1}


def test_the_numbers_of_a_commit_are_those_of_its_changes(db):
    commits = db.execute("SELECT * FROM commits").fetchall()
    assert len(commits) > 1200
    for commit in commits[::23]:
        diffs = repository.differences(db, commit["parent"], commit["id"])
        assert diffs, commit["message"]
        assert (sum(d.added for d in diffs), sum(d.removed for d in diffs)) == (
            commit["added"],
            commit["removed"],
        )


def test_a_merge_request_changes_what_it_says_and_a_merged_one_is_on_the_main_branch(db):
    merges = db.execute("SELECT * FROM issues WHERE merge ORDER BY id").fetchall()
    assert len(merges) == 792
    for merge in merges[::5]:
        main = repository.head(db, merge["project_id"], "main")
        assert repository.differences(db, merge["base"], merge["head"])
        assert (merge["head"] in repository.line(db, main)) is (merge["state"] == "merged")
        branch = repository.head(db, merge["project_id"], merge["source"])
        assert (branch is None) is (merge["state"] == "merged")
        if branch:
            assert branch == merge["head"]
            assert repository.conflicts(db, main, branch) == []


@pytest.mark.parametrize("base", ["", "a\n", "a\nb\nc\nd\n", "no end", "é\r\nü\n"])
@pytest.mark.parametrize("text", ["", "a\nc\nd\ne", "\n\n", "“x”\na\n"])
def test_texts_come_back_as_they_were(base, text):
    db = open_database()
    db.executescript(repository.SCHEMA)
    first = repository.store(db, base)
    second = repository.store(db, text, first)
    assert (repository.load(db, first), repository.load(db, second)) == (base, text)
    third = repository.store(db, text + base)
    repository.shrink(db, first, third)
    assert [repository.load(db, key) for key in (first, second, third)] == [base, text, text + base]


def test_a_diff_has_hunks_with_numbers():
    old = "".join(f"{n}\n" for n in range(1, 31))
    new = old.replace("5\n", "five\n", 1).replace("25\n", "")
    diff = compare("x", old, new)
    assert (diff.what, diff.added, diff.removed) == ("changed", 1, 2)
    assert [title for title, _ in diff.hunks] == ["@@ -2,7 +2,7 @@", "@@ -22,7 +22,6 @@"]
    assert diff.hunks[0][1][3:5] == [("-", 5, None, "5"), ("+", None, 5, "five")]
    assert (compare("x", None, "a\n").what, compare("x", "a\n", None).what) == ("added", "deleted")
    assert compare("x", None, "a\n").hunks[0][0] == "@@ -0,0 +1,1 @@"


def test_every_line_has_the_one_who_wrote_it():
    assert blame([("a", "1\n2\n3\n"), ("b", "1\ntwo\n3\n"), ("c", "0\n1\ntwo\n3\n")]) == [
        ("c", ["0"]), ("a", ["1"]), ("b", ["two"]), ("a", ["3"]),
    ]  # fmt: skip


def test_a_page_of_blame_agrees_with_the_commits(db):
    for project, head in mains(db)[::8]:
        path = next(
            p
            for p in repository.tree(db, head)
            if p.startswith("src/") and len(repository.versions(db, head, p)) > 2
        )
        runs = repository.authors(db, head, path)
        whole = repository.load(db, repository.tree(db, head)[path].blob)
        assert [line for _, lines in runs for line in lines] == whole.splitlines(), project
        for commit, lines in runs:
            parent = db.execute("SELECT parent FROM commits WHERE id = ?", (commit,)).fetchone()[0]
            diff = next(d for d in repository.differences(db, parent, commit) if d.path == path)
            assert set(lines) <= {
                line.text for _, hunk in diff.hunks for line in hunk if line.sign == "+"
            }


def test_a_change_of_a_file_stays_on_its_branch(visitor):
    before = visitor.text("tidepool", "main", "VERSION")
    assert "has been changed" in visitor.sends(
        "/p/tidepool/file/VERSION?ref=prototype", content="9.9.9\r\n", message="Raise it"
    )
    assert visitor.text("tidepool", "prototype", "VERSION") == "9.9.9\n"
    assert visitor.text("tidepool", "main", "VERSION") == before
    shown = visitor.sees("/p/tidepool/commits?ref=prototype")
    assert shown.index("Raise it") < shown.index("Try an idea")
    assert "Raise it" not in visitor.sees("/p/tidepool/commits")
    assert "9.9.9" in visitor.sees("/p/tidepool/compare?from=main&to=prototype")


def test_who_is_no_developer_changes_nothing(visitor):
    path = "/p/lanternfish/file/VERSION"
    before = visitor.text("lanternfish", "main", "VERSION")
    assert "may not change this" in visitor.sends(path, content="9\n")
    assert "must be a developer" in visitor.sends("/p/lanternfish/branches", name="mine")
    assert visitor.text("lanternfish", "main", "VERSION") == before
    assert visitor.value("SELECT count(*) FROM branches WHERE name = 'mine'") == 0


@pytest.mark.parametrize("name", ["", "two words", "main", "v2.1.2", NASTY])
def test_a_branch_needs_a_name_of_its_own(visitor, name):
    count = "SELECT count(*) FROM branches"
    before = visitor.value(count)
    assert "needs a name" in visitor.sends("/p/tidepool/branches", name=name, start="main")
    assert visitor.value(count) == before


def test_a_branch_is_made_shown_and_deleted(visitor):
    assert "Switch branch or tag: fix/one" in visitor.sends(
        "/p/tidepool/branches", name="fix/one", start="prototype"
    )
    assert visitor.text("tidepool", "fix/one", "VERSION") == visitor.text(
        "tidepool", "prototype", "VERSION"
    )
    assert "has been deleted" in visitor.sends("/p/tidepool/branches", name="fix/one", how="delete")
    visitor.sends("/p/tidepool/branches", name="main", how="delete")
    assert (
        visitor.value(
            "SELECT group_concat(name) FROM branches WHERE project_id = 1 AND name IN ('main',"
            " 'fix/one')"
        )
        == "main"
    )


def a_merge(visitor):
    return visitor.host.database("code").execute(
        "SELECT * FROM issues WHERE merge AND state = 'open' AND project_id = 1 ORDER BY id"
    ).fetchone()  # fmt: skip


def test_merging_brings_the_changes_and_closes_the_issue(visitor):
    merge, database = a_merge(visitor), visitor.host.database("code")
    database.execute("UPDATE issues SET body = 'Closes #3.' WHERE id = ?", (merge["id"],))
    [diff, *_] = repository.differences(database, merge["base"], merge["head"])
    after = visitor.text("tidepool", merge["source"], diff.path)
    assert visitor.text("tidepool", "main", diff.path) != after
    assert "It is merged now." in visitor.sends(
        f"/p/tidepool/issues/{merge['number']}", how="merged", remove="1"
    )
    assert visitor.text("tidepool", "main", diff.path) == after
    assert visitor.value("SELECT state FROM issues WHERE project_id = 1 AND number = 3") == "closed"
    assert (
        visitor.value(
            "SELECT count(*) FROM branches WHERE project_id = 1 AND name = ?", merge["source"]
        )
        == 0
    )
    assert diff.path in visitor.sees(f"/p/tidepool/issues/{merge['number']}?tab=changes")


def test_what_both_have_changed_is_not_merged(visitor):
    merge, database = a_merge(visitor), visitor.host.database("code")
    [diff, *_] = repository.differences(database, merge["base"], merge["head"])
    visitor.sends(f"/p/tidepool/file/{diff.path}", content="Something else\n")
    page = f"/p/tidepool/issues/{merge['number']}"
    assert f"there are conflicts in {diff.path}" in visitor.sees(page)
    assert "there are conflicts, or the branch is gone" in visitor.sends(page, how="merged")
    assert visitor.value("SELECT state FROM issues WHERE id = ?", merge["id"]) == "open"


def test_a_merge_request_is_opened_and_approved(visitor):
    assert "needs a title" in visitor.sends("/p/tidepool/merges/new", source="prototype", title=" ")
    assert "other than main" in visitor.sends("/p/tidepool/merges/new", source="main", title="Mine")
    shown = visitor.sends(
        "/p/tidepool/merges/new", source="prototype", title="Mine", body="See #1 and **this**"
    )
    assert re.search(r'See <a href="/p/tidepool/issues/1">#1</a> and <strong>this</strong>', shown)
    assert "Ready to merge" in shown
    number = visitor.value("SELECT max(number) FROM issues WHERE project_id = 1")
    assert "Approved by Mika Sorel" in visitor.sends(f"/p/tidepool/issues/{number}", how="approve")
    assert "Nobody has approved" in visitor.sends(f"/p/tidepool/issues/{number}", how="approve")


def test_folders_and_papers_are_shown(visitor):
    shown = visitor.sees("/p/tidepool")
    assert "<h1>tidepool</h1>" in shown, "the README is rendered"
    assert "<th>Variable</th>" in shown
    assert re.search(r'href="/p/tidepool/tree/src">src</a>', shown)
    assert re.search(
        r'href="/p/tidepool/file/src/exporter.py">exporter.py</a>',
        visitor.sees("/p/tidepool/tree/src"),
    )
    assert visitor.asks("GET", "/p/tidepool/tree/srcs").status == 404
    assert visitor.asks("GET", "/p/tidepool?ref=nowhere").status == 404
    assert "v2.1.2" in visitor.sees("/p/tidepool/tags")


def test_what_people_write_is_shown_as_text(visitor):
    visitor.sends(
        "/p/tidepool/new",
        path="docs/x.md",
        content=f"{NASTY}\n\n[x](javascript:alert(1))",
        message=NASTY,
    )
    visitor.sends("/p/tidepool/new", path="x.py", content=NASTY, message=NASTY)
    visitor.sends("/p/tidepool/issues/3", how="comment", body=NASTY)
    pages = (
        "/p/tidepool/file/x.py",
        "/p/tidepool/file/docs/x.md",
        "/p/tidepool/file/docs/x.md?edit=1",
        "/p/tidepool/blame/docs/x.md",
        "/p/tidepool/issues/3",
    )
    for path in (
        *pages,
        "/p/tidepool",
        "/p/tidepool/commits",
        f"/search?q={urllib.parse.quote(NASTY)}",
    ):
        shown = visitor.sees(path)
        assert "&lt;script&gt;alert(1)" in shown, path
        assert NASTY not in shown, path
        assert 'href="javascript' not in shown


def test_the_search_field_proposes_what_there_is(visitor):
    found = json.loads(visitor.asks("GET", "/suggest?q=tide").body)
    assert found == [{"text": "tidepool", "address": "/p/tidepool"}]
    assert len(json.loads(visitor.asks("GET", "/suggest?q=parser").body)) == 5


@pytest.mark.browser
def test_the_script_opens_menus_proposes_and_complains():
    env = gymnasium.make("agentgym/WebSites-v1", split="test").unwrapped
    try:
        env.reset(options={"task_id": next(t for t in env.task_ids if t.startswith("code-"))})

        def shows(action, name="", role=None, text=""):
            wanted = f"[{find(env._text, name, role=role).id}]" if role else f"[{CODE}{name}]"
            env.step(f"{action} {wanted}{text}")
            return env._text

        assert "'Branches'" not in shows("goto", "/p/tidepool")
        assert "link 'Branches'" in shows("click", "Code", "button")
        assert "link 'prototype'" in shows("click", "Switch branch or tag: main", "button")
        shown = shows("type", "Search branches and tags", "textbox", " [proto] [0]")
        assert "link 'prototype'" in shown
        assert "link 'wip'" not in shown
        assert "link 'prototype'" not in shows("click", "Create new…", "button")
        assert f"link '{NASTY} · tidepool'" not in shows("click", "New issue here", "link")
        assert re.search(
            r"alert ''.*\n\t*\[\d+\] StaticText 'An issue needs a title.'",
            shows("click", "Open issue", "button"),
        )
        shows("type", "Title", "textbox", f" [{NASTY}] [0]")
        shows("click", "Open issue", "button")
        assert f"link '{NASTY} · tidepool'" in shows("type", "Search", "searchbox", " [<scr] [0]")
    finally:
        env.close()
