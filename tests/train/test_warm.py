"""The warm process: its forks run many commands of the tests."""

import signal

BEGIN = (
    "import os, signal\nfrom tqdm.auto import tqdm\nsignal.alarm(9)\ntqdm.get_lock().acquire()\n"
)


def test_a_command_that_is_killed_with_the_lock_of_progress_bars_stops_no_other(warm, tmp_path):
    for name, end in (
        ("killed", "os.kill(os.getpid(), signal.SIGKILL)"),
        ("after", "print('free')"),
    ):
        (tmp_path / name).write_text(BEGIN + end)
    warm.start(tmp_path / "output", script=tmp_path / "killed")
    assert warm.status() == -signal.SIGKILL
    assert warm.play(tmp_path / "after", tmp_path) == "free\n"
