"""Pages of coloured shapes, pies and menus."""

import re
from collections.abc import Iterator

from agentgym_envs.envs.web.miniwob.scripts.page import ScriptPage, script

DRAWN = """[...document.querySelectorAll('#area_svg > *')].map(e => {
  const glyph = e.tagName === 'text' ? e.textContent : '';
  const size = +(parseFloat(e.getAttribute('font-size')) || e.getAttribute('width')
    || 2 * e.getAttribute('r') || e.getBBox().width);
  const name = glyph || {rect: 'rectangle', circle: 'circle', polygon: 'triangle'}[e.tagName];
  const kind = !glyph ? 'shape' : /\\d/.test(glyph) ? 'digit' : 'letter';
  return [size > 15 ? 'large' : 'small', e.getAttribute('fill'), name, kind];
})"""


def _fitting(page: ScriptPage, description: str) -> list[int]:
    """Returns the places of the shapes that fit a description such as "large red letter"."""
    words = description.split()
    places = []
    for place, (size, colour, name, kind) in enumerate(page.ask(DRAWN)):
        known = {size, colour, name, kind, "item"}
        if all(word in known for word in words):
            places.append(place)
    return places


@script("click-shape")
def _click_shape(page: ScriptPage) -> Iterator[str]:
    place = _fitting(page, page.goal.removeprefix("Click on a "))[0]
    glyphs = [name if kind != "shape" else None for _, _, name, kind in page.ask(DRAWN)]
    if glyphs[place] is None:
        yield page.click(role="image", nth=glyphs[:place].count(None))
    else:
        yield page.click(glyphs[place], role="StaticText", nth=glyphs[:place].count(glyphs[place]))


@script("count-shape")
def _count_shape(page: ScriptPage) -> Iterator[str]:
    description = page.goal.removeprefix("How many ").removesuffix("s are there?")
    yield page.click(str(len(_fitting(page, description))), role="button")


@script("click-shades")
def _shades(page: ScriptPage) -> Iterator[str]:
    channel = ("red", "green", "blue").index(page.goal.split()[5])
    boxes = page.all("image")
    for box in boxes:
        colour = [int(n) for n in re.findall(r"\d+", box.name)[:3]]
        if colour[channel] == max(colour):
            yield f"click [{box.id}]"
    yield page.click("Submit", role="button")


@script("ascending-numbers")
def _ascending(page: ScriptPage) -> Iterator[str]:
    if any(text.name == "1" for text in page.all("StaticText")):
        yield page.click("1", role="StaticText")
    for _ in range(4):  # the numbers are hidden now; their boxes keep the order
        yield page.click("rect", role="image")


@script("click-pie")
def _pie(page: ScriptPage) -> Iterator[str]:
    yield page.click("+", role="StaticText")
    yield "scroll [up]"  # the slices take a second to unfold
    yield "scroll [up]"
    yield page.click(
        page.quoted[0],
        role="StaticText",
        nth=1 if page.text.count(f"StaticText '{page.quoted[0]}'") > 1 else 0,
    )


@script("click-menu")
def _menu(page: ScriptPage) -> Iterator[str]:
    path = page.goal.removeprefix("Select ").split(">")
    for step, name in enumerate(path):
        item = next(e for e in page.all("menuitem") if e.name.split()[-1] == name)
        yield f"{'click' if step == len(path) - 1 else 'hover'} [{item.id}]"


@script("click-menu-2")
def _menu_2(page: ScriptPage) -> Iterator[str]:
    wanted = page.ask("""(() => { const icon = document.querySelector('#query .ui-icon');
        return icon ? [...document.querySelectorAll('#menu li')]
          .filter(li => !li.querySelector('ul'))
          .find(li => li.querySelector('.' + icon.classList[1])).textContent.trim() : null })()""")
    wanted = wanted or page.quoted[1]
    yield page.click("Menu", role="button")
    if wanted in ("Prev", "Stop", "Play", "Next"):
        yield f"hover [{next(e for e in page.all('menuitem') if 'Playback' in e.name).id}]"
    yield f"click [{next(e for e in page.all('menuitem') if e.name.endswith(wanted)).id}]"
