"""Positions of a nearest Resize that are ties, or nearly so in f32: onnxruntime's elements, of open and known sizes."""

from __future__ import annotations

import numpy as np
import onnx.parser
import onnxruntime
import pytest

import mlc

SIZES = [(7, 2), (10, 12), (9, 42), (14, 39), (22, 13), (7, 57), (13, 28), (19, 41), (38, 27)]
ROUNDINGS = ("round_prefer_ceil", "round_prefer_floor", "floor")
WAYS = [(t, r) for t in ("asymmetric", "half_pixel", "align_corners") for r in ROUNDINGS]


def model() -> onnx.ModelProto:
    """Of x [1, 1, n] and z [m]: x resized to m in each way."""
    each = [
        f'y{k} = Resize<mode="nearest",coordinate_transformation_mode="{t}",nearest_mode="{r}">(x,,,s)'
        for k, (t, r) in enumerate(WAYS)
    ]
    outputs = ", ".join(f"float[1,1,m] y{k}" for k in range(len(WAYS)))
    shape = "one = Constant<value_ints=[1,1]>() q = Shape(z) s = Concat<axis=0>(one, q)"
    head = f'<ir_version: 10, opset_import: ["" : 20]> g (float[1,1,n] x, float[m] z) => ({outputs})'
    return onnx.parser.parse_model(f"{head} {{ {shape} {' '.join(each)} }}")


@pytest.mark.parametrize("known", [False, True])
def test_nearest_elements(known: bool) -> None:
    proto = model()
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    open_net = None if known else mlc.compile(proto)
    for n, m in SIZES[:: 4 if known else 1]:
        feeds = {"x": np.arange(n, dtype=np.float32).reshape(1, 1, n), "z": np.zeros(m, np.float32)}
        found = (open_net or mlc.compile(proto, dims={"n": n, "m": m})).run(feeds)
        for name, wanted in zip(found, session.run(None, feeds), strict=True):
            np.testing.assert_array_equal(found[name], wanted, f"{WAYS[int(name[1:])]}: {n} to {m}")
