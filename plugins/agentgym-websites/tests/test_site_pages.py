"""Content pages of the shop, columns of grids, wikis and pipelines: no browser is needed."""

import re
import urllib.parse

import pytest

from agentgym_envs.envs.web.proxy import ProxyRequest
from agentgym_websites import host as hosts
from agentgym_websites.site import ORIGINS

NASTY = "<img src=x onerror=alert(1)> **bold**"


class Visitor:
    """A signed-in person at a site of a host."""

    def __init__(self, host, site):
        self.host, self.origin = host, ORIGINS[site]
        self.cookie = next(
            f"{c['name']}={c['value']}" for c in host.cookies() if c["url"] == self.origin
        )

    def ask(self, method, path, pairs=()):
        headers = {"content-type": "application/x-www-form-urlencoded", "cookie": self.cookie}
        url = urllib.parse.urljoin(self.origin, path)
        reply = self.host.serve(
            ProxyRequest(method, url, headers, urllib.parse.urlencode(pairs).encode())
        )
        self.cookie = reply.headers.get("Set-Cookie", self.cookie).partition(";")[0]
        return reply

    def get(self, path):
        return self.ask("GET", path).body.decode()

    def post(self, path, *pairs, **form):
        """Sends a form; returns the page after it."""
        return self.get(self.ask("POST", path, [*pairs, *form.items()]).headers["Location"])


@pytest.fixture
def host():
    made = hosts.Host()
    yield made
    made.restore()


@pytest.fixture
def shop(host):
    return Visitor(host, "shop")


@pytest.fixture
def admin(host):
    return Visitor(host, "admin")


@pytest.fixture
def code(host):
    return Visitor(host, "code")


def one(host, tables, sql, *values):
    return host.database(tables).execute(sql, values).fetchone()


def test_a_page_is_written_published_and_taken_back(host, shop, admin):
    draft = {"title": "Opening hours", "slug": "hours", "body": NASTY, "status": "draft"}
    assert "The page has been created." in admin.post("/pages/new", **draft)
    key = one(host, "shop", "SELECT id FROM pages WHERE slug = 'hours'")[0]
    assert shop.ask("GET", "/pages/hours").status == 404
    assert "Opening hours" not in shop.get("/pages")
    assert "has been saved" in admin.post(f"/pages/{key}", **(draft | {"status": "published"}))
    sql = f"SELECT author_id, edited FROM pages WHERE id = {key}"
    host.database("shop").execute(
        f"UPDATE pages SET author_id = 1, edited = '2020-01-01' WHERE id = {key}"
    )
    admin.post(f"/pages/{key}", **(draft | {"status": "published"}))
    assert tuple(one(host, "shop", sql)) == (1, "2020-01-01"), "saving without a change"
    shown = shop.get("/pages/hours")
    assert "<strong>bold</strong>" in shown
    assert "<img src=x" not in shown
    assert 'href="/pages/hours">Opening hours</a>' in shop.get("/pages")
    assert "has been deleted" in admin.post(f"/pages/{key}", how="delete")
    assert shop.ask("GET", "/pages/hours").status == 404


@pytest.mark.parametrize(
    ("slug", "title", "message"),
    [
        ("returns", "Mine", "Another page has the address returns."),
        ("A b", "Mine", "A page needs"),
        ("mine", "", "A page needs"),
    ],
)
def test_a_page_needs_an_address_of_its_own_and_a_title(host, admin, slug, title, message):
    before = one(host, "shop", "SELECT count(*) FROM pages")[0]
    assert message in admin.post("/pages/new", slug=slug, title=title, body="x", status="draft")
    assert one(host, "shop", "SELECT count(*) FROM pages")[0] == before


def test_only_staff_manages_pages_and_columns(host):
    for path in ("/pages", "/pages/1", "/grids/products"):
        reply = host.serve(ProxyRequest("GET", ORIGINS["admin"] + path, {}, b""))
        assert "/login" in reply.headers["Location"]


def heads(page):
    row = re.search(r"<thead><tr>(.*?)</tr>", page, re.S)[1]
    return [re.sub(r"<[^>]+>|[↑↓]", "", h).strip() for h in re.findall(r"<th.*?</th>", row, re.S)][
        1:
    ]


@pytest.mark.parametrize("grid", ["products", "orders", "customers"])
def test_columns_are_chosen_ordered_and_sorted_by(host, admin, grid):
    usual = heads(admin.get(f"/{grid}"))
    form = admin.get(f"/grids/{grid}")
    keys = re.findall(r'name="column" value="(\w+)"', form)
    assert len(keys) > len(usual) == form.count(" checked>")
    assert f'href="/grids/{grid}"' in admin.get(f"/{grid}")
    chosen = [keys[-1], keys[0], keys[3]]
    places = [(f"place-{key}", n) for n, key in enumerate(chosen, 1)]
    shown = admin.post(
        f"/grids/{grid}", *[("column", key) for key in keys if key in chosen], *places
    )
    texts = dict(zip(keys, re.findall(r'value="\w+"[^>]*> ([^<]+)</label>', form), strict=True))
    assert heads(shown) == [texts[key] for key in chosen]
    assert one(host, "shop", "SELECT columns FROM grids WHERE grid = ?", grid)[0] == ",".join(
        chosen
    )
    for key in keys:
        assert admin.ask("GET", f"/{grid}?sort=-{key}").status == 200
    assert "Choose one column at least." in admin.post(f"/grids/{grid}", ("column", "nonsense"))
    assert heads(admin.post(f"/grids/{grid}", how="reset")) == usual
    assert one(host, "shop", "SELECT count(*) FROM grids")[0] == 0


def test_every_column_shows_what_the_database_holds(host, admin):
    admin.post(
        "/grids/products", *[("column", key) for key in ("sku", "material", "origin", "brand")]
    )
    rows = re.findall(r"<tr><td><input.*?</tr>", admin.get("/products?sort=sku&size=10"), re.S)
    assert len(rows) == 10
    for row in rows:
        values = re.findall(r'<td class="">(.*?)</td>', row)
        sku = re.search(r'aria-label="Select ([^"]+)"', row)[1]
        sql = "SELECT a.value FROM attributes a JOIN products p ON p.id = product_id WHERE sku = ?"
        attributes = {r[0] for r in host.database("shop").execute(sql, (sku,))}
        assert sku in values
        assert len(attributes & set(values)) == 2


def test_a_wiki_is_read_edited_and_remembers(host, code):
    index = code.get("/p/tidepool/wiki")
    assert index.count('href="/p/tidepool/wiki/') == 6
    (before,) = one(
        host,
        "code",
        "SELECT min(e.id) FROM wiki_pages w JOIN wiki_edits e ON page_id = w.id WHERE slug = 'team'"
        " AND project_id = 1",
    )
    assert "Looks after" in code.get("/p/tidepool/wiki/team")
    shown = code.post(
        "/p/tidepool/wiki/team/edit", body=f"Nobody.\r\n\r\n{NASTY}", message="All have left"
    )
    assert "<p>Nobody.</p>" in shown
    assert "<img src=x" not in shown
    assert "Changed Jun 15, 2026 by Mika Sorel: All have left" in shown
    history = code.get("/p/tidepool/wiki/team/history")
    assert history.index("All have left") < history.index("First version")
    assert "Looks after" in code.get(f"/p/tidepool/wiki/team/history/{before}")
    key = one(host, "code", "SELECT max(id) FROM wiki_edits")[0]
    assert 'class="minus"' in code.get(f"/p/tidepool/wiki/team/history/{key}")
    assert code.ask("GET", f"/p/inkwell/wiki/team/history/{key}").status == 404
    assert "The page has been created." in code.post(
        "/p/tidepool/wiki/new", title="Odds & ends!", body="x", message=""
    )
    assert "<h1>Odds &amp; ends!</h1>" in code.get("/p/tidepool/wiki/odds-ends")
    for title in ("New", "Team", "!!"):
        assert "a title that is not taken" in code.post(
            "/p/tidepool/wiki/new", title=title, body="x"
        )


def test_a_wiki_of_others_stays_as_it_is(host, code):
    assert "must be a developer" in code.post("/p/lanternfish/wiki/home/edit", body="Mine now")
    assert "must be a developer" in code.post("/p/lanternfish/wiki/new", title="Mine", body="x")
    assert one(host, "code", "SELECT count(*) FROM wiki_edits WHERE made = '2026-06-15'")[0] == 0


def test_an_edit_of_a_wiki_says_what_it_changes(host):
    before = (
        "SELECT body FROM wiki_edits b WHERE b.page_id = e.page_id AND b.id < e.id ORDER BY b.id"
        " DESC LIMIT 1"
    )
    sql = f"SELECT e.*, ({before}) AS old FROM wiki_edits e"
    edits = host.database("code").execute(sql).fetchall()
    assert len(edits) > 800
    for edit in edits:
        if edit["old"] is None:
            assert edit["message"] == "First version"
        else:
            before, _, after = edit["message"].partition(" is now ")
            assert before in edit["old"]
            assert after in edit["body"]
            assert edit["old"] != edit["body"]


def pipeline(host, status, *projects):
    sql = (
        "SELECT l.id, p.name FROM pipelines l JOIN projects p ON p.id = project_id WHERE l.status ="
        " ? AND p.name IN (?, ?, ?, ?)"
    )
    return one(host, "code", sql, status, *projects)


MINE = ("tidepool", "inkwell", "glasswing", "osprey")


def test_a_failed_pipeline_says_why_and_runs_again(host, code):
    key, name = pipeline(host, "failed", *MINE)
    job, problem = one(
        host,
        "code",
        "SELECT id, problem FROM jobs WHERE pipeline_id = ? AND status = 'failed'",
        key,
    )
    page = f"/p/{name}/pipelines/{key}"
    assert f'href="/p/{name}/jobs/{job}"' in code.get(page)
    assert f"error: {problem.replace('`', '')}" in code.get(f"/p/{name}/jobs/{job}")
    assert "There is no job" in code.post(page, how="cancel")
    assert "The jobs run again." in code.post(page, how="retry")
    assert one(host, "code", "SELECT status FROM pipelines WHERE id = ?", key)[0] == "pending"
    assert "has not run" in code.get(f"/p/{name}/jobs/{job}")
    assert "has been canceled" in code.post(page, how="cancel")
    assert one(host, "code", "SELECT status FROM pipelines WHERE id = ?", key)[0] == "canceled"


def test_pipelines_are_listed_by_status_and_branch_and_belong_to_commits(host, code):
    key, name = pipeline(host, "failed", *MINE)
    shown = code.get(f"/p/{name}/pipelines?status=failed")
    count = one(
        host,
        "code",
        "SELECT count(*) FROM pipelines l JOIN projects p ON p.id = project_id WHERE name = ? AND"
        " l.status = 'failed'",
        name,
    )[0]
    assert f"{count} pipeline" in shown
    sha, branch = one(
        host,
        "code",
        "SELECT sha, branch FROM pipelines l JOIN commits c ON c.id = commit_id WHERE l.id = ?",
        key,
    )
    assert f"Pipeline #{key}" in code.get(f"/p/{name}/pipelines?branch={branch}")
    assert f"Pipeline #{key}: failed" in code.get(f"/p/{name}/commit/{sha}")
    other = one(host, "code", "SELECT id FROM pipelines WHERE project_id = 2")[0]
    assert code.ask("GET", f"/p/{name}/pipelines/{other}").status == 404
    assert "may not change" in code.post(f"/p/lanternfish/pipelines/{other}", how="retry")


def test_after_a_failed_stage_nothing_has_run(host):
    sql = (
        "SELECT pipeline_id, group_concat(status || ' ' || stage) FROM (SELECT * FROM jobs ORDER BY"
        " id) GROUP BY pipeline_id"
    )
    for key, states in host.database("code").execute(sql).fetchall():
        after = states.partition("failed build")[2] or states.partition("failed test")[2]
        assert "success deploy" not in after
        status = one(host, "code", "SELECT status FROM pipelines WHERE id = ?", key)[0]
        assert status in states
