"""Pages with one or two steps: buttons, links, boxes, tabs, short forms, tables, sums."""

import re
from collections.abc import Iterator

from agentgym_envs.envs.web.look import elements, find
from agentgym_envs.envs.web.miniwob.scripts.page import ScriptPage, script


@script("click-test", "click-test-2", "click-test-transfer")
def _click_test(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"button (ONE|TWO)", page.goal)
    yield page.click(wanted[1] if wanted else None, role="button")


@script("click-button", "click-dialog-2")
def _click_button(page: ScriptPage) -> Iterator[str]:
    name = page.quoted[0]
    yield page.click("Close" if name == "x" else name, role="button")


@script("click-dialog")
def _close_dialog(page: ScriptPage) -> Iterator[str]:
    yield page.click("Close", role="button")


@script("click-button-sequence")
def _one_two(page: ScriptPage) -> Iterator[str]:
    yield page.click("ONE", role="button")
    yield page.click("TWO", role="button")


@script("click-link")
def _click_link(page: ScriptPage) -> Iterator[str]:
    yield page.click(page.quoted[0], role="link")


@script("click-color")
def _click_colour(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"on the (\w+) colored", page.goal)
    assert wanted is not None
    yield page.click(f"{wanted[1]} color", role="image")


@script("click-option")
def _click_option(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"Select (\S+) and", page.goal)
    assert wanted is not None
    yield page.click(wanted[1], role="radio")
    yield page.click("Submit", role="button")


@script("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
def _checkboxes(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"Select (.*) and click", page.goal)
    assert wanted is not None
    for name in wanted[1].split(", ") if wanted[1] != "nothing" else []:
        yield from page.check(name)
    yield page.click("Submit", role="button")


@script("choose-list", "click-scroll-list")
def _choose_list(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"Select (.*) from the (?:scroll )?list", page.goal)
    assert wanted is not None
    box = next(e for e in elements(page.text) if e.role in ("combobox", "listbox"))
    for name in wanted[1].split(", "):
        yield f"select [{box.id}] [{name}]"
    yield page.click("Submit", role="button")


@script("enter-text", "enter-text-dynamic")
def _enter_text(page: ScriptPage) -> Iterator[str]:
    yield from page.fill(page.quoted[0])
    yield page.click("Submit", role="button")


@script("enter-text-2")
def _enter_in_case(page: ScriptPage) -> Iterator[str]:
    text = page.quoted[0]
    yield from page.fill(text.upper() if "upper case" in page.goal else text.lower())
    yield page.click("Submit", role="button")


@script("enter-password")
def _enter_password(page: ScriptPage) -> Iterator[str]:
    for nth in range(2):
        yield from page.fill(page.quoted[0], nth=nth)
    yield page.click("Submit", role="button")


@script("login-user")
def _login(page: ScriptPage) -> Iterator[str]:
    for nth, text in enumerate(page.quoted[:2]):
        yield from page.fill(text, nth=nth)
    yield page.click("Login", role="button")


@script("focus-text")
def _focus(page: ScriptPage) -> Iterator[str]:
    yield page.click(role="textbox")


@script("focus-text-2")
def _focus_one(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"(\d)\w\w input", page.goal)
    assert wanted is not None
    yield page.click(role="textbox", nth=int(wanted[1]) - 1)


@script("enter-date")
def _enter_date(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"(\d\d)/(\d\d)/(\d{4})", page.goal)
    assert wanted is not None
    yield page.click(role="spinbutton")
    yield f"type [{find(page.text, role='spinbutton').id}] [{''.join(wanted.groups())}] [0]"
    yield page.click("Submit", role="button")


@script("simple-arithmetic")
def _arithmetic(page: ScriptPage) -> Iterator[str]:
    left, sign, right = page.ask("document.querySelector('#math-problem').textContent").split()[:3]
    value = {"+": int(left) + int(right), "-": int(left) - int(right), "x": int(left) * int(right)}[
        sign
    ]
    yield from page.fill(str(value))
    yield page.click("Submit", role="button")


@script("click-tab", "click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
def _tabs(page: ScriptPage) -> Iterator[str]:
    number = re.search(r"Tab #(\d)", page.goal)
    if number:
        yield page.click(f"Tab #{number[1]}")
        return
    for tab in [e.name for e in page.all("tab")]:
        yield page.click(tab, role="tab")
        if any(e.name == page.quoted[0] for e in page.all("link")):
            yield page.click(page.quoted[0], role="link")
            return


@script("click-collapsible-2", "click-collapsible-2-nodelay")
def _sections(page: ScriptPage) -> Iterator[str]:
    for tab in [e.name for e in page.all("tab")]:
        yield page.click(tab, role="tab")
        if any(e.name == page.quoted[0] for e in page.all("link")):
            yield page.click(page.quoted[0], role="link")
            return


@script("click-collapsible", "click-collapsible-nodelay")
def _expand(page: ScriptPage) -> Iterator[str]:
    section = page.all("tab")[0]
    if "expanded: True" not in section.properties:
        yield page.click(section.name, role="tab")
    yield page.click("Submit", role="button")


@script("find-greatest")
def _greatest(page: ScriptPage) -> Iterator[str]:
    numbers = page.ask("[...document.querySelectorAll('.card')].map(c => +c.textContent)")
    yield page.click(str(max(numbers)), role="StaticText")
    yield page.click("Submit", role="button")


@script("click-widget")
def _widget(page: ScriptPage) -> Iterator[str]:
    role = {
        "radio": "radio",
        "checkbox": "checkbox",
        "text": "textbox",
        "textarea": "textbox",
        "button": "button",
    }[page.quoted[0]]
    kinds = page.ask("[...document.querySelectorAll('[data-type]')].map(e => e.dataset.type)")
    same = [
        k
        for k in kinds
        if (k in ("text", "textarea")) == (role == "textbox")
        and (role == "textbox" or k == page.quoted[0])
    ]
    yield page.click(role=role, nth=same.index(page.quoted[0]))


@script("grid-coordinate")
def _coordinate(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"\((-?\d),\s*(-?\d)\)", page.goal)
    assert wanted is not None
    yield page.click(f"blue ({wanted[1]},{wanted[2]}) plot-point", role="image")


@script("identify-shape")
def _identify(page: ScriptPage) -> Iterator[str]:
    tag = page.ask("document.querySelector('#area_svg > *').tagName")
    text = page.ask("document.querySelector('#area_svg').textContent").strip()
    kind = {"circle": "Circle", "rect": "Rectangle", "polygon": "Triangle"}.get(tag) or (
        "Number" if text.isdigit() else "Letter"
    )
    yield page.click(kind, role="button")


@script("navigate-tree")
def _tree(page: ScriptPage) -> Iterator[str]:
    path = page.ask(
        """wanted => { const path = [];
        let e = [...document.querySelectorAll('#tree span')].find(s => s.textContent === wanted);
        for (; e && e.id !== 'tree'; e = e.parentElement)
          if (e.tagName === 'LI') path.unshift(e.querySelector(':scope > span').textContent);
        return path }""",
        page.quoted[0],
    )
    for name in path:
        yield page.click(name, role="StaticText", nth=page.text.count(f"StaticText '{name}'") - 1)


@script("odd-or-even")
def _odd_or_even(page: ScriptPage) -> Iterator[str]:
    for nth, number in enumerate(
        page.ask("[...document.querySelectorAll('.display-number')].map(e => +e.textContent)")
    ):
        yield page.click("Odd" if number % 2 else "Even", role="button", nth=nth)
    yield page.click("Submit", role="button")


@script("read-table", "read-table-2")
def _table(page: ScriptPage) -> Iterator[str]:
    cells = page.ask("[...document.querySelectorAll('#tab td')].map(e => e.textContent)")
    table = dict(zip(cells[::2], cells[1::2], strict=True))
    wanted = re.search(r"value of (.*) into", page.goal)
    labels = (
        [wanted[1]]
        if wanted
        else page.ask("[...document.querySelectorAll('#form label')].map(e => e.textContent)")
    )
    for nth, label in enumerate(labels):
        yield from page.fill(table[label.strip().rstrip(":")], nth=nth)
    yield page.click("Submit", role="button")


@script("simple-algebra")
def _algebra(page: ScriptPage) -> Iterator[str]:
    text = page.ask("document.querySelector('#math-problem').textContent")
    first, sign, second, right = re.sub(r"[\s=]+", " ", text).split()
    if sign == "+":
        value = int(right) - int(second if first == "x" else first)
    else:
        value = int(right) + int(second) if first == "x" else int(first) - int(right)
    yield from page.fill(str(value))
    yield page.click("Submit", role="button")


@script("text-transform")
def _captcha(page: ScriptPage) -> Iterator[str]:
    yield from page.fill(page.ask("document.querySelector('#captcha').textContent").strip())
    yield page.click("Submit", role="button")


@script("unicode-test")
def _unicode(page: ScriptPage) -> Iterator[str]:
    yield page.click(page.quoted[0], role="button")


@script("visual-addition")
def _blocks(page: ScriptPage) -> Iterator[str]:
    yield from page.fill(str(page.ask("document.querySelectorAll('.addition-block').length")))
    yield page.click("Submit", role="button")
