"""Pages that imitate an application: mail, posts, contacts, search, terminal, editor, menu card."""

import re
from collections.abc import Iterator

from agentgym_envs.envs.web.look import elements, find
from agentgym_envs.envs.web.miniwob.scripts.page import ScriptPage, script


@script(
    "email-inbox",
    "email-inbox-delete",
    "email-inbox-important",
    "email-inbox-noscroll",
    "email-inbox-reply",
    "email-inbox-star-reply",
)
@script(
    "email-inbox-forward",
    "email-inbox-forward-nl",
    "email-inbox-forward-nl-turk",
    "email-inbox-nl-turk",
)
def _mail(page: ScriptPage) -> Iterator[str]:
    known = page.ask("core.currentFields || null") if "-nl" in page.name else None
    fields = known or {}
    sender = re.search(r"email by (\w+)", page.goal)
    name = fields.get("by") or (sender[1] if sender else "")
    goal = page.goal.lower()
    task = fields.get("task", "")
    shown = [e for e in elements(page.text) if e.name == name and e.role == "StaticText"][-1]
    if task == "delete" or "trash icon" in goal:
        yield page.click("trash", after=shown.id)
    elif task == "star" or "star icon" in goal:
        yield page.click("star", after=shown.id)
    elif task == "forward" or "to" in fields or "forward" in goal:
        to = fields.get("to") or re.findall(r"to (\w+)\.", page.goal)[0]
        yield f"click [{shown.id}]"
        yield page.click("Forward", role="StaticText")
        yield from page.fill(to)
        yield page.click("send-forward")
    else:
        yield f"click [{shown.id}]"
        yield page.click("Reply", role="StaticText")
        yield from page.fill(fields.get("message") or page.quoted[0])
        yield page.click("send-reply")


POSTS = """[...document.querySelectorAll('.media')]
  .map(m => m.querySelector('.username').textContent)"""


@script("social-media")
def _post(page: ScriptPage) -> Iterator[str]:
    user = re.search(r"@[^\s,]+", page.goal)
    assert user is not None
    nth = page.ask(POSTS).index(user[0])
    if page.quoted[0] in ("Reply", "Retweet", "Like"):
        yield page.click(page.quoted[0].lower(), role="image", nth=nth)
        return
    yield page.click("more", role="image", nth=nth)
    names = (page.quoted[0], f"{page.quoted[0]} {user[0]}")
    yield f"click [{next(e for e in elements(page.text) if e.name in names and e.id > 6).id}]"


@script("social-media-all", "social-media-some")
def _posts(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"on (all|\d+) posts? by (@\S+)", page.goal)
    assert wanted is not None
    places = [i for i, user in enumerate(page.ask(POSTS)) if user == wanted[2]]
    icons = [e.id for e in page.all("image") if e.name == page.quoted[0].lower()]
    for nth in places[: None if wanted[1] == "all" else int(wanted[1])]:
        yield f"click [{icons[nth]}]"
    yield page.click("Submit", role="button")


@script("phone-book")
def _contact(page: ScriptPage) -> Iterator[str]:
    wanted = re.search(r"Find (.+) in the .* their (phone|email|address)", page.goal)
    assert wanted is not None
    while not any(e.role == "heading" and e.name == wanted[1] for e in elements(page.text)):
        yield page.click(">", role="link")
    yield page.click(role="link", nth=("phone", "email", "address").index(wanted[2]))


@script("search-engine")
def _search(page: ScriptPage) -> Iterator[str]:
    place = re.search(r"the (\d+)\w\w search result", page.goal)
    assert place is not None
    yield from page.fill(page.quoted[0])
    yield page.click("Search", role="button")
    number, nth = divmod(int(place[1]) - 1, 3)
    if number:
        yield page.click(str(number + 1), role="link")
    yield page.click(role="link", nth=nth)


@script("terminal")
def _terminal(page: ScriptPage) -> Iterator[str]:
    field = find(page.text, role="textbox").id
    yield f"type [{field}] [ls] [1]"
    files = page.ask("[...document.querySelectorAll('.terminal-output')].pop().textContent").split()
    ending = re.search(r"extension (\.\S+)", page.goal)
    fitting = [f for f in files if (f.endswith(ending[1]) if ending else "." not in f)]
    yield f"type [{field}] [rm {fitting[0]}] [1]"


@script("login-user-popup")
def _login(page: ScriptPage) -> Iterator[str]:
    for nth, text in enumerate(page.quoted[:2]):
        yield from page.fill(text, nth=nth)
        if any(e.name == "Cancel" for e in page.all("button")):
            yield page.click("Cancel", role="button")
            yield from page.fill(text, role="textbox", nth=nth)
    yield page.click("OK", role="button")


@script("copy-paste", "copy-paste-2")
def _copy(page: ScriptPage) -> Iterator[str]:
    nth = re.search(r"the (\d)\w\w text area", page.goal)
    text = page.ask(f"document.querySelectorAll('textarea')[{int(nth[1]) - 1 if nth else 0}].value")
    field = next(e for e in page.all("textbox") if not e.text)
    yield f"type [{field.id}] [{text}] [0]"
    yield page.click("Submit", role="button")


@script("find-word")
def _word(page: ScriptPage) -> Iterator[str]:
    number = re.search(r"(\d+)\w\w word", page.goal)
    assert number is not None
    words = page.ask("document.querySelector('#area p').textContent").split()
    yield from page.fill(words[int(number[1]) - 1].strip(".,"))
    yield page.click("Submit", role="button")


@script("scroll-text")
def _last_word(page: ScriptPage) -> Iterator[str]:
    text = page.ask("document.querySelector('textarea').value")
    field = next(e for e in page.all("textbox") if not e.text)
    yield f"type [{field.id}] [{text.split()[-1].strip('.,')}] [0]"
    yield page.click("Submit", role="button")


@script("scroll-text-2")
def _scroll(page: ScriptPage) -> Iterator[str]:
    yield page.click(role="textbox")
    yield "press [Control+End]" if "bottom" in page.goal else "press [Control+Home]"
    yield page.click("Submit", role="button")


@script("order-food")
def _order(page: ScriptPage) -> Iterator[str]:
    shown = elements(page.text)
    kind = re.search(r"Order (\d+) items that are (\S+)", page.goal)
    if kind:
        icon = next(i for i, e in enumerate(shown) if e.role == "image" and e.name == kind[2])
        plus = next(e for e in shown[icon:] if e.name == "+")
        for _ in range(int(kind[1])):
            yield f"click [{plus.id}]"
    else:
        for name in page.goal.partition(": ")[2].split(", "):
            yield page.click("+", after=name.strip())
    yield page.click("Order!", role="button")


@script("text-editor")
def _editor(page: ScriptPage) -> Iterator[str]:
    lines = page.ask("document.querySelector('.ql-editor').textContent")
    yield page.click(lines, role="StaticText")
    word = re.search(r"give the text (\S+) the", page.goal)
    if word is None:
        yield "press [Control+a]"
    else:
        start = next(m.start() for m in re.finditer(r"\S+", lines) if m.group() == word[1])
        yield "press [Control+Home]"
        for _ in range(start):
            yield "press [ArrowRight]"
        for _ in word[1]:
            yield "press [Shift+ArrowRight]"
    styles = ("bold", "italics", "underlined")
    style = next((i for i, s in enumerate(styles) if f"style {s}" in page.goal), None)
    if style is not None:
        yield page.click("", role="button", nth=style)
    else:
        colour = re.search(r"the color (\w+)", page.goal)
        assert colour is not None
        yield f"click [{next(e for e in page.all('image') if 'ql-color-label' in e.name).id}]"
        value = page.ask(
            f"(() => {{ const c = COLOR_MAP[{colour[1]!r}][0].match(/\\w\\w/g).map(h => parseInt(h,"
            " 16)); return c.join(', ') })()"
        )
        yield f"click [{next(e for e in elements(page.text) if f'rgb({value})' in e.name).id}]"
    yield page.click("Submit", role="button")
