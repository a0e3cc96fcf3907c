"""Sequences and optionals at the border of a model: against onnxruntime, compiled and interpreted."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest

import mlc
from mlc.frontends.onnx import UnsupportedError, backend, import_model
from mlc.runtime import MlcError

HEAD = '<ir_version: 8, opset_import: ["" : 18]>'
CHAIN = f"""{HEAD} chain (seq(float[N, M]) xs, float[M] shift) => (seq(float[K, M]) ys, float[P, M] all) {{
  one = Constant <value_int = 1> ()
  second = SequenceAt (xs, one)
  moved = Add (second, shift)
  ys = SequenceInsert (xs, moved)
  all = ConcatFromSequence <axis = 0> (ys)
}}"""
SPLIT = f"""{HEAD} split (float[7, 5] x) => (seq(float[A, B]) y, float[C, D] last) {{
  sizes = Constant <value_ints = [2, 4, 1]> ()
  y = SplitToSequence <axis = 0> (x, sizes)
  at = Constant <value_int = -1> ()
  last = SequenceAt (y, at)
}}"""


def check(text: str, feeds: dict[str, Any]) -> None:
    model = onnx.parser.parse_model(text)
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)
    for actual, wanted in zip(backend.prepare(model).run(feeds), expected, strict=True):
        assert type(actual) is type(wanted)
        pairs = zip(actual, wanted, strict=True) if isinstance(wanted, list) else [(actual, wanted)]
        for a, b in pairs:
            np.testing.assert_allclose(a, b, rtol=1e-6)


def rows(*counts: int) -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng()
    return [random.standard_normal((n, 6)).astype("f4") for n in counts]


@pytest.mark.parametrize("counts", [(2, 3), (1, 1, 5), (4, 2, 2, 9)])
def test_elements_of_any_number_and_shape(counts: tuple[int, ...]) -> None:
    check(CHAIN, {"xs": rows(*counts), "shift": rows(1)[0][0]})


def test_one_model_for_several_lengths() -> None:
    net = backend.prepare(onnx.parser.parse_model(CHAIN))
    shift = rows(1)[0][0]
    for counts in [(2, 3), (1, 1, 5), (2, 3)] * 2:
        xs = rows(*counts)
        ys, whole = net.run([xs, shift])
        assert [y.shape for y in ys] == [*((n, 6) for n in counts), (counts[1], 6)]
        np.testing.assert_array_equal(whole, np.concatenate([*xs, xs[1] + shift]))


def test_a_sequence_is_an_output_an_element() -> None:
    check(SPLIT, {"x": np.random.default_rng().standard_normal((7, 5)).astype("f4")})
    net = mlc.compile(onnx.parser.parse_model(SPLIT))
    assert {name: spec.shape for name, spec in net.outputs.items()} == {
        "y.0": (2, 5), "y.1": (4, 5), "y.2": (1, 5), "last": (1, 5)
    }  # fmt: skip


OPTIONAL = f"""{HEAD} chosen (optional(float[N, 3]) o, float[N, 3] x) => (float[N, 3] y) {{
  given = OptionalHasElement (o)
  y = If (given) <then_branch = a () => (float[N, 3] t) {{ e = OptionalGetElement (o) t = Sub (x, e) }},
                  else_branch = b () => (float[N, 3] f) {{ f = Neg (x) }}>
}}"""


def test_a_sequence_is_an_input_an_element_where_their_number_is_said() -> None:
    net = mlc.compile(onnx.parser.parse_model(CHAIN), dims={"xs": 2, "M": 4})
    assert {name: spec.shape for name, spec in net.inputs.items()} == {
        "xs.0": ("xs_0_0", 4), "xs.1": ("xs_1_0", 4), "shift": (4,)
    }  # fmt: skip
    xs, shift = rows(2, 5), rows(1)[0][0]
    whole = net.run({"xs.0": xs[0][:, :4], "xs.1": xs[1][:, :4], "shift": shift[:4]})["all"]
    np.testing.assert_array_equal(whole, np.concatenate([*xs, xs[1] + shift])[:, :4])


def test_an_optional_is_an_input_where_it_is_said_to_be_given() -> None:
    net = mlc.compile(onnx.parser.parse_model(OPTIONAL), dims={"o": 1})
    x, o = np.ones((2, 3), "f"), np.full((2, 3), 3, "f")
    np.testing.assert_array_equal(net.run({"o": o, "x": x})["y"], x - o)
    with pytest.raises(MlcError, match="is an optional, of 2 elements"):
        import_model(onnx.parser.parse_model(OPTIONAL), {"o": 2})
    with pytest.raises(MlcError, match="an input that is an optional; say that it is given, --dim o=1"):
        import_model(onnx.parser.parse_model(OPTIONAL))


def test_what_has_no_way_is_said() -> None:
    with pytest.raises(MlcError, match=r"an input that is a sequence; say how many elements it has, --dim xs=2"):
        import_model(onnx.parser.parse_model(CHAIN))
    with pytest.raises(MlcError, match="Two outputs have the name 'y.1'"):
        import_model(renamed(onnx.parser.parse_model(SPLIT), "last", "y.1"))


def renamed(model: onnx.ModelProto, old: str, new: str) -> onnx.ModelProto:
    model.graph.node[-1].output[0] = next(o for o in model.graph.output if o.name == old).name = new
    return model


MAPPED = """<ir_version: 8, opset_import: ["" : 18]> mapped (float[{n}, 4, 3] x, float[4] shift) => (
    float[A, B] joined, float[C, D, E] stacked, float[3] last, int64 count) {{
  xs = SplitToSequence <axis = 0, keepdims = 0> (x)
  zs = SplitToSequence <axis = 0> (x)
  ys, ws = SequenceMap <body = each (float[4, 3] a, float[1, 4, 3] b, float[4] s) => (float[3] y, float[3, 4] w) {{
    axes = Constant <value_ints = [0]> ()
    d = Squeeze (b, axes)
    wide = Constant <value_ints = [4, 1]> ()
    t = Reshape (s, wide)
    m = Mul (a, t)
    y = ReduceMax <keepdims = 0> (m, axes)
    sum = Add (m, d)
    w = Transpose (sum)
  }}> (xs, zs, shift)
  joined = ConcatFromSequence <axis = 1> (ws)
  stacked = ConcatFromSequence <axis = -1, new_axis = 1> (ws)
  place = Constant <value_int = -2> ()
  last = SequenceAt (ys, place)
  count = SequenceLength (ys)
}}"""


@pytest.mark.parametrize("n", [5, 20, "N"])
def test_maps_of_few_many_and_any_number_of_elements(n: int | str) -> None:
    """Few elements one by one; more in a loop, whose number may be a symbol."""
    text = MAPPED.format(n=n)
    model = onnx.parser.parse_model(text)
    loops = "graph.loop" in str(import_model(model).module)
    assert loops == (n != 5)
    net = mlc.compile(model)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    for count in (n,) if isinstance(n, int) else (2, 5, 33):
        random = np.random.default_rng(count)
        feeds = {"x": random.standard_normal((count, 4, 3)).astype("f4"), "shift": random.random(4).astype("f4")}
        for found, right in zip(net.run(feeds).values(), session.run(None, feeds), strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)


def test_elements_at_run_time_indices() -> None:
    text = f"""{HEAD} at (float[N, 2] x, int64 n) => (float[2] y) {{
      xs = SplitToSequence <axis = 0, keepdims = 0> (x)
      y = SequenceAt (xs, n)
    }}"""
    x = rows(5)[0][:, :2].copy()
    for n in (0, 3, -1, -5):
        np.testing.assert_array_equal(backend.prepare(onnx.parser.parse_model(text)).run([x, np.int64(n)])[0], x[n])


def test_sequences_of_open_length_that_are_refused() -> None:
    text = f"""{HEAD} out (float[N, 2] x) => (seq(float[1, 2]) xs) {{
      xs = SplitToSequence <axis = 0> (x)
    }}"""
    with pytest.raises(UnsupportedError, match="a sequence of N elements; fix that with dims"):
        mlc.compile(onnx.parser.parse_model(text))
    found = mlc.compile(onnx.parser.parse_model(text), dims={"N": 3}).run({"x": rows(3)[0][:, :2].copy()})
    assert [y.shape for y in found.values()] == [(1, 2)] * 3
