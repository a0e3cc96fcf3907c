"""Pads, slices, loops and pieces whose amounts a model computes from sizes: onnxruntime's values, or both an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest

import mlc
from mlc.errors import RunError

NUMBERS = """
    s = Shape(x) zero = Constant<value_ints=[0]>() one = Constant<value_ints=[1]>() two = Constant<value_ints=[2]>()
    three = Constant<value_ints=[3]>() minus = Constant<value_ints=[-1]>() far = Constant<value_ints=[1000000000000]>()
    n = Slice(s, one, two)
"""
TO_OTHER = "t = Shape(z) m = Slice(t, one, two) more = Sub(m, n)"

CASES: dict[str, tuple[str, str, list[list[tuple[int, ...]]]]] = {
    "half is left": (
        "float[b,n] x", "k = Div(n, two) l = Sub(k, n) p = Concat<axis=0>(zero, zero, zero, l) y = Pad(x, p)",
        [[(2, 8)], [(3, 7)], [(1, 1)]],
    ),
    "padded or cropped to another": (
        "float[b,n] x, float[b,m] z",
        f"{TO_OTHER} p = Concat<axis=0>(zero, zero, zero, more) w = Pad(x, p) y = Add(w, z)",
        [[(2, 8), (2, 5)], [(3, 4), (3, 9)], [(1, 6), (1, 6)], [(2, 7), (2, 1)]],
    ),
    "padded or cropped on both sides": (
        "float[b,n] x, float[b,m] z",
        f"{TO_OTHER} a = Div(more, two) r = Sub(more, a) p = Concat<axis=0>(zero, a, zero, r) y = Pad(x, p)",
        [[(2, 8), (2, 6)], [(3, 4), (3, 9)], [(1, 6), (1, 6)], [(2, 7), (2, 1)]],
    ),
    "every third row backwards": (
        "float[b,n] x",
        """u = Constant<value_int=1>() v = Constant<value_int=-1>() w = Constant<value_int=-3>()
        k = Squeeze(n) l = Sub(k, u) r = Range(l, v, w) y = Gather<axis=1>(x, r)""",
        [[(2, 8)], [(3, 7)], [(1, 6)], [(2, 1)]],
    ),
    "from half before the end": (
        "float[b,n] x", "k = Div(n, two) l = Neg(k) y = Slice(x, l, far, one)", [[(2, 8)], [(3, 7)], [(1, 2)]],
    ),
    "from the rest before the end": (
        "float[b,n] x", "k = Mod(n, three) l = Neg(k) y = Slice(x, l, far, one)",
        [[(2, 8)], [(3, 7)], [(1, 6)], [(2, 1)]],
    ),
    "before half, backwards": (
        "float[b,n] x", "k = Div(n, two) l = Neg(k) y = Slice(x, minus, l, one, minus)", [[(2, 8)], [(3, 7)], [(1, 2)]],
    ),
    "rows of a batch of products": (
        "float[n,n] x, float[b,n,k] z", "p = MatMul(x, z) i = Cast<to=7>(z) y = GatherElements<axis=1>(p, i)",
        [[(8, 8), (2, 8, 3)], [(5, 5), (3, 5, 20)]],
    ),
    "the last part of three": (
        "float[b,n] x", "k = Constant<value_int=3>() l = Constant<value_int=-1>() p = SplitToSequence<axis=1>(x, k) "
        "y = SequenceAt(p, l)", [[(2, 8)], [(3, 9)], [(1, 1)]],
    ),
    "the second part of three": (
        "float[b,n] x", "k = Constant<value_int=3>() l = Constant<value_int=1>() p = SplitToSequence<axis=1>(x, k) "
        "y = SequenceAt(p, l)", [[(2, 8)], [(3, 5)], [(1, 4)], [(1, 3)]],
    ),
    "halves in other order": (
        "float[b,n] x", """u = Constant<value_int=1>() v = Constant<value_int=0>() a = Add(n, one) d = Div(a, two)
        k = Squeeze(d) p = SplitToSequence<axis=1>(x, k) f = SequenceAt(p, v) l = SequenceAt(p, u) t = Tanh(f)
        y = Concat<axis=1>(l, t)""", [[(2, 8)], [(3, 5)], [(1, 2)], [(1, 1)]],
    ),
    "parts counted and joined": (
        "float[b,n] x", """k = Constant<value_int=4>() p = SplitToSequence<axis=-1>(x, k) c = SequenceLength(p)
        f = Cast<to=1>(c) j = ConcatFromSequence<axis=1>(p) y = Mul(j, f)""", [[(2, 8)], [(3, 5)], [(1, 2)]],
    ),
    "the last two before the others": (
        "float[b,n] x", "k = Sub(n, two) a = Slice(x, zero, k, one) c = Slice(x, k, far, one) y = Concat<axis=1>(c, a)",
        [[(2, 8)], [(3, 3)], [(1, 2)], [(2, 1)]],
    ),
    "up to two before half": (
        "float[b,n] x", """h = Div(n, two) a = Slice(x, h, far, one) t = Shape(a) m = Slice(t, one, two) k = Sub(m, two)
        y = Slice(a, zero, k, one)""", [[(2, 8)], [(3, 5)], [(1, 2)], [(2, 1)]],
    ),
    "the first, the last and any of what may be nothing": (
        "float[b,n] x", """d = Constant<value_ints=[5]>() k = Div(n, d) a = Slice(x, zero, k, one)
        u = Constant<value_int=0>() v = Constant<value_int=-1>() w = Sub(k, one) l = Squeeze(w)
        f = Gather<axis=1>(a, u) g = Gather<axis=1>(a, v) h = Gather<axis=1>(a, l) i = Add(f, g) y = Add(h, i)""",
        [[(2, 11)], [(3, 5)], [(1, 4)], [(2, 1)]],
    ),
    "two of a third, from both ends": (
        "float[b,n] x", """k = Div(n, three) a = Slice(x, zero, k, one) i = Constant<value_ints=[1, -2]>()
        y = Gather<axis=1>(a, i)""", [[(2, 8)], [(3, 6)], [(1, 5)], [(2, 2)]],
    ),
    "rows of a quarter at words": (
        "float[b,n] x, float[b,m] z", """d = Constant<value_ints=[4]>() k = Div(n, d) a = Slice(x, zero, k, one)
        i = Cast<to=7>(z) j = Sub(i, i) y = GatherElements<axis=1>(a, j)""",
        [[(2, 8), (2, 3)], [(3, 3), (3, 2)], [(1, 2), (1, 0)], [(2, 0), (2, 1)]],
    ),
    "columns where data says, of none": (
        "float[b,n] x, float[m] z", "i = NonZero(z) y = Gather<axis=1>(x, i)",
        [[(2, 8), (3,)], [(2, 3), (0,)], [(2, 0), (0,)], [(2, 0), (2,)]],
    ),
    "spectra of half a signal": (
        "float[b,n] x", """k = Div(n, two) a = Slice(x, zero, k, one) u = Unsqueeze(a, minus)
        i = Constant<value_int=1>()
        y = DFT<onesided=1>(u, , i)""", [[(2, 8)], [(3, 2)], [(2, 1)]],
    ),
    "whole spectra of half a signal": (
        "float[b,n] x", """k = Div(n, two) a = Slice(x, zero, k, one) u = Unsqueeze(a, minus)
        i = Constant<value_int=1>()
        y = DFT(u, , i)""", [[(2, 8)], [(3, 2)], [(2, 1)]],
    ),
    "one row beside two": ("float[b,n] x", "d = Concat<axis=0>(x, x) y = Add(d, x)", [[(1, 8)], [(2, 3)]]),
}  # fmt: skip


@pytest.mark.parametrize("name", list(CASES))
def test_values_at_every_size(name: str) -> None:
    inputs, nodes, shapes = CASES[name]
    proto = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 20]> g ({inputs}) => (float[] y) {{ {NUMBERS} {nodes} }}'
    )
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    options = onnxruntime.SessionOptions()  # which makes x[n-1:-1:-3] of rows picked backwards
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    rng, session = np.random.default_rng(), onnxruntime.InferenceSession(proto.SerializeToString(), options)
    with mlc.compile(proto) as net:
        for each in shapes:
            feeds: dict[str, Any] = {i: rng.normal(size=s).astype("f") for i, s in zip(net.inputs, each, strict=True)}
            _agree(net, session, feeds)


def _agree(net: mlc.Model, session: onnxruntime.InferenceSession, feeds: dict[str, Any]) -> None:
    try:
        wanted = session.run(None, feeds)[0]
    except Exception:
        with pytest.raises(RunError):
            net.run(feeds)
        return
    np.testing.assert_allclose(net.run(feeds)["y"], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rows", ["NonZero(x)", "Compress(x, c)", "Unique<sorted=1>(x)"])
def test_elements_that_data_counts_are_no_more_than_there_are(rows: str) -> None:
    """Reading at them needs no check, which would be one more output of the artifact."""
    proto = onnx.parser.parse_model(
        f'''<ir_version: 10, opset_import: ["" : 20]> g (float[n] x, bool[n] c) => (float[] y)
        {{ minus = Constant<value_ints=[-1]>() i = {rows} j = Reshape(i, minus) k = Cast<to=7>(j) y = Gather(x, k) }}'''
    )
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    with mlc.compile(proto) as net:
        assert [size["bound"] for size in net.signature["sizes"]] == ["n"]
        if rows == "NonZero(x)":
            x = np.array([0, 2, 0, -1, 3], "f")
            np.testing.assert_array_equal(net.run({"x": x, "c": x > 0})["y"], x[x != 0])
            assert net.run({"x": x[:0], "c": x[:0] > 0})["y"].shape == (0,)
