from __future__ import annotations

from pathlib import Path

import pytest

from mlc import identity
from mlc.cache import Cache
from mlc.identity import Source
from mlc.options import Options
from mlc.runtime.errors import InputError
from mlc.toolchain import Toolchain

CC = Toolchain(("cc",), "cc 1")
DEFAULT = Options()


def test_sources_know_their_name_and_contents(tmp_path: Path) -> None:
    (tmp_path / "net.v2.onnx").write_bytes(b"model")
    source = Source.of(tmp_path / "net.v2.onnx")
    assert source.name == "net.v2"
    assert source.digest == Source.of(b"model").digest == Source.of(str(tmp_path / "net.v2.onnx")).digest


def test_the_bytes_of_a_file_have_a_key_of_their_own(tmp_path: Path) -> None:
    """Their artifact has another name."""
    (tmp_path / "model.onnx").write_bytes(b"model")
    keys = [identity.parts(Source.of(model), (), DEFAULT, CC) for model in (tmp_path / "model.onnx", b"model")]
    assert identity.difference(*keys) == ["file: true -> false"]


@pytest.mark.parametrize("wrong", [3, None, ["model.onnx"]])
def test_what_is_no_model_is_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="Cannot compile a"):
        Source.of(wrong)  # type: ignore[arg-type]


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.onnx", tmp_path):
        with pytest.raises(InputError, match="Cannot read the model"):
            Source.of(path)


def test_everything_that_matters_changes_the_key(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"model")
    (tmp_path / "w.bin").write_bytes(b"weights")
    source = Source.of(tmp_path / "m.onnx")

    def key(source: Source = source, options: Options = DEFAULT, toolchain: Toolchain = CC) -> str:
        return identity.key(identity.parts(source, ["w.bin"], options, toolchain))

    base = key()
    assert base == key(Source.of(tmp_path / "m.onnx"))
    keys = {base, key(options=Options(numerics="strict")), key(toolchain=Toolchain(("cc",), "cc 2"))}
    (tmp_path / "w.bin").write_bytes(b"Weights")
    keys.add(key())
    (tmp_path / "m.onnx").write_bytes(b"Model")
    keys.add(key(Source.of(tmp_path / "m.onnx")))
    assert len(keys) == 5


def test_the_files_of_a_model_are_remembered(tmp_path: Path) -> None:
    cache, source = Cache(tmp_path / "cache"), Source.of(b"model")
    assert identity.known_files(cache, source) is None
    identity.remember_files(cache, source, ("b", "a"))
    assert identity.known_files(cache, source) == ["a", "b"]


def test_differences_are_named_by_path() -> None:
    old = {"model": "a", "options": {"target": {"l2": 1}, "numerics": "default"}}
    new = {"model": "a", "options": {"target": {"l2": 2}, "numerics": "default"}, "mlc": "x"}
    assert identity.difference(old, new) == ['mlc: null -> "x"', "options.target.l2: 1 -> 2"]
