"""Pictures of the documentation: versions for dark pages, letters for phones, few curves."""

import re
from itertools import combinations
from pathlib import Path

import matplotlib
import pytest
from matplotlib.text import Text
from PIL import Image
from scripts import load

from agentgym_train.reporting import plots, report

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *(ROOT / "agentgym_train").glob("*.md"),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "docs/guides").glob("*.md"),
    *(ROOT / "benchmarks").rglob("*.md"),
    *(ROOT / "agentgym_envs").rglob("*.md"),
]
PHONE = 358
"""CSS pixels of a picture on a phone with 390, between margins of 16."""


def module():
    return load(ROOT / "docs/pictures.py")


pictures = module()


def shown():
    """The pictures of all pages: page, dark file, light file."""
    for page in PAGES:
        for dark, _, light, _ in pictures.SHOWN.findall(page.read_text()):
            yield page, page.parent / dark, page.parent / light


def test_each_picture_of_a_page_has_a_version_for_dark_pages():
    for page in PAGES:
        text = page.read_text()
        assert text.count("<img") == len(pictures.SHOWN.findall(text)), page
        plain = re.findall(r"!\[[^]]*\]\((?!http)([^)]*)\)", text)
        assert all(name.endswith(".svg") for name in plain), f"{page}: {plain} lack a dark version"
        for name in plain:
            assert "prefers-color-scheme: dark" in (page.parent / name).read_text(), name
    assert len(list(shown())) > 10
    for page, dark, light in shown():
        assert dark.name == f"{light.stem}-dark{light.suffix}", page
        assert dark.stat().st_size < 150_000 > light.stat().st_size, page
        with Image.open(dark) as below, Image.open(light) as above:
            assert below.size == above.size, light
            assert brightness(below) < 80 < 200 < brightness(above), light


def brightness(image):
    """The mean of all pixels, from 0 to 255."""
    return Image.Image.getpixel(image.convert("L").resize((1, 1), Image.Resampling.BOX), (0, 0))


def test_a_page_of_the_site_shows_a_light_and_a_dark_picture():
    folder = ROOT / "docs/results"
    for page, dark, light in shown():
        text = pictures.placed(page.read_text(), page.parent, folder)
        assert "<picture>" not in text
        for scheme, file in (("light", light), ("dark", dark)):
            (found,) = re.findall(
                rf":::{{image}} (\S*/{file.name})\n:alt: .+\n:class: only-{scheme}\n", text
            )
            assert (folder / found).resolve() == file.resolve()


def test_a_plot_has_a_light_and_a_dark_file(tmp_path):
    plots.save_both(tmp_path / "a.b.png", lambda: plots.figure(20))
    files = [tmp_path / "a.b.png", tmp_path / "a.b-dark.png"]
    assert sorted(files) == sorted(tmp_path.iterdir())
    for file, paper in zip(files, ((255, 255, 255), (13, 17, 23)), strict=True):
        with Image.open(file) as image:
            assert image.size == (1120, 40)
            assert image.convert("RGB").getcolors() == [(1120 * 40, paper)]


KINDS = ("quickstart", "horizons", "horizons-curves", "algorithms_locked", "locked_maze-why")
"""One plot of each kind."""


@pytest.fixture(scope="module")
def figures():
    """The functions that draw the plots, by their file."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "save_both", found.__setitem__)
        pictures.draw_plots(None)
    return found


def test_each_plot_is_on_a_page(figures):
    assert {light.resolve() for *_, light in shown() if light.suffix == ".png"} == set(figures)


@pytest.mark.parametrize("name", KINDS)
def test_a_plot_is_readable_on_a_phone(figures, name, monkeypatch):
    (draw,) = [draw for file, draw in figures.items() if file.stem == name]
    with matplotlib.rc_context(plots.style()):
        check(draw(), monkeypatch)


def test_the_horizons_of_many_stages_do_not_overlap(monkeypatch):
    rows = [{"step": step, "horizon": 900 + step // 5, "success": 0.5} for step in range(1, 161)]
    ends = {name: {"step": step, "success": 0.5} for name, step in (("before", 0), ("after", 160))}
    with matplotlib.rc_context(plots.style()):
        check(report.draw_curve(rows, ends), monkeypatch)


def check(figure, monkeypatch):
    """Checks the letters and the curves of a figure."""
    texts, whole = [], Text.draw
    monkeypatch.setattr(Text, "draw", lambda text, _: texts.append(text))
    figure.draw_without_rendering()
    monkeypatch.setattr(Text, "draw", whole)
    texts = [text for text in texts if text.get_visible() and text.get_text()]
    width = figure.get_size_inches()[0] * 72
    assert min(text.get_fontsize() for text in texts) * PHONE / width >= 9
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    for (first, one), (second, other) in combinations(boxes, 2):
        assert not one.overlaps(other), f"{first!r} lies over {second!r}"
    for text, box in boxes:
        assert figure.bbox.padded(1).contains(*box.min), text
        assert figure.bbox.padded(1).contains(*box.max), text
    for axes in figure.axes:
        assert len(axes.get_legend_handles_labels()[1]) <= 4
