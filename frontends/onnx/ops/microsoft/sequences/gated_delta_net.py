"""GatedDeltaNet: linear attention of sequences one after the other, with the gates of its decay and rate."""

from __future__ import annotations

import math

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.recurrent.cells import run_steps
from mlc.frontends.build.ops.recurrent.linear_attention import UNROLLED, Tokens, linear_attention, step
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.nn.state import rule_of
from mlc.frontends.onnx.ops.microsoft import DOMAIN

READ = (
    *("beta_activation", "chunk_size", "gate_activation", "gate_lower_bound", "qk_l2_norm", "scale", "update_rule"),
    "state_update_capacity",
)
EPSILON = 1e-12  # of the square of a norm


@onnx_op("GatedDeltaNet", domain=DOMAIN)
def gated_delta_net(node: Node) -> tuple[Tensor, Tensor]:
    """(output, last states [B, H, dv, dk]) of queries, keys and values [tokens, heads, size] or [B, S, heads, size].

    Input 3 says where each sequence begins, [B + 1]; without it they are of one length. 4 and 5 are decay and rate, 6
    the states before, 7 and 8 the scale and bias of the decay's gate.
    """
    node.only(*READ)
    if node.attr("state_update_capacity", 0) or node.wants(2):
        raise NotSupported("the output state_update; export with state_update_capacity=0")
    build, (queries, keys, values) = node.build, _parts(node)
    normed = [_normalized(node, x) for x in (queries, keys)]
    flat = Tokens(normed[0], normed[1], values, _decay(node, values), _rate(node))
    size, heads, out = queries.shape[2], values.shape[1], values.shape[2]
    scale = node.attr("scale", 0.0) or 1 / math.sqrt(int(size))  # type: ignore[arg-type]
    state = None if node.get(6) is None else build.transpose(node[6], [0, 1, 3, 2])
    if node.has(3):
        starts = build.cast(node[3], "i64")
        state = _zeros(build, (starts.shape[0] - 1, heads, size, out)) if state is None else state
        y, last = _ragged(build, flat, starts, state, scale)
    else:
        batch = _batch(node, state)
        state = _zeros(build, (batch, heads, size, out)) if state is None else state
        y, last = _uniform(build, flat, state, scale)
    shape = (*node[0].shape[:-2], *y.shape[1:]) if node.has(1) else y.shape
    if not node.has(1) and node[0].rank == 3:
        shape = (*node[0].shape[:2], *y.shape[1:])
    return build.cast(build.reshape(y, shape), node[0].element), build.transpose(last, [0, 1, 3, 2])


def _zeros(build: Builder, shape: tuple[DimLike, ...]) -> Tensor:
    return build.broadcast(build.constant(0, "f32"), shape)


def _batch(node: Node, state: Tensor | None) -> DimLike:
    """How many sequences of one length there are."""
    if state is not None:
        return state.shape[0]
    if node[0].rank == 4:
        return node[0].shape[0]
    raise NotSupported("neither where sequences begin (input 3) nor states (input 6); give one")


def _flat(node: Node, n: int, rank: int) -> Tensor:
    """Input ``n`` in f32 with one dimension for the tokens, of ``rank`` dimensions where it has two for them."""
    x = node.build.cast(node[n], "f32")
    return node.build.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:])) if x.rank == rank else x


def _parts(node: Node) -> list[Tensor]:
    """Queries, keys and values [tokens, heads, size] in f32; they may be packed in the first input."""
    build = node.build
    if node.has(1):
        return [_flat(node, n, 4) for n in range(3)]
    x, (heads, out, size) = _flat(node, 0, 3), node[6].shape[1:]
    width = x.shape[1] - heads * out
    few = width // (2 * size)
    where = ((0, few, size), (few * size, few, size), (width, heads, out))
    cuts = [build.cut(x, 1, start, count * each) for start, count, each in where]
    return [build.reshape(part, (x.shape[0], *shape)) for part, (_, *shape) in zip(cuts, where, strict=True)]


def _normalized(node: Node, x: Tensor) -> Tensor:
    if not node.attr("qk_l2_norm", 0):
        return x
    total = node.build.reduce("add", node.build.map("x0 * x0", x), [2], keepdims=True)
    return node.build.map(f"x0 * rsqrt(x1 + {EPSILON})", x, total)


def _decay(node: Node, values: Tensor) -> Tensor | None:
    """[tokens, H, 1 or dk] in log space, from its gate."""
    if not rule_of(node)[0]:
        return None
    build, heads, gate = node.build, values.shape[1], node.attr("gate_activation", "none")
    x = build.cast(node[4], "f32")
    x = build.reshape(x, _decay_shape(node, x, values))
    if gate == "none":
        return x
    if (bias := node.get(8)) is not None:
        x = build.map("x0 + x1", x, build.reshape(bias, (heads, x.shape[2] if bias.shape != (heads,) else 1)))
    amount = build.reshape(node[7], (heads, 1))
    if gate in ("softplus", "qwen"):
        return build.map("-exp(x1) * softplus(x0)", x, amount)
    if gate in ("sigmoid", "kda"):
        return build.map(f"{literal(node.attr('gate_lower_bound', -5.0))} * sigmoid(exp(x1) * x0)", x, amount)
    raise NotSupported(f"attribute 'gate_activation' = {gate}; none, softplus and sigmoid are known")


def _decay_shape(node: Node, x: Tensor, values: Tensor) -> tuple[DimLike, ...]:
    """[tokens, H, 1 or dk]: as the first input, a decay may have two dimensions for the tokens."""
    two = node[0].rank == (4 if node.has(1) else 3)
    return (values.shape[0], values.shape[1], x.shape[-1] if x.rank == 3 + two else 1)


def _rate(node: Node) -> Tensor | None:
    """[tokens, H, 1] in f32."""
    if not rule_of(node)[1]:
        return None
    name, x = node.attr("beta_activation", "none"), _flat(node, 5, 3)
    if name not in ("none", "sigmoid"):
        raise NotSupported(f"attribute 'beta_activation' = {name}; none and sigmoid are known")
    x = node.build.reshape(x, (*x.shape, 1))
    return node.build.map("sigmoid(x0)", x) if name == "sigmoid" else x


def _uniform(build: Builder, flat: Tokens, state: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Sequences of one length: all are a step further in each step."""
    batch = state.shape[0]
    steps = flat.queries.shape[0] // batch

    def batched(x: Tensor | None) -> Tensor | None:
        if x is None:
            return None
        return build.transpose(build.reshape(x, (batch, steps, *x.shape[1:])), [1, 0, 2, 3])

    parts = [batched(x) for x in (flat.queries, flat.keys, flat.values, flat.decay, flat.rate)]
    ys, last, _ = linear_attention(build, Tokens(*parts), state, scale, collected=False)  # type: ignore[arg-type]
    y = build.transpose(ys, [1, 0, 2, 3])
    return build.reshape(y, (steps * batch, *y.shape[2:])), last


def _ragged(build: Builder, flat: Tokens, starts: Tensor, states: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Token by token: each reads and writes the state of its sequence."""
    sequences, tokens = states.shape[0], flat.queries.shape[0]
    owner = build.compute("i64(x0[r0 + 1] <= i0)", [starts], (tokens,), (sequences,), "add")

    def batched(x: Tensor | None) -> Tensor | None:
        return None if x is None else build.reshape(x, (x.shape[0], 1, *x.shape[1:]))

    parts = [batched(x) for x in (flat.queries, flat.keys, flat.values, flat.decay, flat.rate)]
    rows = Tokens(*parts)  # type: ignore[arg-type]

    def at(t: DimLike, before: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        own = build.cut(owner, 0, t, 1)
        state = build.compute("x0[x1[i0], i1, i2, i3]", [before[0], own], (1, *states.shape[1:]))
        y, new = step(build, rows.at(build, t), state, scale)
        text = "where(x2[0] == i0, x1[0, i1, i2, i3], x0[i0, i1, i2, i3])"
        return [build.reshape(y, y.shape[1:])], [build.compute(text, [before[0], new, own], states.shape)]

    (ys,), (last,) = run_steps(build, tokens, [states], at, unrolled=UNROLLED)
    return ys, last
