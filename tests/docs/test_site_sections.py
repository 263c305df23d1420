"""The first page, and the generated parts of the environments' pages and of the results."""

import re
from pathlib import Path

import pytest
from raised import raises
from scripts import load

from agentgym_envs import registry

ROOT = Path(__file__).parents[2]
FAMILIES = {path.parent.name for path in (ROOT / "agentgym_envs/src").glob("*/envs/*/README.md")}
FAMILIES.add("websites")


def module(name):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        return load(ROOT / f"docs/{name}.py")


speed, pictures, families = module("speed"), module("pictures"), module("families")


def cards():
    """Returns the card of each family on the first page: its episode, or "" with a picture."""
    page = (ROOT / "docs/index.md").read_text()
    found = re.findall(
        r"^:::\{grid-item-card\}.*\n:link: environments/(.*)\n((?:.*\n)*?):::$", page, re.M
    )
    return {f: "".join(re.findall(r"^```text\n(.*?)^```", card, re.M | re.S)) for f, card in found}


def test_the_first_page_has_a_card_of_each_family():
    shown = cards()
    assert shown.keys() == FAMILIES
    assert [family for family, episode in shown.items() if not episode] == ["websites"]


@pytest.mark.parametrize("family", sorted(FAMILIES - {"websites"}))
def test_the_episode_of_a_card_is_of_the_familys_page(family):
    """There "..." stands for characters that are left out; a test replays the page's episodes."""
    known = re.findall(
        r"^```text agentgym/.*?\n(.*?)^```", families.readme_of(family).read_text(), re.M | re.S
    )
    wanted = re.escape(cards()[family]).replace(re.escape("..."), ".*")
    assert any(re.search(rf"^{wanted}", episode, re.M | re.S) for episode in known)


def test_the_index_of_the_environments_has_each_in_its_group():
    index = families.index(str)
    sections = dict(re.findall(r"^## (.*)\n\n((?:\|.*\n)+)", index, re.M))
    assert sections.keys() == families.GROUPS.keys()
    rows = {
        link: row
        for table in sections.values()
        for row in table.splitlines()[2:]
        for link in re.findall(r"^\| \[`(.*?)`\]", row)
    }
    assert {f"agentgym/{name}" for name in rows} == {
        i for f in families.own_environments().values() for i in f
    }
    assert rows["BabyAI-v2"].endswith("| 2,688 | 0.62 | 1.00 | `[babyai]` |")
    assert "(textworld.md)" in rows["TWCooking-v1"]


def test_an_environment_without_a_row_is_an_error(monkeypatch):
    head, rows, notes = families.readme_table()
    del rows["agentgym/Maze-v1"]
    monkeypatch.setattr(families, "readme_table", lambda: (head, rows, notes))
    with raises(ValueError, "agentgym/Maze-v1"):
        families.index(str)


def test_the_results_link_to_each_page():
    """The site lists the results by these links, and a page without one is lost."""
    text = (ROOT / "benchmarks/README.md").read_text()
    pages = {path.stem for path in (ROOT / "benchmarks/results").glob("*.md")}
    assert set(re.findall(r"\(results/(\w+)\.md\)", text)) == pages


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
    with raises(ValueError, "env_throughput.md"):
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
    assert all(
        f"../_static/{p.file.name}\n" in pictures.section([p.env_id]) for p in pictures.PICTURES
    )
