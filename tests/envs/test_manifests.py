"""Manifests: any damage to a folder or to the manifest itself is a fault, never an exception."""

import json
import random
from hashlib import blake2b

import pytest

from agentgym_envs import manifests
from agentgym_envs.manifests import MANIFEST

FILES = {
    "config.toml": b"steps = 4\n",
    "engine/mp_rank_00_model_states.pt": bytes(range(256)),
    "engine/zero_pp_rank_0_mp_rank_00_optim_states.pt": b"moments" * 50,
    "model/model.safetensors": b"weights" * 90,
    "model/tokenizer.json": b'{"version": "1.0"}',
    "model/empty": b"",
    "state.json": b'{"step": 2}',
}


@pytest.fixture
def folder(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    manifests.seal(tmp_path)
    return tmp_path


def test_a_manifest_lists_every_file_with_its_checksum(folder):
    assert manifests.fault(folder) is None
    listed = json.loads((folder / MANIFEST).read_text())["files"]
    assert listed == {
        name: {"bytes": len(content), "blake2b": blake2b(content).hexdigest()}
        for name, content in FILES.items()
    }


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named(folder, name):
    path = folder / name
    for content in (FILES[name][:-1], FILES[name] + b"x", bytes(len(FILES[name]))):
        path.write_bytes(content)
        found = manifests.fault(folder)
        assert (found is None) == (content == FILES[name])
        assert found is None or name in found
        assert manifests.is_intact(folder, name) == (content == FILES[name])
        path.write_bytes(FILES[name])
    path.unlink()
    assert manifests.fault(folder, checksums=False) == f"{name} is missing"
    path.mkdir()
    assert manifests.fault(folder) == f"{name} is missing"


def flip(folder, bits):
    """Flips each bit of the manifest; returns those that left it readable with other files."""
    path = folder / MANIFEST
    whole, said = path.read_bytes(), manifests.read(folder)
    unnoticed = []
    for bit in bits:
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        if manifests.fault(folder, checksums=False) is None and manifests.read(folder) != said:
            unnoticed.append(bit)
    return unnoticed


def test_a_flipped_bit_of_a_manifest_is_noticed_or_harmless(folder):
    bits = 8 * (folder / MANIFEST).stat().st_size
    assert bits > 12_000
    assert flip(folder, random.Random(0).sample(range(bits), 600)) == []


@pytest.mark.full
def test_every_flipped_bit_of_a_manifest_is_noticed_or_harmless(folder):
    assert flip(folder, range(8 * (folder / MANIFEST).stat().st_size)) == []


NOTHING = [
    b"",
    b"[]",
    b"null",
    b"{}",
    b"7",
    b'"files"',
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"1" * 10_000,
    b'{"files": {}, "blake2b": ""}',
    b'{"files": [], "blake2b": ""}',
    b'{"files": 7}',
    b'{"engine": 7}',
    b'{"engine": {"bytes": 1}}',
    b'{"\\u0000": {"bytes": 1, "blake2b": ""}}',
    b" " * (manifests.LARGEST + 1),
]


@pytest.mark.parametrize("content", NOTHING, ids=lambda content: repr(content[:30]))
def test_what_is_no_manifest_is_a_fault_in_one_line(folder, content):
    (folder / MANIFEST).write_bytes(content)
    found = manifests.fault(folder)
    assert found
    assert "\n" not in found
    assert not manifests.is_intact(folder, "state.json")


def test_a_manifest_that_cannot_be_opened_is_a_fault(folder, monkeypatch):
    (folder / MANIFEST).unlink()
    assert "No such file" in manifests.fault(folder)
    (folder / MANIFEST).symlink_to(folder / "nowhere")
    assert "No such file" in manifests.fault(folder)
    (folder / MANIFEST).unlink()
    (folder / MANIFEST).mkdir()
    assert "directory" in manifests.fault(folder)


def test_a_manifest_of_an_earlier_version_has_no_checksum(folder):
    listed = manifests.read(folder)
    assert listed.sealed
    (folder / MANIFEST).write_text(json.dumps(listed.files))
    assert manifests.read(folder) == (listed.files, False)
    assert manifests.fault(folder) is None
