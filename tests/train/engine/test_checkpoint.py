"""Checkpoints on disk, with an engine that only writes files.

Damaged checkpoints are found, and intact ones stay.
"""

import errno
import json
import os
import resource
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from fake_engine import STATE, FakeEngine, FakeTokenizer, save
from safetensors.torch import save_file
from tokenizers import Tokenizer, models

from agentgym_envs import manifests
from agentgym_train.distributed import Distributed
from agentgym_train.engine import checkpoint
from agentgym_train.errors import RunFolderError
from agentgym_train.files import append, write_whole, writing


def names(run):
    return sorted(p.name for p in (run / "checkpoints").iterdir())


def test_a_checkpoint_is_whole_and_says_what_it_holds(tmp_path):
    folder = save(tmp_path, 2)
    assert manifests.fault(folder) is None
    assert checkpoint.read_state(folder) == STATE
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert manifests.read(folder).files.keys() == files - {"manifest.json"}
    assert {
        "engine/part.pt",
        "model/model.safetensors",
        "model/tokenizer.json",
        "state.json",
    } < files


def test_two_processes_write_one_checkpoint(tmp_path):
    barrier, parts = threading.Barrier(2), [None, None]

    class Two(Distributed):
        def gather(self, value):
            parts[self.rank] = value
            barrier.wait(20)
            values = list(parts)
            barrier.wait(20)
            return values

        def from_main(self, value):
            return self.gather(value() if self.is_main else None)[0]

        def barrier(self):
            barrier.wait(20)

    class Ranked(FakeEngine):
        def __init__(self, rank):
            super().__init__()
            self.distributed = Two()
            self.distributed.rank, self.distributed.size = rank, 2

        def save(self, folder):
            (folder / f"part{self.distributed.rank}.pt").write_bytes(self.content)

        def save_model(self, folder):
            if self.distributed.is_main:
                super().save_model(folder)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda rank: save(tmp_path, 2, engine=Ranked(rank)), range(2))
    assert first == second
    assert manifests.fault(first) is None
    assert manifests.read(first).files.keys() > {"part0.pt", "part1.pt", "model/model.safetensors"}
    assert all(parts)
    assert not parts[0].keys() & parts[1].keys(), "each process reads its share"


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "damage", [truncate, flip, empty, Path.unlink], ids=lambda damage: damage.__name__
)
@pytest.mark.parametrize("file", ["engine/part.pt", "model/model.safetensors", "state.json"])
def test_a_damaged_checkpoint_gives_way_to_the_one_before(tmp_path, damage, file):
    older, newer = save(tmp_path, 2), save(tmp_path, 4)
    damage(newer / file)
    assert checkpoint.latest(tmp_path) == (newer if damage is flip else older), (
        "sizes are looked at whenever one is chosen"
    )
    (line,) = checkpoint.recover(tmp_path)
    assert str(newer) in line
    assert file in line
    assert checkpoint.latest(tmp_path) == older
    assert checkpoint.recover(tmp_path) == []


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"{}", b"7", b"\xff", b"[" * 99_999]
)
def test_a_damaged_manifest_is_damage(tmp_path, content):
    older, newer = save(tmp_path, 2), save(tmp_path, 4)
    (newer / "manifest.json").write_bytes(content)
    assert checkpoint.intact(tmp_path) == [older]
    (line,) = checkpoint.recover(tmp_path)
    assert str(newer) in line
    assert "\n" not in line
    assert checkpoint.latest(tmp_path) == older


def test_other_names_beside_checkpoints_are_ignored(tmp_path):
    """Also when old checkpoints are removed."""
    older, home = save(tmp_path, 2), tmp_path / "checkpoints"
    others = ("step-000008.bak", "step-abc", "step-", "step-3", "corrupt-old", "step--00001")
    for name in others:
        (home / name).mkdir()
    (home / "step-000009").write_text("a file")
    (home / "step-000010").symlink_to(home / "nowhere")
    assert checkpoint.recover(tmp_path) == []
    assert checkpoint.intact(tmp_path) == [older]
    save(tmp_path, 10, keep=1)
    assert names(tmp_path) == sorted([*others, "step-000009", "step-000010"])
    assert checkpoint.latest(tmp_path).name == "step-000010"


def test_a_checkpoint_that_cannot_be_read_is_skipped(tmp_path, monkeypatch):
    """As without permission, which root has anyway."""
    older, newer = save(tmp_path, 2), save(tmp_path, 4)
    opened = Path.open

    def open_some(path, *args, **kwargs):
        if newer in path.parents:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(Path, "open", open_some)
    assert checkpoint.latest(tmp_path) == older
    (line,) = checkpoint.recover(tmp_path)
    assert "Permission denied" in line
    assert checkpoint.latest(tmp_path) == older


def test_a_checkpoint_of_an_earlier_version_is_used_and_said_to_be_one(tmp_path):
    folder = save(tmp_path, 2)
    listed = manifests.read(folder).files
    (folder / "manifest.json").write_text(json.dumps(listed, indent=1))
    (line,) = checkpoint.recover(tmp_path)
    assert "earlier version" in line
    assert checkpoint.latest(tmp_path) == folder
    flip(folder / "engine/part.pt")
    assert "another checksum" in checkpoint.recover(tmp_path)[0]


def test_a_checkpoint_has_copies_of_the_files_of_the_run(tmp_path):
    lines = ['{"step": 1}\n', '{"step": 2}\n', '{"step": 3}\n', '{"step": 2, "cut']
    contents = {
        "config.toml": "a = 1\n",
        "evaluation.json": "{}\n",
        "metrics.jsonl": "".join(lines),
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    folder = save(tmp_path, 2)
    assert (folder / "metrics.jsonl").read_text() == "".join(lines[:2])
    assert (folder / "config.toml").read_text() == "a = 1\n"
    assert manifests.read(folder).files.keys() >= contents.keys()
    assert not (folder / "failures.jsonl").exists()


def test_the_model_of_a_checkpoint_has_a_manifest(tmp_path):
    folder = save(tmp_path, 2)
    assert manifests.fault(folder / "model") is None
    assert manifests.read(folder / "model").files.keys() == {"model.safetensors", "tokenizer.json"}
    flip(folder / "model/tokenizer.json")
    assert "tokenizer.json" in manifests.fault(folder / "model")


def test_the_newest_is_by_number_and_not_by_name(tmp_path):
    old, new = save(tmp_path, 999_999), save(tmp_path, 1_000_000)
    assert checkpoint.intact(tmp_path) == [new, old]


def test_with_every_checkpoint_damaged_the_run_starts_again_and_says_so(tmp_path):
    for step in (2, 4):
        truncate(save(tmp_path, step) / "engine/part.pt")
    assert len(checkpoint.recover(tmp_path)) == 2
    assert checkpoint.latest(tmp_path) is None
    assert "No checkpoint" in checkpoint.where_to_go_on(tmp_path, steps=9)


def test_a_finished_run_has_nothing_to_go_on_from(tmp_path):
    folder = save(tmp_path, 4)
    assert "All 4 steps are done" in checkpoint.where_to_go_on(tmp_path, steps=4)
    assert f"goes on from {folder}" in checkpoint.where_to_go_on(tmp_path, steps=5)


def test_what_a_killed_write_left_is_removed(tmp_path):
    save(tmp_path, 2)
    (tmp_path / "checkpoints" / ".draft-000004" / "engine").mkdir(parents=True)
    checkpoint.recover(tmp_path)
    assert names(tmp_path) == ["step-000002"]


def test_old_ones_are_dropped_and_so_is_a_future_that_was_given_up(tmp_path):
    for step in (2, 4, 6, 8):
        save(tmp_path, step, keep=3)
    assert names(tmp_path) == ["step-000004", "step-000006", "step-000008"]
    truncate(tmp_path / "checkpoints/step-000008/engine/part.pt")
    checkpoint.recover(tmp_path)
    assert names(tmp_path)[0] == "corrupt-000008"
    save(tmp_path, 7, keep=1)
    assert names(tmp_path) == ["step-000007"]
    save(tmp_path, 9, keep=1)
    truncate(tmp_path / "checkpoints/step-000009/state.json")
    save(tmp_path, 8, keep=1)
    assert names(tmp_path) == ["step-000008"], "the good one is kept, not the broken newer one"


def test_everything_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    synced, moved = set(), []
    fsync, replace = os.fsync, os.replace

    def name(number):
        return Path(os.readlink(f"/proc/self/fd/{number}"))

    def noting(number):
        synced.add(name(number))
        fsync(number)

    def moving(source, target):
        held = [Path(source), *(p for p in Path(source).rglob("*"))]
        moved.append(Path(target))
        assert [p for p in held if p not in synced] == [], (
            f"{target} has its name before its content is safe"
        )
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noting)
    monkeypatch.setattr(os, "replace", moving)
    final = save(tmp_path, 2)
    assert final in moved
    assert final.parent in synced, "the new name itself is safe"


@pytest.mark.parametrize("where", ["engine", "model", "state"])
def test_a_failed_write_leaves_the_checkpoint_before_and_names_the_file(
    tmp_path, monkeypatch, where
):
    older = save(tmp_path, 2)
    full = OSError(28, "No space left on device", str(tmp_path / "that.pt"))

    class Full(FakeEngine):
        def save(self, folder):
            if where == "engine":
                raise full
            super().save(folder)

        def save_model(self, folder):
            if where == "model":
                raise RuntimeError(
                    "[enforce fail at inline_container.cc:672] . unexpected pos 576 vs"
                    " 534\nframe #0"
                )
            super().save_model(folder)

    if where == "state":
        monkeypatch.setattr(os, "fsync", lambda number: (_ for _ in ()).throw(full))
    with pytest.raises(
        RunFolderError,
        match=r"cannot write .*(that\.pt: No space left|draft-000004, is the disk full\?)",
    ) as caught:
        save(tmp_path, 4, engine=Full())
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert checkpoint.recover(tmp_path) == []
    assert checkpoint.latest(tmp_path) == older


def test_other_errors_keep_their_kind(tmp_path):
    class Broken(FakeEngine):
        def save(self, folder):
            raise RuntimeError("collective timed out")

    with pytest.raises(RuntimeError, match="collective timed out"):
        save(tmp_path, 2, engine=Broken())


@pytest.fixture
def small_files():
    """No file of this process can grow beyond 50 kB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


BIG = torch.zeros(300, 300)
WORDS = Tokenizer(models.BPE({str(i): i for i in range(20_000)}, []))


@pytest.mark.parametrize(
    "write",
    [
        lambda path: torch.save({"big": BIG}, path),
        lambda path: save_file({"big": BIG}, path),
        lambda path: WORDS.save(str(path)),
        lambda path: path.write_bytes(bytes(60_000)),
        lambda path: write_whole(path, "x" * 60_000),
        lambda path: append(path, "x" * 60_000),
    ],
    ids=["torch", "safetensors", "tokenizers", "bytes", "write_whole", "append"],
)
def test_real_writers_on_a_disk_that_takes_no_more(tmp_path, small_files, write):
    with (
        pytest.raises(RunFolderError, match=rf"cannot write {tmp_path}/\.?full") as caught,
        writing(tmp_path / "full"),
    ):
        write(tmp_path / "full")
    assert "\n" not in str(caught.value)


def test_the_model_folder_is_replaced_whole(tmp_path):
    target = tmp_path / "model"
    checkpoint.save_model(target, FakeEngine(b"old"), FakeTokenizer())
    (target / "left.bin").write_text("of the old one")
    checkpoint.save_model(target, FakeEngine(b"new"), FakeTokenizer())
    assert (target / "model.safetensors").read_bytes() == b"new"
    assert sorted(p.name for p in target.iterdir()) == [
        "manifest.json",
        "model.safetensors",
        "tokenizer.json",
    ]
