"""The published packages build as wheels and source distributions.

Each works without any other package of this repository.
"""

import email
import re
import subprocess
import sys
import tarfile
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.release
ROOT = Path(__file__).parents[2]


LICENCES = {
    "agentgym_envs": {
        "LICENSE",
        "NOTICE",
        *(f"licenses/{p.name}" for p in (ROOT / "agentgym_envs/licenses").iterdir()),
    },
    "agentgym_train": {"LICENSE", "NOTICE"},
    "agentgym_websites": {"LICENSE", "NOTICE"},
}


FOLDERS = {"agentgym_websites": "plugins/agentgym-websites"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with a source distribution of each package, and a wheel made from it."""
    out = tmp_path_factory.mktemp("dist")
    for package in LICENCES:
        command = [
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--outdir",
            str(out),
            str(ROOT / FOLDERS.get(package, package)),
        ]
        subprocess.run(command, check=True, capture_output=True)
    return out


@pytest.fixture(scope="module")
def wheels(built):
    return {p.name.split("-")[0]: p for p in built.glob("*.whl")}


def metadata(wheel):
    archive = ZipFile(wheel)
    return email.message_from_bytes(
        archive.read(next(n for n in archive.namelist() if n.endswith("/METADATA")))
    )


@pytest.mark.parametrize("package", LICENCES)
def test_licences_are_in_the_wheel_and_the_source_distribution(wheels, built, package):
    in_wheel = {n.partition("dist-info/licenses/")[2] for n in ZipFile(wheels[package]).namelist()}
    assert LICENCES[package] <= in_wheel
    with tarfile.open(next(built.glob(f"{package}-*.tar.gz"))) as archive:
        assert LICENCES[package] <= {n.partition("/")[2] for n in archive.getnames()}
    assert set(metadata(wheels[package]).get_all("License-File")) == LICENCES[package]


@pytest.mark.parametrize("package", LICENCES)
def test_the_readme_on_the_index_has_no_relative_link(wheels, package):
    found = metadata(wheels[package])
    targets = re.findall(r"\]\(([^)#]+)", found.get_payload())
    assert targets
    assert [t for t in targets if not t.startswith("https://")] == []
    source = next(
        u.partition(", ")[2] for u in found.get_all("Project-URL") if u.startswith("Source")
    )
    tree = f"{source}/blob/v{found['Version']}/"
    ours = [t.removeprefix(tree) for t in targets if t.startswith(tree)]
    assert ours
    assert [t for t in ours if not (ROOT / t).exists()] == []


def test_the_wheels_hold_what_they_need(wheels):
    envs = set(ZipFile(wheels["agentgym_envs"]).namelist())
    assert {"agentgym_envs/py.typed", "agentgym_envs/envs/textcraft/recipes.json"} <= envs
    web = "agentgym_envs/envs/web/"
    assert web + "miniwob/label.js" in envs
    sites = set(ZipFile(wheels["agentgym_websites"]).namelist())
    names = ("README.md", "tasks/map.json", "templates/style.css", "packed/map.xz", "py.typed")
    assert {f"agentgym_websites/{name}" for name in names} <= sites
    assert {"agentgym_envs/feedback/page/compare.html", "agentgym_envs/pages/turns.js"} <= envs
    assert "agentgym_envs/envs/connect4/positions.json" in envs
    train = ZipFile(wheels["agentgym_train"])
    assert "agentgym_train/py.typed" in train.namelist()
    entry_points = train.read(
        next(n for n in train.namelist() if n.endswith("entry_points.txt"))
    ).decode()
    assert "[agentgym_train.curricula]" in entry_points


def test_the_suite_installs_alone_and_without_torch(wheels, tmp_path):
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-compile"]
    subprocess.run([*pip, str(wheels["agentgym_envs"])], check=True, capture_output=True)
    code = (
        "import importlib.util as u, agentgym_envs, gymnasium as gym\n"
        "assert u.find_spec('torch') is None and u.find_spec('textworld') is None\n"
        "assert 'venv' in agentgym_envs.__file__\n"
        "for i in ('agentgym/Maze-v1', 'agentgym/TextCraft-v2'):\n"
        "    env = gym.make(i); env.reset(seed=1)\n"
        "    assert any([env.step(a)[4]['success'] for a in env.unwrapped.oracle()])\n"
        "try: gym.make('agentgym/TWSimple-v1')\n"
        "except ImportError as e: print(e)\n"
    )
    done = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert 'python -m pip install "agentgym-envs[textworld]"' in done.stdout
    listed = subprocess.run(
        [python.parent / "agentgym", "list"], capture_output=True, text=True, check=True
    )
    assert "agentgym/Maze-v1" in listed.stdout


def test_the_trainer_works_from_its_wheel(wheels, tmp_path):
    """Unpacked over the installed dependencies: torch need not be installed a second time."""
    target = tmp_path / "site"
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--target",
        str(target),
        *map(str, wheels.values()),
    ]
    subprocess.run(command, check=True, capture_output=True)
    code = "import agentgym_train.cli as c; print(c.__file__); c.app(['plugins'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PYTHONPATH": str(target), "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    assert str(target) in done.stdout
    assert "scaling_inter" in done.stdout
