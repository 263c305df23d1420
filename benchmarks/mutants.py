"""Counts how many seeded faults in both packages the tests find, before and after a change.

    python benchmarks/mutants.py choose faults.json          in the tree before the change
    python benchmarks/mutants.py map calls.jsonl             in each tree: which test calls what
    python benchmarks/mutants.py run faults.json calls.jsonl found.jsonl      in each tree

A fault changes one expression of one function: a comparison, an operator, a constant, a returned
value or a condition. ``map`` runs the tests once and writes the functions that each test calls.
``run`` collects the tests once. For each fault a child of that process replaces the function's code
and runs the quickest tests that call the function, up to the first failure. A fault is found in the
other tree by its line, within a function of the same name if there are several.

Tests that start processes run those without the fault. The counts of two trees therefore compare
the tests; they are no absolute rate.
"""

import argparse
import ast
import copy
import gc
import json
import os
import random
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

ROOT = Path(os.environ.get("MUTANTS_ROOT", "."))
PACKAGES = ("agentgym_envs", "agentgym_train")
TESTS_PER_FAULT, SECONDS_PER_TEST, SECONDS_PER_FAULT = 12, 4.0, 90.0
OPPOSITE: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def sources() -> list[Path]:
    """Returns the source files of both packages, and of plugins that came out of them."""
    found = [path for name in PACKAGES for path in (ROOT / name / "src").rglob("*.py")]
    return sorted(found + list((ROOT / "plugins").glob("agentgym-websites/src/**/*.py")))


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yields the functions of a module and of its classes with their qualified names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{node.name}.{inner.name}", inner


def places(function: ast.AST) -> Iterator[tuple[ast.stmt, ast.AST]]:
    """Yields the statements of a function and the nodes in them that a fault can change."""
    for statement in ast.walk(function):
        if not isinstance(statement, ast.stmt) or statement is function:
            continue
        own = [statement] if isinstance(statement, ast.Return) and statement.value else []
        pending = [n for n in ast.iter_child_nodes(statement) if not isinstance(n, ast.stmt)]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.stmt | ast.JoinedStr | ast.Raise):
                continue
            own.append(node)
            pending.extend(ast.iter_child_nodes(node))
        for node in own:
            if changed(node) is not None:
                yield statement, node


def changed(node: ast.AST) -> ast.AST | None:
    """Returns the faulty version of a node, or None."""
    new = copy.deepcopy(node)
    if isinstance(new, ast.Compare) and type(new.ops[0]) in OPPOSITE:
        new.ops[0] = OPPOSITE[type(new.ops[0])]()
    elif isinstance(new, ast.BinOp | ast.BoolOp) and type(new.op) in OPPOSITE:
        new.op = OPPOSITE[type(new.op)]()
    elif isinstance(new, ast.UnaryOp) and isinstance(new.op, ast.Not):
        return new.operand
    elif isinstance(new, ast.Constant) and isinstance(new.value, bool):
        new.value = not new.value
    elif isinstance(new, ast.Constant) and isinstance(new.value, int | float):
        new.value += 1
    elif isinstance(new, ast.Return) and not isinstance(new.value, ast.Constant):
        new.value = ast.Constant(None)
    else:
        return None
    return new


def head(statement: ast.stmt) -> str:
    """Returns a statement without the statements inside it, in a normal form."""
    bare = copy.deepcopy(statement)
    for name in ("body", "orelse", "finalbody", "handlers"):
        if isinstance(getattr(bare, name, None), list):
            setattr(bare, name, [ast.Pass()] if name == "body" else [])
    return ast.unparse(ast.fix_missing_locations(bare))


def choose(count: int, seed: int) -> list[dict[str, Any]]:
    """Returns faults of functions whose heads are unique within their function."""
    found = []
    for path in sources():
        for name, function in functions(ast.parse(path.read_text())):
            heads = [head(s) for s in ast.walk(function) if isinstance(s, ast.stmt)]
            counted: dict[str, int] = defaultdict(int)
            for statement, node in places(function):
                text = head(statement)
                counted[text] += 1
                if heads.count(text) == 1:
                    found.append(
                        {
                            "file": str(path.relative_to(ROOT)),
                            "function": name,
                            "statement": text,
                            "nth": counted[text] - 1,
                            "from": ast.unparse(node),
                            "to": ast.unparse(ast.fix_missing_locations(changed(node))),
                        }
                    )
    groups = [[f for f in found if f["file"].startswith(package)] for package in PACKAGES]
    draw = random.Random(seed)
    return [fault for group in groups for fault in draw.sample(group, count // len(groups))]


def located(fault: dict[str, Any]) -> tuple[Path, str, CodeType] | None:
    """Returns the file, the function's name and its faulty code in this tree, or None."""
    matches = []
    for path in sources():
        tree = ast.parse(path.read_text())
        for name, function in functions(tree):
            statements = [s for s in ast.walk(function) if isinstance(s, ast.stmt)]
            if [head(s) for s in statements].count(fault["statement"]) == 1:
                nodes = [n for s, n in places(function) if head(s) == fault["statement"]]
                if len(nodes) > fault["nth"]:
                    node = nodes[fault["nth"]]
                    if ast.unparse(node) == fault["from"]:
                        matches.append((path, name, tree, node))
    if not matches:
        return None
    short = fault["function"].rpartition(".")[2]
    matches.sort(
        key=lambda m: (
            str(m[0].relative_to(ROOT)) != fault["file"] or m[1] != fault["function"],
            m[1] != fault["function"],
            m[1].rpartition(".")[2] != short,
            m[0].name != Path(fault["file"]).name,
        )
    )
    path, name, tree, node = matches[0]

    class Change(ast.NodeTransformer):
        def visit(self, visited: ast.AST) -> Any:
            return changed(visited) if visited is node else self.generic_visit(visited)

    module = compile(ast.fix_missing_locations(Change().visit(tree)), str(path.resolve()), "exec")
    return path, name, next(code for code in codes(module) if code.co_qualname == name)


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


class Mapping:
    """A pytest plugin that writes the duration of each passed test and the functions it calls."""

    def __init__(self, out: Path) -> None:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "")
        self.out = open(out.with_name(out.name + worker), "a")  # noqa: SIM115
        self.own: dict[CodeType, str | None] = {}
        self.calls: set[str] = set()

    def called(self, frame: Any, event: str, _: Any) -> None:
        """Receives each call of the test's process."""
        if event != "call":
            return
        code = frame.f_code
        if code not in self.own:
            path = code.co_filename
            own = any(f"/{name}/src/" in path for name in (*PACKAGES, "agentgym-websites"))
            self.own[code] = f"{os.path.realpath(path)}:{code.co_qualname}" if own else None
        if key := self.own[code]:
            self.calls.add(key)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Records the calls of one test."""
        self.calls, self.passed = set(), True
        start = time.monotonic()
        threading.setprofile(self.called)
        sys.setprofile(self.called)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
            root = str(ROOT.resolve()) + "/"
            calls = sorted(key.removeprefix(root) for key in self.calls)
            seconds = round(time.monotonic() - start, 3)
            line = {"test": item.nodeid, "s": seconds, "ok": self.passed, "calls": calls}
            self.out.write(json.dumps(line) + "\n")
            self.out.flush()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keeps whether the test passed."""
        self.passed = self.passed and not report.failed and not report.skipped


class Running:
    """A pytest plugin that runs, per fault, the quickest tests that call the faulty function."""

    def __init__(self, faults: Path, calls: Path, out: Path) -> None:
        self.faults, self.out = json.loads(faults.read_text()), out
        self.tests: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for file in calls.parent.glob(f"{calls.name}*"):
            for line in map(json.loads, file.read_text().splitlines()):
                if line["ok"] and line["s"] <= SECONDS_PER_TEST:
                    for call in line["calls"]:
                        self.tests[call].append((line["s"], line["test"]))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Tries all faults in place of the session's tests."""
        items = {item.nodeid: item for item in session.items}
        with open(self.out, "w") as out:
            for fault in self.faults:
                out.write(json.dumps(fault | self.tried(session, items, fault)) + "\n")
                out.flush()
        return True

    def tried(self, session: pytest.Session, items: dict, fault: dict) -> dict[str, Any]:
        """Returns the result of one fault, and the function and number of tests that it met."""
        place = located(fault)
        if place is None:
            return {"result": "gone"}
        path, name, code = place
        key = f"{path.relative_to(ROOT)}:{name}"
        tests = [items[t] for _, t in sorted(self.tests[key]) if t in items][:TESTS_PER_FAULT]
        found = {"in": key, "tests": len(tests)}
        if not tests:
            return found | {"result": "no test"}
        tests.sort(key=lambda item: session.items.index(item))
        faulty = self.child(session, tests, str(path.resolve()), name, code)
        if faulty != "survived" and self.child(session, tests) != "survived":
            return found | {"result": "fails without the fault"}
        return found | {"result": faulty}

    def child(self, session: pytest.Session, tests: list, *fault: Any) -> str:
        """Runs tests in a child of this process; returns "survived", "failed" or "hung"."""
        pid = os.fork()
        if pid == 0:
            os.setsid()
            status = 2
            try:
                if fault:
                    replace_code(*fault)
                status = run_until_failure(session, tests)
            finally:
                os._exit(status)
        end = time.monotonic() + SECONDS_PER_FAULT
        while time.monotonic() < end:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                kill_group(pid)
                return "survived" if status == 0 else "failed"
            time.sleep(0.02)
        kill_group(pid)
        os.waitpid(pid, 0)
        return "hung"


def kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # the child has left no process


def replace_code(file: str, name: str, code: CodeType) -> None:
    """Gives each function that was made from this place of the file the faulty code."""
    gc.unfreeze()
    for made in gc.get_objects():
        if (
            isinstance(made, FunctionType)
            and made.__code__.co_qualname == name
            and os.path.realpath(made.__code__.co_filename) == file
            and len(made.__code__.co_freevars) == len(code.co_freevars)
        ):
            made.__code__ = code


def run_until_failure(session: pytest.Session, tests: list) -> int:
    """Runs tests; returns 1 at the first failure, else 0."""
    failures = []

    class Watch:
        """A pytest plugin that keeps failures."""

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            """Keeps a failure."""
            if report.failed:
                failures.append(report.nodeid)

    session.config.pluginmanager.register(Watch())
    for number, item in enumerate(tests):
        following = tests[number + 1] if number + 1 < len(tests) else None
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if failures:
            return 1
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("choose", "map", "run"))
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options, rest = parser.parse_known_args()
    files = options.files
    if options.command == "choose":
        chosen = choose(options.count, options.seed)
        files[0].write_text(json.dumps(chosen, indent=1) + "\n")
        return
    quiet = ["-q", "-p", "no:cacheprovider", *rest]
    if options.command == "map":
        sys.exit(pytest.main([*quiet, *map(str, files[1:])], plugins=[Mapping(files[0])]))
    plugin = Running(*files)
    sys.exit(pytest.main(quiet, plugins=[plugin]))


if __name__ == "__main__":
    main()
