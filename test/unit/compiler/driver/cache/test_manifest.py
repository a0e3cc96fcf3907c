"""Manifests of a wrong form: the entry counts as damaged, whatever stands in it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from mlc.driver.cache.disk_cache import Cache
from mlc.driver.cache.manifest import read_manifest

KEY = {"name": "m", "model": "0", "options": {"target": {"name": "cpu"}, "name": None}}
FILE = {"bytes": 3, "digest": "0"}

WRONG: list[Any] = [
    None, [], 1, "text", {}, {"files": {"m.so": FILE}}, {"about": KEY},
    {"about": KEY, "files": []}, {"about": [], "files": {"m.so": FILE}}, {"about": KEY, "files": {}},
    *({"about": KEY, "files": {"m.so": file}} for file in (
        None, [], 3, "x", {}, {"bytes": 3}, {"digest": "0"}, {"bytes": "3", "digest": "0"}, {"bytes": 3, "digest": 0},
        {"bytes": None, "digest": "0"}, {"bytes": -1, "digest": "0"}, {"bytes": 1.5, "digest": "0"},
        {"bytes": True, "digest": "0"}, {"bytes": 3, "digest": None},
    )),
    *({"about": KEY, "files": {"m.so": FILE, name: FILE}} for name in
      ("", ".", "..", "../x", "a/b", "/etc/passwd", "n\0", "manifest.json", "second.so")),
    *({"about": about, "files": {"m.so": FILE}} for about in (
        {}, {**KEY, "name": 1}, {**KEY, "name": None}, {**KEY, "model": []}, {**KEY, "options": None},
        {**KEY, "options": {}}, {**KEY, "options": {"target": "cpu"}}, {**KEY, "options": {"target": {"name": 3}}},
        {**KEY, "options": {"target": {"name": "cpu"}, "name": 3}},
    )),
]  # fmt: skip
MALFORMED = ["", "{", "\xff", "[" * 100_000, '{"about": NaN, "files": Infinity}', *map(json.dumps, WRONG)]


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    """An artifact whose library has three bytes."""
    cache = Cache(tmp_path / "cache")
    with cache.stage("artifacts", "abcd") as folder:
        (folder / "m.so").write_bytes(b"123")
        made = cache.commit(folder, "artifacts", "abcd", KEY)
    assert made is not None
    return made


@pytest.mark.parametrize("text", MALFORMED, ids=lambda text: text[:60])
def test_a_manifest_of_a_wrong_form(entry: Path, tmp_path: Path, text: str) -> None:
    cache = Cache(tmp_path / "cache")
    (entry / "manifest.json").write_bytes(text.encode("latin-1"))
    assert read_manifest("artifacts", entry) is None and list(cache.entries()) == []
    assert cache.prune() == 0 and not entry.exists()  # what nobody can use goes first


def test_such_an_entry_is_absent_and_removed(entry: Path, tmp_path: Path) -> None:
    (entry / "manifest.json").write_text(json.dumps({"about": KEY, "files": {"m.so": [3]}}))
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert Cache(tmp_path / "cache").get("artifacts", "abcd") is None
    assert not entry.exists()


def test_a_file_that_the_manifest_does_not_name(entry: Path, tmp_path: Path) -> None:
    (entry / "another.so").write_bytes(b"456")
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert Cache(tmp_path / "cache").get("artifacts", "abcd") is None


def test_a_manifest_that_is_a_folder(entry: Path, tmp_path: Path) -> None:
    (entry / "manifest.json").unlink()
    (entry / "manifest.json").mkdir()
    cache = Cache(tmp_path / "cache")
    assert list(cache.entries()) == []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cache.get("artifacts", "abcd") is None and cache.clear() == 0
