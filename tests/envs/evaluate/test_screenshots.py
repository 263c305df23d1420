import pytest
from evaluations import evaluate

from agentgym_envs.agents.base import AgentFactory
from agentgym_envs.evaluate.plan import plan

pytestmark = pytest.mark.slow


@pytest.mark.full
@pytest.mark.browser
def test_each_turn_on_the_web_has_the_picture_of_its_page(tmp_path):
    items = plan(
        "agentgym/MiniWoB-v1", tasks=["click-button-1", "click-link-1"], split="train", attempts=2
    )[0]
    assert len(items) == 4
    factory = AgentFactory("look", lambda observation, info: "scroll [down]", {})
    rows = evaluate(tmp_path, items, factory, horizon=2, screenshots=True, workers=1).record.rows
    names = [turn["screenshot"] for row in rows for turn in row["turns"]]
    assert len(set(names)) == 8
    assert all((tmp_path / "run" / name).read_bytes().startswith(b"\x89PNG") for name in names)
