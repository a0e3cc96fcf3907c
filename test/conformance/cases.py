"""The backend tests of the onnx package, and the table of expected failures."""

from __future__ import annotations

import fnmatch
import functools
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, SequenceProto, TensorProto, TypeProto, numpy_helper

STORED = ("simple", "pytorch-converted", "pytorch-operator")
PACKAGES = Path(onnx.__file__).parents[1]  # what paths of light models begin at
TABLE = Path(__file__).with_name("expected_failures.txt")


@dataclass(frozen=True)
class Expected:
    """A line of the table: a pattern of names, the way of running (empty: all ways), and the reason."""

    glob: str
    way: str
    reason: str

    def matches(self, name: str, way: str) -> bool:
        return self.way in ("", way) and fnmatch.fnmatchcase(name, self.glob)


@functools.cache
def expected_failures() -> tuple[Expected, ...]:
    """The lines ``[way:]glob - reason`` of the table; empty lines and those that start with # are comments."""
    found = []
    for line in TABLE.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        names, _, reason = line.partition(" - ")
        way, _, glob = names.strip().rpartition(":")
        found.append(Expected(glob, way, reason.strip()))
    return tuple(found)


def expected_failure(name: str, way: str) -> str | None:
    """Return why a test is expected to fail; None if it is expected to pass."""
    return next((e.reason for e in expected_failures() if e.matches(name, way)), None)


@dataclass(frozen=True)
class Case:
    """A model with its inputs and the expected outputs."""

    model: ModelProto
    data_sets: list[tuple[list[Any], list[Any]]]
    rtol: float
    atol: float


@functools.cache
def cases() -> dict[str, Case]:
    """Return the tests of the installed onnx package by name."""
    return small_cases() | light_cases()


@functools.cache
def small_cases() -> dict[str, Case]:
    """The node tests, and those kept as files (simple, from PyTorch)."""
    nodes = {c.name: Case(c.model, c.data_sets, c.rtol, c.atol) for c in _tests("node")}
    stored = [c for kind in STORED for c in _tests(kind)]
    return nodes | {f"{c.name}": _stored(Path(c.model_dir), c.rtol, c.atol) for c in stored}


def light_cases() -> dict[str, Case]:
    """Return the light models: whole networks whose weights are ConstantOfShape nodes."""
    return {c.name: _light(PACKAGES / c.url, c.rtol, c.atol) for c in _tests("real")}


def _tests(kind: str) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_model_tests

        return load_model_tests(kind=kind)


def _stored(folder: Path, rtol: float, atol: float) -> Case:
    model = onnx.load(folder / "model.onnx")
    sets = []
    for data in sorted(folder.glob("test_data_set_*")):
        inputs = _values(data, "input", [i.type for i in model.graph.input])
        sets.append((inputs, _values(data, "output", [o.type for o in model.graph.output])))
    return Case(model, sets, rtol, atol)


def _light(path: Path, rtol: float, atol: float) -> Case:
    """Return a light model with the inputs that onnx's runner makes, and the expected outputs that are stored beside
    it.
    """
    from onnx.backend.test.runner import Runner

    graph = (model := onnx.load(path)).graph
    given = {t.name for t in graph.initializer}
    inputs = [Runner.generate_dummy_data(i) for i in graph.input if i.name not in given]
    files = [path.with_name(f"{path.stem}_output_{n}.pb") for n in range(len(graph.output))]
    outputs = [_value(f.read_bytes(), o.type) for f, o in zip(files, graph.output, strict=True)]
    return Case(model, [(inputs, outputs)], rtol, atol)


def _values(folder: Path, kind: str, types: list[TypeProto]) -> list[Any]:
    files = [folder / f"{kind}_{n}.pb" for n in range(len(list(folder.glob(f"{kind}_*.pb"))))]
    return [_value(f.read_bytes(), t) for f, t in zip(files, types, strict=False)]


def _value(data: bytes, type_: TypeProto) -> Any:
    if type_.HasField("sequence_type"):
        return numpy_helper.to_list(SequenceProto.FromString(data))
    return numpy_helper.to_array(TensorProto.FromString(data))


def as_array(value: Any) -> Any:
    """Return test data as an array; sequences and optionals are returned unchanged."""
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def assert_same(actual: Any, wanted: Any, rtol: float, atol: float) -> None:
    """Compare as onnx's runner does, including dtypes and shapes; sequences element by element."""
    if isinstance(wanted, list) or wanted is None:
        assert type(actual) is type(wanted)
        for each, expected in zip(actual or (), wanted or (), strict=True):
            assert_same(each, expected, rtol, atol)
        return
    wanted = np.asarray(wanted)
    assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype == object:
        assert actual.tolist() == wanted.tolist()
        return
    if wanted.dtype.name == "bfloat16":
        actual, wanted = actual.astype(np.float32), wanted.astype(np.float32)
    np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=atol)
