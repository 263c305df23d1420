"""Measures how much of the code a reader meets: files of a step, names, imports, sizes.

    python benchmarks/house.py                            prints this tree's figures
    python benchmarks/house.py --out new.json             and writes them
    python benchmarks/house.py --before old.json          prints both, side by side

The figures of another version come from its own tree: copy this file there, or name the tree with
``--tree`` and run with an environment in which that tree is installed.
"""

import argparse
import ast
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGES = {"envs": "agentgym_envs", "train": "agentgym_train"}


def source_files(tree: Path, *folders: str) -> list[Path]:
    """Returns the tracked Python files of a tree under some folders."""
    listed = subprocess.check_output(["git", "ls-files", "-z", *folders], cwd=tree, text=True)
    return [tree / name for name in listed.split("\0") if name.endswith(".py")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--before", type=Path)
    options = parser.parse_args()
    figures = measured(options.tree.resolve())
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n")
    before = json.loads(options.before.read_text()) if options.before else None
    print(table(figures, before))


def measured(tree: Path) -> dict[str, Any]:
    """Returns all figures of a tree."""
    figures: dict[str, Any] = {}
    figures |= traced_step(tree)
    for short, package in PACKAGES.items():
        files = {p: ast.parse(p.read_text()) for p in source_files(tree, f"{package}/src")}
        figures |= {f"{key}, {short}": value for key, value in names(files, package).items()}
        figures[f"imports of a folder above, {short}"] = upward(files, package)
        figures |= {f"{key}, {short}": value for key, value in sizes(files).items()}
    figures |= import_of_contract()
    figures |= {
        f"lines of a new {kind}": line_count([tree / path]) if (tree / path).exists() else "-"
        for kind, path in EXAMPLES.items()
    }
    figures["asserted messages (match=)"] = sum(
        len(re.findall(r"\bmatch=", p.read_text())) for p in source_files(tree, "tests", "plugins")
    )
    figures |= wheels(tree)
    words = subprocess.check_output(["git", "ls-files", "-z", "*.md"], cwd=tree, text=True)
    figures["words of Markdown"] = sum(
        any(letter.isalnum() for letter in word)
        for name in words.split("\0")[:-1]
        for word in (tree / name).read_text().split()
    )
    figures["lines of Python"] = line_count(source_files(tree))
    figures["lines of Python, tests"] = line_count(source_files(tree, "tests", "plugins/*/tests"))
    return figures


EXAMPLES = {
    "loss": "docs/examples/new_loss.py",
    "curriculum": "docs/examples/new_curriculum.py",
    "generator": "docs/examples/new_generator.py",
    "environment": "docs/examples/new_environment.py",
}


def line_count(paths: list[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


def imported_names(tree: ast.Module, package: str) -> Iterator[tuple[str, str, bool]]:
    """Yields module, name and "only for the type checker" of each import of the own package."""

    def walk(nodes: list[ast.stmt], typing: bool) -> Iterator[tuple[str, str, bool]]:
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package):
                yield from ((node.module or "", alias.name, typing) for alias in node.names)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith(package):
                        yield alias.name, "", typing
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue  # imports when it is called
            checking = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for field in ("body", "orelse", "finalbody"):
                yield from walk(getattr(node, field, []), typing or checking)

    yield from walk(tree.body, False)


def names(files: dict[Path, ast.Module], package: str) -> dict[str, Any]:
    """Returns figures about the names of classes."""
    homes: dict[str, list[Path]] = defaultdict(list)
    for path, tree in files.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(path)
    crossing = {
        name
        for tree in files.values()
        for _, name, _ in imported_names(tree, package)
        if name in homes
    }
    one = [name for name in crossing if len(re.findall(r"[A-Z][a-z0-9]*", name.strip("_"))) == 1]
    return {
        "class names used twice": sum(len(paths) > 1 for paths in homes.values()),
        "classes that cross a file": len(crossing),
        "of these with one word": len(one),
    }


def upward(files: dict[Path, ast.Module], package: str) -> int:
    """Returns how many imports at start-up have to go until folders form no circle.

    A folder, a family of environments and a file at the root are units. Of a circle the weakest
    link is counted.
    """
    weights: dict[tuple[str, str], int] = defaultdict(int)
    modules = {".".join(p.with_suffix("").parts[p.parts.index("src") + 1 :]) for p in files}

    def unit(module: str) -> str:
        parts = module.split(".")
        return ".".join(parts[: 3 if parts[1:2] == ["envs"] else 2])

    for path, tree in files.items():
        own = ".".join(path.with_suffix("").parts[path.parts.index("src") + 1 :])
        for module, name, typing in imported_names(tree, package):
            target = f"{module}.{name}" if f"{module}.{name}" in modules else module
            here, there = unit(own.removesuffix(".__init__")), unit(target)
            if not typing and here != there and package not in (here, there):
                weights[here, there] += 1
    above = 0
    while circle := smallest_circle(weights):
        weakest = min(circle, key=lambda link: weights[link])
        above += weights.pop(weakest)
    return above


def smallest_circle(links: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    """Returns the links of a shortest circle; empty if there is none."""
    nexts: dict[str, list[str]] = defaultdict(list)
    for here, there in links:
        nexts[here].append(there)
    best: list[tuple[str, str]] = []
    for start in sorted(nexts):
        came: dict[str, str] = {}
        queue = [start]
        for node in queue:
            for there in nexts.get(node, []):
                if there not in came:
                    came[there] = node
                    queue.append(there)
        if start in came:
            path, node = [], start
            while not path or node != start:
                path.append((came[node], node))
                node = came[node]
            if not best or len(path) < len(best):
                best = path
    return best


def sizes(files: dict[Path, ast.Module]) -> dict[str, Any]:
    """Returns figures about the sizes of files and functions."""
    lines = [len(path.read_text().splitlines()) for path in files if path.name != "__init__.py"]
    functions = [
        (node.end_lineno or 0) - node.lineno + 1
        for tree in files.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {
        "files": len(lines),
        "lines of a file, median": round(statistics.median(lines)),
        "files under 40 lines, %": round(100 * sum(n < 40 for n in lines) / len(lines)),
        "functions of at most 3 lines, %": round(
            100 * sum(n <= 3 for n in functions) / len(functions)
        ),
    }


def import_of_contract() -> dict[str, Any]:
    """Returns seconds (median of five processes) and modules of the import of a curriculum."""
    code = (
        "import sys, time; start = time.perf_counter(); known = len(sys.modules)\n"
        "from agentgym_train import Curriculum\n"
        "print(time.perf_counter() - start, len(sys.modules) - known, 'torch' in sys.modules)"
    )
    runs = [
        subprocess.check_output([sys.executable, "-c", code], text=True).split() for _ in range(6)
    ][1:]
    return {
        "`from agentgym_train import Curriculum`, s": round(
            statistics.median(float(run[0]) for run in runs), 2
        ),
        "modules that it imports": int(runs[0][1]),
        "torch is among them": runs[0][2],
    }


def wheels(tree: Path) -> dict[str, Any]:
    """Returns the size of each wheel that is built from a tree."""
    found = {}
    projects = ["agentgym_envs", "agentgym_train", "plugins/agentgym-websites"]
    for project in projects:
        if not (tree / project).exists():
            continue
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pip",
                    "wheel",
                    "-q",
                    "--no-deps",
                    "-w",
                    folder,
                    tree / project,
                ],
                check=True,
            )
            (wheel,) = Path(folder).glob("*.whl")
            found[f"wheel {Path(project).name}, kB"] = round(wheel.stat().st_size / 1000)
    return found


STEP = """
[run]
folder = "run"
threads = 1
steps = 3
[env]
id = "agentgym/Maze-v1"
kwargs = { split = "train", rooms = [6] }
groups = 4
group_size = 8
[model]
path = "scratch"
max_context = 512
[scratch]
steps = 100
batch = 8
episodes = 300
[rollout]
max_new_tokens = 6
[algorithm]
name = "grpo"
[curriculum]
name = "fixed"
turns = 12
[[tracker]]
name = "tensorboard"
"""
"""A run of three steps with GRPO in one process."""


def traced_step(tree: Path) -> dict[str, Any]:
    """Returns what the second step of a run enters: files, lines, functions and calls."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "step.toml").write_text(STEP)
        result = subprocess.run(
            [sys.executable, __file__, "--trace"], cwd=folder, capture_output=True, text=True
        )
        if not (Path(folder) / "step.json").exists():
            raise SystemExit(result.stdout + result.stderr)
        figures: dict[str, Any] = json.loads((Path(folder) / "step.json").read_text())
    return figures


def trace_step() -> None:
    """Runs STEP in this process and writes what is entered between two logged steps."""
    from agentgym_train import cli
    from agentgym_train.trackers import tensorboard

    entered: set[tuple[str, str]] = set()
    edges: set[tuple[str, str]] = set()
    tracing = False

    def own(code: Any) -> bool:
        return any(f"/{package}/src/" in code.co_filename for package in PACKAGES.values())

    def called(frame: Any, event: str, _: Any) -> None:
        if not tracing or event != "call" or not own(frame.f_code):
            return
        code, caller = frame.f_code, frame.f_back
        entered.add((code.co_filename, code.co_qualname))
        while caller is not None and not own(caller.f_code):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != code.co_filename:
            edges.add((caller.f_code.co_filename, code.co_filename))

    def logged(*_: Any) -> None:
        nonlocal tracing
        if not tracing:
            tracing = True
            threading.setprofile(called)
            sys.setprofile(called)
            return
        files = {file for file, _ in entered}
        train = {file for file in files if "/agentgym_train/src/" in file}
        figures = {
            "files that a GRPO step enters, train": len(train),
            "files that a GRPO step enters, envs": len(files - train),
            "lines of these files": line_count(list(map(Path, files))),
            "functions that it enters": len(entered),
            "calls between files": len(edges),
            "entered": sorted(file.partition("/src/")[2] for file in files),
        }
        Path("step.json").write_text(json.dumps(figures))
        os._exit(0)

    tracker = next(
        value
        for value in vars(tensorboard).values()
        if isinstance(value, type)
        and value.__module__ == tensorboard.__name__
        and "log" in vars(value)
    )
    tracker.log = logged  # type: ignore[attr-defined]
    cli.app(["run", "step.toml"])


def table(figures: dict[str, Any], before: dict[str, Any] | None) -> str:
    """Returns a Markdown table of figures, with those of before in front."""
    columns = [before, figures] if before else [figures]
    heads = ["figure", *(["before", "after"] if before else ["value"])]
    keys = dict.fromkeys(key for column in columns for key in column if key != "entered")
    rows = [[key, *(str(column.get(key, "-")) for column in columns)] for key in keys]
    return "\n".join("| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads), *rows])


if __name__ == "__main__":
    trace_step() if sys.argv[1:] == ["--trace"] else main()
