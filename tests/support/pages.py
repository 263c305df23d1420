"""A web environment with pages that a test defines."""

import http.server
import random
import threading

from agentgym_envs.core import Outcome
from agentgym_envs.envs.web.env import WebEnv
from agentgym_envs.envs.web.look import find
from agentgym_envs.envs.web.proxy import ProxyReply
from agentgym_envs.tasks import Task, TaskSet

ORIGIN = "http://pages.test"


class PagesEnv(WebEnv):
    """Serves ``pages``: path → HTML or a complete reply."""

    def __init__(self, pages, outside=(), origin=ORIGIN, **kwargs):
        self.pages, self.outside, self.origin = pages, outside, origin
        super().__init__(**kwargs)

    def make_tasks(self):
        return TaskSet(
            Task(id=f"page-{i}", split=s) for i, s in enumerate(("train", "dev", "test"))
        )

    def serve(self, request):
        if (request.url if "://" in request.url else f"http:{request.url}").startswith(
            tuple(self.outside)
        ):
            return True
        path = request.url.removeprefix(self.origin).partition("?")[0]
        page = self.pages.get(path) if request.url.startswith(self.origin) else None
        if page is None:
            return False
        return (
            page
            if isinstance(page, ProxyReply)
            else ProxyReply(200, {"content-type": "text/html; charset=utf-8"}, page.encode())
        )

    def open(self, task: Task, rng: random.Random, session):
        session.open(self.origin + "/")
        return "look around"

    def judge(self, action, session):
        return Outcome(
            "",
            float(action.name == "stop"),
            done=action.name == "stop",
            success=action.name == "stop",
        )

    def oracle(self):
        yield "stop []"


def click(env, name, **where):
    return env.step(f"click [{find(env._text, name, **where).id}]")


class Outside(http.server.BaseHTTPRequestHandler):
    hits: list = []
    hang = threading.Event()

    def do_GET(self):
        self.hits.append(self.path)
        if self.path == "/hang":
            self.hang.wait(60)
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        if self.path == "/worker":  # local addresses count as secure, so service workers exist
            self.wfile.write(b"<script>navigator.serviceWorker.register('/w.js')</script>")

    do_POST = do_GET

    def log_message(self, *_):
        pass
