import gzip
import itertools
import json
import math
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler

import gymnasium
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raised import raises
from stub_server import StubServer

from agentgym_envs.envs.search import server as search_server
from agentgym_envs.envs.search.datasets import read_corpus, read_questions
from agentgym_envs.envs.search.env import first_tag
from agentgym_envs.envs.search.index import BM25Index, alone, build, file_key
from agentgym_envs.envs.search.retrievers import BM25Retriever
from agentgym_envs.envs.search.scoring import exact_match, f1, normalise
from agentgym_envs.envs.search.server import HTTPRetriever
from agentgym_envs.envs.search.world import Passage, corpus, facts, kind, questions
from agentgym_envs.errors import ArgumentError, EnvFailure, TaskError, UnknownName
from agentgym_envs.tasks import SPLITS, split_of

DOCS = [
    Passage("0", "Ada", "Ada wrote the first program for a machine that was never built"),
    Passage("1", "Babbage", "Babbage designed the machine and asked Ada for notes"),
    Passage("2", "Loom", "The loom was driven by punched cards"),
    Passage("3", "Cards", "Punched cards punched by hand"),
    Passage("4", "Twin", "identical words"),
    Passage("5", "Twin", "identical words"),
]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "corpus.jsonl").write_text(
        "".join(json.dumps({"id": p.id, "contents": f'"{p.title}"\n{p.text}'}) + "\n" for p in DOCS)
    )
    rows = [{"question": "Who wrote the first program?", "golden_answers": ["Ada", "Ada Lovelace"]}]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return {
        "corpus": str(tmp_path / "corpus.jsonl"),
        "questions": {"train": str(tmp_path / "q.jsonl")},
    }


def bm25(query, docs):
    """Textbook BM25 (Robertson and Zaragoza, 2009) with k1 = 1.2 and b = 0.75, over plain words."""
    bags = [Counter(re.findall(r"\w+", text.lower())) for text in docs]
    average = sum(map(Counter.total, bags)) / len(bags)

    def score(bag):
        total = 0.0
        for word in query.lower().split():
            n = sum(word in b for b in bags)
            idf = math.log(1 + (len(bags) - n + 0.5) / (n + 0.5))
            total += (
                idf * bag[word] * 2.2 / (bag[word] + 1.2 * (0.25 + 0.75 * bag.total() / average))
            )
        return total

    return [score(bag) for bag in bags]


@pytest.mark.parametrize(
    "query", ["machine", "punched cards", "machine program", "loom hand cards"]
)
def test_the_order_is_that_of_bm25_by_hand(query):
    plain = [Passage(p.id, "", p.text) for p in DOCS]
    found = [p.id for p in BM25Index(build(plain, f"plain {plain}")).search(query, 6)]
    scores = bm25(query, [p.text for p in plain])
    wanted = sorted((i for i in range(6) if scores[i] > 0), key=lambda i: (-round(scores[i], 4), i))
    assert found == [str(i) for i in wanted]


def test_ties_keep_the_order_of_the_corpus_and_odd_queries_find_nothing():
    index = BM25Index(build(DOCS, f"docs {DOCS}"))
    assert [p.id for p in index.search("identical words", 2)] == ["4", "5"]
    for query in ("", "   ", '"', "AND OR NOT", "a:b^2 ~ [x TO y] /re/ \\", "*" * 1000):
        assert isinstance(index.search(query, 3), list)
    assert [p.id for p in index.search("LOOM AND NOT (Ada", 1)] == ["2"], "operators are words"


BUILD = """
import signal, sys, time
from agentgym_envs.envs.search.retrievers import BM25Retriever
# processes in the background do not have it
signal.signal(signal.SIGINT, signal.default_int_handler)
built = []
def on_passage():
    if not built: print("building", flush=True)
    built.append(1)
    for _ in range(int(sys.argv[2])):
        time.sleep(0.01)
search = BM25Retriever(sys.argv[1], on_passage=on_passage)
print([p.id for p in search("punched cards", 2)], len(built))
"""


def start_build(files, pause):
    return subprocess.Popen(
        [sys.executable, "-c", BUILD, files["corpus"], str(pause)],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_of_many_processes_one_builds_the_index_and_all_open_it(files):
    started = [start_build(files, 5) for _ in range(3)]
    answers = sorted(p.communicate()[0].splitlines()[-1] for p in started)
    assert answers == ["['3', '2'] 0", "['3', '2'] 0", "['3', '2'] 6"]
    again = []
    BM25Retriever(files["corpus"], on_passage=lambda: again.append(1))
    assert again == [], "the index is there already"


def test_the_lock_of_a_build_lets_one_in_at_a_time_though_each_removes_its_file(tmp_path):
    inside, most = [], []

    def enter():
        for _ in range(200):
            with alone(tmp_path / "lock"):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=enter, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert most == [1] * 1600
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_build_that_is_interrupted_is_done_again(files, tmp_path, monkeypatch, number):
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))
    process = start_build(files, 1000)
    assert process.stdout.readline() == "building\n"
    process.send_signal(number)
    process.communicate()
    left = [path.name for path in (tmp_path / "cache" / "search").iterdir()]
    assert left == [] or number == signal.SIGKILL, "no draft, no lock"
    assert [p.id for p in BM25Retriever(files["corpus"])("punched cards", 2)] == ["3", "2"]


def test_nothing_writes_into_a_draft_any_more_when_it_is_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path))
    caught = []
    for attempt in range(12):
        with pytest.raises(ZeroDivisionError) as error:
            build(DOCS, f"attempt {attempt}", on_passage=lambda: 1 / 0)
        caught.append(error)  # the frames of the error hold the writer
    assert list((tmp_path / "search").iterdir()) == []


def test_environments_of_a_process_share_one_open_index(files):
    first, second, other = (
        BM25Retriever(files["corpus"]),
        BM25Retriever(files["corpus"]),
        BM25Retriever(),
    )
    assert first.index is second.index
    assert first.index is not other.index


def test_a_changed_corpus_is_another_index(files, tmp_path):
    before = file_key(tmp_path / "corpus.jsonl")
    with open(files["corpus"], "a") as file:
        file.write(json.dumps({"id": "9", "contents": '"New"\nzebra'}) + "\n")
    assert file_key(tmp_path / "corpus.jsonl") != before
    assert [p.title for p in BM25Retriever(files["corpus"])("zebra", 1)] == ["New"]


def test_the_protocol_is_search_r1s(files):
    env = gymnasium.make("agentgym/Search-v1", **files)
    observation, info = env.reset(seed=1)
    assert observation == "Question: Who wrote the first program?"
    observation, reward, terminated, _, info = env.step(
        "I look. <search>punched cards</search> <answer>Ada</answer>"
    )
    assert observation.startswith(
        "\n\n<information>Doc 1(Title: Cards) Punched cards punched by hand\nDoc 2(Title: Loom) "
    )
    assert observation.endswith("</information>\n\n")
    assert (reward, terminated) == (0.0, False)
    _, reward, terminated, _, info = env.step("<answer>the Ada!</answer>")
    assert (reward, terminated, info["success"], info["f1"]) == (1.0, True, True, 1.0)
    env.close()


def test_a_wrong_answer_ends_the_episode_too(files):
    env = gymnasium.make("agentgym/Search-v1", **files)
    env.reset(seed=1)
    observation, reward, terminated, _, info = env.step("<answer>Ada Byron</answer>")
    assert (reward, terminated, info["success"]) == (0.0, True, False)
    assert info["f1"] == pytest.approx(2 / 3)
    assert "wrong" not in observation.lower(), "the environment does not reveal wrong answers"


@pytest.mark.parametrize(
    "response", ["", "Ada", "<search>never closed", "<answer>", "</search><search>"]
)
def test_a_response_without_a_tag_is_invalid(files, response):
    env = gymnasium.make("agentgym/Search-v1", **files)
    env.reset(seed=1)
    observation, _, terminated, _, info = env.step(response)
    assert info["invalid"]
    assert not terminated
    assert "<search>query</search>" in observation


def test_long_results_are_cut_with_a_mark(tmp_path, files):
    (tmp_path / "long.jsonl").write_text(
        json.dumps({"id": "0", "contents": '"T"\n' + "word " * 5000}) + "\n"
    )
    env = gymnasium.make(
        "agentgym/Search-v1", corpus=str(tmp_path / "long.jsonl"), questions=files["questions"]
    )
    env.reset(seed=1)
    observation, *_ = env.step("<search>word</search>")
    assert len(observation) < 2100
    assert "… (cut)</information>" in observation


GOOD = json.dumps(
    {
        "result": [
            [
                {"document": {"id": p.id, "contents": f'"{p.title}"\n{p.text}'}, "score": 1.0}
                for p in DOCS[:2]
            ]
        ]
    }
).encode()


class Server(BaseHTTPRequestHandler):
    """Answers each request with the next line of the plan, then always with the last line.

    A line is (status, headers, pieces of the body).
    """

    seen: list = []
    plan: list = []

    def do_POST(self):
        Server.seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        # Else a small answer could decompress to a large one.
        assert self.headers["Accept-Encoding"] == "identity"
        status, headers, pieces = Server.plan.pop(0) if len(Server.plan) > 1 else Server.plan[0]
        if status is None:  # ends the connection with a reset
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # the client has closed the connection
            for piece in pieces:
                self.wfile.write(piece)
                self.wfile.flush()

    def finish(self):
        with suppress(OSError):
            super().finish()

    def log_message(self, *args):
        pass


def slowly():
    for _ in range(100):
        time.sleep(0.05)
        yield b" "


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(search_server, "BACKOFF", 0.01)
    Server.seen, Server.plan = [], [(200, {}, [GOOD])]
    with StubServer(("127.0.0.1", 0), Server) as http:
        threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}/retrieve"
        http.shutdown()


@pytest.fixture
def retrieve(server):
    retriever = HTTPRetriever(server)
    yield retriever
    retriever.close()


def test_a_server_with_search_r1s_protocol(server, files):
    env = gymnasium.make(
        "agentgym/Search-v1", retriever=server, questions=files["questions"], topk=2
    )
    env.reset(seed=1)
    observation, *_ = env.step("<search>anything</search>")
    assert Server.seen == [{"queries": ["anything"], "topk": 2, "return_scores": True}]
    assert "Doc 2(Title: Babbage) Babbage designed" in observation
    Server.plan = [(200, {}, [b"<html>"])]
    with pytest.raises(EnvFailure, match=r"retriever http.* failed"):
        env.step("<search>again</search>")
    env.close()


@pytest.mark.parametrize(
    "trouble",
    [(500, {}, []), (503, {}, []), (429, {"Retry-After": "0"}, []), (408, {}, []), (None, {}, [])],
)
def test_what_may_pass_is_tried_again(retrieve, trouble):
    Server.plan = [trouble, trouble, (200, {}, [GOOD])]
    assert [p.id for p in retrieve("x", 2)] == ["0", "1"]
    assert len(Server.seen) == 3


@pytest.mark.parametrize(
    ("trouble", "message", "asked"),
    [
        ((500, {}, []), "failed, try 4 of 4: it answered 500", 4),
        ((None, {}, []), "failed, try 4 of 4: .*Error", 4),
        ((429, {"Retry-After": "3600"}, []), "failed, try 1 of 4: it answered 429", 1),
        ((404, {}, []), "it answered 404", 1),
        ((307, {"Location": "http://127.0.0.1:9/"}, []), "it answered 307", 1),
        ((200, {}, [b"{"]), "does not follow the protocol: JSONDecodeError", 1),
        ((200, {}, [b"\xff\xfe\x00"]), "does not follow the protocol: UnicodeDecodeError", 1),
        ((200, {}, [b"[" * 100_000]), "does not follow the protocol: RecursionError", 1),
        ((200, {}, [b'{"result": []}']), "does not follow the protocol: IndexError", 1),
        ((200, {}, [b'{"result": [{"a": 1}]}']), "does not follow the protocol", 1),
        ((200, {}, [b'{"result": [["text"]]}']), "does not follow the protocol: AttributeError", 1),
        (
            (200, {}, [b'{"result": [[{"contents": null}]]}']),
            "does not follow the protocol: TaskError",
            1,
        ),
        (
            (200, {"Content-Encoding": "gzip"}, [gzip.compress(b" " * 10**8, mtime=0)]),
            "does not follow the protocol",
            1,
        ),
    ],
)
def test_what_does_not_is_a_failure_at_once(retrieve, trouble, message, asked):
    Server.plan = [trouble]
    with pytest.raises(EnvFailure, match=message) as caught:
        retrieve("x", 2)
    assert len(Server.seen) == asked
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


def test_an_answer_without_end_is_given_up(retrieve):
    Server.plan = [(200, {}, itertools.repeat(b" " * 2**16))]
    with raises(EnvFailure, "16777216"):
        retrieve("x", 2)


def test_a_slow_answer_is_given_up_in_time(retrieve, monkeypatch):
    monkeypatch.setattr(search_server, "SECONDS", 0.3)
    Server.plan = [(200, {}, slowly())]
    start = time.monotonic()
    with raises(EnvFailure, "0.3 s"):
        retrieve("x", 2)
    assert time.monotonic() - start < 3


def test_a_silent_server_is_given_up_in_time(retrieve, monkeypatch):
    monkeypatch.setattr(search_server, "SECONDS", 0.3)
    Server.plan = [(200, {}, (time.sleep(5) for _ in range(1)))]
    start = time.monotonic()
    with raises(EnvFailure, "ReadTimeout"):
        retrieve("x", 2)
    assert time.monotonic() - start < 3


def test_half_a_surrogate_pair_is_replaced(retrieve):
    Server.plan = [(200, {}, [json.dumps({"result": [[{"contents": "T\ud800\nx"}]]}).encode()])]
    assert retrieve("x", 1) == [Passage("", "T?", "x")]


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1/r", True),
        ("http://127.0.0.1/r", True),
        ("http://127.9.9.9/r", True),
        ("http://[::1]:8000/r", True),
        ("http://10.0.0.1/r", False),
        ("http://localhost.example.com/r", False),
    ],
)
def test_proxies_are_for_other_machines(monkeypatch, url, local):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    retriever = HTTPRetriever(url)
    assert (
        retriever._client._transport_for_url(httpx2.URL(url)) is retriever._client._transport
    ) == local
    retriever.close()


def test_a_server_on_this_machine_is_asked_past_a_proxy(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    retriever = HTTPRetriever(server)
    assert len(retriever("x", 2)) == 2
    retriever.close()


def test_a_server_that_is_not_there_is_a_failure_and_no_reward(files, monkeypatch):
    monkeypatch.setattr(search_server, "BACKOFF", 0.01)
    env = gymnasium.make(
        "agentgym/Search-v1", retriever="http://127.0.0.1:9/retrieve", questions=files["questions"]
    )
    env.reset(seed=1)
    with raises(EnvFailure, "4 of 4", "ConnectError"):
        env.step("<search>anything</search>")
    env.close()


def test_a_retriever_that_is_no_url_is_refused(files):
    with raises(ValueError, "'localhost:8000'"):
        gymnasium.make(
            "agentgym/Search-v1", retriever="localhost:8000", questions=files["questions"]
        )


def test_any_callable_retrieves(files):
    env = gymnasium.make(
        "agentgym/Search-v1",
        retriever=lambda query, k: DOCS[:k],
        questions=files["questions"],
        topk=1,
    )
    env.reset(seed=1)
    assert "Doc 1(Title: Ada)" in env.step("<search>x</search>")[0]


@pytest.mark.parametrize(
    ("name", "text", "answers"),
    [
        (
            "flashrag.jsonl",
            '{"id": "test_0", "question": "q?", "golden_answers": ["a", "b"]}\n',
            ("a", "b"),
        ),
        ("nq.jsonl", '{"question": "q?", "answer": ["a", "b"]}\n', ("a", "b")),
        (
            "triviaqa.json",
            (
                '{"Data": [{"Question": "q?", "QuestionId": "t1", "Answer": {"Value": "a",'
                ' "Aliases": ["a", "b"]}}]}'
            ),
            ("a", "b"),
        ),
        ("popqa.tsv", 'id\tquestion\tpossible_answers\n7\tq?\t"[""a"", ""b""]"\n', ("a", "b")),
        (
            "hotpotqa.json",
            '[{"_id": "5a", "question": "q?", "answer": "a", "type": "bridge"}]',
            ("a",),
        ),
        ("2wiki.json", '[{"_id": "8b", "question": "q?", "answer": "a", "evidences": []}]', ("a",)),
        (
            "musique.jsonl",
            (
                '{"id": "2hop__1", "question": "q?", "answer": "a", "answer_aliases": ["b"],'
                ' "answerable": true}\n{"id": "2hop__2", "question": "no?", "answer": "x",'
                ' "answer_aliases": [], "answerable": false}\n'
            ),
            ("a", "b"),
        ),
        ("bamboogle.csv", "Question,Answer\nq?,a\n", ("a",)),
    ],
)
def test_the_data_sets_own_files(tmp_path, name, text, answers):
    (tmp_path / name).write_text(text)
    (question,) = read_questions(tmp_path / name)
    assert question.text == "q?"
    assert question.answers == answers
    assert question.id.startswith(name.partition(".")[0])


def test_a_file_of_questions_is_split_by_the_hash_of_their_ids(tmp_path):
    path = tmp_path / "many.jsonl"
    path.write_text(
        "".join(
            json.dumps({"id": n, "question": f"q{n}?", "answer": "a"}) + "\n" for n in range(200)
        )
    )
    worlds = {
        split: gymnasium.make("agentgym/Search-v1", questions=str(path), split=split).unwrapped
        for split in SPLITS
    }
    ids = {split: set(world.task_ids) for split, world in worlds.items()}
    assert len(set.union(*ids.values())) == sum(map(len, ids.values())) == 200
    assert 130 < len(ids["train"]) < 190
    for split in SPLITS:
        assert all(split_of(task_id) == split for task_id in ids[split])
    assert (
        len(
            gymnasium.make(
                "agentgym/Search-v1", questions={"test": str(path)}, split="test"
            ).unwrapped.task_ids
        )
        == 200
    )


def test_each_split_can_have_a_file_of_its_own(tmp_path):
    for split in ("train", "test"):
        (tmp_path / f"{split}.jsonl").write_text(
            json.dumps({"question": f"{split}?", "answer": "a"}) + "\n"
        )
    files = {split: str(tmp_path / f"{split}.jsonl") for split in ("train", "test")}
    for split in files:
        env = gymnasium.make("agentgym/Search-v1", questions=files, split=split)
        assert env.unwrapped.task_ids == (f"{split}-0",)
        assert env.reset(seed=1)[0] == f"Question: {split}?"
    with raises(TaskError, "'dev'", "questions={'dev': 'FILE'}"):
        gymnasium.make("agentgym/Search-v1", questions=files, split="dev")
    with raises(UnknownName, "'tests'"):
        gymnasium.make("agentgym/Search-v1", questions={"tests": files["test"]})


def test_two_files_with_one_name_can_be_two_splits(tmp_path):
    files = {}
    for split, folder in (("train", "a"), ("test", "b")):
        (tmp_path / folder).mkdir()
        files[split] = tmp_path / folder / "nq.jsonl"
        files[split].write_text(json.dumps({"question": f"{split}?", "answer": "a"}) + "\n")
    for split in files:
        env = gymnasium.make("agentgym/Search-v1", questions=files, split=split)
        assert env.unwrapped.task_ids == (f"{split}-nq-0",)
        assert env.reset(seed=1)[0] == f"Question: {split}?"


def test_one_file_cannot_be_two_splits(tmp_path):
    (tmp_path / "nq.jsonl").write_bytes(ROW)
    with pytest.raises(TaskError, match="has the same file for two splits"):
        gymnasium.make(
            "agentgym/Search-v1",
            questions={
                "train": str(tmp_path / "nq.jsonl"),
                "test": str(tmp_path / "." / "nq.jsonl"),
            },
        )


@pytest.mark.parametrize(
    "keywords",
    [
        {"questions": 5},
        {"questions": ["q.jsonl"]},
        {"questions": {"train": None}},
        {"questions": {1: "q.jsonl"}},
        {"topk": "3"},
        {"topk": 1.5},
        {"topk": True},
        {"topk": 0},
        {"retriever": 5},
        {"corpus": 3},
        {"corpus": b"c.jsonl"},
    ],
)
def test_a_keyword_of_the_wrong_type_is_refused_at_construction(files, keywords):
    (key,) = keywords
    with raises(ArgumentError, key):
        gymnasium.make("agentgym/Search-v1", **({"questions": files["questions"]} | keywords))


def test_paths_may_be_path_objects(files, tmp_path):
    env = gymnasium.make(
        "agentgym/Search-v1",
        corpus=tmp_path / "corpus.jsonl",
        questions={"train": tmp_path / "q.jsonl"},
    )
    env.reset(seed=1)
    assert "Title: Ada" in env.step("<search>wrote program</search>")[0]


ROW = b'{"question": "q?", "answer": ["a"]}\n'


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl", ROW + b'{"question": "q?"}\n', r"a\.jsonl:2 has no question or no answer"),
        ("a.jsonl", b"{", r"a\.jsonl:1 is not JSON: .*, column 2"),
        ("a.jsonl", b"", r"a\.jsonl:1: the file has no questions"),
        ("a.jsonl", b"\n\n", r"a\.jsonl:1: the file has no questions"),
        ("a.jsonl", b"[1]\n", r"a\.jsonl:1 has no question"),
        ("a.jsonl", b'{"question": null, "answer": "a"}\n', r"a\.jsonl:1 has no question"),
        (
            "a.jsonl",
            b'{"question": {"text": "q?"}, "answer": "a"}\n',
            r"a\.jsonl:1 has no question",
        ),
        (
            "a.jsonl",
            b'{"question": "q?", "answer": [null]}\n',
            r"a\.jsonl:1: an answer must be a text or a number, not None",
        ),
        (
            "a.jsonl",
            b'{"question": "q?", "answer": true}\n',
            r"a\.jsonl:1: an answer must be a text or a number, not True",
        ),
        (
            "a.jsonl",
            b'{"question": "q?", "answer": {"text": "a"}}\n',
            r"a\.jsonl:1: an answer must be .*, not \{'text': 'a'\}",
        ),
        (
            "a.jsonl",
            b'{"question": "q?", "answer": [["a"]]}\n',
            r"a\.jsonl:1: an answer must be .*, not \['a'\]",
        ),
        (
            "a.jsonl",
            ROW + b'{"id": 0, "question": "q?", "answer": "a"}\n',
            r"a\.jsonl:2 has the same id as an earlier question: 0",
        ),
        (
            "a.jsonl",
            b'{"question": "caf\xe9?", "answer": "a"}\n',
            r"a\.jsonl:1 is not UTF-8 \(byte 0xe9\)",
        ),
        ("a.jsonl", "\ufeff".encode("utf-16") + b"x", r"a\.jsonl:1 is not UTF-8"),
        ("a.jsonl", b"[" * 100_000, r"a\.jsonl:1 is JSON that cannot be read"),
        ("a.jsonl", b"9" * 5000, r"a\.jsonl:1 is JSON that cannot be read"),
        (
            "a.jsonl",
            b"PAR1" + b"\x00" * 20 + b"PAR1",
            r"a\.jsonl:1 is parquet; convert it to JSON lines",
        ),
        ("a.jsonl.gz", gzip.compress(ROW * 9, mtime=0)[:-12], r"a\.jsonl\.gz:\d+ is damaged gzip"),
        (
            "a.json",
            b'[{"question": "q?", "answer": "a"}, {}]',
            r"a\.json: record 2 has no question",
        ),
        ("a.json", b'[\n{"question": "q?"\n', r"a\.json:3 is not JSON"),
        ("a.json", b'{"question": "q?"}', r"a\.json:1 is not a list of records"),
        (
            "a.tsv",
            b'question\tpossible_answers\nq?\t"[""a""]"\nq?\ta or b\n',
            r"a\.tsv:3 is not JSON",
        ),
        ("a.csv", b"Question,Answer\nq?\n", r"a\.csv:2 has no question or no answer"),
        (
            "a.csv",
            b"Question,Answer\nq?," + b"a" * 200_000,
            r"a\.csv:2 cannot be read: field larger",
        ),
    ],
)
def test_broken_question_files_are_named_with_the_line(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(TaskError, match=message) as caught:
        gymnasium.make("agentgym/Search-v1", questions=str(tmp_path / name), corpus="unused")
    assert "\n" not in str(caught.value)


PASSAGE = b'{"id": "0", "contents": "\\"T\\"\\nx"}\n'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"c\.jsonl:1: the file has no passages"),
        (b"\n\n", r"c\.jsonl:1: the file has no passages"),
        (
            PASSAGE + b'{"id": "1"}\n',
            r"c\.jsonl:2 is not a passage: 'contents' is 'None', not a text",
        ),
        (
            PASSAGE + b'{"id": "1", "contents": null}\n',
            r"c\.jsonl:2 is not a passage: 'contents' is 'None'",
        ),
        (PASSAGE + b'{"contents": "T\\nx"}\n', r"c\.jsonl:2 is not a passage; a line looks like"),
        (PASSAGE + b"[]\n", r"c\.jsonl:2 is not a passage"),
        (
            PASSAGE + b'{"id": "1", "contents": "caf\xe9"}\n',
            r"c\.jsonl:2 is not UTF-8 \(byte 0xe9\)",
        ),
        (PASSAGE + b"{\n", r"c\.jsonl:2 is not JSON"),
        (b"PAR1....", r"c\.jsonl:1 is parquet"),
        (None, r"cannot read .*c\.jsonl': No such file or directory"),
    ],
)
def test_broken_corpora_are_named_with_the_line_at_construction(files, tmp_path, data, message):
    path = tmp_path / "c.jsonl"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(TaskError, match=message) as caught:
        gymnasium.make("agentgym/Search-v1", questions=files["questions"], corpus=str(path))
    assert "\n" not in str(caught.value)


def test_a_corpus_that_is_broken_further_on_is_named_as_it_is_indexed(files, tmp_path):
    (tmp_path / "c.jsonl").write_bytes(PASSAGE * 1500 + b"{}\n")
    env = gymnasium.make(
        "agentgym/Search-v1", questions=files["questions"], corpus=str(tmp_path / "c.jsonl")
    )
    with raises(TaskError, "c.jsonl:1501"):
        env.reset(seed=1)


@pytest.mark.parametrize(
    "wrap",
    [lambda data: b"\xef\xbb\xbf" + data, gzip.compress, lambda d: d.replace(b"\n", b"\r\n")],
)
def test_byte_order_marks_gzip_and_windows_lines_are_read(tmp_path, wrap):
    (tmp_path / "c.jsonl").write_bytes(wrap(PASSAGE + PASSAGE.replace(b"x", b"\\ud800 y")))
    assert list(read_corpus(tmp_path / "c.jsonl")) == [
        Passage("0", "T", "x"),
        Passage("0", "T", "? y"),
    ]
    (tmp_path / "q.tsv.gz").write_bytes(wrap(b'id\tquestion\tpossible_answers\n7\tq?\t"[""a""]"\n'))
    assert [(q.id, q.text, q.answers) for q in read_questions(tmp_path / "q.tsv.gz")] == [
        ("q-7", "q?", ("a",))
    ]


def test_missing_files_are_named(tmp_path):
    with raises(TaskError, "No such file"):
        read_questions(tmp_path / "none.jsonl")
    with raises(TaskError, "Is a directory"):
        read_questions(tmp_path)
    with pytest.raises(TaskError, match="give a question file for your corpus"):
        gymnasium.make("agentgym/Search-v1", corpus=str(tmp_path / "c.jsonl"))


def test_quotation_marks_around_a_title_are_not_shown(tmp_path, files):
    (tmp_path / "c.jsonl").write_text(
        json.dumps({"id": "0", "contents": '"The "Mary" log"\nA log.'}) + "\n"
    )
    env = gymnasium.make(
        "agentgym/Search-v1", questions=files["questions"], corpus=str(tmp_path / "c.jsonl")
    )
    env.reset(seed=1)
    assert 'Doc 1(Title: The "Mary" log) A log.' in env.step("<search>log</search>")[0]


PIECES = (
    "<search>",
    "</search>",
    "<answer>",
    "</answer>",
    "<",
    ">",
    "/",
    "search",
    "answer",
    "\n",
    "x",
    "<SEARCH>",
)


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_the_first_closed_tag_is_that_of_search_r1s_expression(response):
    match = re.search(r"<(search|answer)>(.*?)</\1>", response, re.DOTALL)
    assert first_tag(response) == (match and (match[1], match[2]))


@pytest.mark.parametrize(
    "response", ["<answer>" * 32_000, "<answer></search>" * 20_000, "<search><answer>" * 20_000]
)
def test_a_response_of_open_tags_is_read_in_linear_time(response, files):
    """A regular expression with a back-reference took quadratic time: half a minute each."""
    env = gymnasium.make("agentgym/Search-v1", **files)
    env.reset(seed=1)
    before = time.process_time()
    *_, info = env.step(response)
    assert info["invalid"]
    assert time.process_time() - before < 1


def test_the_first_of_two_answers_counts(files):
    env = gymnasium.make("agentgym/Search-v1", **files)
    env.reset(seed=1)
    _, reward, terminated, *_ = env.step("<answer>Babbage</answer> or rather <answer>Ada</answer>")
    assert (reward, terminated) == (0.0, True)


def test_the_embedded_corpus_is_large_and_its_answers_are_in_the_gold_passages():
    passages = {p.id: p for p in corpus()}
    rows = questions()
    assert len(passages) == len(corpus()) >= 3000
    assert len({q.id for q in rows}) == len(rows) >= 2000
    hops = Counter(len(q.gold) for q in rows)
    assert min(hops[n] for n in (1, 2, 3)) > 600
    for q in rows:
        assert q.answers[0] == q.answers[0].strip()
        assert q.answers[0] in passages[q.gold[-1]].text
        for before, after in zip(q.gold, q.gold[1:], strict=False):
            if after.startswith("country-") or after.startswith("city-"):
                assert passages[after].title in passages[before].text, "each passage names the next"
            assert passages[after].title not in q.text, "the question does not name it"


@pytest.mark.parametrize("split", SPLITS)
def test_no_constant_answers_many_questions(split):
    for hops in (1, 2, 3):
        answers = Counter(
            q.answers for q in questions() if len(q.gold) == hops and split_of(q.id) == split
        )
        assert answers.most_common(1)[0][1] <= 0.1 * answers.total(), hops
    assert max(Counter((kind(q), q.answers) for q in questions()).values()) == 12


@pytest.mark.parametrize("split", SPLITS)
def test_the_oracle_is_shown_each_gold_passage_in_turn_before_it_answers(split):
    passages, golds = {p.id: p for p in corpus()}, {q.id: q.gold for q in questions()}
    env = gymnasium.make("agentgym/Search-v1", split=split)
    for task_id in env.unwrapped.task_ids[::10]:
        env.reset(options={"task_id": task_id})
        *shown, _ = [env.step(action)[0] for action in env.unwrapped.oracle()]
        for observation, gold in zip(shown, golds[task_id], strict=True):
            assert passages[gold].text in observation


def test_facts_that_anybody_knows():
    countries, elements = facts()["countries"], {e.name: e for e in facts()["elements"]}
    assert (countries["FR"].capital, countries["JP"].currency, countries["PT"].neighbours) == (
        "Paris",
        "Yen",
        ["Spain"],
    )
    assert (elements["Gold"].symbol, elements["Gold"].number, elements["Oxygen"].year) == (
        "Au",
        79,
        1774,
    )
    assert next(c for c in facts()["cities"] if c.name == "Cairo").code == "EG"


def test_one_search_with_the_question_does_not_answer_questions_of_several_hops():
    retrieve = BM25Retriever()
    several = [q for q in questions() if len(q.gold) > 1]
    shown = sum(
        any(q.answers[0] in p.text and p.id == q.gold[-1] for p in retrieve(q.text, 3))
        for q in several
    )
    assert shown / len(several) < 0.05


def test_scores_by_hand():
    assert normalise("The  U.S.A., an answer!") == "usa answer"
    assert exact_match("the Beatles", ["Beatles"]) == 1.0
    assert exact_match("Beatle", ["Beatles"]) == 0.0
    assert f1("red green blue", ["green blue yellow white"]) == pytest.approx(2 * 2 / 7)
    assert f1("", ["x"]) == 0.0


@given(st.text(), st.lists(st.text(), min_size=1, max_size=3))
def test_a_match_is_the_best_f1(answer, gold):
    assert 0.0 <= f1(answer, gold) <= 1.0
    if exact_match(answer, gold) and normalise(answer):
        assert f1(answer, gold) == 1.0
