"""The sections "Speed" and "Pictures" of the environments' pages."""

import importlib.util
from pathlib import Path

import pytest

from agentgym_envs import registry

ROOT = Path(__file__).parents[2]
FAMILIES = {path.parent.name for path in (ROOT / "agentgym_envs/src").glob("*/envs/*/README.md")}


def module(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / f"docs/{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


speed, pictures = module("speed"), module("pictures")


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_each_row_of_a_speed_section_is_in_its_results_file(family):
    section = speed.speed(family)
    rows = [line for line in section.splitlines() if line.startswith("|")]
    if family in speed.SOURCES:
        text = (ROOT / "benchmarks/results" / speed.SOURCES[family].file).read_text()
        assert len(rows) > 3
        assert all(f"\n{row}\n" in text for row in rows)
        assert "`python benchmarks/" in section.partition("\n|")[0]
    else:
        assert not rows
        assert "not been measured" in section


def test_speed_names_families_only():
    assert speed.SOURCES.keys() <= FAMILIES


def test_a_family_without_rows_is_an_error(monkeypatch):
    monkeypatch.setitem(speed.SOURCES, "maze", speed.Source("env_throughput.md", "Maze, "))
    with pytest.raises(ValueError, match=r"env_throughput\.md has no command, or no row"):
        speed.speed("maze")


def test_notes_hold_until_the_next_notes():
    text = (
        "# T\n\na\n\nb\n\n| h |\n|---|\n| 1 |\n\n| h |\n|---|\n| 2 |\n\nc\n\n| h |\n|---|\n| 3 |\n"
    )
    found = [(notes, rows) for notes, _, rows in speed.tables(text)]
    assert found == [(["a", "b"], ["| 1 |"]), (["a", "b"], ["| 2 |"]), (["c"], ["| 3 |"])]


def test_pictures_are_small_files_of_tasks_that_exist():
    assert {picture.file for picture in pictures.PICTURES} == set(pictures.STATIC.iterdir())
    assert all(picture.file.stat().st_size < 60_000 for picture in pictures.PICTURES)
    for env_id in (pictures.SITES, pictures.MINIWOB):
        env = registry.make(env_id)
        for picture in pictures.PICTURES:
            if picture.env_id == env_id:
                env.unwrapped.task_set.get(picture.task_id)
        env.close()


def test_each_site_has_a_picture_in_the_section():
    sites = {picture.task_id.partition("-")[0] for picture in pictures.PICTURES}
    assert {"shop", "admin", "forum", "code", "map"} <= sites
    assert all(f"../_static/{p.file.name}\n" in pictures.section() for p in pictures.PICTURES)
