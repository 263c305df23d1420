"""Pages with dates, times, sliders, spinners, lists and longer forms."""

import re
from collections.abc import Iterator

from agentgym_envs.envs.web.look import elements, find
from agentgym_envs.envs.web.miniwob.scripts.page import ScriptPage, script

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


@script("guess-number")
def _guess(page: ScriptPage) -> Iterator[str]:
    low, high = 0, 9
    while low <= high:
        guess = (low + high) // 2
        yield from page.fill(str(guess), role="spinbutton")
        yield page.click("Submit", role="button")
        if "lower than" in page.text:
            high = guess - 1
        else:
            low = guess + 1


@script("use-spinner")
def _spinner(page: ScriptPage) -> Iterator[str]:
    wanted = int(page.goal.split()[1])
    yield page.click(role="spinbutton")
    for _ in range(abs(wanted)):
        yield f"press [{'ArrowUp' if wanted > 0 else 'ArrowDown'}]"
    yield page.click("Submit", role="button")


def _slide(page: ScriptPage, nth: int, value: int, wanted: int) -> Iterator[str]:
    handle = [e for e in page.all("image") if e.name.startswith("ui-slider-handle")][nth]
    yield f"click [{handle.id}]"
    for _ in range(abs(wanted - value)):
        yield f"press [{'ArrowRight' if wanted > value else 'ArrowLeft'}]"


@script("use-slider")
def _slider(page: ScriptPage) -> Iterator[str]:
    yield from _slide(
        page, 0, page.ask("+document.querySelector('#val').textContent"), int(page.goal.split()[1])
    )
    yield page.click("Submit", role="button")


@script("use-slider-2")
def _sliders(page: ScriptPage) -> Iterator[str]:
    for nth, wanted in enumerate(re.findall(r"\d+", page.goal)):
        yield from _slide(
            page,
            nth,
            page.ask(f"+document.querySelector('#val-{nth + 1}').textContent"),
            int(wanted),
        )
    yield page.click("Submit", role="button")


@script("form-sequence")
def _slider_and_box(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"Select (-?\d+) .* the (\d)", page.goal)
    assert wanted is not None
    yield from _slide(page, 0, page.ask("$('#slider').slider('value')"), int(wanted[1]))
    yield page.click(role="checkbox", nth=int(wanted[2]) - 1)
    yield page.click("Submit", role="button")


@script("form-sequence-2")
def _radio_and_text(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(
        r"the (\d)\w\w radio button and enter the number \"(-?\d+)\" into the (\d)", page.goal
    )
    assert wanted is not None
    yield page.click(role="radio", nth=int(wanted[1]) - 1)
    yield from page.fill(wanted[2], nth=int(wanted[3]) - 1)
    yield page.click("Submit", role="button")


@script("form-sequence-3")
def _list_and_button(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"Choose (.*) from", page.goal)
    assert wanted is not None
    yield f"select [{find(page.text, role='combobox').id}] [{wanted[1]}]"
    yield page.click(page.quoted[0], role="button")


@script("enter-time")
def _time(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"(\d+):(\d\d) (AM|PM)", page.goal)
    assert wanted is not None
    yield (
        f"type [{find(page.text, 'Hours', role='spinbutton').id}]"
        f" [{int(wanted[1]):02}{wanted[2]}{wanted[3]}] [0]"
    )
    yield page.click("Submit", role="button")


def _shown_month(page: ScriptPage) -> int:
    return next(MONTHS.index(e.name) for e in elements(page.text) if e.name in MONTHS)


@script("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def _date(page: ScriptPage) -> Iterator[str]:
    month, day, _ = (int(n) for n in re.findall(r"\d+", page.goal)[:3])
    yield page.click(role="textbox")
    while (shown := _shown_month(page)) != month - 1:
        yield page.click("Next" if shown < month - 1 else "Prev")
    yield page.click(str(day), role="link")
    yield page.click("Submit", role="button")


@script("book-flight", "book-flight-nodelay")
def _flight(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"the (\w+) one-way flight from: (.*) to: (.*) on (\S+)\.", page.goal)
    assert wanted is not None
    kind, origin, destination, date = wanted.groups()
    for field, place in (("From:", origin), ("To:", destination)):
        yield from page.fill(place, name=field)
        name = next(
            e.name
            for e in elements(page.text)
            if re.search(rf"{re.escape(place)}.*\(|\({re.escape(place)}\)", e.name)
        )
        yield page.click(name)
    month, day, _ = (int(n) for n in date.split("/"))
    yield page.click(role="textbox", nth=2)
    while (shown := _shown_month(page)) != month - 1:
        yield page.click("Next" if shown < month - 1 else "Prev")
    yield page.click(str(day), role="link")
    yield page.click("Search", role="button")
    flights = page.ask(
        "[...document.querySelectorAll('.flight')].map(f =>"
        " [+f.querySelector('.time-duration').dataset.duration,"
        " +f.querySelector('.flight-price').dataset.price])"
    )
    keys = [price if kind == "cheapest" else duration for duration, price in flights]
    yield page.click(f"Book flight for ${flights[keys.index(min(keys))][1]}", role="button")


@script("buy-ticket")
def _ticket(page: ScriptPage) -> Iterator[str]:
    shown = elements(page.text)
    durations = [re.fullmatch(r"(\d+)h (\d+)m", e.name) for e in shown]
    minutes = [60 * int(d[1]) + int(d[2]) for d in durations if d]
    prices = [int(e.name.rpartition("$")[2]) for e in shown if e.role == "button"]
    keys = minutes if "duration" in page.goal else prices
    best = max(keys) if re.search(r"longest|most expensive", page.goal) else min(keys)
    yield page.click(role="button", nth=keys.index(best))


@script("use-autocomplete", "use-autocomplete-nodelay")
def _autocomplete(page: ScriptPage) -> Iterator[str]:
    begin, end = [*page.quoted, ""][:2]
    names = page.ask("ui_utils.COUNTRIES")
    name = next(n for n in names if n.startswith(begin) and n.endswith(end))
    yield from page.fill(name)
    yield f"click [{[e for e in elements(page.text) if e.name == name][-1].id}]"
    yield page.click("Submit", role="button")


@script("use-colorwheel", "use-colorwheel-2")
def _colour(page: ScriptPage) -> Iterator[str]:
    name = page.goal.split()[1]
    colour = page.ask(
        f"ui_utils.colorNameToHex({name!r}) || (() => {{ const c ="
        " getComputedStyle(document.querySelector('.cc')).backgroundColor; return '#' +"
        " c.match(/\\d+/g).map(n => (+n).toString(16).padStart(2, '0')).join('') })()"
    )
    yield from page.fill(colour[1:], role="textbox")
    yield "press [Tab]"  # the picker covers the button
    yield "press [Enter]"


@script("multi-layouts", "multi-orderings")
def _film(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"for (.*) movies directed by (.*) from year (\d+)", page.goal)
    assert wanted is not None
    values = dict(zip(("genre", "director", "year"), wanted.groups(), strict=True))
    labels = page.ask(
        """[...document.querySelectorAll('#area input')].map(e => {
        const row = e.closest('tr, p, .row, .field, .ui-entry');
        return row.textContent.toLowerCase() })"""
    )
    for nth, label in enumerate(labels):
        yield from page.fill(
            next(v for k, v in values.items() if k in label or (k == "year" and "date" in label)),
            nth=nth,
        )
    yield (
        "click"
        f" [{next(e for e in elements(page.text) if e.name in ('Submit', 'Search', 'Go!')).id}]"
    )


@script("number-checkboxes")
def _digits(page: ScriptPage) -> Iterator[str]:
    pattern = [on for row in page.ask(f"PATTERNS[{page.quoted[0]}]") for on in row]
    boxes = [e.id for e in page.all("checkbox")]
    for box, on in zip(boxes, pattern, strict=True):
        if on:
            yield f"click [{box}]"
    yield page.click("Submit", role="button")


@script("click-checkboxes-soft")
def _synonyms(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"similar to (.*) and click", page.goal)
    assert wanted is not None
    groups = page.ask("SYNONYMS")
    for word in wanted[1].split(", "):
        family = next(g for g in groups if word in g)
        yield f"click [{next(e for e in page.all('checkbox') if e.name in family).id}]"
    yield page.click("Submit", role="button")


@script("generate-number")
def _generate(page: ScriptPage) -> Iterator[str]:
    limit = int((re.findall(r"\d+", page.goal) or ["0"])[0])
    while True:
        yield page.click("Generate", role="button")
        number = page.ask("+document.querySelector('#display-number').textContent")
        kinds = {
            "less": number < limit,
            "greater": number > limit,
            "odd": number % 2 == 1,
            "even": number % 2 == 0,
        }
        if next(fits for kind, fits in kinds.items() if kind in page.goal):
            yield page.click("Submit", role="button")


@script("stock-market")
def _stock(page: ScriptPage) -> Iterator[str]:
    limit = float(page.goal.rpartition("$")[2].rstrip("."))
    for _ in range(20):  # five prices each time, and there are a hundred
        price = page.ask("parseFloat(document.querySelector('#stock-price').textContent.slice(1))")
        yield page.click("Buy", role="button") if price <= limit else "scroll [up]"
