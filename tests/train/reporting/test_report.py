"""The final table."""

import io

from rich.console import Console

from agentgym_train.reporting import report


def test_the_table_says_of_how_many_episodes_and_how_sure():
    """Half of 100: Wilson's interval is 0.404 to 0.596; of none of 10 it is 0 to 0.278."""
    console = Console(width=100, record=True, file=io.StringIO())
    rows = {
        "after": {"success": 0.5, "score": 0.5, "turns": 3.0, "invalid": 0.25, "episodes": 100},
        "oracle": {"success": 0.0, "score": 0.0, "turns": 1.0, "episodes": 10},
    }
    console.print(report.table(rows))
    shown = [
        " ".join(line.replace("│", " ").split()) for line in console.export_text().splitlines()
    ]
    assert "after RL 100 0.500 (0.40–0.60) 0.500 3.0 25.0%" in shown
    assert "oracle 10 0.000 (0.00–0.28) 0.000 1.0 0.0%" in shown
