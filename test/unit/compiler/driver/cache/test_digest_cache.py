"""Remembered digests: asked for again without reading, and never of other contents."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from mlc.driver.cache import digest, digest_cache
from mlc.driver.cache.disk_cache import Cache


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as large and written long ago, and a cache."""
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(digest_cache, "LARGE", 10)
    monkeypatch.setattr(digest_cache, "TICK", -1)
    monkeypatch.setattr(digest_cache, "COARSE", -1)
    path = tmp_path / "model.onnx"
    path.write_bytes(bytes(range(40)))
    return path


def unread(path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    with monkeypatch.context() as patch:
        patch.setattr(digest, "of_file", lambda path: "read")
        return digest_cache.of_file(path)


def test_the_second_time_nothing_is_read(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = digest_cache.of_file(large)
    assert expected == digest.of_file(large) == unread(large, monkeypatch)
    moved = large.rename(large.with_name("moved.onnx"))
    assert digest_cache.of_file(moved) == expected


def test_other_contents_have_other_digests(large: Path) -> None:
    first, times = digest_cache.of_file(large), large.stat()
    with large.open("r+b") as file:
        file.write(b"another")
    os.utime(large, ns=(times.st_atime_ns, times.st_mtime_ns))  # as some tools do; the time of the inode says it
    assert first != digest_cache.of_file(large) == digest.of_file(large)
    other = large.with_name("other")
    other.write_bytes(bytes(40))
    shutil.copystat(large, other)
    other.replace(large)
    assert digest_cache.of_file(large) == digest.of_file(large)


def test_what_was_just_written_is_not_remembered(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest_cache, "TICK", 60_000_000_000)
    monkeypatch.setattr(digest_cache, "COARSE", 60_000_000_000)
    digest_cache.of_file(large)
    assert unread(large, monkeypatch) == "read"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"stamp": 3, "digest": 4}', "\x00"])
def test_a_damaged_note_counts_as_none(large: Path, text: str) -> None:
    expected = digest_cache.of_file(large)
    (note,) = (Path(os.environ["MLC_CACHE_DIR"]) / digest_cache.FOLDER).iterdir()
    note.write_text(text)
    assert digest_cache.of_file(large) == expected


def test_without_a_place_all_is_read(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("", "/proc/none"):
        monkeypatch.setenv("MLC_CACHE_DIR", place)
        assert digest_cache.of_file(large) == digest.of_file(large)
        assert unread(large, monkeypatch) == "read"
    with pytest.raises(FileNotFoundError):
        digest_cache.of_file(large.with_name("missing"))


def test_clearing_the_cache_forgets(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest_cache.of_file(large)
    Cache.default().clear()
    assert unread(large, monkeypatch) == "read"
