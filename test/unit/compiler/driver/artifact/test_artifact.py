from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import tiny

from mlc.driver.artifact import artifact
from mlc.driver.artifact.artifact import Artifact
from mlc.driver.artifact.write_artifact import write
from mlc.driver.cache import digest_cache
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain.c_compiler import find
from mlc.errors import OutputError
from mlc.options import Options
from mlc.runtime import load

X = np.random.default_rng(7).standard_normal((5, 3)).astype(np.float32)


def written(folder: Path, embedded: bool) -> Artifact:
    folder.mkdir(exist_ok=True)
    options = Options()
    return write(tiny.lowered(embedded), folder, options, find(None, options.target), Cache.default())


@pytest.mark.parametrize("embedded", [True, False])
def test_an_artifact_runs_and_holds_the_files_it_should(tmp_path: Path, embedded: bool) -> None:
    made = written(tmp_path / "made", embedded)
    suffixes = [".h", ".so"] if embedded else [".weights", ".h", ".so"]
    assert list(made.files) == suffixes
    assert sorted(p.suffix for p in made.folder.iterdir()) == sorted(suffixes)
    np.testing.assert_allclose(load(made.library)(X), tiny.reference(X), rtol=1e-6)


@pytest.mark.parametrize("embedded", [True, False])
def test_two_builds_have_the_same_bytes(tmp_path: Path, embedded: bool) -> None:
    one, two = (written(tmp_path / name, embedded) for name in ("one", "two"))
    for suffix, path in one.files.items():
        assert path.read_bytes() == two.files[suffix].read_bytes()


def test_installation_under_another_name_runs(tmp_path: Path) -> None:
    made = written(tmp_path / "made", embedded=False)
    (tmp_path / "out").mkdir()
    paths = made.install(tmp_path / "out" / "renamed.so")
    assert [p.name for p in paths] == ["renamed.weights", "renamed.h", "renamed.so"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(p.name for p in paths)
    np.testing.assert_allclose(load(tmp_path / "out/renamed.so")(X), tiny.reference(X), rtol=1e-6)


def test_large_weights_that_are_there_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest_cache, "LARGE", 1)
    made, library = written(tmp_path / "made", embedded=False), tmp_path / "out.so"
    weights, *_ = made.install(library)
    first = weights.stat()
    library.unlink()
    assert made.install(library)[0] == weights and weights.stat().st_ino == first.st_ino
    np.testing.assert_allclose(load(library)(X), tiny.reference(X), rtol=1e-6)
    weights.write_bytes(bytes(first.st_size))  # another file of the same size
    made.install(library)
    assert weights.read_bytes() == made.files[".weights"].read_bytes()


def test_a_failed_installation_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = written(tmp_path / "made", embedded=False)
    (tmp_path / "out").mkdir()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(artifact.shutil, "copyfile", full)
    with pytest.raises(OutputError, match="No space left"):
        made.install(tmp_path / "out/m.so")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    made = written(tmp_path / "made", embedded=True)
    with pytest.raises(OutputError, match="Create the folder"):
        made.install(tmp_path / "no/such/m.so")


def test_the_header_compiles_and_lists_the_arguments(tmp_path: Path) -> None:
    made = written(tmp_path / "made", embedded=True)
    text = made.files[".h"].read_text()
    assert "inputs[0]: x float32[n, 3]" in text and "dims: n" in text
    (tmp_path / "use.c").write_text('#include "made/tiny.h"\nint main(void) { return tiny_abi_version() - 2; }\n')
    for language in ("c", "c++"):
        command = ["gcc", "-Wall", "-Werror", "-fsyntax-only", "-x", language, "use.c"]
        assert subprocess.run(command, cwd=tmp_path).returncode == 0
