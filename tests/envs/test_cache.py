import os
import signal
import subprocess
import sys
import textwrap

import pytest
from some import full

from agentgym_envs import cache

BUILDER = """
    import os, pathlib, sys, time
    from agentgym_envs import cache
    with cache.build_once(pathlib.Path(sys.argv[1])) as draft:
        (draft / "part").write_text("half")
        print(draft, flush=True)
        for _ in range(600):  # a signal just before a long sleep would be handled after it
            time.sleep(0.1)
    """


def start_builder(target):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(BUILDER), target],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    draft = process.stdout.readline().strip()
    return process, draft


def end(process, number):
    process.send_signal(number)
    status = process.wait(20)
    process.stdout.close()
    return status


def test_a_build_appears_whole_and_only_at_its_end(tmp_path):
    target = tmp_path / "new" / "thing"
    with cache.build_once(target) as draft:
        (draft / "a").write_text("b")
        assert not target.exists()
    assert (target / "a").read_text() == "b"
    assert os.listdir(target.parent) == ["thing"]


def test_the_first_of_two_builds_wins(tmp_path):
    target = tmp_path / "thing"
    with cache.build_once(target) as slow:
        (slow / "by").write_text("slow")
        with cache.build_once(target) as fast:
            (fast / "by").write_text("fast")
    assert (target / "by").read_text() == "fast"
    assert os.listdir(tmp_path) == ["thing"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, OSError])
def test_a_build_that_fails_leaves_nothing_and_keeps_its_error(tmp_path, error):
    def build():
        with cache.build_once(tmp_path / "thing") as draft:
            (draft / "part").write_text("half")
            raise error

    with pytest.raises(error):
        build()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, *full(signal.SIGINT)])
def test_a_signal_leaves_no_draft(tmp_path, number):
    process, draft = start_builder(tmp_path / "thing")
    assert os.path.exists(draft)
    assert end(process, number) != 0
    assert os.listdir(tmp_path) == []


def test_the_draft_of_a_killed_process_goes_with_the_next_build_and_that_of_a_living_one_stays(
    tmp_path,
):
    dead, left = start_builder(tmp_path / "one")
    end(dead, signal.SIGKILL)
    alive, kept = start_builder(tmp_path / "two")
    for draft in (left, kept):
        os.utime(draft, (0, 0))
    with cache.build_once(tmp_path / "three"):
        pass
    assert not os.path.exists(left)
    assert os.path.exists(kept)
    end(alive, signal.SIGTERM)
    assert os.listdir(tmp_path) == ["three"]


def test_a_process_can_drop_its_drafts_before_a_hard_exit(tmp_path):
    with cache.build_once(tmp_path / "thing") as draft:
        cache.discard_drafts()
        assert not draft.exists()
        draft.mkdir()  # what the block would go on to write
    assert (tmp_path / "thing").exists()
