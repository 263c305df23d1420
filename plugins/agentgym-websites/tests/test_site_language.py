"""The language of the texts on the sites: no slips, and few sentences that begin alike."""

import collections
import re

import pytest

from agentgym_websites import host as hosts
from agentgym_websites.grammar import article
from agentgym_websites.shop.catalogue import PLURAL
from agentgym_websites.site import open_database

KINDS = {
    ("shop", "descriptions"): "SELECT description FROM products",
    ("shop", "reviews"): "SELECT body FROM reviews",
    ("forum", "posts"): "SELECT body FROM posts",
    ("forum", "comments"): "SELECT body FROM comments WHERE parent_id IS NULL",
    ("forum", "replies"): "SELECT body FROM comments WHERE parent_id IS NOT NULL",
    ("code", "issues"): "SELECT body FROM issues WHERE merge = 0",
    ("code", "merges"): "SELECT body FROM issues WHERE merge = 1",
    ("code", "comments"): "SELECT body FROM comments",
    ("map", "reviews"): "SELECT body FROM reviews",
    ("map", "notes"): "SELECT body FROM notes UNION ALL SELECT body FROM remarks",
}
DOCUMENTS = {
    ("shop", "titles"): "SELECT title FROM reviews",
    ("forum", "titles"): "SELECT title FROM posts",
    ("forum", "biographies"): "SELECT bio FROM people",
    ("forum", "rules"): "SELECT text FROM rules",
    ("forum", "wikis"): "SELECT body FROM wiki",
    ("code", "titles"): "SELECT title FROM issues",
    ("code", "wikis"): "SELECT body FROM wiki_edits",
}
SHORT = 4  # words of a sentence that may come again, and of an opening
ALIKE = 20  # other sentences that may share an opening
COMMON = 0.05  # share of sentences whose opening more sentences share: at most 0.033
PAIRS = {kind.split()[-1].lower() for kind in PLURAL}  # the shop sells them in pairs or sets
LETTERS = r"[^\W\d_]"
CODE = re.compile(r"```.*?```|`[^`]*`", re.S)
LINK = re.compile(r"\]\([^)]*\)")
DATA = re.compile(r"^(?:#+ .*|\|.*|X|\*\*[^*]+\*\*|- [^:.!?]{1,20}: .{1,30}|- (?:\S+ ?){1,4}|)$")
WORD = re.compile(r"[^\W_]+(?:[.,'’:_-][^\W_]+)*")
ENDS = re.compile(r"[.!?]+(?=\s|$|[”*)])|\n|\|")
SLIPS = {
    "doubled word": re.compile(rf"\b({LETTERS}+) \1\b", re.I),
    "doubled mark": re.compile(r"[,;:.!?]\s*[,;.!?]|[,;]\s*:|: (?!\d)[^.!?“”]*: "),
    "space before a mark": re.compile(r"\s[,;:.!?](?:\s|$)"),
    "double space": re.compile(r"\S  +\S"),
    "blank": re.compile(r"[{}<]|(?<=\S)\||\bNone\b"),
    "ordinal": re.compile(r"\b\d*(?:1[123]|[04-9])(?:st|nd|rd)\b|\b\d*(?<!1)[123]th\b"),
    "small letter at the start": re.compile(r"(?:^|[^.][.!?] |^> |^- )(?:\*\*|“)?[a-z]"),
}


def prose(text, code="X"):
    """The lines of a text that hold sentences: no headings, rows of tables, lists of things."""
    plain = LINK.sub("]", CODE.sub(code, text))
    return [line for line in plain.splitlines() if not DATA.match(line)]


def name(code):
    """Code as one word."""
    return "X" if code[0].startswith("```") else re.sub(r"\W+", ".", code[0]).strip(".")


def openings(texts):
    """How many sentences begin with the same words; for each sentence that is long enough."""
    found = collections.Counter()
    for text in texts:
        for part in ENDS.split("\n".join(prose(text, name))):
            words = [word.lower() for word in WORD.findall(part)]
            if len(words) >= SHORT:
                found[tuple(words[:SHORT])] += 1
    return found


@pytest.fixture(scope="module")
def texts():
    databases = {site: open_database(hosts.snapshot(site)) for site in hosts.FILL}
    return {
        kind: [row[0] for row in databases[kind[0]].execute(sql)]
        for kind, sql in (KINDS | DOCUMENTS).items()
    }


@pytest.mark.parametrize(
    ("slip", "text"),
    [
        ("doubled word", "We met on on Monday."),
        ("doubled mark", "Well,, that is it."),
        ("doubled mark", "My case: as before: it leaks."),
        ("space before a mark", "That is it ."),
        ("double space", "That is  it."),
        ("blank", "Ask {name}."),
        ("ordinal", "Every 3th file."),
        ("small letter at the start", "Yes. that is it."),
        ("small letter at the start", "- besides, it leaks."),
    ],
)
def test_the_patterns_find_slips(slip, text):
    assert [name for name, pattern in SLIPS.items() if pattern.search(text)] == [slip]


@pytest.mark.parametrize("kind", KINDS | DOCUMENTS, ids=" ".join)
def test_no_text_has_a_slip(texts, kind):
    found = [
        (name, line)
        for text in texts[kind]
        for line in prose(text)
        for name, slip in SLIPS.items()
        if slip.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
def test_every_paragraph_ends_with_a_mark(texts, kind):
    found = [
        line
        for text in texts[kind]
        for line in prose(text)
        if not re.search(r"[.!?:](?:\*\*|[”)*])*$", line)
    ]
    assert found == []


def plurals(lines):
    """Nouns that stand after a number above one."""
    number = rf"(?<![\w.:$])(?:[2-9]|[1-9]\d+) ({LETTERS}+s)\b"
    return set(re.findall(number, "\n".join(lines))) - {"is", "was"}


@pytest.mark.parametrize("kind", KINDS | DOCUMENTS, ids=" ".join)
def test_articles_and_numbers_fit_their_nouns(texts, kind):
    lines = [line for text in texts[kind] for line in prose(text)]
    many = plurals(lines)
    one = re.compile(r"(?<![\w.,:$-])(an?|1|one|each|every) (\w+)(?: (\w+))?", re.I)
    found = []
    for line in lines:
        for word, first, second in one.findall(line):
            wrong = first in many or (second in PAIRS and word in ("a", "an", "1"))
            if wrong or (word in ("a", "an") and article(first) != word):
                found.append(line)
    assert found == []


@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
def test_few_sentences_begin_alike(texts, kind):
    found = openings(texts[kind])
    common = sum(count for count in found.values() if count > ALIKE)
    assert common <= COMMON * sum(found.values())
