"""The digest of mlc's sources: read once, and again after any change."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from mlc.driver.cache import digest_cache, source_digest


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler of two files, written long ago, and a cache."""
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(digest_cache, "TICK", -1)
    monkeypatch.setattr(digest_cache, "COARSE", -1)
    folder = tmp_path / "mlc"
    (folder / "passes").mkdir(parents=True)
    (folder / "api.py").write_text("a = 1")
    (folder / "passes" / "fuse.py").write_text("b = 1")
    spec = SimpleNamespace(submodule_search_locations=[str(folder)])
    monkeypatch.setattr(source_digest, "find_spec", lambda name: spec if name == "mlc" else None)
    return folder


def found() -> str:
    return source_digest.of_sources.__wrapped__()


def test_the_second_time_nothing_is_read(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = found()
    monkeypatch.setattr(source_digest, "_digest", lambda files: "read")
    assert found() == first


def test_every_change_is_seen(sources: Path) -> None:
    file = sources / "passes" / "fuse.py"
    seen, times = [found()], file.stat()
    file.write_text("b = 2")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    seen.append(found())
    (sources / "passes" / "new.h").write_text("")
    seen.append(found())
    file.rename(sources / "passes" / "fused.py")
    seen.append(found())
    (sources / "api.py").unlink()
    seen.append(found())
    assert len(set(seen)) == 5
    (sources / "notes.txt").write_text("no source")
    assert found() == seen[-1]


def test_without_a_cache_all_is_read(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = found()
    monkeypatch.setenv("MLC_CACHE_DIR", "")
    assert found() == first
    monkeypatch.setattr(source_digest, "_digest", lambda files: "read")
    assert found() == "read"
