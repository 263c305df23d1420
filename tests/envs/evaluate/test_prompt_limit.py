"""Servers that cut prompts: sequences of sent characters and counted tokens, made by hand."""

import io

import pytest
from evaluations import Model, evaluate, mazes
from rich.console import Console

from agentgym_envs.evaluate import tables
from agentgym_envs.evaluate.budget import UsageTotals as Used
from agentgym_envs.evaluate.live import LiveDisplay, RunCounts
from agentgym_envs.evaluate.prompt_limit import prompt_limit
from agentgym_envs.evaluate.record import EpisodeRows
from agentgym_envs.evaluate.transcript import EpisodeTranscript
from agentgym_envs.models.answers import ModelReply, TokenUsage

GROWING = [400 * n for n in range(1, 21)]


def counted(sizes, tokens):
    return list(zip(sizes, tokens, strict=True))


@pytest.mark.parametrize(
    ("tokens", "limit"),
    [
        ([min(size // 4, 1024) for size in GROWING], 1024),
        ([1024] * 20, 1024),  # from the first request on
        # Whole messages are dropped, so that the count goes up and down.
        ([min(size // 4, 1000 - size * 7 % 190) for size in GROWING], 1000),
        # A long message leaves room for little else.
        ([min(size // 4, 1000 - 650 * (n % 3 == 1)) for n, size in enumerate(GROWING)], 1000),
        # Half of the conversation is dropped each time.
        ([size // 4 if size <= 4000 else 600 + size // 4 % 400 for size in GROWING], 1000),
    ],
)
def test_a_count_that_stays_while_the_conversation_grows_is_a_limit(tokens, limit):
    assert limit * 0.9 <= prompt_limit(counted(GROWING, tokens)) <= limit


@pytest.mark.parametrize(
    "requests",
    [
        [],
        [(100, 30)],
        counted(GROWING, [size // 4 for size in GROWING]),
        counted(GROWING, [2000 + size // 40 for size in GROWING]),  # long rules, short turns
        # A dense text first, and then one with many characters a token.
        counted(GROWING, [min(size, 1000) + size // 20 for size in GROWING]),
        # Steps of a few characters at the same count: one token may have them.
        counted([4000 + n for n in range(20)], [1000] * 20),
        # The same request many times.
        [(4000, 1000)] * 20,
        [*[(4000, 1000)] * 10, (6000, 1050)],
        # Only what the server's cache lacks.
        counted(GROWING, [2000, *[100 - n % 3 for n in range(19)]]),
        # Thoughts that the server drops when the user speaks again.
        counted(GROWING, [*[200 * n for n in range(1, 11)], *[500 + 100 * n for n in range(10)]]),
        # Several servers behind one address, which count differently.
        counted(
            GROWING, [size // 4 + (size // 20 if n % 2 else 0) for n, size in enumerate(GROWING)]
        ),
    ],
)
def test_ordinary_counts_are_no_limit(requests):
    assert prompt_limit(requests) == 0


class Server(Model):
    """Counts at most ``limit`` words; None: does not count."""

    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    async def complete(self, messages, *, tools=None, sample=""):
        self.asked.append(messages)
        words = sum(len(str(message["content"]).split()) for message in messages)
        usage = None if self.limit is None else TokenUsage(min(words, self.limit), 3)
        return ModelReply(text=f"I go on. {len(self.asked)} " * 9, usage=usage)


@pytest.mark.parametrize(
    ("limit", "options", "found"),
    [(300, {}, True), (10**9, {}, False), (None, {}, False), (300, {"window": 2}, False)],
)
def test_an_episode_whose_prompts_were_cut_is_reported(tmp_path, limit, options, found):
    items = mazes(2)
    played = evaluate(
        tmp_path, items, client=Server(limit), horizon=16, options=options, concurrency=1
    ).record.rows
    assert [row.get("prompt_limit") for row in played] == [limit if found else None] * 2
    notes = [note for note in tables.results(played).notes if "num_ctx" in note]
    assert [note.startswith("2 episodes: ") for note in notes] == [True] * found
    written = io.StringIO()
    live = LiveDisplay(Console(file=written, width=200), "x", RunCounts((), 2, Used()))
    for row in played:
        live.row(row)
    assert written.getvalue().count("num_ctx") == found


def transcript(counts, messages, seats=("",)):
    """Returns the line of an episode; ``messages`` returns what the n-th request of a seat sent."""
    turns = []
    kept = EpisodeTranscript(EpisodeRows().share, turns)
    for n, count in enumerate(counts):
        for seat in seats:
            tokens = count(n, seat)
            kept.add(
                messages(n, seat),
                (),
                ModelReply(text=f"reply {n} {seat}", usage=TokenUsage(tokens, 1)),
            )
            turns.append({"seat": seat})
    return kept.row


def texts(n, seat):
    return [{"role": "user", "content": f"{seat} {k} " + 400 * "x"} for k in range(n + 1)]


def with_picture(n, seat):
    """The latest message alone has a picture, as in the conversation of an agent."""
    *before, last = texts(n, seat)
    parts = [{"type": "text", "text": last["content"]}, {"type": "image_url", "image_url": {}}]
    return [*before, {**last, "content": parts}]


def test_each_seat_has_its_conversation_and_pictures_are_not_compared():
    cut, growing = (lambda n, seat: min(100 * n, 800)), (lambda n, seat: 100 * n)
    assert transcript([cut] * 20, texts)["prompt_limit"] == 800
    assert "prompt_limit" not in transcript([cut] * 20, with_picture)
    counts = {"a": growing, "b": cut}
    both = transcript([lambda n, seat: counts[seat](n, seat)] * 20, texts, "ab")
    assert both["prompt_limit"] == 800
    assert "prompt_limit" not in transcript([growing] * 20, texts, "ab")
    assert "prompt_limit" not in transcript([cut] * 20, lambda n, seat: [])


def test_requests_beside_the_conversation_do_not_hide_a_limit():
    """A question about each turn, which the conversation leaves out."""

    def asked(n, seat):
        more = [{"role": "user", "content": f"Is this right? {n}"}] if n % 2 else []
        return [*texts(n, seat), *more]

    assert transcript([lambda n, seat: min(100 * n, 800)] * 20, asked)["prompt_limit"] == 800


def test_thoughts_that_are_dropped_when_the_user_speaks_are_no_limit():
    """Calls of tools, and later a message of the user at every fourth turn."""
    spoken = [0, *range(12, 30, 4)]

    def sent(n, seat):
        return [
            {"role": "user" if k in spoken else "tool", "content": f"{k} " + 400 * "x"}
            for k in range(n + 1)
        ]

    counts = [100 * n + 400 * (n - max(k for k in spoken if k <= n)) for n in range(30)]
    assert prompt_limit([(400 * n, count) for n, count in enumerate(counts)]), "they look like one"
    assert "prompt_limit" not in transcript([lambda n, seat: counts[n]] * 30, sent)
