"""Where results go: names that Python would import, files that cannot be opened; links in a loop; growing constants."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

import mlc
from mlc.driver.artifact.forms import destination
from mlc.driver.artifact.output_files import output_error
from mlc.errors import ArtifactError, InputError


def model(doublings: int) -> object:
    """``x`` plus the sum of ones that are doubled."""
    ones = helper.make_tensor("v0", TensorProto.FLOAT, [1], [1.0])
    nodes = [helper.make_node("Concat", [f"v{n}"] * 2, [f"v{n + 1}"], axis=0) for n in range(doublings)]
    nodes += [
        helper.make_node("ReduceSum", [f"v{doublings}"], ["sum"], keepdims=0),
        helper.make_node("Add", ["x", "sum"], ["y"]),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
    graph = helper.make_graph(nodes, "doubled", [x], [y], [ones])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize("output, name", [(None, "mlc"), (Path("mlc.so"), "net"), (Path("build/mlc.so"), "net")])
def test_no_library_shadows_the_package(output: Path | None, name: str) -> None:
    with pytest.raises(InputError, match="in place of the package.*another name"):
        destination(output, name)
    assert destination(Path("mlc.c"), name) == Path("mlc.c")


def test_no_model_is_saved_over_the_package(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="in place of the package"):
        mlc.compile(model(1)).save(tmp_path / "mlc.so")


def test_hints_are_about_the_fault(tmp_path: Path) -> None:
    hints = {errno.EMFILE: "ulimit -n", errno.ENOSPC: "Free disk space", errno.EROFS: "can be written to"}
    for number, hint in hints.items():
        assert hint in str(output_error(tmp_path / "x.so", OSError(number, os.strerror(number))))


def test_a_loop_of_links_is_no_file(tmp_path: Path) -> None:
    made = model(1)
    tensor = made.graph.initializer[0]  # type: ignore[attr-defined]
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="a")
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="external data 'a'"):
        mlc.compile(tmp_path / "m.onnx")


@pytest.mark.parametrize("doublings", [9, 16])
def test_constants_that_grow(doublings: int) -> None:
    assert mlc.compile(model(doublings))(np.zeros(1, np.float32)) == 2**doublings


def test_constants_that_grow_beyond_any_memory() -> None:
    with pytest.raises(InputError, match="more elements than any memory holds"):
        mlc.compile(model(60))
