"""What others could have written is not loaded, and what the cache writes nobody else can."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlc.driver.cache import digest_cache
from mlc.driver.cache.disk_cache import Cache
from mlc.tuning.store import Store, Tuned

OTHER = 12345  # a user's number

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture(params=[0o022, 0o002, 0o000], autouse=True)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """With one entry."""
    made = Cache(tmp_path / "made" / "cache")
    (tmp_path / "a").write_bytes(b"hello")
    made.put("objects", "abcd", {"object.o": tmp_path / "a"})
    return made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_are_private_whatever_the_umask(cache: Cache, tmp_path: Path) -> None:
    folders = [tmp_path / "made", *(path for path in (tmp_path / "made").rglob("*") if path.is_dir())]
    assert len(folders) == 5 and {mode(folder) for folder in folders} == {0o700}
    assert not any(mode(path) & 0o022 for path in (tmp_path / "made/cache/objects").rglob("*"))
    assert cache.get("objects", "abcd") is not None


@pytest.mark.parametrize("path", ["", "objects", "objects/ab"])
def test_a_folder_that_others_can_write(cache: Cache, path: str) -> None:
    assert cache.root is not None
    (cache.root / path).chmod(0o770)
    with pytest.warns(RuntimeWarning, match="others can write to .* 'chmod -R go-w"):
        assert cache.get("objects", "abcd") is None
    (cache.root / path).chmod(0o755)
    assert cache.get("objects", "abcd") is not None  # and it stayed
    (cache.root / path).chmod(0o777)
    again = Cache(cache.root)
    with pytest.warns(RuntimeWarning, match="others can write"):
        again.put("objects", "abce", {"object.o": cache.root.parents[1] / "a"})
    assert not (cache.root / "objects/ab/abce").exists()


@pytest.mark.parametrize("name", ["", "object.o", "manifest.json"])
def test_an_entry_that_others_can_write(cache: Cache, name: str) -> None:
    assert cache.root is not None
    (cache.root / "objects/ab/abcd" / name).chmod(0o777)
    with pytest.warns(RuntimeWarning, match="could have been written by others"):
        assert cache.get("objects", "abcd") is None
    assert not (cache.root / "objects/ab/abcd").exists()


@as_root
@pytest.mark.parametrize("path", ["", "objects", "objects/ab", "objects/ab/abcd", "objects/ab/abcd/object.o"])
def test_what_belongs_to_another_user(cache: Cache, path: str) -> None:
    assert cache.root is not None
    os.chown(cache.root / path, OTHER, OTHER)
    with pytest.warns(RuntimeWarning, match="another user|by others"):
        assert cache.get("objects", "abcd") is None


def test_a_link_in_place_of_an_entry(cache: Cache, tmp_path: Path) -> None:
    assert cache.root is not None
    (cache.root / "objects/ab/abcd").rename(tmp_path / "elsewhere")
    (cache.root / "objects/ab/abcd").symlink_to(tmp_path / "elsewhere")
    with pytest.warns(RuntimeWarning, match="by others"):
        assert cache.get("objects", "abcd") is None


def test_a_shared_folder_whose_entries_are_protected(tmp_path: Path) -> None:
    """As /tmp."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    (tmp_path / "a").write_bytes(b"hello")
    cache = Cache(tmp_path / "shared")
    cache.put("objects", "abcd", {"object.o": tmp_path / "a"})
    assert cache.get("objects", "abcd") is not None


def test_remembered_digests_that_others_can_write(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest_cache, "LARGE", 10)
    (tmp_path / "large").write_bytes(b"x" * 20)
    os.utime(tmp_path / "large", (1, 1))
    monkeypatch.setattr(digest_cache, "_settled", lambda stamp: True)
    right = digest_cache.of_file(tmp_path / "large")
    (note,) = (own_cache / "digests").iterdir()
    note.write_text(json.dumps({**json.loads(note.read_text()), "digest": "planted"}))
    assert digest_cache.of_file(tmp_path / "large") == "planted"
    note.chmod(0o666)
    assert digest_cache.of_file(tmp_path / "large") == right


def test_tuned_schedules_that_others_can_write(tmp_path: Path) -> None:
    store = Store(tmp_path / "new" / "tuned.json")
    store.record({"cpu": "x"}, {"k": Tuned("rows", 0.1, "m")})
    assert mode(tmp_path / "new") == 0o700 and store.schedules({"cpu": "x"})
    (tmp_path / "new/tuned.json").chmod(0o666)
    with pytest.warns(UserWarning, match="others can write"):
        assert not store.schedules({"cpu": "x"})
    with pytest.warns(UserWarning, match="others can write"):
        store.record({"cpu": "y"}, {"k": Tuned("rows", 0.1, "m")})
    assert mode(tmp_path / "new/tuned.json") == 0o600
    assert not store.schedules({"cpu": "x"}) and store.schedules({"cpu": "y"})
