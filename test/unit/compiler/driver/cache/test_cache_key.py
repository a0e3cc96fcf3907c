from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from mlc.driver.cache import known_keys, source_digest
from mlc.driver.cache.cache_key import Needs, difference, key_of
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.onnx_source import OnnxSource
from mlc.driver.source import Source
from mlc.driver.toolchain.c_compiler import Toolchain
from mlc.errors import InputError
from mlc.frontends.imported import Imported
from mlc.options import Options

CC = Toolchain(("cc",), "cc 1")
DEFAULT = Options()


@dataclass
class FileAndWeights:
    """A source of no frontend: a key needs neither of the two functions that read it."""

    folder: Path
    kind = "test"
    name = "model"
    digest = "0" * 64

    def external_files(self) -> tuple[str, ...]:
        raise NotImplementedError

    def code(self) -> Mapping[str, str]:
        return {}

    def imported(self, dims: Mapping[str, int]) -> Imported:
        raise NotImplementedError


def test_sources_know_their_name_and_contents(tmp_path: Path) -> None:
    (tmp_path / "net.v2.onnx").write_bytes(b"model")
    source = OnnxSource.of(tmp_path / "net.v2.onnx")
    assert source.name == "net.v2"
    assert source.digest == OnnxSource.of(b"model").digest == OnnxSource.of(str(tmp_path / "net.v2.onnx")).digest


def test_the_bytes_of_a_file_have_a_key_of_their_own(tmp_path: Path) -> None:
    """Their artifact has another name."""
    (tmp_path / "model.onnx").write_bytes(b"model")
    keys = [key_of(OnnxSource.of(model), Needs(), DEFAULT, CC).parts for model in (tmp_path / "model.onnx", b"model")]
    assert difference(*keys) == ['kind: "onnx file" -> "onnx bytes"']


@pytest.mark.parametrize("wrong", [3, None, ["model.onnx"]])
def test_what_is_no_model_is_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="Cannot compile a"):
        OnnxSource.of(wrong)  # type: ignore[arg-type]


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.onnx", tmp_path):
        with pytest.raises(InputError, match="Cannot read the model"):
            OnnxSource.of(path)


def test_everything_that_matters_changes_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.onnx").write_bytes(b"model")
    (tmp_path / "w.bin").write_bytes(b"weights")
    source = OnnxSource.of(tmp_path / "m.onnx")

    def key(source: Source = source, options: Options = DEFAULT, toolchain: Toolchain = CC) -> str:
        return key_of(source, Needs(("w.bin",)), options, toolchain).digest

    base = key()
    assert base == key(OnnxSource.of(tmp_path / "m.onnx"))
    keys = {base, key(options=Options(numerics="strict")), key(toolchain=Toolchain(("cc",), "cc 2"))}
    (tmp_path / "w.bin").write_bytes(b"Weights")
    keys.add(key())
    (tmp_path / "m.onnx").write_bytes(b"Model")
    keys.add(key(OnnxSource.of(tmp_path / "m.onnx")))
    monkeypatch.setattr(source_digest, "of_sources", lambda: "of another mlc")
    keys.add(key())
    assert len(keys) == 6


def test_what_a_compilation_found_out_gives_the_next_key(tmp_path: Path) -> None:
    """The external files of the model, and the tuned schedules of its kernels, and of no others."""
    cache, source = Cache(tmp_path / "cache"), FileAndWeights(tmp_path)
    (tmp_path / "w.bin").write_bytes(b"weights")
    options = Options(tuned={"k1": "rows", "other": "rows"})
    assert known_keys.recall(source, options, CC, cache) is None
    learned = known_keys.learn(source, Needs(("w.bin",), ("string",)), ["k2", "k1", "k2"], options, CC, cache)
    assert list(learned.parts["external"]) == ["w.bin"] and learned.parts["tuned"] == {"k1": "rows"}
    assert known_keys.recall(source, options, CC, cache) == learned
    (tmp_path / "w.bin").unlink()
    assert known_keys.recall(source, options, CC, cache) is None


def test_a_key_before_the_kernels_are_known_is_none_of_an_artifact(tmp_path: Path) -> None:
    key = key_of(OnnxSource.of(b"model"), Needs(), DEFAULT, CC)
    options = Options(tuned={"k": "rows"})
    digests = {key.with_tuned(kernels, options).digest for kernels in (None, (), ("k",))}
    assert len(digests) == 3 and key.with_tuned((), DEFAULT) == key.with_tuned(("k",), DEFAULT)


def test_differences_are_named_by_path() -> None:
    old = {"model": "a", "options": {"target": {"l2": 1}, "numerics": "default"}}
    new = {"model": "a", "options": {"target": {"l2": 2}, "numerics": "default"}, "mlc": "x"}
    assert difference(old, new) == ['mlc: null -> "x"', "options.target.l2: 1 -> 2"]
