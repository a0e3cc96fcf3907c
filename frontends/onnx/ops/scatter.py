"""Scatter operators, written as reads: each element of the result looks for the updates that are meant for it."""

from __future__ import annotations

from collections.abc import Callable

from mlc.dialects.dims import DimLike, product
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.ops.gather import position
from mlc.frontends.onnx.tensors import Tensor

# reduction -> (monoid, identity as literal text of the element, combination of old and new)
REDUCTIONS = {
    "add": ("add", "0", "x0 + x1"),
    "mul": ("mul", "1", "x0 * x1"),
    "max": ("max", "-inf", "max(x0, x1)"),
    "min": ("min", "inf", "min(x0, x1)"),
}


@onnx_op("Scatter", "ScatterElements")
def scatter_elements(node: Node) -> Tensor:
    """data[.., index[.., r, ..], ..] = update[.., r, ..] for every r; the last of equal indices wins."""
    x, indices = node[0], node[1]
    axis = normalise_axis(node.attr("axis", 0), x.rank)
    names = [f"i{n}" for n in range(x.rank)]
    # other dimensions of the updates may be smaller than those of the data: reads are kept inside, misses masked
    short = [n for n in range(x.rank) if n != axis and indices.shape[n] != x.shape[n]]
    at = [
        "r0" if n == axis else f"min(i{n}, ({indices.shape[n]}) - 1)" if n in short else a for n, a in enumerate(names)
    ]
    inside = "".join(f" & (i{n} < {indices.shape[n]})" for n in short)
    load = f"x1[{', '.join(at)}]"
    hit = f"({position(indices, load, x.shape[axis])} == i{axis}){inside}"
    return _scattered(node, hit, lambda row: [row if n == axis else a for n, a in enumerate(at)], indices.shape[axis])


@onnx_op("ScatterND", since=11)
def scatter_nd(node: Node) -> Tensor:
    """data[index[r]] = update[r] for every row r of the indices; the last of equal rows wins."""
    x, indices, updates, build = node[0], node[1], node[2], node.build
    depth = indices.shape[-1]
    if not isinstance(depth, int):
        raise NotSupported("index tuples of symbolic length")
    rows = product(indices.shape[:-1])
    flat = build.reshape(indices, (rows, depth))
    node.inputs = [x, flat, build.reshape(updates, (rows, *updates.shape[indices.rank - 1 :]))]
    hits = [f"({position(flat, f'x1[r0, {n}]', x.shape[n])} == i{n})" for n in range(depth)]
    rest = [f"i{n}" for n in range(depth, x.rank)]
    return _scattered(node, " & ".join(hits) or "True", lambda row: [row, *rest], rows)


def _scattered(node: Node, hit: str, read: Callable[[str], list[str]], rows: DimLike) -> Tensor:
    """Combine the updates for which ``hit`` (an expression of r0) holds into the data."""
    x, indices, updates, build = node[0], node[1], node[2], node.build
    reduction = node.attr("reduction", "none")
    if reduction == "none":
        winner = build.compute(f"where({hit.replace('x1[', 'x0[')}, r0, -1)", [indices], x.shape, [rows], "max")
        here = ", ".join(f"i{n}" for n in range(x.rank))
        row = f"max(x1[{here}], 0)"
        text = f"where(x1[{here}] >= 0, x2[{', '.join(read(row))}], x0[{here}])"
        return build.compute(text, [x, winner, updates], x.shape)
    monoid, identity, combine = REDUCTIONS[reduction]
    wide = build.wide(updates)
    if "inf" in identity and wide.element[0] not in "fb":
        raise NotSupported(f"reduction '{reduction}' of whole numbers")
    text = f"where({hit}, x0[{', '.join(read('r0'))}], {wide.element}({identity}))"
    total = build.compute(text, [wide, indices], x.shape, [rows], monoid)
    return build.map(combine, x, build.cast(total, x.element))


@onnx_op("ReverseSequence", since=10)
def reverse_sequence(node: Node) -> Tensor:
    x, lengths = node[0], node[1]
    time, batch = node.attr("time_axis", 0), node.attr("batch_axis", 1)
    names = [f"i{n}" for n in range(x.rank)]
    length = f"x1[i{batch}]"
    back = f"where(i{time} < {length}, {length} - 1 - i{time}, i{time})"
    return node.build.compute(
        f"x0[{', '.join(back if n == time else a for n, a in enumerate(names))}]", [x, lengths], x.shape
    )


@onnx_op("TensorScatter", since=24)
def tensor_scatter(node: Node) -> Tensor:
    """A cache with ``update`` along ``axis`` from each batch's index on; a circular one goes on at its start."""
    cache, update, starts, build = node[0], node[1], node.get(2), node.build
    axis = normalise_axis(node.attr("axis", -2), cache.rank)
    circular = {"linear": False, "circular": True}[node.attr("mode", "linear")]
    if axis == 0:
        raise NotSupported("axis 0, which is the batch")
    step = f"i{axis}" if starts is None else f"(i{axis} - x2[i0])"
    step = f"({step} % {cache.shape[axis]})" if circular else step
    row = f"min(max({step}, 0), {update.shape[axis]} - 1)"
    names = [f"i{n}" for n in range(cache.rank)]
    at = ", ".join(row if n == axis else a for n, a in enumerate(names))
    inside = f"({step} >= 0) & ({step} < {update.shape[axis]})"
    operands = [cache, update] if starts is None else [cache, update, build.cast(starts, "i64")]
    return build.compute(f"where({inside}, x1[{at}], x0[{', '.join(names)}])", operands, cache.shape)
