"""Graphs in the idioms of exporters whose files are too large for a tier: optimum's decoders, layers of jax2tf."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper, parser

WIDTH, HEADS, WORDS = 64, 4, 100

OPTIMUM = """
<ir_version: 8, opset_import: ["" : 17], producer_name: "pytorch">
main_graph (int64[batch_size, sequence_length] input_ids,
            int64[batch_size, "past_sequence_length + sequence_length"] attention_mask,
            float[batch_size, 4, past_sequence_length, 16] past_key_values__0__key,
            float[batch_size, 4, past_sequence_length, 16] past_key_values__0__value)
        => (float[batch_size, sequence_length, 100] logits,
            float[batch_size, 4, "past_sequence_length + sequence_length", 16] present__0__key,
            float[batch_size, 4, "past_sequence_length + sequence_length", 16] present__0__value) {
    zero = Constant <value = int64 {0}> ()
    one = Constant <value = int64 {1}> ()
    two = Constant <value = int64 {2}> ()
    axis0 = Constant <value = int64[1] {0}> ()
    axis1 = Constant <value = int64[1] {1}> ()
    axis2 = Constant <value = int64[1] {2}> ()
    axis12 = Constant <value = int64[2] {1, 2}> ()
    ids_shape = Shape (input_ids)
    batch = Gather <axis = 0> (ids_shape, zero)
    length = Gather <axis = 0> (ids_shape, one)
    key_shape = Shape (past_key_values__0__key)
    past = Gather <axis = 0> (key_shape, two)
    total = Add (past, length)
    spots = Range (past, total, one)
    flat = Unsqueeze (spots, axis0)
    embedded = Gather (table, input_ids)
    placed = Gather (positions, flat)
    hidden = Add (embedded, placed)
    q_ = MatMul (hidden, wq)
    k_ = MatMul (hidden, wk)
    v_ = MatMul (hidden, wv)
    batch1 = Unsqueeze (batch, axis0)
    length1 = Unsqueeze (length, axis0)
    heads = Constant <value = int64[1] {4}> ()
    rest = Constant <value = int64[1] {16}> ()
    split = Concat <axis = 0> (batch1, length1, heads, rest)
    q4 = Reshape (q_, split)
    k4 = Reshape (k_, split)
    v4 = Reshape (v_, split)
    q = Transpose <perm = [0, 2, 1, 3]> (q4)
    kt = Transpose <perm = [0, 2, 1, 3]> (k4)
    vt = Transpose <perm = [0, 2, 1, 3]> (v4)
    present__0__key = Concat <axis = 2> (past_key_values__0__key, kt)
    present__0__value = Concat <axis = 2> (past_key_values__0__value, vt)
    k = Transpose <perm = [0, 1, 3, 2]> (present__0__key)
    scores_ = MatMul (q, k)
    scale = Constant <value = float {0.25}> ()
    scores = Mul (scores_, scale)
    every = Range (zero, total, one)
    row = Unsqueeze (spots, axis1)
    column = Unsqueeze (every, axis0)
    later = Greater (column, row)
    mask_ = Cast <to = 1> (attention_mask)
    unit = Constant <value = float {1.0}> ()
    hole_ = Sub (unit, mask_)
    lowest = Constant <value = float {-3.4028234663852886e+38}> ()
    hole = Unsqueeze (hole_, axis12)
    barred = Mul (hole, lowest)
    open = Constant <value = float {0.0}> ()
    causal = Where (later, lowest, open)
    bias_ = Add (causal, barred)
    bias = Max (bias_, lowest)
    biased = Add (scores, bias)
    weights = Softmax <axis = -1> (biased)
    mixed_ = MatMul (weights, present__0__value)
    mixed4 = Transpose <perm = [0, 2, 1, 3]> (mixed_)
    width = Constant <value = int64[1] {64}> ()
    joined = Concat <axis = 0> (batch1, length1, width)
    mixed = Reshape (mixed4, joined)
    out = MatMul (mixed, wo)
    sum = Add (hidden, out)
    mean = ReduceMean <axes = [-1]> (sum)
    centred = Sub (sum, mean)
    square = Pow (centred, power)
    variance = ReduceMean <axes = [-1]> (square)
    steady = Add (variance, epsilon)
    deviation = Sqrt (steady)
    normal = Div (centred, deviation)
    logits = MatMul (normal, head)
}
"""

JAX = """
<ir_version: 8, opset_import: ["" : 15], producer_name: "tf2onnx">
g (int32["unk__1", 24] bytes) => (float["unk__1", 10] target) {
    shape_ = Shape (bytes)
    shape = Cast <to = 6> (shape_)
    begin = Constant <value = int64[1] {0}> ()
    end = Constant <value = int64[1] {1}> ()
    axes = Constant <value = int64[1] {0}> ()
    rows_ = Slice (shape, begin, end, axes)
    rows = Cast <to = 7> (rows_)
    tail = Constant <value = int64[2] {24, 16}> ()
    full = Concat <axis = 0> (rows, tail)
    found = Gather (table, bytes)
    shaped = Reshape (found, full)
    huge = Constant <value = int64[1] {1000000000}> ()
    whole = Slice (shaped, begin, huge, axes)
    minus = Constant <value = int64[2] {-1, 384}> ()
    flat = Reshape (whole, minus)
    dense = MatMul (flat, w1)
    cube = Mul (dense, dense)
    cubed = Mul (cube, dense)
    bent = Mul (cubed, a)
    curve = Add (dense, bent)
    scaled = Mul (curve, c)
    tanh = Tanh (scaled)
    more = Add (tanh, one)
    half_ = Mul (more, half)
    gelu = Mul (dense, half_)
    most = Constant <value = int64[2] {0, 0}> ()
    ends = Constant <value = int64[2] {2147483647, 32}> ()
    both = Constant <value = int64[2] {0, 1}> ()
    cut = Slice (gelu, most, ends, both)
    logits = MatMul (cut, w2)
    target = Softmax <axis = -1> (logits)
}
"""

PADDLE = """
<ir_version: 7, opset_import: ["" : 11], producer_name: "PaddlePaddle">
g (float[-1, 3, "?", "?"] x) => (float["?", 1, "?", "?"] y) {
    c1 = Conv <dilations = [1, 1], group = 1, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]> (x, w1)
    n1 = BatchNormalization <epsilon = 1e-05> (c1, gain, offset, mean, variance)
    shifted = Add (n1, three)
    clipped = Clip (shifted, nought, six)
    sixth = Div (clipped, six)
    h1 = Mul (n1, sixth)
    c2 = Conv <dilations = [1, 1], group = 8, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]> (h1, w2)
    pooled = GlobalAveragePool (c2)
    gate_ = Conv <kernel_shape = [1, 1]> (pooled, w3)
    gate = HardSigmoid <alpha = 0.2, beta = 0.5> (gate_)
    e2 = Mul (c2, gate)
    up = Resize <coordinate_transformation_mode = "asymmetric", mode = "nearest", nearest_mode = "floor">
        (e2, roi, scales)
    sum = Add (up, h1)
    s = Shape (x)
    from = Constant <value = int64[1] {2}> ()
    to = Constant <value = int64[1] {4}> ()
    only = Constant <value = int64[1] {0}> ()
    spatial = Slice (s, from, to, only)
    ss = Shape (sum)
    none = Constant <value = int64[1] {0}> ()
    two = Constant <value = int64[1] {2}> ()
    front = Slice (ss, none, two, only)
    sizes = Concat <axis = 0> (front, spatial)
    back = Resize <coordinate_transformation_mode = "half_pixel", mode = "linear"> (sum, roi, empty, sizes)
    last = Conv <kernel_shape = [1, 1]> (back, w4)
    y = Sigmoid (last)
}
"""


def _model(text: str, weights: dict[str, np.ndarray]) -> ModelProto:
    model = parser.parse_model(text)
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())
    return model


def _normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return (rng.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)


def _scalars(**values: float) -> dict[str, np.ndarray]:
    return {name: np.float32(value).reshape(()) for name, value in values.items()}


def _renamed(nodes: Iterable[NodeProto], names: Callable[[str], str]) -> list[NodeProto]:
    """Copies of nodes whose values have other names."""
    copies = [NodeProto.FromString(node.SerializeToString()) for node in nodes]
    for node in copies:
        node.input[:] = map(names, node.input)
        node.output[:] = map(names, node.output)
    return copies


def optimum_decoder() -> ModelProto:
    """One layer of GPT-2 as optimum exports decoders: the past comes in, what is present goes out."""
    rng = np.random.default_rng(5)
    square = {name: _normal(rng, WIDTH, WIDTH) for name in ("wq", "wk", "wv", "wo")}
    tables = {"table": _normal(rng, WORDS, WIDTH), "positions": _normal(rng, 512, WIDTH)}
    constants = {"head": _normal(rng, WIDTH, WORDS), **_scalars(power=2.0, epsilon=1e-5)}
    model = _model(OPTIMUM, {**square, **tables, **constants})
    nodes = _renamed(model.graph.node, _dotted)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    for value in (*model.graph.input, *model.graph.output):
        value.name = _dotted(value.name)
    return model


def _dotted(name: str) -> str:
    """The parser knows no names with dots; optimum's have them."""
    return name.replace("__", ".")


def optimum_merged() -> ModelProto:
    """The same twice, in an If on ``use_cache_branch``: optimum's merged decoder."""
    model = optimum_decoder()
    graph = model.graph
    flag = helper.make_tensor_value_info("use_cache_branch", TensorProto.BOOL, [1])
    branches = {key: _branch(graph, f"{key}/") for key in ("then_branch", "else_branch")}
    node = helper.make_node("If", ["use_cache_branch"], [output.name for output in graph.output], **branches)
    merged = helper.make_graph([node], "merged", [*graph.input, flag], graph.output, graph.initializer)
    return helper.make_model(merged, opset_imports=model.opset_import, ir_version=8, producer_name="optimum-onnx")


def _branch(graph: GraphProto, prefix: str) -> GraphProto:
    """A graph as a branch; what it makes has names of its own."""
    own = {name for node in graph.node for name in node.output}
    nodes = _renamed(graph.node, lambda name: prefix + name if name in own else name)
    outputs = [ValueInfoProto.FromString(output.SerializeToString()) for output in graph.output]
    for output in outputs:
        output.name = prefix + output.name
    return helper.make_graph(nodes, prefix, [], outputs)


def jax2tf_dense() -> ModelProto:
    """A classifier of bytes as jax2tf and tf2onnx write it: slices to 1,000,000,000, shapes through int32."""
    rng = np.random.default_rng(6)
    weights = {"table": _normal(rng, 257, 16), "w1": _normal(rng, 384, 48), "w2": _normal(rng, 32, 10)}
    return _model(JAX, {**weights, **_scalars(a=0.044715, c=0.7978846, one=1.0, half=0.5)})


def paddle_segmenter() -> ModelProto:
    """A feature pyramid as Paddle exports it: dimensions −1 and "?", hard activations, resized to the input's size."""
    rng = np.random.default_rng(7)
    weights = {"w1": _normal(rng, 8, 3, 3, 3), "w2": _normal(rng, 8, 1, 3, 3), "w3": _normal(rng, 8, 8, 1, 1),
               "w4": _normal(rng, 1, 8, 1, 1)}  # fmt: skip
    moments = {name: rng.uniform(0.5, 1.5, 8).astype(np.float32) for name in ("gain", "offset", "mean", "variance")}
    sizes = {"roi": np.zeros(0, np.float32), "empty": np.zeros(0, np.float32), "scales": np.float32([1, 1, 2, 2])}
    return _model(PADDLE, {**weights, **moments, **sizes, **_scalars(three=3.0, nought=0.0, six=6.0)})


IDIOMS: dict[str, Callable[[], ModelProto]] = {
    make.__name__: make for make in (optimum_decoder, optimum_merged, jax2tf_dense, paddle_segmenter)
}
