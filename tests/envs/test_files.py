"""A file is replaced in one step, or not at all."""

import os
import stat
import threading

import pytest

from agentgym_envs.files import replacing


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old")
    with replacing(path) as file:
        file.write("new é\n")
        file.flush()
        assert path.read_text() == "old"
        assert sum(each.name.startswith(".a.json.") for each in tmp_path.iterdir()) == 1
    assert path.read_bytes() == "new é\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_an_exception_leaves_the_old_file_and_no_draft(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old")

    def fail():
        with replacing(path) as file:
            file.write("half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "old"


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    with replacing(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_pipe_is_written_to_and_stays(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    with replacing(path) as file:
        file.write("text")
    reader.join(10)
    assert read == ["text"]
    assert stat.S_ISFIFO(path.stat().st_mode)
