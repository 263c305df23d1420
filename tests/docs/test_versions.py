"""The section "Versions" of the families' READMEs: every version of each of our ids has a row."""

import re

import pytest

from agentgym_envs import registry
from agentgym_envs.describe import readme

IDS = sorted(name for name in registry.discover(registry.ENVIRONMENTS) if "agentgym/" in name)


def rows(env_id):
    """Returns the versions and changes that ``agentgym show`` prints for an id."""
    _, _, section = readme(env_id).partition("\n## Versions\n")
    name = re.escape(env_id.rpartition("-v")[0])
    return re.findall(rf"^\| `{name}-v(\d+)` \| (\S.*) \|$", section, re.MULTILINE)


def test_only_the_latest_version_of_an_id_exists():
    names = [env_id.rpartition("-v")[0] for env_id in IDS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("env_id", IDS)
def test_every_version_of_an_id_has_a_row(env_id):
    latest = int(env_id.rpartition("-v")[2])
    assert [int(version) for version, _ in rows(env_id)] == list(range(latest + 1))
