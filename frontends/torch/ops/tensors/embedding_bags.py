"""Embedding bags: sums, means and maxima of rows of a table, and their derivatives. Source: torch.nn.EmbeddingBag.

Bag ``b`` has the indices from ``offsets[b]`` on, up to the next offset; those that are ``padding_idx`` do not count.
"""

from __future__ import annotations

from typing import Any

from mlc.frontends.build.ops.indexing import gather as reads
from mlc.frontends.build.ops.indexing import scatter as writes
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, aten

SUM, MEAN, MAX = range(3)


@aten("_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(
    call: Call,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    factors: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(bags [B, D]; of each index its bag; of each bag how many indices count; of maxima the row each is from)."""
    build, bags = call.build, offsets.shape[0] - int(include_last_offset)
    padding = padding_idx + weight.shape[0] if padding_idx < -1 else padding_idx
    bag, inside = _bag_of(call, indices, offsets, bags)
    kept = build.map(f"(x0 != {padding}) & x1", indices, inside)
    own = "(x0[r0] == i0) & x1[r0]"
    size = build.compute(f"i64({own})", [bag, kept], (bags,), indices.shape, "add")
    if mode == MAX:
        y, row = _maxima(call, weight, indices, bag, kept, size)
        return y, _as_torch(call, bag), size, row
    rows = _scaled(call, reads.gather(build, weight, indices, 0), factors, kept)
    total = _summed(call, rows, bag, bags)
    if mode == MEAN:
        total = build.map("x0 / x1", total, _divisors(call, size, weight.element))
    return total, _as_torch(call, bag), size, size


def _bag_of(call: Call, indices: Tensor, offsets: Tensor, bags: Any) -> tuple[Tensor, Tensor]:
    """The bag of each index, and whether it is in one: after a last offset there is none."""
    build = call.build
    begun = build.compute("i64(x0[r0] <= i0)", [build.cast(offsets, "i64")], indices.shape, offsets.shape, "add")
    return build.map(f"min(x0, {bags}) - 1", begun), build.map(f"x0 <= {bags}", begun)


def _as_torch(call: Call, bag: Tensor) -> Tensor:
    """The bags of indices, without elements where torch does not compute them."""
    return call.build.cut(bag, 0, 0, 0) if call.node.meta["val"][1].shape[0] == 0 else bag


def _scaled(call: Call, rows: Tensor, factors: Tensor | None, kept: Tensor) -> Tensor:
    """Rows times their factors, 0 where they do not count."""
    build = call.build
    column = build.reshape(kept, (*kept.shape, 1))
    rows = rows if factors is None else build.map("x0 * x1", rows, build.reshape(factors, (*factors.shape, 1)))
    return build.map("where(x1, x0, 0)", rows, column)


def _summed(call: Call, rows: Tensor, at: Tensor, count: Any) -> Tensor:
    """[count, D]: the sums of the rows at each position."""
    build = call.build
    zeros = build.broadcast(build.constant(0, rows.element), (count, rows.shape[1]))
    return writes.scatter_nd(build, zeros, build.reshape(build.cast(at, "i64"), (*at.shape, 1)), rows, "add")


def _divisors(call: Call, size: Tensor, element: str) -> Tensor:
    return call.build.map("max(x0, 1)", call.build.cast(call.build.reshape(size, (*size.shape, 1)), element))


def _maxima(
    call: Call, weight: Tensor, indices: Tensor, bag: Tensor, kept: Tensor, size: Tensor
) -> tuple[Tensor, Tensor]:
    """The greatest elements of each bag, 0 of an empty one, and the rows of the first ones; -1 of an empty bag."""
    build, n = call.build, indices.shape[0]
    shape, (count, width) = (*size.shape, weight.shape[1]), (indices.shape, weight.shape[1])
    rows = reads.gather(build, weight, indices, 0)
    own = "(x1[r0] == i0) & x2[r0]"
    top = build.compute(f"where({own}, x0[r0, i1], -inf)", [rows, bag, kept], shape, count, "max")
    same = f"{own} & ((x0[r0, i1] == x3[i0, i1]) | isnan(x0[r0, i1]))"
    at = build.compute(f"where({same}, r0, i64({n}))", [rows, bag, kept, top], (*size.shape, width), count, "min")
    found = build.map(f"min(x0, max({n} - 1, 0))", at)
    row = build.compute("x0[x1[i0, i1]]", [build.cast(indices, "i64"), found], shape) if n != 0 else found
    empty = build.map("x0 == 0", build.reshape(size, (*size.shape, 1)))
    return build.map("where(x1, 0, x0)", top, empty), build.map("where(x1, -1, x0)", row, empty)


@aten("_embedding_bag_backward", "_embedding_bag_dense_backward")
def embedding_bag_backward(call: Call, grad: Tensor, indices: Tensor, *given: Any) -> Tensor:
    """The adjoint of the table."""
    known = given[1:] if call.op == "_embedding_bag_backward" else given
    bag, size, row, count, scale_grad, mode, *rest = known
    factors, padding = (*(rest[1:] if call.op == "_embedding_bag_backward" else rest), -1)[:2]
    if mode == MAX:
        return _of_maxima(call, grad, row, count)
    build = call.build
    inside = build.broadcast(build.constant(True, "i1"), indices.shape)
    if call.op == "_embedding_bag_backward":
        bag, inside = _bag_of(call, indices, given[0], grad.shape[0])
    if mode == MEAN:
        grad = build.map("x0 / x1", grad, _divisors(call, size, grad.element))
    rows = reads.gather(build, grad, bag, 0)
    if scale_grad:
        often = build.compute("i64(x0[i0] == x0[r0])", [indices], indices.shape, indices.shape, "add")
        rows = build.map("x0 / x1", rows, _divisors(call, often, grad.element))
    rows = _scaled(call, rows, factors, build.map(f"(x0 != {padding}) & x1", indices, inside))
    return _summed(call, rows, indices, count)


def _of_maxima(call: Call, grad: Tensor, row: Tensor, count: Any) -> Tensor:
    """The adjoint of each maximum at the row that it is from."""
    bags, width = grad.shape
    return call.build.compute("where(x1[r0, i1] == i0, x0[r0, i1], 0)", [grad, row], (count, width), (bags,), "add")


@aten("_embedding_bag_per_sample_weights_backward")
def factors_backward(
    call: Call,
    grad: Tensor,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    bag: Tensor,
    mode: int,
    padding: int = -1,
) -> Tensor:
    """The adjoint of the factor of each index."""
    build = call.build
    bag, inside = _bag_of(call, indices, offsets, grad.shape[0])
    rows, above = reads.gather(build, weight, indices, 0), reads.gather(build, grad, bag, 0)
    y = build.compute("x0[i0, r0] * x1[i0, r0]", [rows, above], indices.shape, weight.shape[1:], "add")
    return build.map(f"where((x1 != {padding}) & x2, x0, 0)", y, indices, inside)
