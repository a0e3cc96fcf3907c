"""Steps that go through an open extent one after the other: loops, scans, sequences, recurrent cells, spectra."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto, helper
from onnx.numpy_helper import from_array
from size_windows import tame
from sized import Misfit, Shape, Sized, resized

Extent = Callable[[int], int]


def _info(name: str, kind: int = TensorProto.FLOAT, rank: int = 0) -> ValueInfoProto:
    info = ValueInfoProto(name=name)
    info.type.tensor_type.elem_type = kind
    if kind != TensorProto.FLOAT or rank:
        info.type.tensor_type.shape.SetInParent()  # of a scalar, unless it gets dimensions
    for _ in range(rank):
        info.type.tensor_type.shape.dim.add()
    return info


def _body(
    inputs: Sequence[ValueInfoProto], nodes: Sequence[NodeProto], outputs: Sequence[ValueInfoProto]
) -> GraphProto:
    return helper.make_graph(list(nodes), "body", list(inputs), list(outputs))


def _node(op: str, inputs: Sequence[str], output: str, **how: object) -> NodeProto:
    return helper.make_node(op, list(inputs), [output], **how)


def _without(s: Shape, axis: int) -> Shape:
    return (*s[:axis], *s[axis + 1 :])


def _rows(g: Sized) -> tuple[str, int, str, Extent]:
    """A value, an axis, and how many of its rows a loop reads: all of them, all but one, half, a few."""
    x = g.one(2)
    axis = g.axis(x)
    n, k = g.whole("Squeeze", [g.extent(x, axis)]), g.random.randint(1, 4)
    kinds = [(n, lambda d: d), (n, lambda d: d), (g.whole("Sub", [n, g.constant(1)]), lambda d: d - 1),
             (g.whole("Div", [n, g.constant(2)]), lambda d: d // 2),
             (g.whole("Min", [n, g.constant(k)]), lambda d: min(d, k))]  # fmt: skip
    return x, axis, *g.random.choice(kinds)


def looped(g: Sized) -> None:
    """A state that a row after the other changes; or all its values."""
    x, axis, trips, meaning = _rows(g)
    p = f"l{len(g.nodes)}_"
    first = g.make("Gather", [x, g.constant(0)], lambda s: _without(s, axis), axis=axis)
    nodes = [_node("Gather", [x, f"{p}i"], f"{p}row", axis=axis), _node("Sub", [f"{p}state", f"{p}row"], f"{p}less"),
             _node("Tanh", [f"{p}less"], f"{p}next"), _node("Identity", [f"{p}next"], f"{p}seen"),
             _node("Identity", [f"{p}go"], f"{p}on")]  # fmt: skip
    inputs = [_info(f"{p}i", TensorProto.INT64), _info(f"{p}go", TensorProto.BOOL), _info(f"{p}state")]
    outputs = [_info(f"{p}on", TensorProto.BOOL), _info(f"{p}next"), _info(f"{p}seen")]
    body = _body(inputs, nodes, outputs)
    g.make("Loop", [trips, "", first], lambda s: _without(s, axis), of=[x], body=body, kind="float32")
    sizes = [s and (meaning(s[axis]), *_without(s, axis)) for s in g.sizes[x]]
    _more(g, sizes)


def _more(g: Sized, sizes: Sequence[Shape | None]) -> None:
    """Another result of the last node, unless it has no elements in the first run."""
    fits = sizes[0] is not None and 0 not in sizes[0]
    name = g.more(sizes[0] or (), "float32", last=not fits)
    if fits:
        g.sizes[name] = [s if s and min(s) > 0 else None for s in sizes]


def grown_state(g: Sized) -> None:
    """A state to which each iteration adds a row, before or after the others."""
    x, axis, trips, meaning = _rows(g)
    p, k, at = f"l{len(g.nodes)}_", g.random.randint(1, 2), g.constant([axis])
    first = g.make("Slice", [x, g.constant([0]), g.constant([k]), at], lambda s: resized(s, axis, min(k, s[axis])))
    parts = g.random.choice([["state", "new"], ["new", "state"], ["new", "state", "row"]])
    nodes = [_node("Unsqueeze", [f"{p}i", g.constant([0])], f"{p}index"),
             _node("Gather", [x, f"{p}index"], f"{p}row", axis=axis),
             _node("ReduceMax", [f"{p}state", at], f"{p}most"), _node("Sub", [f"{p}row", f"{p}most"], f"{p}less"),
             _node("Tanh", [f"{p}less"], f"{p}new"), _node("Identity", [f"{p}go"], f"{p}on"),
             _node("Concat", [p + part for part in parts], f"{p}next", axis=axis)]  # fmt: skip
    inputs = [_info(f"{p}i", TensorProto.INT64), _info(f"{p}go", TensorProto.BOOL), _info(f"{p}state")]
    body = _body(inputs, nodes, [_info(f"{p}on", TensorProto.BOOL), _info(f"{p}next")])
    more = len(parts) - 1
    rule = lambda s: resized(s, axis, min(k, s[axis]) + more * meaning(s[axis]))  # noqa: E731
    g.make("Loop", [trips, "", first], rule, of=[x], body=body, kind="float32")


def appended(g: Sized) -> None:
    """A sequence to which each iteration appends a row, joined along a new axis."""
    x, axis, trips, meaning = _rows(g)
    p, to = f"l{len(g.nodes)}_", g.random.randrange(len(g.shapes[x]))
    nodes = [_node("Gather", [x, f"{p}i"], f"{p}row", axis=axis), _node("Tanh", [f"{p}row"], f"{p}new"),
             _node("SequenceInsert", [f"{p}seen", f"{p}new"], f"{p}next"),
             _node("Identity", [f"{p}go"], f"{p}on")]  # fmt: skip
    before, after = (helper.make_tensor_sequence_value_info(p + name, 1, None) for name in ("seen", "next"))
    inputs = [_info(f"{p}i", TensorProto.INT64), _info(f"{p}go", TensorProto.BOOL), before]
    body = _body(inputs, nodes, [_info(f"{p}on", TensorProto.BOOL), after])
    rows = g.whole("Loop", [trips, "", g.whole("SequenceEmpty", [])], body=body)
    rule = lambda s: (*_without(s, axis)[:to], meaning(s[axis]), *_without(s, axis)[to:])  # noqa: E731
    g.make("ConcatFromSequence", [rows], rule, of=[x], axis=to, new_axis=1, kind="float32")


def scanned(g: Sized) -> None:
    """A scan along an axis, backwards or not; its last state and all of them along some axis."""
    x = g.one(2, 5)
    axis, rank = g.axis(x), len(g.shapes[x])
    p, to, back = f"l{len(g.nodes)}_", g.random.randrange(rank), g.random.randint(0, 1)
    first = g.make("Gather", [x, g.constant(-1)], lambda s: _without(s, axis), axis=axis)
    nodes = [_node("Add", [f"{p}state", f"{p}row"], f"{p}sum"), _node("Tanh", [f"{p}sum"], f"{p}next"),
             _node("Neg", [f"{p}next"], f"{p}seen")]  # fmt: skip
    state, row, after, seen = (_info(p + name, rank=rank - 1) for name in ("state", "row", "next", "seen"))
    body = _body([state, row], nodes, [after, seen])
    g.make("Scan", [first, x], lambda s: _without(s, axis), of=[x], body=body, num_scan_inputs=1, kind="float32",
           scan_input_axes=[axis], scan_input_directions=[back], scan_output_axes=[to])  # fmt: skip
    _more(g, [s and (*_without(s, axis)[:to], s[axis], *_without(s, axis)[to:]) for s in g.sizes[x]])


def sequence(g: Sized) -> None:
    """Cut into pieces of one size, of which the last may be smaller: one of these, or all joined otherwise."""
    x = g.one(2)
    axis, k = g.axis(x), g.random.randint(1, 4)
    cut = g.whole("SplitToSequence", [x, g.constant(k)], axis=axis)
    length = g.whole("SequenceLength", [cut])
    kind = g.random.choice(["last", "first", "middle", "joined", "stacked"])
    if kind == "joined":
        g.make("ConcatFromSequence", [cut], lambda s: s, of=[x], axis=axis, kind="float32")
    elif kind == "stacked":
        rows = g.whole("SplitToSequence", [x], axis=axis, keepdims=0)
        g.make("ConcatFromSequence", [rows], lambda s: (s[axis], *_without(s, axis)), of=[x], axis=0, new_axis=1,
               kind="float32")  # fmt: skip
    else:
        at = {"last": g.constant(-1), "first": g.constant(0), "middle": g.whole("Div", [length, g.constant(2)])}[kind]
        which = {"last": lambda p: p - 1, "first": lambda p: 0, "middle": lambda p: p // 2}[kind]
        piece = lambda d: min(k, d - k * which(-(-d // k)))  # noqa: E731
        g.make("SequenceAt", [cut, at], lambda s: resized(s, axis, piece(s[axis])), of=[x], kind="float32")


def cells(g: Sized) -> None:
    """A recurrent layer whose first state is as large as the batch, and a state or all outputs of it."""
    x = g.one(3, 3)
    if any(s is None or 0 in s for s in g.sizes[x]):
        raise Misfit  # of nothing onnxruntime ends the process
    if not g.is_fixed(x, 2):
        x = g.make("Transpose", [x], lambda s: (s[2], s[0], s[1]), perm=[2, 0, 1])
    if not g.is_fixed(x, 2):
        raise Misfit
    op, way = g.random.choice(["LSTM", "GRU", "RNN"]), g.random.choice(["forward", "reverse", "bidirectional"])
    d, k, hidden = 1 + (way == "bidirectional"), g.shapes[x][2], g.random.randint(1, 4)
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    weights = [g.weight(d, gates * hidden, k), g.weight(d, gates * hidden, hidden)]
    zeros = g.whole("ConstantOfShape", [g.join(d, g.extent(x, 1), hidden)], value=from_array(np.float32([0.5])))
    inputs = [x, *weights, "", "", *([zeros] if g.random.random() < 0.6 else [])]
    how = {"linear_before_reset": 1} if op == "GRU" and g.random.random() < 0.5 else {}
    y = g.make(op, inputs, lambda s: (s[0], d, s[1], hidden), of=[x], direction=way, hidden_size=hidden, **how)
    _more(g, [s and (d, s[1], hidden) for s in g.sizes[x]])
    turned = g.make("Transpose", [y], lambda s: (s[0], s[2], s[1], s[3]), perm=[0, 2, 1, 3])
    g.make("Reshape", [turned, g.constant([0, 0, -1])], lambda s: (s[0], s[1], s[2] * s[3]))


def spectrum(g: Sized) -> None:
    """Short Fourier transforms of windows of a signal, padded so that the windows' centres are at its ends or not."""
    x = g.one(2, 4)
    y = g.make("Reshape", [x, g.constant([0, -1])], lambda s: (s[0], int(np.prod(s[1:]))))
    length, step = g.random.choice([4, 8, 12]), g.random.randint(1, 6)
    if g.random.random() < 0.4:
        half = length // 2

        def padded(s: Shape) -> Shape:
            if half >= s[1]:
                raise Misfit
            return s[0], s[1] + 2 * half

        y = g.make("Pad", [y, g.constant([0, half, 0, half])], padded, mode="reflect")
    window = g.constant(np.hanning(length).astype("f4"))

    def rule(s: Shape) -> Shape:
        if s[1] < length:
            raise Misfit
        return s[0], (s[1] - length) // step + 1, length // 2 + 1, 2

    z = g.make("STFT", [y, g.constant(step), window, g.constant(length)], rule, of=[y], onesided=1)
    tame(g, z)


def transform(g: Sized) -> None:
    """A Fourier transform of a whole extent."""
    x = g.one(2, 4)
    axis, rank = g.axis(x), len(g.shapes[x])
    if axis == rank - 1 and rank == 1:
        raise Misfit
    y = g.whole("Unsqueeze", [x, g.constant([-1])])
    sides = g.random.randint(0, 1)
    rule = lambda s: (*resized(s, axis, s[axis] // 2 + 1 if sides else s[axis]), 2)  # noqa: E731
    if g.opset >= 20:
        z = g.make("DFT", [y, "", g.constant(axis)], rule, of=[x], onesided=sides, kind="float32")
    else:
        z = g.make("DFT", [y], rule, of=[x], onesided=sides, axis=axis, kind="float32")
    tame(g, z)


LOOPS: tuple[Callable[[Sized], None], ...] = (
    looped, looped, scanned, sequence, sequence, cells, cells, spectrum, transform, grown_state, appended,
)  # fmt: skip
