"""A model whose result has as many elements as the data say: from Python, from C, and what its files tell about it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

import mlc
from mlc import target
from mlc.driver.toolchain.c_compiler import find
from mlc.errors import RunError

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "found.h"
int main(void) {
  int64_t dims[] = {6}, shape[2], count = -1;
  float x[6] = {0, 3, 0, 0, 5, 7};
  if (found_output_shape(0, dims, shape) != 2) return 1;
  int64_t *where = malloc(shape[0] * shape[1] * sizeof *where);
  found_model *model = found_create(NULL, 2);
  const void *inputs[] = {x};
  void *outputs[] = {where, &count};
  if (!model || found_run(model, inputs, outputs, dims, NULL)) return 2;
  printf("at most %d, %d:", (int)shape[1], (int)count);
  for (int i = 0; i < count; i++) printf(" %d", (int)where[i]);
  found_destroy(model);
  free(where);
  return 0;
}
"""


@pytest.fixture(scope="module")
def net() -> mlc.Model:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["length"])
    y = helper.make_tensor_value_info("y", TensorProto.INT64, [1, None])
    graph = helper.make_graph([helper.make_node("NonZero", ["x"], ["y"], "find")], "g", [x], [y])
    return mlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), threads=2)


def test_every_call_has_a_size_of_its_own(net: mlc.Model) -> None:
    random = np.random.default_rng(3)
    for length in (1, 5, 5, 3000, 5):
        x = random.integers(0, 2, length).astype(np.float32)
        np.testing.assert_array_equal(net(x), [np.flatnonzero(x)], strict=True)
        np.testing.assert_array_equal(net.run({"x": x})["y"], [np.flatnonzero(x)])


@pytest.mark.parametrize("found", [0, 3, 900])
def test_a_small_result_keeps_no_large_one_alive(net: mlc.Model, found: int) -> None:
    where = net(np.repeat(np.array([1, 0], np.float32), [found, 1000 - found]))
    np.testing.assert_array_equal(where[0], np.arange(found))
    assert where.flags.c_contiguous
    assert (where if where.base is None else where.base).size <= max(4 * found, 1000 if found > 250 else 0)


def test_what_the_model_says_of_its_sizes(net: mlc.Model) -> None:
    assert list(net.outputs) == ["y"] and net.outputs["y"].shape == (1, "size0")
    assert net.signature["sizes"] == [{"name": "size0", "output": 1, "bound": "length"}]
    assert [output["name"] for output in net.signature["outputs"]] == ["y", "size0"]
    assert len(net.profile(np.ones(3, np.float32))) == len(net.signature["kernels"])


def test_no_array_of_the_callers_takes_a_size_that_is_not_known(net: mlc.Model) -> None:
    with pytest.raises(RunError, match="Output 'y' has a run-time dimension"):
        net.run({"x": np.ones(3, np.float32)}, out={"y": np.zeros((1, 3), np.int64)})


def test_from_c(net: mlc.Model, tmp_path: Path) -> None:
    net.save(tmp_path / "found.so")
    header = (tmp_path / "found.h").read_text()
    prefix = header.split("_abi_version")[0].split()[-1]
    assert "size0: known after the run, at most length; outputs[1] says it" in header
    (tmp_path / "main.c").write_text(MAIN.replace("found_", f"{prefix}_"))
    compiler = find(None, target.get("cpu")).command
    subprocess.run([*compiler, "main.c", "./found.so", "-Wl,-rpath,$ORIGIN", "-o", "main"], cwd=tmp_path, check=True)
    result = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == "at most 6, 3: 1 4 5"


@pytest.fixture(scope="module")
def filled() -> mlc.Model:
    """Twos of a shape that is an input."""
    shape = helper.make_tensor_value_info("shape", TensorProto.INT64, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b"])
    two = helper.make_tensor("two", TensorProto.FLOAT, [1], [2.0])
    graph = helper.make_graph([helper.make_node("ConstantOfShape", ["shape"], ["y"], value=two)], "g", [shape], [y])
    return mlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), threads=1)


@pytest.mark.parametrize("size", [10**11, 1 << 40, 1 << 48, 1 << 62, (1 << 63) - 1])
def test_a_run_that_needs_too_much_memory_spoils_no_later_one(filled: mlc.Model, size: int) -> None:
    with pytest.raises(RunError, match=r"Cannot allocate|too large for any memory|more memory than"):
        filled(np.array([size, size]))
    np.testing.assert_array_equal(filled(np.array([2, 3])), np.full((2, 3), 2, np.float32), strict=True)


def test_capacities_of_several_runs_are_not_needed_together(filled: mlc.Model) -> None:
    for shape in [(1_000_000, 2), (2, 1_000_000), (3, 5)]:
        assert filled(np.array(shape)).shape == shape
