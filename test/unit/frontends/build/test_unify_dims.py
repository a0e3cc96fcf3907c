"""Extents that must be equal although the model writes them in different ways."""

from __future__ import annotations

import numpy as np
import onnx.parser
import onnxruntime
import pytest
from onnx import ModelProto

import mlc
from mlc.dialects.semantics.dims import parse_dim
from mlc.errors import InputError, RunError
from mlc.frontends.build.unify_dims import solved
from mlc.frontends.onnx import import_model


def model(inputs: str, nodes: str) -> ModelProto:
    head = '<ir_version: 10, opset_import: ["" : 20]>'
    return onnx.parser.parse_model(f"{head} g ({inputs}) => (float[] y) {{ {nodes} }}")


def agrees(proto: ModelProto, *shapes: tuple[int, ...]) -> mlc.Model:
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    rng = np.random.default_rng()
    given = {i.name: rng.normal(1, 1, s).astype("f") for i, s in zip(proto.graph.input, shapes, strict=True)}
    (wanted,) = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, given)
    net = mlc.compile(proto)
    np.testing.assert_allclose(net.run(given)["y"], wanted, rtol=1e-5, atol=1e-5)
    return net


@pytest.mark.parametrize(
    ("inputs", "nodes", "shapes", "fixed"),
    [
        ("float[2,n] x, float[7,3] w", "y = MatMul(x, w)", ((2, 7), (7, 3)), "2, 7"),
        ("float[rows,n] x, float[3,7] w", "y = Gemm<transB=1>(x, w)", ((2, 7), (3, 7)), "rows, 7"),
        ("float[2,n] x, float[5,7] w", 'y = Einsum<equation="ab,cb->ac">(x, w)', ((2, 7), (5, 7)), "2, 7"),
        ("float[2,n,5,5] x, float[4,3,2,2] w", "y = Conv<group=2>(x, w)", ((2, 6, 5, 5), (4, 3, 2, 2)), "2, 6, 5, 5"),
        ("float[2,n] x, float[3,7] w", "y = Concat<axis=0>(x, w)", ((2, 7), (3, 7)), "2, 7"),
        ("float[n,2] x, float[1,7] w", "y = Concat<axis=1>(x, w)", ((1, 2), (1, 7)), "1, 2"),
        ("float[2,n] x, float[7] w", "y = Add(w, x)", ((2, 7), (7,)), "2, 7"),
        ("float[n,long] x, float[5,3] w", "z = Transpose(x) y = MatMul(z, w)", ((5, 4), (5, 3)), "5, long"),
        ("float[half] x, float[8] w", "z = Concat<axis=0>(x, x) y = Mul(z, w)", ((4,), (8,)), "4"),
    ],
)
def test_a_weight_decides_a_dimension(inputs: str, nodes: str, shapes: tuple[tuple[int, ...], ...], fixed: str) -> None:
    assert str(agrees(model(inputs, nodes), *shapes).inputs["x"]) == f"float32[{fixed}]"


def test_names_that_mean_one_dimension() -> None:
    """What two inputs call differently, and what one calls twice another's."""
    net = agrees(model("float[2,seq] x, float[len,3] w", "y = MatMul(x, w)"), (2, 7), (7, 3))
    with pytest.raises(RunError, match=r"'w' must be float32\[seq, 3\], that is \(7, 3\)"):
        net(np.ones((2, 7), "f"), np.ones((6, 3), "f"))
    agrees(model("float[seq] x, float[long] w", "z = Concat<axis=0>(x, x) y = Mul(z, w)"), (4,), (8,))


def test_other_extents_are_refused() -> None:
    net = mlc.compile(model("float[2,n] x, float[7,3] w", "y = MatMul(x, w)"))
    with pytest.raises(RunError, match=r"'x' must be float32\[2, 7\]"):
        net(np.ones((2, 8), "f"), np.ones((7, 3), "f"))


def test_a_chosen_dimension_stays() -> None:
    with pytest.raises(InputError, match="'k' is 8 and 7"):
        import_model(model("float[2,n] x, float[7,3] w", "y = MatMul(x, w)"), {"n": 8})


@pytest.mark.parametrize(
    "nodes",
    [
        "y = MatMul(c, w)",
        "y = Gemm(c, w)",
        "t = Transpose(w) y = Concat<axis=0>(c, t)",
        "t = Transpose(w) y = Mul(t, c)",
    ],
)
def test_sizes_from_data(nodes: str) -> None:
    net = agrees(model("float[n] x, float[7,3] w", f"z = NonZero(x) c = Cast<to=1>(z) {nodes}"), (7,), (7, 3))
    x = np.ones(9, "f")
    with pytest.raises(RunError, match=r"size0.*has other elements than \[1, 7\]"):
        net(x, np.ones((7, 3), "f"))
    x[[2, 5]] = 0
    assert net(x, np.ones((7, 3), "f")) is not None


@pytest.mark.parametrize(
    ("difference", "found"),
    [
        ("n-7", "n is 7"),
        ("7-n", "n is 7"),
        ("2*n-14", "n is 7"),
        ("2*n-15", "None"),
        ("n+7", "None"),
        ("n-p-1", "n is p+1"),
        ("n+p-7", "None"),
        ("n*n-49", "None"),
        ("n*p-3*p", "None"),
        ("size0-7", "None"),
        ("n-step0", "None"),
        ("n-value0", "None"),
    ],
)
def test_solved(difference: str, found: str) -> None:
    assert str(solved(parse_dim(difference))) == found
