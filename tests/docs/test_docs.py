"""The snippets of the documentation run.

Exceptions install packages, train for long, or need a model, a browser or a person.
"""

import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import fields, is_dataclass
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import gymnasium
import pytest
from scripts import load

from agentgym_envs.tournament.players import players
from agentgym_train import config as configuration
from agentgym_train import plugins
from agentgym_train.config.schema import agent_attempts
from agentgym_train.reward import config as reward

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "agentgym_envs/README.md",
    ROOT / "agentgym_train/README.md",
]
PAGES += [
    ROOT / "docs/index.md",
    ROOT / "docs/papers.md",
    ROOT / "docs/reading_results.md",
    *sorted((ROOT / "docs/guides").glob("*.md")),
]
PAGES += sorted((ROOT / "agentgym_envs/src").rglob("README.md")) + sorted(
    (ROOT / "plugins").rglob("README.md")
)
# The site's own build finds errors there.
GENERATED = (
    "environments/",
    "results/",
    "reference/configuration.md",
    "reference/commands.md",
)
# Commands of the pages that other tests or a person run: they install, train for long, or need the
# hub.
ELSEWHERE = (
    "python -m",
    "agentgym install",
    "agentgym sites",
    "tox run",
    "agentgym-train run",
    "agentgym-train eval",
    "agentgym-train plan",
    ". .venv",
    "pytest",
    "agentgym build",
    "agentgym play",
    "agentgym check ./dials.py",  # tests/contract/test_authors.py has the file
    "agentgym eval ./dials.py",
    "agentgym check ./notes.py",  # tests/envs/web/test_embedded.py has the file
    "agentgym eval ./notes.py",
    "agentgym check my-lock",
    "agentgym eval agentgym-rl",
    "agentgym eval classic",
    "agentgym eval agentgym/TextCraft-v2 --api",
    "agentgym report results/qwen",
    "agentgym view",
    "inspect eval",
    "vf-eval",
    "agentgym-verifiers",
    "python docs/examples",
    "agentgym serve",
    "agentgym compare",  # and what needs its comparisons
    "agentgym report results/first",
    "agentgym export comparisons.jsonl",
    "export",
)


def blocks(language):
    for page in PAGES:
        for number, text in enumerate(
            re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S)
        ):
            yield pytest.param(text, id=f"{page.relative_to(ROOT)}-{number}")


@pytest.mark.parametrize("code", [*blocks("python")])
def test_python_runs(code, tmp_path, request):
    """In a process of its own; where it needs torch, in a fork of one that has loaded it."""
    if "textworld" in code.lower() or "TW" in code:
        pytest.importorskip("textworld")
    if "RayHosts" in code:
        pytest.skip("needs a cluster: run `tox run -e ray`")
    if "agentgym_train" in code:
        (tmp_path / "snippet.py").write_text(code)
        request.getfixturevalue("warm").play(
            tmp_path / "snippet.py", tmp_path, cwd=tmp_path, strict=True
        )
        return
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text", [*blocks("toml")])
def test_toml_is_a_valid_configuration(text, monkeypatch, tmp_path):
    monkeypatch.setattr("agentgym_train.trackers.data.find_spec", lambda library: sys.__spec__)
    monkeypatch.chdir(ROOT / "docs/examples")
    raw = tomllib.loads(text)
    if "player" in raw:
        (tmp_path / "players.toml").write_text(text)
        assert len(players([str(tmp_path / "players.toml")])) == len(raw["player"])
    elif "run" in raw or "env" in raw:
        reward.of({"run": {"folder": "x", "steps": 1}} | raw)
    else:
        kinds = {kind.section: kind for kind in plugins.KINDS}
        tables = {
            f.name: type(f.default) for f in fields(configuration.Config) if is_dataclass(f.default)
        }
        assert set(raw) <= {"build-system", "project", "agent", *kinds, *tables}
        agent_attempts(raw.get("agent", {}))
        for section in raw.keys() & tables.keys():
            configuration.build(tables[section], raw[section], section=section)
        for section in raw.keys() & kinds.keys():
            for options in raw[section] if kinds[section].many else [raw[section]]:
                plugins.make(kinds[section], options)


def transcripts():
    for page in PAGES:
        for env_id, task_id, text in re.findall(
            r"^```text (\S+) (\S+)\n(.*?)^```", page.read_text(), re.M | re.S
        ):
            slow = env_id.startswith(("agentgym/TW", "agentgym/ScienceWorld"))
            yield pytest.param(env_id, task_id, text, id=env_id, marks=[pytest.mark.full] * slow)


@pytest.mark.parametrize(("env_id", "task_id", "text"), [*transcripts()])
def test_transcripts_replay(env_id, task_id, text):
    env = gymnasium.make(env_id, split="test", max_episode_steps=-1)
    shown = [env.reset(options={"task_id": task_id})[0].strip()]
    for action in re.findall(r"^> (.*)$", text, re.M):
        observation, *_, info = env.step(action)
        shown += [f"> {action}", observation.strip()]
    env.close()
    played = "\n".join(line.rstrip() for line in "\n".join(shown).splitlines()) + "\n"
    # "..." stands for lines that are left out.
    assert OutputChecker().check_output(text, played, ELLIPSIS), played
    assert info["success"]


def test_the_page_of_each_family_begins_with_an_episode():
    families = [p.parent for p in (ROOT / "agentgym_envs/src/agentgym_envs/envs").glob("*/env.py")]
    for family in families:
        before, episode, _ = (family / "README.md").read_text().partition("```text agentgym/")
        assert episode, f"{family} has no episode"
        assert len(before.split()) < 130, f"{family}: more than a paragraph before the episode"
        assert "**Rules" not in before


FEW = "README.md"
"""The page whose commands run by default; those of the others are tests marked full."""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(*b.values, id=b.id, marks=[pytest.mark.full] * (not b.id.startswith(FEW)))
        for b in blocks("sh")
    ],
)
def test_commands_run(text, tmp_path):
    """With few episodes, whatever their number in the text."""
    for line in text.replace("\\\n", "").splitlines():
        if line and not line.startswith(ELSEWHERE):
            program, *arguments = shlex.split(re.sub(r"--episodes \d+", "--episodes 2", line))
            command = [Path(sys.executable).parent / program, *arguments]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, cwd=tmp_path
            )
            assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "page",
    [*PAGES, ROOT / "RELEASING.md", *sorted((ROOT / "benchmarks").rglob("*.md"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_code_has_at_most_80_columns(page):
    """The site shows about 80 columns; a reader scrolls for the rest. Episodes ("text") wrap."""
    language = ""
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if line.startswith("```"):
            language = "" if language else line.removeprefix("```").strip() or "code"
        elif language and not language.startswith(("text", "{")):
            assert len(line) <= 80, f"{page}:{number} has {len(line)} columns: readers see 80"


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            file = (page.parent / target).resolve()
            generated = file.is_relative_to(ROOT / "docs") and str(
                file.relative_to(ROOT / "docs")
            ).startswith(GENERATED)
            assert target.startswith("http") or generated or file.exists(), f"{page}: {target}"


def test_the_quickstart_of_the_readme_is_the_committed_configuration():
    assert (
        "commands = agentgym-train run benchmarks/quickstart.toml" in (ROOT / "tox.ini").read_text()
    )
    quick = configuration.load(ROOT / "benchmarks/quickstart.toml")
    assert quick.model.path == "scratch"
    assert quick.run.folder == "runs/quickstart"


def test_a_page_that_installs_an_unpublished_plugin_says_how(monkeypatch):
    """pip can install the folders of the line; the line goes away with the first release."""
    lines = load(ROOT / "docs/install_lines.py")
    pages = {page: page.read_text() for page in lines.pages()}
    assert [page for page, text in pages.items() if lines.with_line(text) != text] == []
    for text in pages.values():
        for name in re.findall(r"pip install (agentgym-[a-z]+)$", text, re.M):
            found = [x for x in text.splitlines()[:3] if f"-e ./plugins/{name}`" in x]
            assert len(found) == 1
            assert all(
                (ROOT / folder / "pyproject.toml").exists()
                for folder in re.findall(r"-e \./(\S+?)[` ]", found[0])
            )
    monkeypatch.setattr(lines, "PUBLISHED", True)
    assert not any(lines.MARK in lines.with_line(text) for text in pages.values())
