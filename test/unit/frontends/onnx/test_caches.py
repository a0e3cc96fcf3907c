"""Caches in the state of an artifact, step by step beside onnxruntime, which gets them as inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest
from onnx import ModelProto

import mlc
from mlc.errors import InputError, RunError

ROOM = 12
Array = np.ndarray[Any, Any]
HEAD = "int64[b, s] input_ids, int64[b, t] attention_mask"
CACHES = "float[b, 2, p, 8] past_key_values_0_key, float[b, 2, p, 8] past_key_values_0_value"
PRESENT = "float[b, s, v] logits, float[b, 2, t, 8] present_0_key, float[b, 2, t, 8] present_0_value"
WEIGHTS = "float[16, 16] e, float[16, 16] wq, float[16, 16] wk, float[16, 16] wv, float[16, 16] wo"
EMBEDDED = "x = Gather(e, input_ids) q0 = MatMul(x, wq) k0 = MatMul(x, wk) v0 = MatMul(x, wv)"
SPLIT = """shape = Constant<value_ints=[0, 0, 2, 8]>() back = Constant<value_ints=[0, 0, 16]>()
    q1 = Reshape(q0, shape) k1 = Reshape(k0, shape) v1 = Reshape(v0, shape) q = Transpose<perm=[0, 2, 1, 3]>(q1)
    k = Transpose<perm=[0, 2, 1, 3]>(k1) v = Transpose<perm=[0, 2, 1, 3]>(v1)"""
CAUSAL = """sizes = Shape(attention_mask) one = Constant<value_int=1>() zero = Constant<value_int=0>()
    total = Gather(sizes, one) ids = Shape(input_ids) new = Gather(ids, one) first = Sub(total, new)
    keys = Range(zero, total, one) rows = Range(first, total, one) ones = Constant<value_ints=[1]>()
    column = Unsqueeze(rows, ones) later = Greater(keys, column) low = Constant<value_float=-1e9>()
    nought = Constant<value_float=0.0>() bias = Where(later, low, nought)"""
ATTEND = """kt = Transpose<perm=[0, 1, 3, 2]>(kk) s0 = MatMul(q, kt) s1 = Add(s0, bias) w = Softmax<axis=-1>(s1)
    y0 = MatMul(w, vv) y1 = Transpose<perm=[0, 2, 1, 3]>(y0) y = Reshape(y1, back) logits = MatMul(y, wo)"""
GROWN = "{key} = Concat<axis=2>({past}_key, k) {value} = Concat<axis=2>({past}_value, v)"
CONTRIB = '<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>'


def plain(grown: str, attend: str = ATTEND) -> str:
    return f"{EMBEDDED} {SPLIT} {CAUSAL} {grown} {attend}"


def named(text: str, key: str, value: str) -> str:
    return text.format(key=key, value=value, past="past_key_values_0")


READ = "kk = Identity(present_0_key) vv = Identity(present_0_value)"
GROUPED = """i1 = Constant<value_ints=[1]>() sum = ReduceSum<keepdims=1>(attention_mask, i1) less = Sub(sum, i1)
    lengths = Cast<to=6>(less) sizes = Shape(attention_mask) at = Constant<value_int=1>() t64 = Gather(sizes, at)
    total = Cast<to=6>(t64) y, present_0_key, present_0_value = com.microsoft.GroupQueryAttention<num_heads=2,
    kv_num_heads=2>(q0, k0, v0, past_key_values_0_key, past_key_values_0_value, lengths, total)
    logits = MatMul(y, wo)"""
MULTI = """y, present_0_key, present_0_value = com.microsoft.MultiHeadAttention<num_heads=2, unidirectional=1>(q0, k0,
    v0, , , , past_key_values_0_key, past_key_values_0_value) logits = MatMul(y, wo)"""
STANDARD = """y, present_0_key, present_0_value = Attention<q_num_heads=2, kv_num_heads=2, is_causal=1>(q0, k0, v0, ,
    past_key_values_0_key, past_key_values_0_value) logits = MatMul(y, wo)"""

FORMS = {
    "concat": plain(f"{named(GROWN, 'present_0_key', 'present_0_value')} {READ}"),
    "concat whose result is read under its own name": plain(
        f"{named(GROWN, 'kk', 'vv')} present_0_key = Identity(kk) present_0_value = Identity(vv)"
    ),
    "presents that something follows": plain(
        f"{named(GROWN, 'kk', 'vv')} present_0_key = Neg(kk) present_0_value = Tanh(vv)"
    ),
    "new rows first": plain(
        f"present_0_key = Concat<axis=2>(k, past_key_values_0_key) present_0_value = Concat<axis=2>(v, "
        f"past_key_values_0_value) {READ}", ATTEND.replace("s1 = Add(s0, bias)", "s1 = Identity(s0)")
    ),
    "grouped": f"{EMBEDDED} {GROUPED}",
    "multi-head": f"{EMBEDDED} {MULTI}",
    "standard": f"{EMBEDDED} {STANDARD}",
}  # fmt: skip
STATES = {
    "a convolution's last inputs": (
        "float[b, 16, 2] past_conv", "float[b, s, v] logits, float[b, 16, 2] present_conv",
        """x = Gather(e, input_ids) c = Transpose<perm=[0, 2, 1]>(x) l = Concat<axis=2>(past_conv, c)
        from = Constant<value_ints=[-2]>() to = Constant<value_ints=[9999]>() two = Constant<value_ints=[2]>()
        present_conv = Slice(l, from, to, two) z = Constant<value_ints=[0]>() before = Slice(l, z, from, two)
        d = Add(c, before) y = Transpose<perm=[0, 2, 1]>(d) q = MatMul(y, wq) logits = MatMul(q, wo)"""),
    "a sum of all tokens": (
        "float[b, 16] past_0", "float[b, s, v] logits, float[b, 16] present_0",
        """x = Gather(e, input_ids) one = Constant<value_ints=[1]>() t = ReduceSum<keepdims=0>(x, one)
        present_0 = Add(past_0, t) w = Unsqueeze(present_0, one) y = Mul(x, w) logits = MatMul(y, wo)"""),
    "both": (
        f"float[b, 16] past_0, {CACHES}", f"{PRESENT}, float[b, 16] present_0",
        FORMS["concat"] + """ t = ReduceSum<keepdims=0>(x, ones) present_0 = Add(past_0, t)"""),
}  # fmt: skip


def model(body: str, past: str = CACHES, present: str = PRESENT, head: str = HEAD, opset: int = 18) -> ModelProto:
    text = CONTRIB.replace("18", str(opset)) + f" g ({head}, {past}, {WEIGHTS}) => ({present}) {{ {body} }}"
    made = onnx.parser.parse_model(text)
    random = np.random.default_rng()
    for name in ("e", "wq", "wk", "wv", "wo"):
        value = (random.standard_normal((16, 16)) / 3).astype(np.float32)
        made.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    return made


def chunked(batch: int, sizes: Sequence[int]) -> list[Array]:
    return [np.random.default_rng().integers(0, 16, (batch, size)) for size in sizes]


class Steps:
    """A model in onnxruntime, one chunk of tokens after the other."""

    def __init__(self, made: ModelProto) -> None:
        self.session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
        self.given = {i.name: i.shape for i in self.session.get_inputs()}
        self.names = [o.name for o in self.session.get_outputs()]

    def logits(self, chunks: Sequence[Array]) -> list[Array]:
        sizes = {"b": len(chunks[0]), "p": 0}
        pasts = {name: shape for name, shape in self.given.items() if name.startswith("past")}
        after = {name: name.replace("past_key_values", "present").replace("past", "present") for name in pasts}
        caches = {name: np.zeros([sizes.get(d, d) for d in shape], np.float32) for name, shape in pasts.items()}
        total, found = 0, []
        for chunk in chunks:
            total += chunk.shape[1]
            feeds = {"input_ids": chunk, "attention_mask": np.ones((len(chunk), total), np.int64), **caches}
            results = dict(zip(self.names, self.session.run(None, feeds), strict=True))
            caches = {name: results[after[name]] for name in pasts}
            found.append(results["logits"])
        return found


def agree(made: ModelProto, net: mlc.Model, batch: int, runs: Sequence[Sequence[int]]) -> None:
    steps = Steps(made)
    for sizes in runs:
        chunks, total = chunked(batch, sizes), 0
        for chunk, wanted in zip(chunks, steps.logits(chunks), strict=True):
            total += chunk.shape[1]
            given = {"input_ids": chunk, "attention_mask": np.ones((batch, total), np.int64)}
            np.testing.assert_allclose(net.run(given)["logits"], wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("form", list(FORMS))
def test_tokens_one_after_the_other_and_in_chunks(form: str) -> None:
    """A new sequence begins where the mask is as long as its tokens; the last one fills the cache."""
    made = model(FORMS[form], opset=23 if form == "standard" else 18)
    net = mlc.compile(made, cache=ROOM)
    assert list(net.inputs) == ["input_ids", "attention_mask"] and list(net.outputs) == ["logits"]
    assert net.states["past_key_values_0_key"].shape == (ROOM, 1, 2, 8)
    agree(made, net, 1, [[5, 1, 2, 1], [1] * 3, [1, ROOM - 1]])


@pytest.mark.parametrize("form", ["concat", "grouped"])
def test_several_sequences(form: str) -> None:
    made = model(FORMS[form])
    agree(made, mlc.compile(made, cache=ROOM, dims={"b": 3}), 3, [[4, 1, 1], [1, 1]])


@pytest.mark.parametrize("kind", list(STATES))
def test_states_that_do_not_grow_begin_as_zeros(kind: str) -> None:
    past, present, body = STATES[kind]
    made = model(body, past, present)
    agree(made, mlc.compile(made, cache=ROOM), 1, [[3, 2, 2], [2, 2, 2]])


def _mask(total: int, lengths: Sequence[int]) -> Array:
    return np.array([[int(n < length) for n in range(total)] for length in lengths])


def test_sequences_of_several_lengths() -> None:
    """GroupQueryAttention counts the tokens of each sequence, whose prompts are filled up at their ends."""
    made = model(FORMS["grouped"])
    net, alone = mlc.compile(made, cache=ROOM, dims={"b": 2}), Steps(made)
    prompts, lengths = chunked(1, [6, 6]), [5, 3]
    first = np.concatenate([text[:, :5] for text in prompts])
    found = net.run({"input_ids": first, "attention_mask": _mask(5, lengths)})["logits"]
    for n, (text, length) in enumerate(zip(prompts, lengths, strict=True)):
        wanted = alone.logits([text[:, :length]])[0][0]
        np.testing.assert_allclose(found[n, :length], wanted, rtol=1e-4, atol=1e-4)
    after = np.concatenate([text[:, length : length + 1] for text, length in zip(prompts, lengths, strict=True)])
    found = net.run({"input_ids": after, "attention_mask": _mask(6, [6, 4])})["logits"]
    for n, (text, length) in enumerate(zip(prompts, lengths, strict=True)):
        wanted = alone.logits([text[:, :length], text[:, length : length + 1]])[1][0]
        np.testing.assert_allclose(found[n], wanted, rtol=1e-4, atol=1e-4)


def test_a_model_without_a_mask_and_one_with_a_branch_for_the_first_call() -> None:
    """The mask is an input then, too; its values are not read. The branch that has a past serves both."""
    known = CAUSAL.replace("sizes = Shape(attention_mask)", "sizes = Shape(present_0_key)")
    known = "axis = Constant<value_int=2>() " + known.replace("Gather(sizes, one)", "Gather(sizes, axis)")
    body = f"{EMBEDDED} {SPLIT} {named(GROWN, 'present_0_key', 'present_0_value')} {known} {READ} {ATTEND}"
    masked = model(FORMS["concat"])
    made = model(body, head="int64[b, s] input_ids")
    for name in range(5):
        made.graph.initializer[name].CopyFrom(masked.graph.initializer[name])
    agree(masked, mlc.compile(made, cache=ROOM), 1, [[3, 1, 1]])
    branch = """{key} = If(use_cache_branch) <then_branch = a () => (float[b, 2, n, 8] g) {{
        g = Concat<axis=2>({past}_key, k) }}, else_branch = c () => (float[b, 2, n, 8] h) {{ h = Identity(k) }}>
        {value} = Concat<axis=2>({past}_value, v)"""
    body = plain(f"{named(branch, 'present_0_key', 'present_0_value')} {READ}")
    made = model(body, head=f"{HEAD}, bool[1] use_cache_branch")
    for name in range(5):
        made.graph.initializer[name].CopyFrom(masked.graph.initializer[name])
    agree(masked, mlc.compile(made, cache=ROOM), 1, [[3, 1, 1]])


def test_what_is_refused() -> None:
    made = model(FORMS["concat"])
    net = mlc.compile(made, cache=ROOM)
    ones = np.ones((1, 1), np.int64)
    with pytest.raises(RunError, match=f"total_sequence_length <= {ROOM}, but total_sequence_length is 13"):
        net.run({"input_ids": ones, "attention_mask": np.ones((1, 13), np.int64)})
    with pytest.raises(RunError, match="s <= total_sequence_length"):
        net.run({"input_ids": np.ones((1, 3), np.int64), "attention_mask": np.ones((1, 2), np.int64)})
    with pytest.raises(InputError, match="A cache of -1 tokens"):
        mlc.compile(made, cache=-1)
    single = onnx.parser.parse_model(f"{CONTRIB} g (float[n] x) => (float[n] y) {{ y = Neg(x) }}")
    with pytest.raises(InputError, match="The model has no caches"):
        mlc.compile(single, cache=8)


def test_a_sequence_goes_on_from_a_saved_state() -> None:
    """What the state was is put back, and the mask says how much of it counts."""
    made = model(FORMS["concat"])
    net = mlc.compile(made, cache=ROOM)
    chunks = chunked(1, [4, 1, 1])
    wanted = Steps(made).logits(chunks)[2]

    def run(chunk: Array, total: int) -> Array:
        found: Array = net.run({"input_ids": chunk, "attention_mask": np.ones((1, total), np.int64)})["logits"]
        return found

    run(chunks[0], 4)
    run(chunks[1], 5)
    saved = {name: net.get_state(name) for name in net.states}
    run(chunks[0], 4)
    for name, value in saved.items():
        net.set_state(name, value)
    np.testing.assert_allclose(run(chunks[2], 6), wanted, rtol=1e-4, atol=1e-4)
