from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import pytest

from mlc.driver.cache import digest
from mlc.driver.cache.disk_cache import Cache


def filled(cache: Cache, key: str, size: int, used: float) -> None:
    source = cache.root.parent / "source"  # type: ignore[union-attr]
    source.write_bytes(os.urandom(size))
    cache.put("objects", key, {"object.o": source})
    entry = cache.get("objects", key)
    assert entry is not None
    os.utime(entry / "manifest.json", (used, used))


def test_an_entry_comes_back_whole(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    (tmp_path / "a").write_bytes(b"hello")
    assert cache.get("objects", "abcd") is None
    cache.put("objects", "abcd", {"object.o": tmp_path / "a"})
    entry = cache.get("objects", "abcd")
    assert entry is not None
    assert (entry / "object.o").read_bytes() == b"hello"
    assert [e.bytes for e in cache.entries()] == [5]


def test_storing_twice_keeps_one_entry_and_leaves_no_other_file(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    filled(cache, "abcd", 10, 1)
    filled(cache, "abcd", 10, 1)
    assert [path.name for path in (tmp_path / "cache/objects/ab").iterdir()] == ["abcd"]


@pytest.mark.parametrize("damage", ["truncate", "flip", "remove", "manifest"])
def test_a_damaged_entry_is_absent_and_removed(tmp_path: Path, damage: str) -> None:
    cache = Cache(tmp_path / "cache")
    filled(cache, "abcd", 1000, 1)
    entry = tmp_path / "cache/objects/ab/abcd"
    data = bytearray((entry / "object.o").read_bytes())
    if damage == "truncate":
        (entry / "object.o").write_bytes(data[:-1])
    elif damage == "flip":
        data[500] ^= 1
        (entry / "object.o").write_bytes(data)
    elif damage == "remove":
        (entry / "object.o").unlink()
    else:
        (entry / "manifest.json").write_text("{")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cache.get("objects", "abcd") is None
    filled(cache, "abcd", 20, 1)
    assert [e.bytes for e in cache.entries()] == [20]


def test_pruning_removes_what_was_used_longest_ago(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    for key, used in (("aa11", 300.0), ("bb22", 100.0), ("cc33", 200.0)):
        filled(cache, key, 100, used)
    assert cache.prune(250) == 100
    assert {entry.path.name for entry in cache.entries()} == {"aa11", "cc33"}
    assert cache.clear() == 200
    assert list(cache.entries()) == []


def test_a_cache_keeps_itself_below_its_limit(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", limit=100 * 4096)
    (tmp_path / "a").write_bytes(bytes(4096))
    for n in range(150):
        cache.put("objects", f"{n:04}", {"a.o": tmp_path / "a"})
        assert sum(entry.bytes for entry in cache.entries()) <= cache.limit
    assert cache.get("objects", "0149") is not None and cache.get("objects", "0000") is None
    (tmp_path / "a").write_bytes(bytes(101 * 4096))
    cache.put("objects", "large", {"a.o": tmp_path / "a"})
    assert cache.get("objects", "large") is None and cache.get("objects", "0149") is not None


def test_no_cache_finds_and_keeps_nothing(tmp_path: Path) -> None:
    cache = Cache(None)
    (tmp_path / "a").write_bytes(b"1")
    cache.put("objects", "abcd", {"a.o": tmp_path / "a"})
    assert cache.get("objects", "abcd") is None
    assert list(cache.entries()) == [] and cache.prune() == 0 and cache.clear() == 0


def test_a_cache_that_cannot_be_written_warns_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file")
    with pytest.warns(RuntimeWarning, match="cannot be used") as seen:
        for _ in range(2):
            cache.put("objects", "abcd", {"a": tmp_path / "file"})
    assert len(seen) == 1


def test_digests_do_not_depend_on_how_the_data_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "CHUNK", 1000)
    for size in (0, 1, 1000, 1001, 5500):
        data = os.urandom(size)
        (tmp_path / "f").write_bytes(data)
        assert digest.of_file(tmp_path / "f") == digest.of_bytes(data)
    assert digest.of_bytes(b"a" * 2000) != digest.of_bytes(b"a" * 1000)
    assert digest.of_bytes(b"") != digest.of_bytes(b"\0")


def test_manifests_are_readable(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    key = {"name": "m", "model": "0", "options": {"target": {"name": "cpu"}}}
    with cache.stage("artifacts", "abcd") as folder:
        (folder / "m.so").write_bytes(b"123")
        entry = cache.commit(folder, "artifacts", "abcd", key)
    assert entry is not None
    assert json.loads((entry / "manifest.json").read_text())["about"] == key
    assert next(cache.entries()).about == key
