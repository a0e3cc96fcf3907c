"""Views by strides: any elements of the memory that a tensor is in.

torch's ``as_strided`` reads the memory of its argument, which may be a view of it: ``x.t()`` in another order,
``x[2:]`` from a later element on. Here a value has no memory, so a tensor is taken that the argument is a view of and
that has every element of its memory, and its elements are brought into the order of their strides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch.fx import Node

from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.indexing import scatter as writes
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.tensors.views import expanded
from mlc.frontends.torch.registry import Call, aten


@dataclass(frozen=True)
class Memory:
    """A tensor that has all elements from the position ``first`` of its memory on; ``order``: its axes by stride."""

    tensor: Tensor
    first: int
    order: Sequence[int]

    def flat(self, call: Call) -> Tensor:
        """The elements in the order of the memory."""
        ordered = call.build.transpose(self.tensor, self.order)
        return call.build.reshape(ordered, (product(ordered.shape),))

    def position(self, stride: Sequence[DimLike], offset: DimLike | None) -> str:
        """The position among the elements of one of a view."""
        begin = 0 if offset is None else offset - self.first
        return " + ".join([f"({begin})", *(f"i{n} * ({s})" for n, s in enumerate(stride))])


@aten("as_strided", "as_strided_copy")
def as_strided(
    call: Call, x: Tensor, size: Sequence[DimLike], stride: Sequence[DimLike], storage_offset: DimLike | None = None
) -> Tensor:
    """Any elements of the memory of ``x``. Without an offset the view begins where ``x`` does."""
    memory = _memory(call)
    begin = call.node.args[0].meta["val"].storage_offset() if storage_offset is None else storage_offset
    return call.build.compute(f"x0[{memory.position(stride, begin)}]", [memory.flat(call)], tuple(size))


@aten("as_strided_scatter")
def as_strided_scatter(
    call: Call,
    x: Tensor,
    source: Tensor,
    size: Sequence[DimLike],
    stride: Sequence[DimLike],
    storage_offset: DimLike | None = None,
) -> Tensor:
    """``x`` with ``source`` in those of its elements; of several at one position the last one stays."""
    build, memory = call.build, _dense(call.node.args[0], x)
    if memory is None:
        raise NotSupported("of a view with gaps; make it contiguous")
    positions = build.compute(f"i64({memory.position(stride, storage_offset)})", [], tuple(size))
    at, values = (build.reshape(t, (product(t.shape),)) for t in (positions, expanded(call, source, size)))
    written = writes.scatter_nd(build, memory.flat(call), build.reshape(at, (*at.shape, 1)), call.tensor(values))
    ordered = build.reshape(written, [x.shape[n] for n in memory.order])
    return build.transpose(ordered, [memory.order.index(n) for n in range(x.rank)])


def _memory(call: Call) -> Memory:
    """The tensor that the first argument is a view of: the furthest one that has all elements of its memory."""
    found, node = None, call.node.args[0]
    while isinstance(node, Node):
        value = call.values.get(node)
        found = (_dense(node, value) if isinstance(value, Tensor) else None) or found
        node = node.args[0] if _is_view(node) else None
    if found is None:
        raise NotSupported("of a view with gaps, whose memory no tensor has; make it contiguous")
    return found


def _is_view(node: Node) -> bool:
    """Whether a node gives a view of its first argument."""
    source = node.args[0] if node.args else None
    if not isinstance(source, Node):
        return False
    own, other = node.meta.get("val"), source.meta.get("val")
    both = hasattr(own, "untyped_storage") and hasattr(other, "untyped_storage")
    return both and bool(own.untyped_storage()._cdata == other.untyped_storage()._cdata) and own.dtype == other.dtype


def _dense(node: Any, x: Tensor) -> Memory | None:
    """The memory of a tensor without gaps, in whatever order of axes; None for others."""
    view = node.meta["val"]
    first, sizes, strides = view.storage_offset(), view.shape, view.stride()
    if not isinstance(first, int):
        return None
    if view.is_contiguous():
        return Memory(x, first, range(x.rank))
    order = sorted(range(x.rank), key=lambda n: (-strides[n], n))
    expected = 1
    for n in reversed(order):
        if sizes[n] != 1 and strides[n] != expected:
            return None
        expected *= sizes[n]
    return Memory(x, first, order)
