"""Pipelines of builds and tests for commits.

Their jobs have logs and can be retried or cancelled.
"""

import random
import sqlite3
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from flask import Flask, render_template, request

from agentgym_websites.code.common import find, may_write
from agentgym_websites.site import TODAY, add, back, field, page, row, rows, run, where
from agentgym_websites.tables import tables

SCHEMA = """
-- A pipeline builds and tests a commit; ``problem`` says why a job has failed.
CREATE TABLE pipelines (id INTEGER PRIMARY KEY, project_id INT, commit_id INT, branch TEXT, status TEXT, started TEXT);
CREATE TABLE jobs (id INTEGER PRIMARY KEY, pipeline_id INT, stage TEXT, name TEXT, status TEXT, seconds INT, problem TEXT DEFAULT '');
CREATE INDEX pipelines_of ON pipelines (project_id);
CREATE INDEX pipelines_for ON pipelines (commit_id);
CREATE INDEX jobs_of ON jobs (pipeline_id);
"""
JOBS = (("build", "compile"), ("test", "unit tests"), ("test", "style"), ("deploy", "package"))
RECENT = 9  # commits of the main branch that have a pipeline
_TABLES = tables("code/pipelines")
PROBLEMS: Mapping[str, tuple[str, ...]] = _TABLES["problems"]
STATES = ("success", "failed", "running", "canceled", "pending")
LAST: str = _TABLES["last"]
LINE = "WITH RECURSIVE line (id) AS (SELECT ?2 UNION ALL SELECT parent FROM commits c JOIN line ON c.id = line.id WHERE parent IS NOT NULL) "


def fill(db: sqlite3.Connection) -> None:
    """Adds pipelines of the main branch's latest commits and of every other branch's head."""
    rng, pipelines, jobs = (
        random.Random("code pipelines"),
        list[tuple[Any, ...]](),
        list[tuple[Any, ...]](),
    )
    for project, head in db.execute(
        "SELECT project_id, head FROM branches WHERE name = 'main' ORDER BY project_id"
    ).fetchall():
        for c in db.execute(LINE + LAST, (project, head, RECENT)).fetchall():
            key = len(pipelines) + 1
            made = _jobs(rng, key, c["path"] or "README.md", c["made"])
            jobs += [(len(jobs) + n, *job) for n, job in enumerate(made, 1)]
            states = [job[3] for job in made]
            minute = f"{c['made']} {rng.randint(8, 18):02}:{rng.randint(0, 59):02}"
            pipelines.append((key, project, c["id"], c["name"], overall(states), minute))
    add(db, "pipelines", *pipelines)
    add(db, "jobs", *jobs)


def _jobs(rng: random.Random, pipeline: int, path: str, made: str) -> list[tuple[Any, ...]]:
    """Returns the jobs of a pipeline; after a failed job, the jobs of later stages do not run."""
    running = date.fromisoformat(made) >= TODAY - timedelta(days=3) and rng.random() < 0.6
    source = path.startswith(("src/", "scripts/", "tests/"))
    failing = (
        rng.choice(JOBS if source else JOBS[-1:])
        if not running and rng.random() < (0.42 if source else 0.12)
        else None
    )
    found, stopped = list[tuple[Any, ...]](), ""
    for stage, name in JOBS:
        state, problem = "success", ""
        if stopped and stage != stopped:
            state = "pending" if running else "canceled"
        elif (stage, name) == failing:
            numbers = {
                "path": path,
                "line": rng.randint(3, 90),
                "count": rng.randint(1, 9),
                "total": rng.randint(40, 400),
                "seconds": rng.randint(30, 300),
            }
            state, problem, stopped = "failed", rng.choice(PROBLEMS[name]).format(**numbers), stage
        elif running and stage == "test" and not stopped:
            state, stopped = "running", stage
        found.append(
            (
                pipeline,
                stage,
                name,
                state,
                0 if state in ("pending", "canceled") else rng.randint(8, 420),
                problem,
            )
        )
    return found


def overall(states: list[str]) -> str:
    """Returns the status of a pipeline from the states of its jobs."""
    return next(
        (state for state in ("failed", "running", "pending", "canceled") if state in states),
        "success",
    )


def log_of(job: sqlite3.Row) -> list[str]:
    """Returns the log lines of a job."""
    if job["status"] in ("pending", "canceled"):
        return ["This job has not run."]
    lines = [
        f"Fetching commit {job['sha']} of {job['project']}",
        f"Stage {job['stage']}: {job['name']}",
    ]
    if job["status"] == "running":
        return [*lines, f"Still running after {job['seconds']} seconds"]
    lines += (
        [f"error: {job['problem'].replace('`', '')}"] if job["problem"] else ["No problems found"]
    )
    return [
        *lines,
        f"Job {'failed' if job['status'] == 'failed' else 'succeeded'} after {job['seconds']} seconds",
    ]


PIPELINE = (
    "SELECT l.*, c.sha, c.message, a.name AS author, p.name AS project, (SELECT sum(seconds) FROM jobs WHERE pipeline_id = l.id) AS seconds"
    " FROM pipelines l JOIN commits c ON c.id = commit_id JOIN people a ON a.id = c.author_id JOIN projects p ON p.id = l.project_id WHERE "
)


def add_pages(app: Flask) -> None:
    """Adds the pages."""
    app.jinja_env.globals["pipelines_of"] = lambda commit: rows(
        "SELECT * FROM pipelines WHERE commit_id = ? ORDER BY id", commit
    )

    @app.route("/p/<name>/pipelines")
    def pipelines(name: str) -> str:
        found = find(name)
        condition, values = where(
            {
                "l.project_id = ?": found["id"],
                "l.status = ?": request.args.get("status"),
                "branch = ?": request.args.get("branch"),
            }
        )
        columns, _, tables = PIPELINE.removeprefix("SELECT ").rpartition(" FROM ")
        listed = page(columns, tables + condition, "started DESC, l.id DESC", values)
        names = [
            r[0]
            for r in rows(
                "SELECT DISTINCT branch FROM pipelines WHERE project_id = ? ORDER BY branch",
                found["id"],
            )
        ]
        return render_template(
            "code/pipelines.html", project=found, found=listed, states=STATES, names=names
        )

    @app.route("/p/<name>/pipelines/<int:key>", methods=["GET", "POST"])
    def pipeline(name: str, key: int) -> Any:
        found = find(name)
        shown = row(PIPELINE + "l.id = ? AND l.project_id = ?", key, found["id"])
        if request.method == "POST":
            return _change(found, shown)
        jobs = rows("SELECT * FROM jobs WHERE pipeline_id = ? ORDER BY id", key)
        return render_template(
            "code/pipeline.html",
            project=found,
            pipeline=shown,
            jobs=jobs,
            writable=may_write(found),
        )

    @app.route("/p/<name>/jobs/<int:key>")
    def job(name: str, key: int) -> str:
        found = find(name)
        sql = (
            "SELECT j.*, c.sha, p.name AS project FROM jobs j JOIN pipelines l ON l.id = pipeline_id JOIN commits c ON c.id = commit_id"
            " JOIN projects p ON p.id = l.project_id WHERE j.id = ? AND l.project_id = ?"
        )
        shown = row(sql, key, found["id"])
        return render_template("code/job.html", project=found, job=shown, lines=log_of(shown))


def _change(project: sqlite3.Row, pipeline: sqlite3.Row) -> Any:
    """Retries failed and cancelled jobs of a pipeline, or cancels unfinished ones."""
    where_to = {"endpoint": "pipeline", "name": project["name"], "key": pipeline["id"]}
    if not may_write(project):
        return back("You may not change this project.", **where_to)
    new, old = {
        "retry": ("pending", ("failed", "canceled")),
        "cancel": ("canceled", ("running", "pending")),
    }.get(field("how"), ("", ()))
    if not any(
        job["status"] in old
        for job in rows("SELECT status FROM jobs WHERE pipeline_id = ?", pipeline["id"])
    ):
        return back("There is no job to retry or to cancel.", **where_to)
    sql = "UPDATE jobs SET status = ?, problem = '', seconds = 0 WHERE pipeline_id = ? AND status IN (?, ?)"
    run(sql, new, pipeline["id"], *old)
    states = [
        r["status"] for r in rows("SELECT status FROM jobs WHERE pipeline_id = ?", pipeline["id"])
    ]
    run("UPDATE pipelines SET status = ? WHERE id = ?", overall(states), pipeline["id"])
    return back(
        "The jobs run again." if new == "pending" else "The pipeline has been canceled.", **where_to
    )
