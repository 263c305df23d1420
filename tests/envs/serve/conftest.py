"""A server of WebArena's tasks, on a site of this package behind a port."""

import json

import pytest
from served import serving


def task(number, intent, start, kind, **check):
    checks = {"reference_answers": None, "reference_url": "", "program_html": []}
    return {
        "task_id": number,
        "sites": ["shopping"],
        "start_url": f"__SHOPPING__{start}",
        "intent": intent,
        "intent_template_id": number,
        "storage_state": None,
        "eval": {"eval_types": [kind], **checks, **check},
    }


TASKS = [
    task(
        21,
        "How heavy is this skillet?",
        "/product/7",
        "string_match",
        reference_answers={"must_include": ["700 g"]},
    ),
    task(
        22,
        "Open the skillet.",
        "/search?q=skillet",
        "url_match",
        reference_url="__SHOPPING__/product/7",
    ),
]


@pytest.fixture(scope="module")
def webarena(browser, tmp_path_factory):
    from agentgym_websites.host import Servers

    file = tmp_path_factory.mktemp("webarena") / "test.raw.json"
    file.write_text(json.dumps(TASKS))
    sites = Servers()
    variables = {"SHOPPING": sites.origins["shop"], "WEBARENA_CONFIG": str(file)}
    try:
        options = ("--workers", "1", "--set", "pause=0.0")
        with serving("agentgym/WebArena-v1", *options, **variables) as served:
            yield served
    finally:
        sites.close()
