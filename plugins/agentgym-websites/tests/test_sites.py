"""Our own sites: tasks, oracles, private episodes, pages without a dead link."""

import collections
import http.cookiejar
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from contextlib import nullcontext
from pathlib import Path

import gymnasium
import pytest
from raised import raises

import agentgym_envs  # noqa: F401  it registers the environment
import agentgym_websites
from agentgym_envs.envs.web.embedded import LONGEST, solved
from agentgym_envs.envs.web.evaluators import EvaluationInput, evaluate
from agentgym_envs.envs.web.proxy import ProxyRequest
from agentgym_envs.errors import TaskError
from agentgym_envs.tasks import SPLITS
from agentgym_websites import host as hosts
from agentgym_websites.env import WebSitesEnv
from agentgym_websites.map.route import SPEEDS, find_route, told
from agentgym_websites.packed import FILL
from agentgym_websites.site import ORIGINS, money, open_database
from agentgym_websites.tasks.__main__ import write
from agentgym_websites.tasks.load import load
from agentgym_websites.tasks.table import table
from agentgym_websites.tasks.template import KINDS

pytestmark = pytest.mark.timeout(900)
TASKS = load()
PACKAGE = Path(agentgym_websites.__file__).parent
README = (PACKAGE / "README.md").read_text()


def test_there_are_enough_tasks_of_every_kind():
    by_site = collections.Counter(t["sites"][0] for t in TASKS)
    templates = {(t["sites"][0], t["intent_template_id"]) for t in TASKS}
    assert len(TASKS) >= 2900
    counts = collections.Counter(site for site, _ in templates)
    assert set(counts) == set(ORIGINS)
    assert f"{len(TASKS):,} from {len(templates)} templates" in README
    assert table(TASKS) in README, "python -m agentgym_websites.tasks.table"
    splits = collections.Counter(
        (t["sites"][0], t["intent_template_id"], t["split"]) for t in TASKS
    )
    shared = [
        tuple(splits[(*template, split)] for split in ("train", "dev", "test"))
        for template in templates
    ]
    assert collections.Counter(shared)[8, 1, 2] >= len(templates) - 12
    assert all(train <= 8 and dev <= 1 and test <= 2 for train, dev, test in shared)
    assert set(by_site) == set(ORIGINS)
    assert {t["kind"] for t in TASKS} == set(KINDS)
    assert len({t["intent"] for t in TASKS}) == len(TASKS)
    for task in TASKS:
        assert {
            "sites",
            "task_id",
            "require_login",
            "start_url",
            "intent",
            "eval",
            "intent_template_id",
        } <= set(task)
        assert task["steps"] == len(task["oracle"]) > 0
        assert task["split"] in SPLITS


@pytest.fixture
def package(tmp_path):
    """Returns a copy of the package, whose task files a test can change."""
    shutil.copytree(
        PACKAGE,
        tmp_path / "agentgym_websites",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return tmp_path


def make_tasks(package):
    """Runs the README's command; returns its result and the contents of the files."""
    command = re.search(r"They are made by\s`python (-m agentgym_websites\S+)`", README)[1].split()
    path = {
        "PYTHONHASHSEED": "77",
        "PATH": "",
        "PYTHONPATH": str(package),
    }
    done = subprocess.run(
        [sys.executable, *command], cwd=package, env=path, capture_output=True, text=True
    )
    return done, contents(package / "agentgym_websites")


def contents(package):
    return {name: (package / f"tasks/{name}.json").read_bytes() for name in ORIGINS}


@pytest.mark.full
def test_the_documented_command_makes_the_files(package):
    file = package / "agentgym_websites/tasks/shop.json"
    file.write_text("[]")
    done, made = make_tasks(package)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{len(TASKS)} tasks\n", "")
    assert made == contents(PACKAGE)


def test_fewer_tasks_than_there_are_are_not_written(tmp_path):
    write(tmp_path, TASKS)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert before == {f"{name}.json": content for name, content in contents(PACKAGE).items()}
    with pytest.raises(TaskError, match=f"the templates make {len(TASKS) - 1} tasks"):
        write(tmp_path, TASKS[1:])
    assert before == {file.name: file.read_bytes() for file in tmp_path.iterdir()}


class StartPage:
    def __init__(self, url):
        self.url = url


@pytest.fixture(scope="module")
def snapshots():
    return {tables: open_database(hosts.snapshot(tables)) for tables in FILL}


def passed(task, answer, snapshots):
    def query(locator):
        tables, _, sql = locator.partition(":")
        return "\n".join(" | ".join(map(str, row)) for row in snapshots[tables].execute(sql))

    return solved(task, answer, EvaluationInput(StartPage(task["start_url"]), nullcontext, query))


def test_doing_nothing_solves_nothing(snapshots):
    assert [t["name"] for t in TASKS if passed(t, "", snapshots)] == []


@pytest.mark.full
def test_random_answers_solve_next_to_nothing(snapshots):
    """Answers of other tasks, numbers, words and N/A in turn."""
    answers = [t["oracle"][-1][1] for t in TASKS]
    guesses = [
        *(answers[i * 37 % len(answers)] for i in range(20)),
        *map(str, range(10)),
        "yes",
        "no",
        "N/A",
    ]
    solved = sum(passed(t, guesses[i % len(guesses)], snapshots) for i, t in enumerate(TASKS))
    assert solved / len(TASKS) < 0.03


def wanted(task):
    """Returns the kind of the answer, the names to choose from, and the value."""
    spec = task["eval"]["reference_answers"]["answer"]
    return spec["kind"], str(spec.get("among")), spec["value"]


@pytest.mark.parametrize("every", [15, pytest.param(1, marks=pytest.mark.full)])
def test_an_answer_of_everything_solves_nothing_and_the_best_of_allowed_length_next_to_nothing(
    snapshots, every
):
    """The most frequent answers of all kinds, joined as long as there is room."""
    asked = [t for t in TASKS if t["eval"]["reference_answers"]][::every]
    assert len(asked) * every > 900
    everything = ", ".join(sorted({wanted(t)[2] for t in asked}))
    assert not any(
        evaluate(t, everything, EvaluationInput(StartPage(""), nullcontext)).success
        for t in asked
        if wanted(t)[0] != "name"
    )
    possible = [t for t in asked if t["kind"] != "unachievable"]
    frequent = [
        value for (_, _, value), _ in collections.Counter(map(wanted, possible)).most_common(60)
    ]
    said = ""
    for part in frequent:
        said = f"{said}, {part}".lstrip(", ") if len(said) + len(part) + 2 <= LONGEST else said
    for answer in (said, f"N/A. {said}", *frequent[:6], "N/A"):
        assert sum(passed(t, answer, snapshots) for t in possible) < 0.015 * len(TASKS) / every, (
            answer
        )


def test_every_answer_has_room_and_the_limit_is_told(snapshots):
    assert f"An answer of more than {LONGEST} characters is wrong." in WebSitesEnv.instructions
    assert str(LONGEST) in re.search(r"An answer of more than (\d+) characters", README)[1]
    assert (
        max(len(t["oracle"][-1][1]) for t in TASKS if t["eval"]["eval_types"] == ["string_match"])
        <= LONGEST / 2
    )
    task = next(t for t in TASKS if t["name"] == "map-01-0")
    said = "The telephone number is " + task["eval"]["reference_answers"]["answer"]["value"]
    assert passed(task, said.ljust(LONGEST, "!"), snapshots)
    assert passed(task, said + " " * LONGEST, snapshots)
    assert not passed(task, said.ljust(LONGEST + 1, "!"), snapshots)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("every", [40, pytest.param(1, marks=pytest.mark.full)])
def test_the_oracle_solves_an_instance_of_every_template(every):
    """By default one of every forty: one for each site."""
    env = gymnasium.make("agentgym/WebSites-v1", split="test", max_episode_steps=-1)
    first = {}
    for task_id in env.unwrapped.task_ids:
        first.setdefault(task_id.rpartition("-")[0], task_id)
    unsolved = []
    for task_id in [*first.values()][::every]:
        env.reset(options={"task_id": task_id})
        info = {"success": False}
        for action in env.unwrapped.oracle():
            *_, info = env.step(action)
        if not info["success"]:
            unsolved.append(task_id)
    env.close()
    assert unsolved == []
    assert len(first) >= 260  # a few templates have too few instances for a test


def cart(env):
    return env.host.database("shop").execute("SELECT count(*) FROM cart").fetchone()[0]


@pytest.mark.browser
def test_episodes_are_private_and_start_from_the_snapshot():
    one, two = (gymnasium.make("agentgym/WebSites-v1").unwrapped for _ in range(2))
    task = next(
        t["name"]
        for t in TASKS
        if t["name"].startswith("shop-") and "into my cart" in t["intent"] and t["split"] == "train"
    )
    two.reset(options={"task_id": task})
    one.reset(options={"task_id": task})
    for action in one.oracle():
        *_, info = one.step(action)
    assert info["success"]
    two.step("scroll [down]")
    assert (cart(one) > 0, cart(two)) == (True, 0)
    one.reset(options={"task_id": task})
    assert cart(one) == 0
    one.close()
    two.close()


@pytest.mark.parametrize("pages", [50, pytest.param(1000, marks=pytest.mark.full)])
def test_no_link_is_dead(pages):
    """Follows the links of every site from its start page, signed in."""
    host = hosts.Host()
    cookies = {c["url"]: f"{c['name']}={c['value']}" for c in host.cookies()}
    for name, origin in ORIGINS.items():
        queue, seen = collections.deque([origin + "/"]), {origin + "/"}
        for _ in range(pages):
            if not queue:
                break
            url = queue.popleft()
            reply = host.serve(ProxyRequest("GET", url, {"cookie": cookies[origin]}, b""))
            assert reply.status in (200, 302), (name, url, reply.status)
            for link in re.findall(r'href="([^"]+)"', reply.body.decode()):
                target = urllib.parse.urljoin(url, link.replace("&amp;", "&"))
                if target.startswith(origin + "/") and target not in seen:
                    seen.add(target)
                    queue.append(target)
        assert len(seen) > 40, name
    assert host.changes() == {}, "whoever reads changes nothing"
    assert host.serve(ProxyRequest("GET", ORIGINS["shop"] + "/no-such-page", {}, b"")).status == 404
    assert host.serve(ProxyRequest("GET", "http://elsewhere.test/", {}, b"")) is False


def test_a_person_can_sign_in_over_the_network():
    servers = hosts.Servers()
    try:
        jar = http.cookiejar.CookieJar()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        url = servers.origins["shop"]
        wrong = urllib.parse.urlencode({"login": "emma.lindgren", "password": "guess"}).encode()
        assert "is wrong" in browser.open(f"{url}/login", wrong).read().decode()
        right = urllib.parse.urlencode(
            {"login": "emma.lindgren", "password": "linden2026"}
        ).encode()
        assert (
            "Signed in as Emma Lindgren"
            in browser.open(f"{url}/login?next=/account", right).read().decode()
        )
        assert "Signed in as Emma Lindgren" in browser.open(f"{url}/orders").read().decode()
        with raises(urllib.error.HTTPError, "404"):
            browser.open(f"{url}/product/99999")
    finally:
        servers.close()


def sent(host, site, path, **form):
    """Sends a form as the signed-in person; returns the reply and the next page's messages."""
    cookie = next(f"{c['name']}={c['value']}" for c in host.cookies() if c["url"] == ORIGINS[site])
    headers = {"content-type": "application/x-www-form-urlencoded", "cookie": cookie}
    reply = host.serve(
        ProxyRequest("POST", ORIGINS[site] + path, headers, urllib.parse.urlencode(form).encode())
    )
    headers["cookie"] = reply.headers.get("Set-Cookie", cookie).partition(";")[0]
    return reply, host.serve(ProxyRequest("GET", ORIGINS[site] + path, headers, b"")).body.decode()


REFUSED = dict.fromkeys(("1e400", "nan", "1e30", "-1", "inf", "", "x"))


@pytest.mark.parametrize(
    ("price", "saved"), [("12.50", 1250), ("0", 0), ("9e6", 900_000_000), *REFUSED.items()]
)
def test_a_price_is_an_amount_that_a_shop_can_ask(price, saved):
    host = hosts.Host()
    read = "SELECT price FROM products WHERE id = 7"
    before = host.database("shop").execute(read).fetchone()[0]
    reply, shown = sent(
        host, "admin", "/products/7", name="Lamp", price=price, stock="3", weight="9"
    )
    assert reply.status == 302
    assert ("The price, up to 10 million" in shown) is (saved is None)
    assert host.database("shop").execute(read).fetchone()[0] == (before if saved is None else saved)


def test_a_number_that_no_row_can_have_is_not_found():
    host = hosts.Host()
    for site, path in (("shop", "/product/"), ("forum", "/post/"), ("map", "/place/")):
        assert (
            host.serve(ProxyRequest("GET", f"{ORIGINS[site]}{path}{10**25}", {}, b"")).status == 404
        )


def test_the_login_page_leads_nowhere_else():
    host = hosts.Host()
    body = urllib.parse.urlencode({"login": "emma.lindgren", "password": "linden2026"}).encode()
    headers = {"content-type": "application/x-www-form-urlencoded"}
    for target in ("http://evil.test", "//evil.test"):
        reply = host.serve(
            ProxyRequest("POST", f"{ORIGINS['shop']}/login?next={target}", headers, body)
        )
        assert reply.headers["Location"] == "/"


def test_what_a_form_says_is_shown_as_text():
    """A review, a post or a name cannot add markup to a page."""
    host = hosts.Host()
    cookie = next(
        f"{c['name']}={c['value']}" for c in host.cookies() if c["url"] == ORIGINS["forum"]
    )
    headers = {"content-type": "application/x-www-form-urlencoded", "cookie": cookie}
    body = urllib.parse.urlencode(
        {"community": "coffee", "title": "<script>alert(1)</script>", "body": "x"}
    ).encode()
    posted = host.serve(ProxyRequest("POST", f"{ORIGINS['forum']}/submit", headers, body))
    page = host.serve(
        ProxyRequest("GET", ORIGINS["forum"] + posted.headers["Location"], headers, b"")
    ).body.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page


@pytest.mark.parametrize("mode", SPEEDS)
def test_routes_are_the_fastest(snapshots, mode):
    """Compared with Bellman's relaxation over all roads."""
    ways = [
        (a, b, km, 60 * km / SPEEDS[mode][kind])
        for a, b, km, kind in snapshots["map"].execute("SELECT a, b, km, kind FROM roads")
        if kind in SPEEDS[mode]
    ]
    start, best = 1, {1: 0.0}
    for _ in range(170):
        for a, b, _, minutes in (*ways, *((b, a, km, m) for a, b, km, m in ways)):
            if a in best and best[a] + minutes < best.get(b, 1e9) - 1e-12:
                best[b] = best[a] + minutes
    for end in (5, 40, 77, 123, 168):
        route = find_route(snapshots["map"], start, end, mode)
        assert route.minutes == max(1, round(best[end]))
        assert sum(leg.km for leg in route.legs) == pytest.approx(
            route.km, abs=0.06 * len(route.legs)
        )
    assert find_route(snapshots["map"], start, 10**6, mode) is None


def test_amounts_and_times():
    assert (money(123456), money(5)) == ("$1,234.56", "$0.05")
    assert (told(59), told(60), told(95)) == ("59 min", "1 h 0 min", "1 h 35 min")


def test_the_readme_counts_what_there_is(snapshots):
    counts = {
        "shop": {
            "products": "products",
            "reviews": "reviews",
            "customers": "customers",
            "orders": "orders",
        },
        "forum": {"posts": "posts", "comments": "comments"},
        "code": {"projects": "projects", "issues": "issues and merge requests"},
        "map": {"towns": "towns", "places": "places"},
    }
    for tables, nouns in counts.items():
        for name, noun in nouns.items():
            count = snapshots[tables].execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            assert re.search(rf"\b{count:,}\s{noun}", README), (name, count)


def test_the_sites_need_only_the_interface_for_embedded_sites():
    """Sites of other distributions can do what these do."""
    sources = "".join(file.read_text() for file in PACKAGE.rglob("*.py"))
    found = set(re.findall(r"^\s*(?:from|import) (agentgym_envs\S*)", sources, re.M))
    assert found == {
        "agentgym_envs.envs.web.embedded",
        "agentgym_envs.errors",
        "agentgym_envs.tasks",
    }
