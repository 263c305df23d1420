"""Measurements and reports of `benchmarks/compare.py`, on small runs worked out by hand."""

import json
import re
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from types import SimpleNamespace

import one_step
import pytest
import tiny

from agentgym_envs.evaluate.metrics import wilson
from agentgym_train.algorithms.grpo import GRPO
from agentgym_train.config import EngineConfig
from agentgym_train.data.types import Group
from agentgym_train.distributed import Distributed

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture(scope="module")
def modules():
    import compare
    import compare_report
    import horizons

    return SimpleNamespace(compare=compare, report=compare_report, horizons=horizons)


def recorded():
    """Method → the curves of its seeds, in the comparison on locked mazes."""
    curves = {}
    for one in json.loads((BENCHMARKS / "results" / "locked_maze.json").read_text()):
        curves.setdefault(one["method"], []).append([point["success"] for point in one["curve"]])
    return curves


def text(page):
    return " ".join((BENCHMARKS.parent / page).read_text().split())


def quoted(growing, fixed):
    """The mean difference by seed, with half of its interval by Student's t of four degrees."""
    gains = [a - b for a, b in zip(growing, fixed, strict=True)]
    return f"{fmean(gains):+.2f} ± {2.776 * stdev(gains) / 5**0.5:.2f}"


def test_the_documents_quote_the_recorded_figures_of_locked_mazes():
    table = (BENCHMARKS / "findings.md").read_text()
    for method, seeds in recorded().items():
        means = [fmean(point) for point in zip(*seeds, strict=True)]
        assert f"| {method} | {' | '.join(f'{value:.2f}' for value in means)} |" in table


def test_the_documents_quote_the_differences_on_locked_mazes():
    ends = {name: [seed[-1] for seed in seeds] for name, seeds in recorded().items()}
    growing = ends.pop("ScalingInter 10→20→40→80")
    gains = {name: quoted(growing, fixed) for name, fixed in ends.items()}
    assert (
        f"{gains['fixed 10']} to 10 turns, {gains['fixed 20']} to 20 turns and"
        f" {gains['fixed 80']} to 80 turns" in text("benchmarks/findings.md")
    )


def test_the_documents_quote_the_comparison_on_short_medium_and_long_mazes(modules):
    curves = json.loads((BENCHMARKS / "results" / "horizons.json").read_text())
    ends = {
        name: {m: [curve[-1]["success"] for curve in own] for m, own in methods.items()}
        for name, methods in curves.items()
    }
    assert {len(seeds) for methods in ends.values() for seeds in methods.values()} == {5}
    found = modules.horizons.shares(ends)
    report = (BENCHMARKS / "results" / "horizons.md").read_text()
    readme = text("README.md")
    for method, worst in found.worst.items():
        means = [f"{fmean(methods[method]):.2f}" for methods in ends.values()]
        shares = [f"{m}, {found.sets[method][s]}" for s, m in zip(ends, means, strict=True)]
        assert f"| {method} | {worst} | {' | '.join(shares)} |" in report
    growing, medium = "10→20→40→80", ends["medium"]
    gains = {method: quoted(medium[growing], own) for method, own in medium.items()}
    assert f"exceeds ten turns by {gains['fixed 10'].removeprefix('+')}" in readme
    three = [gains[f"fixed {turns}"].replace("-", "−") for turns in (20, 40, 80)]
    details = text("benchmarks/findings.md")
    assert f"is {three[0]}, {three[1]} and {three[2]} (95 % intervals" in details
    by_seed = modules.horizons.leads_by_seed(curves)[growing]["medium"]
    assert by_seed == {m: gain for m, gain in gains.items() if m.startswith("fixed")}
    assert max(found.worst, key=lambda method: found.worst[method].value) == growing
    low = [method for method, share in found.worst.items() if share.value < 0.8]
    assert low == ["fixed 10", "adaptive"]
    papers = text("docs/papers.md")
    worst = {method: f"{share.value:.2f}" for method, share in found.worst.items()}
    assert f"reaches at least {worst[growing]} of the best fixed horizon's" in papers
    longer = [worst[f"fixed {turns}"] for turns in (20, 40, 80)]
    assert f"turns reach at least {longer[0]}, {longer[1]} and {longer[2]}," in papers
    assert f"A fixed horizon of 10 turns reaches {worst['fixed 10']}." in papers
    ordered = sorted(found.worst.values(), reverse=True)
    assert (
        f"{ordered[0].value:.2f} of the best fixed horizon's success, but by"
        f" {ordered[0].value - ordered[1].value:.2f} only" in readme
    )


def test_the_documents_describe_the_steps_and_the_spread_of_the_growing_horizon():
    """A stage has 15 steps, so the steps at 80 turns are those after the first 45."""
    curves = json.loads((BENCHMARKS / "results" / "horizons.json").read_text())
    growing = {name: methods["10→20→40→80"] for name, methods in curves.items()}
    steps = {name: sorted(c[-1]["step"] for c in own) for name, own in growing.items()}
    benchmarks = text("benchmarks/findings.md")
    (m0, *_, m1), (l0, *_, l1) = steps["medium"], steps["long"]
    assert (
        f"{m0 - 45} to {m1 - 45} of {m0} to {m1} steps at 80 turns on medium mazes,"
        f" {l0 - 45} to {l1 - 45} of {l0} to {l1} on long mazes. On short mazes one seed reaches"
        in benchmarks
    )
    assert sum(count > 45 for count in steps["short"]) == 1
    ends = sorted(curve[-1]["success"] for curve in growing["medium"])
    assert f"ends between {ends[0]:.2f} and {ends[-1]:.2f}" in benchmarks
    last = {s: {c[-1]["horizon"] for c in methods["adaptive"]} for s, methods in curves.items()}
    assert last["short"] == {10}
    assert last["medium"] | last["long"] == {14, 20}


def test_the_table_of_levers_is_that_of_the_recorded_runs():
    """The differences are paired by seed, with Student's t of two degrees of freedom."""
    curves = {}
    for run in json.loads((BENCHMARKS / "results" / "levers.json").read_text()):
        own = [run["curve"][place]["success"] for place in (2, -1)]
        curves.setdefault(run["method"], {})[run["seed"]] = own
    report = (BENCHMARKS / "results" / "levers.md").read_text().replace("−", "-")
    baseline = curves.pop("baseline")
    for method, seeds in curves.items():
        cells = []
        for place in (0, 1):
            gains = [own[place] - baseline[seed][place] for seed, own in seeds.items()]
            mean, half = fmean(gains), 4.303 * stdev(gains) / 3**0.5
            assert abs(mean) < half, "the interval contains 0"
            cells += [f"{fmean(o[place] for o in seeds.values()):.2f}", f"{mean:+.2f} ± {half:.2f}"]
        name = method.replace("−", "-")
        assert f"| {name} | {' | '.join(cells)} |" in report
        ends = " | ".join(f"{own[1]:.2f}" for own in seeds.values())
        assert f"| {name} | {ends} |" in report


def test_the_record_of_the_chained_barriers_is_that_of_the_run():
    """The 100 test mazes are ordered by tier."""
    (run,) = json.loads((BENCHMARKS / "results" / "tiered_maze.json").read_text())
    page = (BENCHMARKS / "results" / "horizon_experiments.md").read_text()
    curve = " | ".join(f"{point['success']:.2f}" for point in run["curve"])
    assert f"| growing | {curve} |" in page
    solved = [turns is not None for turns in run["turns"]]
    tiers = [fmean(solved[n : n + 25]) for n in range(0, 100, 25)]
    cells = " | ".join(f"{value:.2f}" for value in tiers)
    assert f"| after training, 25 dev mazes per tier | {cells} |" in page


def test_the_figures_of_smollm2_are_those_of_its_run():
    steps = json.loads((BENCHMARKS / "results" / "smollm2.json").read_text())
    page = (BENCHMARKS / "findings.md").read_text()
    tokens, episodes = (round(sum(step[key] for step in steps)) for key in ("tokens", "episodes"))
    assert f"Training had {tokens:,} tokens and {episodes:,} episodes in {len(steps)} steps" in page
    for first, last, horizon in ((1, 15, 6), (16, 30, 10), (31, 40, 16)):
        part = steps[first - 1 : last]
        assert {step["horizon"] for step in part} == {horizon}
        success, mixed, invalid, entropy = (
            fmean(step[key] for step in part)
            for key in ("success", "mixed_groups", "invalid", "entropy")
        )
        minutes = sum(step["seconds"] for step in part) / 60
        assert (
            f"| {first} to {last} | {horizon} | {success:.2f} | {100 * mixed:.0f} % |"
            f" {100 * invalid:.1f} % | {entropy:.2f} | {minutes:.0f} |" in page
        )
    result = (BENCHMARKS / "results" / "smollm2.md").read_text()
    for model, kind, solved in (("before", "cloned", 24), ("after", "trained", 49)):
        low, high = wilson(solved, 154)
        assert f"| dev and test | {model} | {solved / 154:.2f} ({low:.2f}–{high:.2f}) |" in result
        (row,) = (line for line in page.splitlines() if line.startswith(f"| {kind} | "))
        assert f"| {solved} ({solved / 154:.2f}; " in row
        assert f"{low:.2f}–{high:.2f})" in row


def test_what_the_documents_say_of_the_growing_horizon_is_so():
    short, long, growing = (
        recorded()[name] for name in ("fixed 10", "fixed 80", "ScalingInter 10→20→40→80")
    )
    means = [
        [fmean(point) for point in zip(*seeds, strict=True)] for seeds in (short, long, growing)
    ]
    assert all(grown >= max(others) for *others, grown in zip(*means, strict=True)), (
        "at or above both at each point"
    )
    assert min(seed[-1] for seed in growing) > max(seed[-1] for seed in short)
    assert max(means[2][:4]) > means[1][-1], (
        "the long one's level with three eighths of its tokens at most"
    )
    assert {len(seeds) for seeds in (short, long, growing)} == {5}


def run(method, seed, *success, noise=True):
    keys = (
        "turns",
        "invalid",
        "success",
        "entropy",
        "grad_norm",
        *(["gradient_noise"] if noise else []),
    )
    same = {"invalid": 0.1, "episodes": 40}
    points = [
        {
            "tokens": 100 * n,
            "step": n,
            "success": value,
            **same,
            "training": dict.fromkeys(keys, 0.5) if n else {},
        }
        for n, value in enumerate(success)
    ]
    return {"method": method, "seed": seed, "curve": points, "turns": [3, None, 1, 5]}


@pytest.fixture
def pictures(modules, monkeypatch):
    """The names of pictures, which are not drawn."""
    names = []
    monkeypatch.setattr(modules.report.plots, "save_both", lambda path, _: names.append(path.name))
    return names


def test_a_table_has_the_means_over_seeds(modules, tmp_path, pictures):
    runs = [
        run("a", 0, 0.1, 0.5, 0.3),
        run("a", 1, 0.3, 0.6, 0.5),
        run("b", 0, 0.0, 0.0, 0.2, noise=False),
    ]
    modules.report.write(
        tmp_path / "name",
        "A title",
        "the command",
        [*runs, run("b", 1, 0.0, 0.2, 0.2, noise=False)],
    )
    table = (tmp_path / "name.md").read_text()
    assert "| a | 0.200 | 0.550 | 0.550 | 0.400 ± 0.141 | 0.300, 0.500 | 2 | 10.0% |" in table
    assert "| b | 0.000 | 0.100 | 0.200 | 0.200 ± 0.000 | 0.200, 0.200 | 2 | 10.0% |" in table
    assert table.startswith("# A title\n\n`the command`\n")
    assert json.loads((tmp_path / "name.json").read_text())[0] == runs[0]
    assert pictures == ["name.png", "name-why.png"]
    assert re.findall(r'(?:srcset|src)="(.*?)"', table) == [
        "name-dark.png",
        "name.png",
        "name-why-dark.png",
        "name-why.png",
    ]


@pytest.mark.usefixtures("pictures")
def test_a_table_of_one_seed_has_intervals_and_no_half_that_was_not_measured(modules, tmp_path):
    """Wilson's interval of 5 in 40, by hand: (5 + 1.92) / 43.84 ± 4.53 / 43.84."""
    modules.report.write(
        tmp_path / "name",
        "A title",
        "the command",
        [run("a", 0, 0.1, 0.125), run("b", 0, 0.1, 0.0)],
    )
    table = (tmp_path / "name.md").read_text()
    assert "| at the end (95 % interval over tasks (Wilson's)) |" in table
    assert "| a | 0.100 | – | 0.125 | 0.125 (0.055–0.261) | 0.125 | 1 | 10.0% |" in table
    assert "| b | 0.100 | – | 0.100 | 0.000 (0.000–0.088) | 0.000 | 1 | 10.0% |" in table
    assert "why" not in table, "one point draws no line"


@pytest.mark.usefixtures("pictures")
def test_differences_are_paired_by_seed(modules, tmp_path):
    """By hand: 0.2, 0.1 and 0.3 have the mean 0.2 and the sd 0.1, so ± is 4.303 × 0.1 / √3."""
    ends = {"a": (0.5, 0.6, 0.7), "b": (0.3, 0.5, 0.4)}
    runs = [run(m, s, 0.1, 0.2, end) for m, own in ends.items() for s, end in enumerate(own)]
    modules.report.write(tmp_path / "name", "A title", "the command", runs, "a")
    table = (tmp_path / "name.md").read_text()
    assert "Success of a minus that of each other method" in table
    assert "| b | +0.00 ± 0.00 | +0.20 ± 0.25 |" in table
    assert "| a |" not in table.partition("Success of a")[2]


def test_a_share_is_relative_to_the_best_fixed_horizon_of_the_set(modules):
    """By hand, without spread between seeds."""
    ends = {
        "short": {"fixed 10": [0.8] * 5, "fixed 20": [0.6] * 5, "adaptive": [0.8] * 5},
        "long": {"fixed 10": [0.2] * 5, "fixed 20": [0.5] * 5, "adaptive": [0.6] * 5},
    }
    found = modules.horizons.shares(ends)
    assert found.best == {"short": "fixed 10", "long": "fixed 20"}
    values = {m: [round(share.value, 6) for share in own.values()] for m, own in found.sets.items()}
    assert values == {"fixed 10": [1, 0.4], "fixed 20": [0.75, 1], "adaptive": [1, 1.2]}
    worst = {m: pytest.approx(share, abs=1e-9) for m, share in found.worst.items()}
    assert worst == {"fixed 10": (0.4,) * 3, "fixed 20": (0.75,) * 3, "adaptive": (1.0,) * 3}
    assert found.leads["fixed 20"]["adaptive"] == pytest.approx((0.25,) * 3)


def test_a_share_has_the_interval_of_student_s_t(modules):
    """The divisor has no spread; the half width by hand is 2.776 × sd / √5."""
    values = [0.4, 0.5, 0.6, 0.45, 0.55]
    found = modules.horizons.shares({"one": {"fixed 10": [1.0] * 5, "adaptive": values}})
    low, high = found.sets["adaptive"]["one"][1:]
    half = 2.776 * stdev(values) / 5**0.5
    assert (low, high) == (
        pytest.approx(0.5 - half, abs=0.003),
        pytest.approx(0.5 + half, abs=0.003),
    )


def test_sets_of_tasks_share_all_settings(modules):
    name = modules.horizons.NAME
    loaded = {s: modules.compare.load(f"{name}/{s}") for s in modules.compare.read(name)["sets"]}
    mazes = [one.shared["env"]["kwargs"] for one in loaded.values()]
    assert len({str(kwargs) for kwargs in mazes}) == 3
    for one in loaded.values():
        assert one.shared["eval"].pop("horizon") == one.test_horizon
        one.shared["env"].pop("kwargs")
    first, *others = (one._replace(test_horizon=0) for one in loaded.values())
    assert all(one == first for one in others)


def test_success_by_the_turns_allowed(modules):
    points = modules.report._within([3, None, 1, 5], 5)
    assert [(p["turns"], p["success"]) for p in points] == [
        (1, 0.25),
        (2, 0.25),
        (3, 0.5),
        (4, 0.5),
        (5, 0.75),
    ]


def test_chance_in_the_gradient_is_the_variance_of_its_mean_over_its_square(modules):
    learner, copy = tiny.model("qwen2").eval(), tiny.model("qwen2").eval()
    for weight in copy.parameters():
        weight.data *= 2  # so that it is another model
    config = SimpleNamespace(engine=EngineConfig(lr=0.0), rollout=SimpleNamespace(temperature=1.0))
    engine = SimpleNamespace(weights=learner.named_parameters)
    trainer = SimpleNamespace(
        config=config,
        algorithm=GRPO(clip_low=1.0, clip_high=100.0),
        engine=engine,
        distributed=Distributed(),
        producers={},
    )

    def noise(groups, model=copy):
        return modules.compare.gradient_noise(trainer, model, groups)

    first, second, third = one_step.groups()[:3]
    assert noise([replace(first, number=n) for n in range(4)]) == pytest.approx(0.0, abs=1e-6), (
        "every group says the same"
    )
    flipped = [
        replace(t, turns=[replace(turn, reward=-turn.reward) for turn in t.turns])
        for t in first.trajectories
    ]
    assert noise([first, Group(1, flipped)]) > 100, "what one says the other denies"
    grown = noise([first, second, third])
    assert grown == pytest.approx(noise([first, second, third], learner), rel=1e-4), (
        "under the learner's weights"
    )
    doubled = noise([replace(g, number=n) for n, g in enumerate([first, second, third] * 2)])
    # Twice the same three: the mean stays, the sum of squares is divided by 5 instead of 2, and the
    # number of groups is doubled.
    assert doubled == pytest.approx(grown * 2 * 2 / (5 * 2), rel=1e-3)
