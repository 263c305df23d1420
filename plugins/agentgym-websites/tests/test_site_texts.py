"""Texts of the sites: no two share a sentence, and few share a sequence of five words."""

import collections
import random
import re

import pytest
from raised import raises

from agentgym_websites import host as hosts
from agentgym_websites.grammar import ALIKE, Author, article, compose, sentences
from agentgym_websites.site import open_database

TEXTS = {
    "shop": "SELECT body FROM reviews",
    "forum": "SELECT body FROM posts UNION ALL SELECT body FROM comments",
    "code": "SELECT body FROM issues UNION ALL SELECT body FROM comments",
    "map": "SELECT body FROM reviews UNION ALL SELECT body FROM notes"
    " UNION ALL SELECT body FROM remarks",
}
WORD = re.compile(r"[^\W_]+(?:[.,'’:_-][^\W_]+)*")
ENDS = re.compile(r"[.!?]+(?=\s|$|[”*)])|\n|\|")
# Share of all pairs of texts that have a sequence of five words in common: at most 0.018, 0.005,
# 0.015 and 0.034.
SHARED = {"shop": 0.02, "forum": 0.006, "code": 0.02, "map": 0.04}
LONG = {"shop": 12_000, "forum": 12_000, "code": 12_000, "map": 2_000}  # least number of sentences


@pytest.fixture(scope="module", params=TEXTS)
def texts(request):
    db = open_database(hosts.snapshot(request.param))
    return request.param, [r[0] for r in db.execute(TEXTS[request.param])]


def words(text):
    return [word.lower() for word in WORD.findall(text)]


def test_no_two_texts_share_a_sentence(texts):
    """A sentence of up to four words can occur again: "Three stars.", "Any idea?"."""
    seen = collections.Counter(
        " ".join(found)
        for text in texts[1]
        for part in ENDS.split(text)
        if len(found := words(part)) > 4
    )
    assert len(seen) > LONG[texts[0]]
    assert [sentence for sentence, count in seen.items() if count > 1] == []


def test_few_pairs_share_five_words(texts):
    site, written = texts
    rng = random.Random(0)
    found = [set(zip(*(w[i:] for i in range(5)), strict=False)) for w in map(words, written)]
    pairs = [rng.sample(range(len(found)), 2) for _ in range(40_000)]
    assert sum(not found[a].isdisjoint(found[b]) for a, b in pairs) / len(pairs) < SHARED[site]


def test_texts_have_no_blanks_and_no_gaps(texts):
    for text in texts[1]:
        assert not re.search(
            r"[{}]|(?<=\S)  | [,;.](?:\s|$)|\.\.|<|>$", re.sub(r"`[^`]*`", "x", text)
        ), text


def test_articles_go_by_the_sound():
    words = [
        "hour",
        "owl",
        "8",
        "18",
        "11",
        "umbrella",
        "used",
        "uniform",
        "one",
        "80",
        "5",
        "118",
        "European",
        "Ethiopian",
    ]
    assert [article(word) for word in words] == (
        ["an", "an", "an", "an", "an", "an", "a", "a", "a", "an", "a", "a", "a", "an"]
    )


RULES = {
    "animal": ("owl", "cat"),
    "sound": ("<hoots|calls> {when}", "sleeps"),
    "when": ("at night", ""),
}


def test_texts_are_composed_of_facts_rules_and_choices():
    rng = random.Random(1)
    made = {
        compose(rng, RULES, "{a animal} {sound}. {Name}: “{animal}”", name="ada")
        for _ in range(300)
    }
    assert {"An owl sleeps. Ada: “cat”", "A cat hoots at night. Ada: “owl”"} <= made
    assert len(made) == 2 * 5 * 2
    with pytest.raises(KeyError):
        compose(rng, RULES, "{plant}")


def test_an_author_repeats_no_sentence():
    author = Author(
        random.Random(1),
        {"one": ("the <red|blue|green> door was <open|shut> today",), "two": ("Yes.",)},
    )
    made = [author.write("{two} {one}.", {}) for _ in range(6)]
    assert len({tuple(sentences(text)) for text in made}) == 6
    assert all(text.startswith("Yes. The ") for text in made)
    with raises(RuntimeError, "alternatives"):
        author.write("{one}.", {})


def test_an_author_begins_few_sentences_alike():
    rules = {"n": tuple(map(str, range(100))), "one": ("we saw it often on {n} days",)}
    author = Author(random.Random(1), rules)
    for _ in range(ALIKE):
        author.write("{one}.", {})
    with raises(RuntimeError, "alternatives"):
        author.write("{one}.", {})
