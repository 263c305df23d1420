"""The reference of the configuration, which `docs/generate.py` writes."""

import sys
from pathlib import Path

import pytest

from agentgym_train import plugins
from agentgym_train.errors import ConfigError

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def sections(tmp_path_factory):
    """The rows of each section, as lists of cells."""
    folder = tmp_path_factory.mktemp("docs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path, str(DOCS)])
        import generate

        patch.setattr(generate, "DOCS", folder)
        generate.write_configuration()
    found = {}
    for line in (folder / "reference" / "configuration.md").read_text().splitlines():
        if line.startswith("#"):
            rows = found.setdefault(line.strip("# `"), [])
        elif line.startswith("| `"):
            rows.append([cell.strip() for cell in line.replace("\\|", "").split("|")[1:-1]])
    return found


def test_each_key_has_a_meaning(sections):
    assert [(name, row) for name, rows in sections.items() for row in rows if not row[-1]] == []


@pytest.mark.parametrize(
    ("plugin", "kind"), [("composed", plugins.CURRICULUM), ("mixture", plugins.SOURCE)]
)
def test_no_key_of_a_plugin_is_unknown(sections, plugin, kind):
    keys = [key.strip("`") for key, *_ in sections[plugin]]
    assert "parts" in keys
    with pytest.raises(ConfigError) as error:
        plugins.make(kind, {"name": plugin, **dict.fromkeys(keys, 7)})
    assert "unknown" not in str(error.value)


def test_keys_of_a_reward_models_run_are_there(sections):
    keys = [f"`{key}`" for key in ("files", "pairs", "held_out", "every")]
    assert [row[0] for row in sections["[comparisons]"]] == keys
