"""An observation shows every text that a person reads on a page, and the contents of fields."""

from collections import Counter

import pytest
from some import every

from agentgym_envs.envs.web.look import elements, find

pytestmark = pytest.mark.timeout(120)

# A form in HTML, and its lines when the whole page is shown.
FORMS = [
    ("<section aria-label='ab c'><p>a</p><p>bc</p></section>", "region 'ab c'|>'a'|>'bc'"),
    ("<section aria-label='1 2'><p>12</p></section>", "region '1 2'|>'12'"),
    (
        "<section aria-label='10 tips for 2026'>1 <b>0</b><p>20</p></section>",
        "region '10 tips for 2026'|>'1 '|>'0'|>'20'",
    ),
    (
        "<section aria-label='A short guide to printer drivers'>to <a href=/>go</a></section>",
        "region 'A short guide to printer drivers'|>'to '|>link 'go'",
    ),
    ("<a href=/>Orders</a>", "link 'Orders'"),
    ("<a href=/>Buy <b>one</b> now</a>", "link 'Buy one now'"),
    ("<a href=/><div>Lamp</div><div>5</div></a>", "link 'Lamp 5'"),
    ("<a href=/>Buy <img alt=lamp src=data:,> now</a>", "link 'Buy lamp now'|>image 'lamp'"),
    ("<a href=/ aria-label='Page 2 of 12'>2</a>", "link 'Page 2 of 12'|>'2'"),
    ("<button aria-label=Close>×</button>", "button 'Close'|>'×'"),
    ("<button>Save <span>3</span></button>", "button 'Save 3'"),
    ("<h2>All <a href=/>posts</a></h2>", "heading 'All posts'|>link 'posts'"),
    ("<h2 aria-label='1 of 10'>1</h2>", "heading '1 of 10'|>'1'"),
    (
        "<table><tr><th>N<tr><td>1<td>2 <b>3</b></table>",
        "table ''|>row ''|>>columnheader 'N' required: False|>row ''|>>cell '1'|>>cell '2 3'",
    ),
    (
        "<table aria-label='5 rows'><tr><td>5</table>",
        "LayoutTable '5 rows'|>LayoutTableRow ''|>>LayoutTableCell '5'",
    ),
    (
        "<table><caption>Total 10</caption><tr><td aria-label='10 pieces'>10</table>",
        "table 'Total 10'|>caption ''|>>'Total 10'|>row ''|>>cell '10 pieces'|>>>'10'",
    ),
    ("<ul aria-label=10><li>10<li>20</ul>", "list '10'|>'10'|>'20'"),
    ("<ol aria-label='1. one'><li>one</ol>", "list '1. one'|>'one'"),
    (
        "<fieldset><legend>Size</legend><label><input type=radio>Size S</label></fieldset>",
        "group 'Size'|>'Size'|>radio 'Size S' checked: false",
    ),
    (
        "<div role=dialog aria-labelledby=t><h2 id=t>Offer</h2>Offer ends</div>",
        "dialog 'Offer' modal: False|>heading 'Offer'|>'Offer ends'",
    ),
    (
        "<details open><summary>More</summary>More</details>",
        "group ''|>DisclosureTriangle 'More' expanded: True|>'More'",
    ),
    (
        "<figure aria-label='Figure 1'><figcaption>Figure</figcaption></figure>",
        "figure 'Figure 1'|>Figcaption ''|>>'Figure'",
    ),
    ("<div role=group aria-label='a b c'><p>a</p><p>b</p></div>", "group 'a b c'|>'a'|>'b'"),
    (
        "<div role=group aria-label='a b'><p>a</p><p>b</p><p>a</p></div>",
        "group 'a b'|>'a'|>'b'|>'a'",
    ),
    ("<div role=group aria-label=b><p>a</p><p>b</p></div>", "group 'b'|>'a'|>'b'"),
    (
        "<div role=tab aria-label='Reviews (12)'>Reviews <i>1</i></div>",
        "tab 'Reviews (12)' selected: False|>'Reviews '|>'1'",
    ),
    ("<iframe title='1 of 2' srcdoc=x></iframe>2", "Iframe '1 of 2'|'2'"),
    ("<input aria-label=lamp value=lamp>", "textbox 'lamp' required: False|>'lamp'"),
    ("<input placeholder=Search>", "textbox 'Search' required: False"),
    ("<textarea aria-label='x y'>x</textarea>", "textbox 'x y' required: False|>'x'"),
    (
        "<div contenteditable role=textbox aria-label='a b'>a <b>b</b></div>",
        "textbox 'a b' required: False|>'a '|>'b'",
    ),
    (
        "<input type=number aria-label='5 to 10' value=5>",
        "spinbutton '5 to 10' required: False valuemin: 0 valuemax: 0 valuetext: 5|>'5'",
    ),
]


def written(text):
    """Returns the lines of a form in the table's short form.

    They have no ids, and a > for each level below the form.
    """
    return "|".join(
        ">" * (e.depth - 2)
        + (f"{e.role} " if e.role != "StaticText" else "")
        + line.split(f"{e.role} ", 1)[1]
        for e, line in zip(elements(text), text.splitlines(), strict=True)
    )


def parts(observation):
    """Returns the lines within each article of an observation, by its name."""
    found = {}
    for line in observation.split("\n\n")[1].splitlines()[1:]:
        if line.startswith("\t["):
            found[elements(line)[0].name] = current = []
        else:
            current.append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


@pytest.fixture
def forms(make):
    """Returns the page with all forms, and each form's text as a person sees it."""
    page = "".join(
        f"<article aria-label='form {i}'>{html}</article>" for i, (html, _) in enumerate(FORMS)
    )
    env = make(f"<title>1 2 5 10 a b</title>{page}")
    shown = parts(env.reset(seed=1)[0])
    texts = env.session.page.evaluate(
        "[...document.querySelectorAll('article')].map(a => a.innerText)"
    )
    return shown, texts


def test_a_whole_page_shows_every_text(forms):
    shown, texts = forms
    for i, text in enumerate(texts):
        names = Counter(word for e in elements(shown[f"form {i}"]) for word in e.name.split())
        assert not Counter(text.split()) - names, FORMS[i][0]


def test_a_whole_page_repeats_no_text_that_a_name_holds(forms):
    shown, _ = forms
    for i, (html, wanted) in enumerate(FORMS):
        assert written(shown[f"form {i}"]) == wanted, html


def test_the_title_hides_no_text_of_the_page(make):
    assert [e.name for e in elements(make("<title>Sold out</title>Sold out").reset(seed=1)[0])] == [
        "Sold out"
    ] * 2


DATES = [
    ("date", "2026-03-04", "Date", {"Month": "03", "Day": "04", "Year": "2026"}),
    ("time", "22:05", "InputTime", {"Hours": "10", "Minutes": "05", "AM/PM": "PM"}),
    ("month", "2026-03", "DateTime", {"Month": "March", "Year": "2026"}),
    ("week", "2026-W10", "DateTime", {"Week": "10", "Year": "2026"}),
    (
        "datetime-local",
        "2026-03-04T22:05",
        "DateTime",
        {"Month": "03", "Day": "04", "Hours": "10", "AM/PM": "PM"},
    ),
    ("range", "30", "slider", {}),
    ("color", "#ff8000", "ColorWell", {}),
]


@pytest.fixture
def dates(make):
    """Returns the view of a page with each kind of field: filled in, empty, and far below."""
    fields = "".join(
        f"<p><input type={kind} aria-label='{kind} filled' value={value}><input type={kind}"
        f" aria-label='{kind} empty'>"
        for kind, value, *_ in DATES
    )
    env = make(
        f"{fields}<div style=height:2000px></div><input type=date aria-label=below"
        " value=2026-03-04>",
        viewport=True,
    )
    env.reset(seed=1)
    return env


@pytest.mark.parametrize(("kind", "value", "role", "parts"), every(2, DATES))
def test_a_field_in_view_shows_its_value_and_its_parts(dates, kind, value, role, parts):
    field = find(dates._text, f"{kind} filled", role=role)
    assert f" value: {value}" in field.properties
    for part, held in parts.items():
        assert find(dates._text, f"{part} {part}", role="spinbutton", after=field.id).text == held
    empty = find(dates._text, f"{kind} empty", role=role)
    assert (" value: " in empty.properties) is (kind in ("range", "color"))
    for part in parts:
        assert set(
            find(dates._text, f"{part} {part}", role="spinbutton", after=empty.id).text
        ) <= set("mdyhw-MPA ")
    assert "below" not in dates._text


def test_a_date_is_typed_into_its_parts(make):
    env = make("<input type=date aria-label=Day value=2026-03-04>", viewport=True)
    env.reset(seed=1)
    env.step(f"type [{find(env._text, 'Month Month').id}] [12] [0]")
    env.step(f"type [{find(env._text, 'Year Year').id}] [2031] [0]")
    assert " value: 2031-12-04" in find(env._text, "Day", role="Date").properties


def test_what_the_browser_itself_adds_to_an_element_is_in_view_with_it(make):
    player = "<video controls src=/none></video>"
    env = make(f"{player}<div style=height:2000px></div>{player}", viewport=True)
    shown = [
        (e.role, e.depth)
        for e in elements(env.reset(seed=1)[0])
        if e.role == "Video" or e.name == "play"
    ]
    assert shown == [("Video", 1), ("button", 2)]
