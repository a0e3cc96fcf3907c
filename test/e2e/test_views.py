"""Slices and concatenations that are zero-copy views: every way in which values can share a buffer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx.parser
import pytest

import mlc

Arrays = tuple[np.ndarray, ...]


def model(signature: str, body: str) -> onnx.ModelProto:
    text = f'<ir_version: 8, opset_import: ["" : 17]>\ng {signature} {{\n{body}\n}}'
    return onnx.parser.parse_model(text)


def check(net: mlc.Model, inputs: Arrays, expected: Arrays) -> None:
    found = net(*inputs)
    for actual, wanted in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng().standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("rows", [1, 4])
def test_parts_are_written_where_they_belong(rows: int) -> None:
    """Along the first dimension that is not 1, three kernels and no copy; else a kernel copies."""
    net = mlc.compile(
        model(
            f"(float[{rows},7] x) => (float[{rows},21] y)",
            "a = Exp(x)\n s = Softmax<axis = 1>(a)\n b = Neg(s)\n r = Relu(x)\n y = Concat<axis = 1>(s, b, r)",
        )
    )
    x = random(rows, 7)
    e = np.exp(np.exp(x.astype(np.float64)))
    s = e / e.sum(1, keepdims=True)
    check(net, (x,), (np.concatenate([s, -s, np.maximum(x, 0)], 1),))
    concats = [k for k in net.signature["kernels"] if k["name"].startswith("concat")]
    assert bool(concats) == (rows > 1)


NUMBERS = "".join(f"n{k} = Constant <value_ints = [{k}]>()\n" for k in (0, 1, 2, 3, 9))
CASES: dict[str, tuple[str, Callable[..., Arrays]]] = {
    "a part that is an input is copied": (
        "a = Relu(x)\n y = Concat<axis = 0>(x, a)\n z = Neg(y)",
        lambda x: (np.concatenate([x, np.maximum(x, 0)]), -np.concatenate([x, np.maximum(x, 0)])),
    ),
    "a part twice": (
        "a = Sin(x)\n y = Concat<axis = 0>(a, a)\n z = Neg(a)",
        lambda x: (np.concatenate([np.sin(x)] * 2), -np.sin(x)),
    ),
    "a part of two concatenations": (
        "a = Sin(x)\n b = Cos(x)\n y = Concat<axis = 0>(a, b)\n z = Concat<axis = 0>(b, a)",
        lambda x: (np.concatenate([np.sin(x), np.cos(x)]), np.concatenate([np.cos(x), np.sin(x)])),
    ),
    "a part that is a result too": (
        "z = Sin(x)\n b = Cos(x)\n y = Concat<axis = 0>(z, b)",
        lambda x: (np.concatenate([np.sin(x), np.cos(x)]), np.sin(x)),
    ),
    "a concatenation of concatenations": (
        "a = Sin(x)\n b = Cos(x)\n c = Concat<axis = 0>(a, b)\n d = Tanh(c)\n y = Concat<axis = 0>(c, d)\n z = Neg(c)",
        lambda x: (lambda c: (np.concatenate([c, np.tanh(c)]), -c))(np.concatenate([np.sin(x), np.cos(x)])),
    ),
    "slices of inputs, of values and of slices": (
        "s = Slice(x, n1, n3)\n a = Exp(x)\n t = Slice(a, n1, n3)\n"
        "u = Slice(t, n1, n3)\n y = Add(s, t)\n z = Mul(u, u)",
        lambda x: (x[1:3] + np.exp(x[1:3]), np.exp(x[2:3]) ** 2),
    ),
    "slices that are results": (
        "a = Exp(x)\n y = Slice(a, n0, n1)\n z = Slice(a, n1, n2)",
        lambda x: (np.exp(x[:1]), np.exp(x[1:2])),
    ),
    "slices put together in another order": (
        "a = Exp(x)\n s = Slice(a, n1, n9)\n t = Slice(a, n0, n1)\n y = Concat<axis = 0>(s, t)\n z = Neg(y)",
        lambda x: (np.roll(np.exp(x), -1, 0), -np.roll(np.exp(x), -1, 0)),
    ),
}


@pytest.mark.parametrize("rows", ["3", "rows"])
@pytest.mark.parametrize("name", CASES)
def test_values_that_share_memory(name: str, rows: str) -> None:
    body, reference = CASES[name]
    net = mlc.compile(model(f"(float[{rows},5] x) => (float[m,5] y, float[k,5] z)", NUMBERS + body), threads=2)
    x = random(3, 5)
    check(net, (x,), reference(x.astype(np.float64)))


def test_steps_of_a_recurrence_share_their_kernels() -> None:
    def kernels(steps: int) -> set[str]:
        signature = f"(float[{steps},1,5] x, float[1,32,5] w, float[1,32,8] r) => (float[{steps},1,1,8] y)"
        net = mlc.compile(model(signature, "y, h, c = LSTM<hidden_size = 8>(x, w, r)"))
        return {k["schedule"] for k in net.signature["kernels"]}

    assert len(kernels(8)) == len(kernels(16))  # from 8 rows on, transposed weights of run time are packed
