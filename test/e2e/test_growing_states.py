"""Loops that give their states more elements in each iteration, or append to sequences, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest

import mlc
from mlc.errors import InputError

F = np.float32
ALWAYS = "true = Constant<value_int=1>() go = Cast<to=9>(true) one = Constant<value_ints=[1]>()"
KEEP = "on = Identity(more)"
MEAN = "a = ReduceMean<keepdims=1>(s, one) f = Cast<to=1>(i) d = Add(a, f) e = Tanh(d)"
HEAD = "(int64 i, bool more, float[b, p, 4] s) => (bool on, float[b, q, 4] t)"

ROWS = {
    "a known count": f"k = Constant<value_int=30>() y = Loop(k, go, x) <body = b {HEAD} {{ {KEEP} {MEAN} "
    "t = Concat<axis=1>(s, e) }>",
    "a count of sizes, two rows each, in front": f"z = Shape(x) c = Gather(z, one) k = Squeeze(c) y = Loop(k, go, x) "
    f"<body = b {HEAD} {{ {KEEP} {MEAN} t = Concat<axis=1>(e, d, s) }}>",
    "a given count": f"y = Loop(count, go, x) <body = b {HEAD} {{ {KEEP} {MEAN} t = Concat<axis=1>(s, e) }}>",
    "as long as data says": f"k = Constant<value_int=50>() y = Loop(k, go, x) <body = b {HEAD} {{ {MEAN} "
    "m = ReduceSum<keepdims=0>(d) l = Constant<value_float=40.0>() on = Less(m, l) t = Concat<axis=1>(s, e) }>",
    "from nothing": f"o = Constant<value_ints=[0]>() n = Slice(x, o, o, one) y = Loop(count, go, n) <body = b {HEAD} "
    f"{{ {KEEP} a = ReduceSum<keepdims=1>(s, one) f = Cast<to=1>(i) d = Add(a, f) t = Concat<axis=1>(s, d) }}>",
    "in a branch": f"m = ReduceSum<keepdims=0>(x) l = Constant<value_float=0.0>() c = Less(m, l) y = If(c) "
    f"<then_branch = u () => (float[b, r, 4] v) {{ v = Loop(count, go, x) <body = b {HEAD} {{ {KEEP} {MEAN} "
    "t = Concat<axis=1>(s, e) }> }, else_branch = w () => (float[b, r, 4] v2) { v2 = Neg(x) }>",
    "in a loop": f"k = Constant<value_int=20>() y = Loop(k, go, x) <body = o (int64 j, bool m, float[b, p, 4] h) => "
    f"(bool om, float[b, p, 4] g) {{ om = Identity(m) w = Loop(count, m, h) <body = b {HEAD} {{ {KEEP} {MEAN} "
    "t = Concat<axis=1>(s, e) }> r = ReduceMean<keepdims=1>(w, one) g = Sub(h, r) }>",
    "a sequence that is joined": "n = SequenceEmpty<dtype=1>() z, l = Loop(count, go, x, n) <body = b (int64 i, "
    "bool more, float[b, p, 4] s, seq(float[b, 1, 4]) q) => (bool on, float[b, p, 4] t, seq(float[b, 1, 4]) r) "
    f"{{ {KEEP} {MEAN} "
    "t = Sub(s, e) r = SequenceInsert(q, e) }> w = ConcatFromSequence<axis=1>(l) y = Concat<axis=1>(w, z)",
    "a sequence after the tensors before the loop": "h = Neg(x) e = SequenceConstruct(h, x) l = Loop(count, go, e) "
    f"<body = b (int64 i, bool more, seq(float[b, p, 4]) q) => (bool on, seq(float[b, p, 4]) r) {{ {KEEP} "
    "f = Cast<to=1>(i) d = Add(x, f) r = SequenceInsert(q, d) }> y = ConcatFromSequence<axis=1>(l)",
}


@pytest.mark.parametrize("name", list(ROWS))
def test_rows_that_a_loop_adds(name: str) -> None:
    feeds = [{"x": np.ones((2, 3, 4), F), "count": 5}, {"x": -np.ones((1, 2, 4), F), "count": 21}]
    _agree(f"(float[b, n, 4] x, int64 count) => (float[b, m, 4] y) {{ {ALWAYS} {ROWS[name]} }}", feeds)


def test_a_decoder_with_caches_and_tokens() -> None:
    """Two caches, tokens and rows of results, one attention each iteration; an int64 state beside floats."""
    body = """{ on = Identity(more) k2 = Concat<axis=1>(k1, h1) z = Tanh(h1) v2 = Concat<axis=1>(v1, z)
        c = Transpose<perm=[0, 2, 1]>(k2) w = MatMul(h1, c) p = Softmax<axis=-1>(w) o = MatMul(p, v2) h2 = Tanh(o)
        best = ArgMax<axis=2, keepdims=0>(h2) d2 = Concat<axis=1>(d1, best) out = Identity(o) }"""
    loop = f"""keys, values, tokens, rows = Loop(count, go, k, v, ids, h) <body = b (int64 i, bool more,
        float[b, p, 4] k1, float[b, p, 4] v1, int64[b, q] d1, float[b, 1, 4] h1) => (bool on, float[b, r, 4] k2,
        float[b, r, 4] v2, int64[b, u] d2, float[b, 1, 4] h2, float[b, 1, 4] out) {body}>"""
    loop = loop.replace("tokens, rows", "tokens, last, rows")
    head = """(float[b, 1, 4] h, float[b, p, 4] k, float[b, p, 4] v, int64[b, s] ids, int64 count) =>
        (float[b, m, 4] keys, float[b, m, 4] values, int64[b, t] tokens, float[b, 1, 4] last, float[w, b, 1, 4] rows)"""
    rng = np.random.default_rng()

    def given(batch: int, past: int, tokens: int, count: int) -> dict[str, Any]:
        floats = {n: rng.normal(size=(batch, c, 4)).astype(F) for n, c in (("h", 1), ("k", past), ("v", past))}
        return {**floats, "ids": rng.integers(9, size=(batch, tokens)), "count": count}

    _agree(f"{head} {{ {ALWAYS} {loop} }}", [given(2, 3, 2, 7), given(1, 1, 5, 1), given(3, 9, 1, 40)])


@pytest.mark.parametrize("text", [
    "s2 = Concat<axis=0>(s1, s1) q2 = Identity(q1)",
    "l = SequenceLength(q1) f = Cast<to=1>(l) s2 = Add(s1, f) q2 = SequenceInsert(q1, s2)",
    "s2 = Neg(s1) q = SequenceInsert(q1, s2) q2 = SequenceInsert(q, s1)",
])  # fmt: skip
def test_other_changes_of_sequences_are_refused(text: str) -> None:
    inner = "(int64 i, bool more, float[p] s1, seq(float[n]) q1) => (bool on, float[q] s2, seq(float[n]) q2)"
    loop = f"y, l = Loop(count, go, x, e) <body = b {inner} {{ {KEEP} {text} }}>"
    model = f"(float[n] x, int64 count) => (float[m] y) {{ {ALWAYS} e = SequenceEmpty<dtype=1>() {loop} }}"
    with pytest.raises(InputError, match="only by appending one tensor"):
        mlc.compile(_parsed(model))


def test_states_that_double_are_refused() -> None:
    inner = "(int64 i, bool more, float[p] s) => (bool on, float[q] t)"
    loop = f"y = Loop(count, go, x) <body = b {inner} {{ {KEEP} t = Concat<axis=0>(s, s) }}>"
    with pytest.raises(InputError, match="add the same number of elements along one axis"):
        mlc.compile(_parsed(f"(float[n] x, int64 count) => (float[m] y) {{ {ALWAYS} {loop} }}"))


BEAMS = """last = Gather<axis=1>(d1, m) e = Gather<axis=0>(words, last) h = Tanh(e) p = MatMul(h, weights)
    u = Unsqueeze(s1, one) t = Add(p, u) f = Reshape(t, flat) s2, at = TopK<axis=0>(f, three) row = Div(at, nine)
    kept = Gather<axis=0>(d1, row) w = Mod(at, nine) wu = Unsqueeze(w, one)
    d2 = Concat<axis=1>(kept, wu) on = Identity(more)"""


def test_beams_whose_number_the_first_iteration_decides() -> None:
    """TopK keeps 3 beams, so that the open dimensions of the states before the loop are 3."""
    loop = f"""tokens, scores = Loop(count, go, ids, s) <body = b (int64 i, bool more, int64[b, p] d1, float[b] s1) =>
        (bool on, int64[b, q] d2, float[b] s2) {{ {BEAMS} }}>"""
    known = """m = Constant<value_int=-1>() flat = Constant<value_ints=[-1]>() three = Constant<value_ints=[3]>()
        nine = Constant<value_int=9>()"""
    head = """(int64[b, 1] ids, float[c] s, int64 count, float[9, 4] words, float[4, 9] weights) =>
        (int64[b, n] tokens, float[b] scores)"""
    rng = np.random.default_rng()
    feed = {"words": rng.normal(size=(9, 4)).astype(F), "weights": rng.normal(size=(4, 9)).astype(F)}
    feed |= {"ids": rng.integers(9, size=(3, 1)), "s": rng.normal(size=3).astype(F)}
    _agree(f"{head} {{ {ALWAYS} {known} {loop} }}", [{**feed, "count": count} for count in (0, 1, 6)])


def test_a_state_of_as_many_elements_as_an_iteration_gives() -> None:
    inner = "(int64 i, bool more, float[p] s) => (bool on, float[q] t)"
    body = "a = ReduceSum<keepdims=1>(s) b = Concat<axis=0>(a, a) c = Concat<axis=0>(b, a) t = Tanh(c)"
    loop = f"h = Concat<axis=0>(x, x) y = Loop(count, go, h) <body = b {inner} {{ {KEEP} {body} }}>"
    text = f"(float[n] x, int64 count) => (float[m] y) {{ {ALWAYS} {loop} }}"
    with pytest.raises(InputError, match="give it one shape and type"):  # 2*n is never 3
        mlc.compile(_parsed(text))
    loop = loop.replace("(x, x)", "(x, true_)")
    text = f"(float[n] x, int64 count) => (float[m] y) {{ {ALWAYS} true_ = Cast<to=1>(one) {loop} }}"
    _agree(text, [{"x": np.ones(2, F), "count": count} for count in (0, 1, 6)])


def _parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]> g {text}')


def _agree(text: str, feeds: list[dict[str, Any]]) -> None:
    model = _parsed(text)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    read = {i.name for i in session.get_inputs()}
    with mlc.compile(model) as net:
        for feed in feeds:
            given = {name: np.asarray(value) for name, value in feed.items() if name in read}
            wanted = dict(zip([o.name for o in session.get_outputs()], session.run(None, given), strict=True))
            found = net.run(given)
            for name, value in wanted.items():
                np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
