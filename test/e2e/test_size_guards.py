"""Extents that are equal at some sizes only: there onnxruntime's values, elsewhere an error that names the node."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest
from onnx import ModelProto

import mlc
from mlc import target
from mlc.driver.toolchain.c_compiler import find
from mlc.errors import RunError

SHAPE = "s = Shape(x) i1 = Constant<value_ints=[1]>() i2 = Constant<value_ints=[2]>() i3 = Constant<value_ints=[3]>()"
HALVED = "MaxPool<kernel_shape=[3,3],strides=[2,2],pads=[1,1,1,1]>"
TWICE = 'Resize<mode="nearest",coordinate_transformation_mode="asymmetric",nearest_mode="floor">'
TWO = "two = Constant<value_floats=[1.0,1.0,2.0,2.0]>()"
PYRAMID = f"""
    {TWO} a = {HALVED}(x) b = {HALVED}(a) c = {HALVED}(b) d = {HALVED}(c)
    e = {TWICE}(d,,two) f = Add(c, e) g = {TWICE}(f,,two) h = Add(b, g) y = Relu(h)
"""
BLOCKS = f"""
    {SHAPE} m = Constant<value_ints=[0,0]>() h = Gather(s, i2) w = Gather(s, i3) h2 = Div(h, i2) w2 = Div(w, i2)
    t = Concat<axis=0>(m, h2, i2, w2, i2) y = Reshape(x, t)
"""
SPLIT = "o = Constant<value_ints=[0,-1,4]>() y = Reshape(x, o)"
PART = "s = Shape(z) o = Constant<value_ints=[0]>() p = Slice(x, o, s) y = Add(p, z)"
TO_THREE = 'o = Constant<value_ints=[3]>() y = Resize<mode="nearest",axes=[1]>(x,,,o)'
PADDED = "y = MaxPool<kernel_shape=[3],strides=[2],pads=[2,2]>(x)"
EDGES = 'o = Constant<value_ints=[0,1,0,1]>() y = Pad<mode="edge">(x, o)'
EXPANDED = "s = Shape(z) y = Expand(x, s)"
FAR = "o = Constant<value_ints=[1]>() e = Constant<value_ints=[1000000000]>() y = Slice(x, o, e)"

CASES: dict[str, tuple[str, str, list[str], str, list[list[tuple[int, ...]]], list[list[tuple[int, ...]]]]] = {
    "pyramid": (
        "float[b,3,h,w] x", PYRAMID, ["(h+3)//4 is a multiple of 4", "(w+3)//4 is a multiple of 4"],
        r"needs that\. Sizes that fit: h=16 or h=29", [[(2, 3, 16, 32)], [(1, 3, 29, 13)]], [[(1, 3, 20, 16)]],
    ),
    "blocks": (
        "float[b,c,h,w] x", BLOCKS, ["h is a multiple of 2", "w is a multiple of 2"],
        "only w is a multiple of 2, but w is 7; Reshape at node .* Sizes that fit: w=6 or w=8",
        [[(1, 2, 4, 6)], [(2, 3, 2, 10)]], [[(1, 2, 4, 7)]],
    ),
    "split": (
        "float[b,n] x", SPLIT, ["n is a multiple of 4"], "n is a multiple of 4, but n is 6",
        [[(2, 8)], [(3, 4)]], [[(2, 6)]],
    ),
    "sum": (
        "float[n] x, float[p] z", "w = Constant<value_floats=[1.0,2.0,3.0]>() c = Concat<axis=0>(x, z) y = Add(c, w)",
        ["n+p == 3"], r"n\+p == 3, but n is 3, p is 4", [[(1,), (2,)], [(2,), (1,)]], [[(3,), (4,)]],
    ),
    "part": ("float[n] x, float[m] z", PART, ["m <= n"], "m <= n", [[(5,), (3,)], [(4,), (4,)]], [[(3,), (5,)]]),
    "expand": (
        "float[b,n] x, float[m] z", EXPANDED, ["m == 1 or m == n"], "only m == 1 or m == n, but m is",
        [[(2, 3), (3,)], [(2, 3), (1,)], [(2, 1), (1,)]], [[(2, 2), (3,)], [(2, 3), (2,)]],
    ),
    "expand a known size": (
        "float[2,3] x, float[m] z", EXPANDED, ["m == 1 or m == 3"], "only m == 1 or m == 3, but m is",
        [[(2, 3), (3,)], [(2, 3), (1,)]], [[(2, 3), (2,)], [(2, 3), (4,)]],
    ),
    "expand to twice the size": (
        "float[n] x", "c = Concat<axis=0>(x, x) s = Shape(c) y = Expand(x, s)", ["n == 1 or n == 0"],
        "n == 1", [[(1,)], [(0,)]], [[(2,)]],
    ),
    "far end": ("float[n] x", FAR, ["n <= 1000000000", "n >= 1"], "", [[(5,)], [(1,)]], []),
    "resize of nothing": ("float[b,n] x", TO_THREE, ["n >= 1"], "n >= 1", [[(2, 5)], [(0, 2)]], [[(2, 0)]]),
    "padding alone": (
        "float[b,2,n] x", PADDED, ["n >= 1 or (n+1)//2+1 <= 0"], "n >= 1", [[(2, 2, 5)], [(0, 2, 1)]], [[(1, 2, 0)]],
    ),
    "edges of nothing": ("float[b,n] x", EDGES, ["n >= 1"], "n >= 1", [[(2, 5)], [(0, 2)]], [[(2, 0)]]),
}  # fmt: skip


def model(inputs: str, nodes: str) -> ModelProto:
    proto = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 20]> g ({inputs}) => (float[] y) {{ {nodes} }}'
    )
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    return proto


@pytest.mark.parametrize("name", list(CASES))
def test_sizes_that_fit_and_others(name: str) -> None:
    inputs, nodes, guards, error, fitting, others = CASES[name]
    proto, rng = model(inputs, nodes), np.random.default_rng()
    net, session = mlc.compile(proto), onnxruntime.InferenceSession(proto.SerializeToString())
    assert sorted(g["message"] for g in net.signature["guards"]) == sorted(guards)
    for shapes in fitting:
        feeds: dict[str, Any] = {n: rng.normal(size=s).astype("f") for n, s in zip(net.inputs, shapes, strict=True)}
        np.testing.assert_array_equal(net.run(feeds)["y"], session.run(None, feeds)[0])
    for shapes in others:
        feeds = {n: np.ones(s, "f") for n, s in zip(net.inputs, shapes, strict=True)}
        with pytest.raises(RunError, match=error):
            net.run(feeds)
        with pytest.raises(Exception, match="Non-zero status"):
            session.run(None, feeds)


def test_what_no_size_fulfils_is_refused() -> None:
    """2*n+1 elements are never 2*m."""
    nodes = "a = Constant<value_floats=[0.5]>() c = Concat<axis=0>(x, x, a) d = Concat<axis=0>(z, z) y = Add(c, d)"
    with pytest.raises(mlc.errors.InputError, match="do not broadcast"):
        mlc.compile(model("float[n] x, float[m] z", nodes))


MAIN = """
#include <stdio.h>
#include "split.h"
int main(void) {
  int64_t fits[] = {1, 8}, other[] = {1, 6}, shape[3];
  float x[8] = {1}, y[8];
  const void *inputs[] = {x};
  void *outputs[] = {y};
  PREFIX_model *model = PREFIX_create(NULL, 1);
  if (!model || PREFIX_run(model, inputs, outputs, fits, NULL) || PREFIX_output_shape(0, fits, shape) != 3) return 1;
  if (!PREFIX_run(model, inputs, outputs, other, NULL) || PREFIX_workspace_size(other) >= 0) return 2;
  puts(PREFIX_error());
  PREFIX_destroy(model);
  return 0;
}
"""


def test_a_size_that_does_not_fit_in_c(tmp_path: Path) -> None:
    net = mlc.compile(model("float[b,n] x", SPLIT))
    net.save(tmp_path / "split.so")
    prefix = (tmp_path / "split.h").read_text().split("_abi_version")[0].split()[-1]
    (tmp_path / "main.c").write_text(MAIN.replace("PREFIX", prefix))
    compiler = find(None, target.get("cpu")).command
    subprocess.run([*compiler, "main.c", "./split.so", "-Wl,-rpath,$ORIGIN", "-o", "main"], cwd=tmp_path, check=True)
    result = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "accepts (n is a multiple of 4), which Reshape at node 'Reshape_1' needs" in result.stdout
