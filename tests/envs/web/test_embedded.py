"""The seam for web sites of other distributions, with the site of the guide."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from browsers import need_browser
from raised import raises

from agentgym_envs.envs.web import embedded
from agentgym_envs.envs.web.embedded import ProxyRequest, SiteHost, wsgi_reply
from agentgym_envs.envs.web.look import find
from agentgym_envs.errors import TaskError
from agentgym_envs.plugins import import_source

ORIGIN = "http://notes.test"
GUIDE = (Path(__file__).parents[3] / "docs/guides/add_site.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    need_browser()
    folder = tmp_path_factory.mktemp("site")
    (folder / "notes.py").write_text(re.search(r"^```python\n(.*?)^```", GUIDE, re.M | re.S)[1])
    return f"{folder}/notes.py:NotesEnv"


@pytest.fixture
def env(notes):
    made = import_source(notes.rpartition(":")[0]).NotesEnv()
    yield made
    made.close()


def do(env, name, action):
    return env.step(action.format(find(env._text, name).id))


@pytest.mark.browser
@pytest.mark.full
def test_the_guides_site_keeps_the_contract(notes):
    """In a process of its own, which ends its browser."""
    program = Path(sys.executable).parent / "agentgym"
    done = subprocess.run([program, "check", notes], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.browser
def test_a_second_note_is_a_side_effect_and_the_next_episode_has_none(env):
    env.reset(options={"task_id": "add-milk"})
    for _ in range(2):
        do(env, "Note", "type [{}] [milk] [0]")
        text, *_ = do(env, "Add", "click [{}]")
    assert text.count("milk'") == 2
    *_, info = env.step("stop []")
    assert (info["success"], info["side_effects"]) == (False, ["notes: changed"])
    text, _ = env.reset(options={"task_id": "add-milk"})
    assert "'milk'" not in text
    *_, done, _, info = [env.step(action) for action in env.oracle()][-1]
    assert (done, info["success"], info["side_effects"]) == (True, True, [])


@pytest.mark.browser
def test_an_address_of_no_site_is_not_reached(env):
    env.reset(options={"task_id": "add-milk"})
    text, *_ = env.step("goto [http://other.test/]")
    assert "http://other.test" in text
    assert f"URL: {ORIGIN}/\n" in text


class Bare(SiteHost):
    def serve(self, request):
        return False

    def restore(self):
        pass


def test_a_host_without_databases_says_so():
    assert (Bare().cookies(), Bare().side_effects({})) == ([], [])
    with raises(TaskError, "1"):
        Bare().query("shop:SELECT 1")


def test_a_wsgi_application_gets_the_whole_request_and_the_episodes_state():
    def application(environ, start):
        start("201 CREATED", [("X-Seen", environ["HTTP_X_SENT"])])
        keys = ("REQUEST_METHOD", "SERVER_NAME", "PATH_INFO", "QUERY_STRING", "state")
        return [*(environ[key].encode() + b"\n" for key in keys), environ["wsgi.input"].read()]

    request = ProxyRequest("POST", "http://a.test/b%20c?d=e%20f", {"x-sent": "1"}, b"body")
    reply = wsgi_reply(application, request, state="held")
    assert (reply.status, reply.headers["X-Seen"]) == (201, "1")
    assert reply.body.decode().split("\n") == ["POST", "a.test", "/b c", "d=e%20f", "held", "body"]


def test_the_guide_names_every_method_of_a_host():
    listed = set(re.findall(r"^\| `(\w+)\(.*?\)` \|", GUIDE, re.M))
    assert listed == {name for name in vars(SiteHost) if name[0] != "_"}
    assert set(re.findall(r"`(\w+)`", GUIDE.partition("| `oracle` |")[2].partition("\n")[0])) <= {
        *embedded.__all__
    }
