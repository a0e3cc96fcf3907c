"""Recurrent operators: RNN, GRU, LSTM (opset 7, 14, 22)."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.prove import never_zero
from mlc.frontends.build.ops.activations import activation, activation_defaults
from mlc.frontends.build.ops.recurrent.cells import GRU, LSTM, RNN, Cell, Kind, inserted, recurrence
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import with_extent
from mlc.frontends.onnx.node import Node, onnx_op

KINDS = {"RNN": RNN, "GRU": GRU, "LSTM": LSTM}
VARIANTS = {"GRU": "linear_before_reset", "LSTM": "input_forget"}
NAMES = (
    "affine", "elu", "hardsigmoid", "leakyrelu", "relu", "scaledtanh", "sigmoid", "softplus", "softsign", "tanh",
    "thresholdedrelu",
)  # fmt: skip


@onnx_op(*KINDS, since=7)
def recurrent(node: Node) -> tuple[Tensor, ...]:
    kind, batch_first = KINDS[node.op], node.attr("layout", 0)
    x = node.build.transpose(node[0], [1, 0, 2]) if batch_first else node[0]
    results = [_direction(node, kind, x, n, backward) for n, backward in enumerate(directions_of(node))]
    everything, *finals = stacked(node, results, kind.states)
    if batch_first:
        everything = node.build.transpose(everything, [2, 0, 1, 3])
        finals = [node.build.transpose(s, [1, 0, 2]) for s in finals]
    return (everything, *finals)


def directions_of(node: Node) -> list[bool]:
    """Whether each direction runs backward."""
    known = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
    name = node.attr("direction", "forward")
    if name not in known:
        raise NotSupported(f"attribute 'direction' = {name}; {', '.join(known)} are known")
    return known[name]


def stacked(node: Node, results: list[tuple[Tensor, list[Tensor]]], states: int) -> tuple[Tensor, ...]:
    """The results of directions as tensors: hidden states [S, D, B, H], last states [D, B, H]."""
    build = node.build
    everything = build.concat([inserted(build, ys, 1) for ys, _ in results], 1)
    finals = [build.concat([inserted(build, last[n], 0) for _, last in results], 0) for n in range(states)]
    return (everything, *finals)


def _direction(node: Node, kind: Kind, x: Tensor, n: int, backward: bool) -> tuple[Tensor, list[Tensor]]:
    """(hidden states of all steps [S, B, H], last states) of one direction."""
    bias, weight, hidden_weight = (of_direction(node, k, n) for k in (3, 1, 2))
    assert weight is not None and hidden_weight is not None
    weight = with_extent(node.build, weight, 0, kind.gates * hidden_weight.shape[1])
    cell = Cell(
        build=node.build,
        hidden=hidden_weight.shape[1],
        recurrence=hidden_weight,
        bias=None if bias is None else node.build.cut(bias, 0, weight.shape[0], weight.shape[0]),
        peephole=of_direction(node, 7, n),
        activations=activations_of(node, kind, n),
        clip=node.attr("clip", None),
        variant=bool(node.op in VARIANTS and node.attr(VARIANTS[node.op], 0)),
    )
    inner = None if bias is None else node.build.cut(bias, 0, 0, weight.shape[0])
    states = [initial_state(node, 5 + k, n, x.shape[1], cell.hidden, x.element) for k in range(kind.states)]
    return recurrence(cell, kind, x, weight, inner, states, backward, node.get(4))


def of_direction(node: Node, n: int, direction: int) -> Tensor | None:
    """One direction of an input whose first dimension is the direction."""
    x = node.get(n)
    if x is None:
        return None
    return node.build.reshape(node.build.cut(x, 0, direction, 1), x.shape[1:])


def initial_state(node: Node, n: int, direction: int, batch: DimLike, hidden: DimLike, element: str) -> Tensor:
    """[batch, hidden] of input ``n`` [directions, batch, hidden], else zeros.

    Raises:
        Fixed: it is of one batch alone.
        ValueError: it is of another batch or of other hidden states.
    """
    x, build = node.get(n), node.build
    if x is not None and node.attr("layout", 0):
        x = build.transpose(x, [1, 0, 2])
    if x is None:
        return build.broadcast(build.constant(0, element), (batch, hidden))
    state = build.reshape(build.cut(x, 0, direction, 1), x.shape[1:])
    for axis, (extent, name) in enumerate(((batch, "sequences"), (hidden, "hidden states"))):
        state = with_extent(build, state, axis, extent)
        if never_zero(state.shape[axis] - extent):
            raise ValueError(f"input {n} is of {state.shape[axis]} {name}, not of {extent}")
    return state


def activations_of(node: Node, kind: Kind, direction: int) -> list[str]:
    """Scalar expressions of a direction's activations; activations with alphas and betas take them in order."""
    names = [a.lower() for a in node.attr("activations", None) or kind.activations * 2]
    given = {key: iter(node.attr(f"activation_{key}", None) or ()) for key in ("alpha", "beta")}
    found = []
    for name in names:
        if name not in NAMES:
            raise NotSupported(f"activation '{name}'")
        defaults = activation_defaults(name)
        found.append(activation(name, **{key: next(given[key], value) for key, value in defaults.items()}))
    count = len(kind.activations)
    return found[direction * count : (direction + 1) * count] or found[:count]
