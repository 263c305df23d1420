import json
import math
import re
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer

import gymnasium
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_envs.envs.search.datasets import read_corpus, read_questions
from agentgym_envs.envs.search.index import Index, build, file_key
from agentgym_envs.envs.search.retrievers import BM25
from agentgym_envs.envs.search.scoring import exact_match, f1, normalise
from agentgym_envs.envs.search.world import Passage, corpus, facts, questions
from agentgym_envs.errors import TaskError

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
    return {"corpus": str(tmp_path / "corpus.jsonl"), "questions": str(tmp_path / "q.jsonl")}


def bm25(query, docs):
    """BM25 by the textbook (Robertson and Zaragoza, 2009), k1 = 1.2, b = 0.75, over plain words."""
    bags = [Counter(re.findall(r"\w+", text.lower())) for text in docs]
    average = sum(map(Counter.total, bags)) / len(bags)

    def score(bag):
        total = 0.0
        for word in query.lower().split():
            n = sum(word in b for b in bags)
            idf = math.log(1 + (len(bags) - n + 0.5) / (n + 0.5))
            total += idf * bag[word] * 2.2 / (bag[word] + 1.2 * (0.25 + 0.75 * bag.total() / average))
        return total

    return [score(bag) for bag in bags]


@pytest.mark.parametrize("query", ["machine", "punched cards", "machine program", "loom hand cards"])
def test_the_order_is_that_of_bm25_by_hand(query):
    plain = [Passage(p.id, "", p.text) for p in DOCS]
    found = [p.id for p in Index(build(plain, f"plain {plain}")).search(query, 6)]
    scores = bm25(query, [p.text for p in plain])
    wanted = sorted((i for i in range(6) if scores[i] > 0), key=lambda i: (-round(scores[i], 4), i))
    assert found == [str(i) for i in wanted]


def test_ties_keep_the_order_of_the_corpus_and_odd_queries_find_nothing():
    index = Index(build(DOCS, f"docs {DOCS}"))
    assert [p.id for p in index.search("identical words", 2)] == ["4", "5"]
    for query in ("", "   ", '"', "AND OR NOT", "a:b^2 ~ [x TO y] /re/ \\", "*" * 1000):
        assert isinstance(index.search(query, 3), list)
    assert [p.id for p in index.search("LOOM AND NOT (Ada", 1)] == ["2"], "operators are words"


def test_many_processes_open_an_index_that_is_built_once(files):
    code = (
        "import sys; from agentgym_envs.envs.search.retrievers import BM25\n"
        "built = []\n"
        "print([p.id for p in BM25(sys.argv[1], on_passage=lambda: built.append(1))('punched cards', 2)], len(built))"
    )
    command = [sys.executable, "-c", code, files["corpus"]]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {p.communicate()[0].strip() for p in both}
    assert {a.rpartition(" ")[0] for a in answers} == {"['3', '2']"}
    again = []
    BM25(files["corpus"], on_passage=lambda: again.append(1))
    assert again == [], "the index is there already"


def test_a_changed_corpus_is_another_index(files, tmp_path):
    before = file_key(tmp_path / "corpus.jsonl")
    with open(files["corpus"], "a") as file:
        file.write(json.dumps({"id": "9", "contents": '"New"\nzebra'}) + "\n")
    assert file_key(tmp_path / "corpus.jsonl") != before
    assert [p.title for p in BM25(files["corpus"])("zebra", 1)] == ["New"]


def test_the_protocol_is_search_r1s(files):
    env = gymnasium.make("agentgym/Search-v0", **files)
    observation, info = env.reset(seed=1)
    assert observation == "Question: Who wrote the first program?"
    observation, reward, terminated, _, info = env.step("I look. <search>punched cards</search> <answer>Ada</answer>")
    assert observation.startswith("\n\n<information>Doc 1(Title: Cards) Punched cards punched by hand\nDoc 2(Title: Loom) ")
    assert observation.endswith("</information>\n\n")
    assert (reward, terminated) == (0.0, False)
    _, reward, terminated, _, info = env.step("<answer>the Ada!</answer>")
    assert (reward, terminated, info["success"], info["f1"]) == (1.0, True, True, 1.0)
    env.close()


def test_a_wrong_answer_ends_the_episode_too(files):
    env = gymnasium.make("agentgym/Search-v0", **files)
    env.reset(seed=1)
    observation, reward, terminated, _, info = env.step("<answer>Ada Byron</answer>")
    assert (reward, terminated, info["success"]) == (0.0, True, False)
    assert info["f1"] == pytest.approx(2 / 3)
    assert "wrong" not in observation.lower(), "the environment is no oracle of answers"


@pytest.mark.parametrize("response", ["", "Ada", "<search>never closed", "<answer>", "</search><search>"])
def test_a_response_without_a_tag_is_invalid(files, response):
    env = gymnasium.make("agentgym/Search-v0", **files)
    env.reset(seed=1)
    observation, _, terminated, _, info = env.step(response)
    assert info["invalid"]
    assert not terminated
    assert "<search>query</search>" in observation


def test_long_results_are_cut_with_a_mark(tmp_path, files):
    (tmp_path / "long.jsonl").write_text(json.dumps({"id": "0", "contents": '"T"\n' + "word " * 5000}) + "\n")
    env = gymnasium.make("agentgym/Search-v0", corpus=str(tmp_path / "long.jsonl"), questions=files["questions"])
    env.reset(seed=1)
    observation, *_ = env.step("<search>word</search>")
    assert len(observation) < 2100
    assert "… (cut)</information>" in observation


class Server(BaseHTTPRequestHandler):
    seen: list = []
    broken = False

    def do_POST(self):
        Server.seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        rows = [{"document": {"id": p.id, "contents": f'"{p.title}"\n{p.text}'}, "score": 1.0} for p in DOCS[:2]]
        body = b"<html>" if Server.broken else json.dumps({"result": [rows]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    Server.seen, Server.broken = [], False
    with HTTPServer(("127.0.0.1", 0), Server) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}/retrieve"
        http.shutdown()


def test_a_server_with_search_r1s_protocol(server, files):
    env = gymnasium.make("agentgym/Search-v0", retriever=server, questions=files["questions"], topk=2)
    env.reset(seed=1)
    observation, *_ = env.step("<search>anything</search>")
    assert Server.seen == [{"queries": ["anything"], "topk": 2, "return_scores": True}]
    assert "Doc 2(Title: Babbage) Babbage designed" in observation
    Server.broken = True
    with pytest.raises(RuntimeError, match=r"retriever http.* failed"):
        env.step("<search>again</search>")
    env.close()


def test_a_server_that_is_not_there_is_a_failure_and_no_reward(files):
    env = gymnasium.make("agentgym/Search-v0", retriever="http://127.0.0.1:9/retrieve", questions=files["questions"])
    env.reset(seed=1)
    with pytest.raises(RuntimeError, match="ConnectError"):
        env.step("<search>anything</search>")
    env.close()


def test_any_callable_retrieves(files):
    env = gymnasium.make("agentgym/Search-v0", retriever=lambda query, k: DOCS[:k], questions=files["questions"], topk=1)
    env.reset(seed=1)
    assert "Doc 1(Title: Ada)" in env.step("<search>x</search>")[0]


@pytest.mark.parametrize(
    ("name", "text", "answers"),
    [
        ("flashrag.jsonl", '{"id": "test_0", "question": "q?", "golden_answers": ["a", "b"]}\n', ("a", "b")),
        ("nq.jsonl", '{"question": "q?", "answer": ["a", "b"]}\n', ("a", "b")),
        (
            "triviaqa.json",
            '{"Data": [{"Question": "q?", "QuestionId": "t1", "Answer": {"Value": "a", "Aliases": ["a", "b"]}}]}',
            ("a", "b"),
        ),
        ("popqa.tsv", 'id\tquestion\tpossible_answers\n7\tq?\t"[""a"", ""b""]"\n', ("a", "b")),
        ("hotpotqa.json", '[{"_id": "5a", "question": "q?", "answer": "a", "type": "bridge"}]', ("a",)),
        ("2wiki.json", '[{"_id": "8b", "question": "q?", "answer": "a", "evidences": []}]', ("a",)),
        (
            "musique.jsonl",
            '{"id": "2hop__1", "question": "q?", "answer": "a", "answer_aliases": ["b"], "answerable": true}\n'
            '{"id": "2hop__2", "question": "no?", "answer": "x", "answer_aliases": [], "answerable": false}\n',
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


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", '{"question": "q?"}\n', "record 1 has no question or no answer"),
        ("a.jsonl", "{", r"a\.jsonl:1 is not JSON"),
        ("a.jsonl", "", "has no questions"),
    ],
)
def test_broken_question_files_are_named(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(TaskError, match=message):
        gymnasium.make("agentgym/Search-v0", questions=str(tmp_path / name), corpus="unused")


def test_broken_corpora_and_missing_files_are_named(tmp_path):
    (tmp_path / "c.jsonl").write_text('{"id": "0", "contents": "\\"T\\"\\nx"}\n{"id": "1"}\n')
    with pytest.raises(TaskError, match=r"c\.jsonl:2 is no passage"):
        list(read_corpus(tmp_path / "c.jsonl"))
    with pytest.raises(TaskError, match="cannot read"):
        read_questions(tmp_path / "none.jsonl")
    with pytest.raises(TaskError, match="give a question file for your own"):
        gymnasium.make("agentgym/Search-v0", corpus=str(tmp_path / "c.jsonl"))


def test_the_embedded_corpus_is_large_and_its_answers_are_in_the_gold_passages():
    passages = {p.id: p for p in corpus()}
    rows = questions()
    assert len(passages) == len(corpus()) >= 3000
    assert len({q.id for q in rows}) == len(rows) >= 2000
    hops = Counter(len(q.gold) for q in rows)
    assert min(hops[n] for n in (1, 2, 3)) > 600
    for q in rows:
        assert q.answers[0] in passages[q.gold[-1]].text
        for before, after in zip(q.gold, q.gold[1:], strict=False):
            if after.startswith("country-") or after.startswith("city-"):
                assert passages[after].title in passages[before].text, "each passage names the next"
            assert passages[after].title not in q.text, "which the question does not"


def test_facts_that_anybody_knows():
    countries, elements = facts()["countries"], {e.name: e for e in facts()["elements"]}
    assert (countries["FR"].capital, countries["JP"].currency, countries["PT"].neighbours) == ("Paris", "Yen", ["Spain"])
    assert (elements["Gold"].symbol, elements["Gold"].number, elements["Oxygen"].year) == ("Au", 79, 1774)
    assert next(c for c in facts()["cities"] if c.name == "Cairo").code == "EG"


def test_one_search_with_the_question_does_not_answer_questions_of_several_hops():
    retrieve = BM25()
    several = [q for q in questions() if len(q.gold) > 1]
    shown = sum(any(q.answers[0] in p.text and p.id == q.gold[-1] for p in retrieve(q.text, 3)) for q in several)
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
