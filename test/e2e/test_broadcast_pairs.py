"""Operators on two open extents of which either may be 1: at sizes that onnxruntime takes a session has its values."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import numpy as np
import onnx.parser
import onnxruntime
import pytest
from onnx import ModelProto

import mlc
from mlc.errors import RunError

OPERATORS = (
    "Add(x, z)", "Sum(x, z, x)", "Max(z, x)", "Min(x, z, z)", "Where(c, z, x)", "PRelu(x, z)", "MatMul(x, z)",
    "Pow(p, z)", "Mod<fmod=1>(x, z)", "Expand(x, s)", "Mean(x, z)", 'Einsum<equation="...ij,...ij->...i">(x, z)',
)  # fmt: skip
NODES = "zero = Constant<value_float=0.0>() c = Greater(x, zero) p = Abs(x) s = Shape(z)"
SIZES = [(3, 3), (1, 1), (1, 4), (4, 1), (5, 1), (2, 3)]  # the last ones contradict


def model(operators: Sequence[str]) -> ModelProto:
    """``x`` and ``z`` with other names of their first extent, and an output an operator."""
    outputs = ", ".join(f"float y{n}" for n in range(len(operators)))
    body = " ".join([NODES, *(f"y{n} = {operator}" for n, operator in enumerate(operators))])
    text = f"g (float[n,2,2] x, float[m,2,2] z) => ({outputs}) {{ {body} }}"
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]> {text}')
    for output in proto.graph.output:
        output.type.tensor_type.ClearField("shape")
    return proto


def test_sizes_of_a_session() -> None:
    proto = model(OPERATORS).SerializeToString()
    ours, theirs, rng = mlc.InferenceSession(proto), onnxruntime.InferenceSession(proto), np.random.default_rng()
    for sizes in SIZES:
        feed = {name: rng.standard_normal((size, 2, 2)).astype("f") for name, size in zip("xz", sizes, strict=True)}
        with warnings.catch_warnings(action="ignore"):
            if sizes == SIZES[-1]:
                with pytest.raises(RunError, match="is one size"):
                    ours.run(None, feed)
                with pytest.raises(Exception, match="Non-zero status"):
                    theirs.run(None, feed)
                continue
            found = ours.run(None, feed)
        for operator, ours_, wanted in zip(OPERATORS, found, theirs.run(None, feed), strict=True):
            np.testing.assert_allclose(ours_, wanted, 1e-5, 1e-6, err_msg=operator, strict=True)


@pytest.mark.parametrize("operator", ["Add(x, z)", "Expand(x, s)"])
def test_the_way_out_that_an_artifact_names(operator: str) -> None:
    proto, feed = model([operator]), {"x": np.ones((1, 2, 2), "f"), "z": np.ones((4, 2, 2), "f")}
    with pytest.raises(RunError) as refused:
        mlc.compile(proto).run(feed)
    found = re.search(r"mlc compile --dim (\S+)=(\d)'", str(refused.value))
    assert found is not None
    assert mlc.compile(proto, dims={found[1]: int(found[2])}).run(feed)["y0"].shape == (4, 2, 2)
