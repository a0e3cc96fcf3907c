"""What tests of bad input share: a place to work in, models with mistakes, and what a refusal must be."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from runtime_objects import copied

from mlc.cli import main

WIDE = np.random.default_rng(0).standard_normal((512, 1024)).astype(np.float32)  # 2 MB: not embedded


@dataclass
class Place:
    """A folder for inputs, an empty one to work in, and one for temporary files."""

    inputs: Path
    work: Path
    temporary: Path

    def untouched(self) -> bool:
        return not any(self.work.iterdir()) and not any(self.temporary.iterdir())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runtime_objects: Path) -> Place:
    made = Place(tmp_path / "inputs", tmp_path / "work", tmp_path / "temporary")
    for folder in (made.inputs, made.work, made.temporary):
        folder.mkdir()
    monkeypatch.chdir(made.work)
    monkeypatch.setattr(tempfile, "tempdir", str(made.temporary))
    monkeypatch.setenv("TMPDIR", str(made.temporary))
    monkeypatch.setenv("MLC_CACHE_DIR", str(copied(runtime_objects, tmp_path / "cache")))
    monkeypatch.delenv("MLC_DEBUG", raising=False)
    monkeypatch.delenv("CC", raising=False)
    return made


Refuses = Callable[..., str]


@pytest.fixture
def refuses(place: Place, capsys: pytest.CaptureFixture[str]) -> Refuses:
    """Run the command line; it must fail as promised. Returns its message."""

    def run(*arguments: str | Path, says: tuple[str, ...] = (), code: int = 2) -> str:
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        error = capsys.readouterr().err
        check_message(error, says)
        assert caught.value.code == code, error
        assert place.untouched()
        return error

    return run


def check_message(error: str, says: tuple[str, ...]) -> None:
    assert error.startswith("mlc: error: "), error
    assert "Traceback" not in error and "internal" not in error
    assert len(error) < 1500
    for word in says:
        assert word in error


def add_model(
    *nodes: NodeProto, weights: tuple[TensorProto, ...] = (), opset: int = 17, shape: object = ("n", 4)
) -> ModelProto:
    """A model from x: float32[shape] to y."""
    nodes = nodes or (helper.make_node("Relu", ["x"], ["y"], name="act"),)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]  # type: ignore[arg-type]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", "columns"])]
    graph = helper.make_graph(list(nodes), "g", inputs, outputs, list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def wide_model() -> ModelProto:
    """y = x @ w with 2 MB of weights."""
    weights = numpy_helper.from_array(WIDE, "w")
    return add_model(helper.make_node("MatMul", ["x", "w"], ["y"], name="mm"), weights=(weights,), shape=("n", 512))


def save(place: Place, model: ModelProto, name: str = "m.onnx") -> Path:
    path = place.inputs / name
    path.write_bytes(model.SerializeToString())
    return path


def write(place: Place, data: bytes) -> Path:
    path = place.inputs / "m.onnx"
    path.write_bytes(data)
    return path
