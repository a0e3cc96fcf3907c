"""Which kernel a padding goes into: that which computes its operand, else that of the window which alone reads it.

    conv, relu | pad | conv   →   conv, relu, pad | conv
    pad | max pool            →   pad, max pool
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from mlc.dialects.dims import product
from mlc.dialects.graph import ConvOp, PadOp, PoolOp, StructuredOp, dims_of, ints_of
from mlc.dialects.types import shape_of

if TYPE_CHECKING:
    from mlc.passes.fuse.groups import Group

PLANE_LIMIT = 1 << 16  # padded elements that stay in the L2 cache until the window reads them
PLANES = 8  # that a few threads share out evenly


def with_paddings(groups: list[Group], member: Mapping[Operation, Group]) -> list[Group]:
    """Let a padding go last into the group that computes its operand, one a group, or first into that of a window.

    Paddings come after all others: nothing could join a group behind one. All that depends on a padding depends on its
    operand, and so is no member of the operand's group already: no cycle can arise. Nor where its only reader takes it.
    """
    for group in list(groups):
        pad = group.ops[0]
        if not isinstance(pad, PadOp) or not _moves(pad):
            continue
        producer = member.get(pad.input.owner) if isinstance(pad.input.owner, Operation) else None
        if producer is not None and _takes(producer, pad):
            producer.add(pad)
            groups.remove(group)
        elif (reader := _window(pad, member)) is not None:
            reader.ops.insert(0, pad)
            groups.remove(group)
    return groups


def _moves(pad: PadOp) -> bool:
    """Whether all of the operand goes to a constant distance."""
    return all(isinstance(p, int) for p in (*dims_of(pad.low), *dims_of(pad.high))) and not any(ints_of(pad.interior))


def _takes(group: Group, pad: PadOp) -> bool:
    """Whether the middle of ``pad`` is all that ``group`` computes."""
    return shape_of(pad.input) == group.shape and single_writer(group)


def single_writer(group: Group) -> bool:
    """Operators that write their result piecewise (pad, concat) keep it: nothing can read it in registers."""
    ends = (group.ops[0], group.ops[-1])
    return all(not isinstance(op, StructuredOp) or len(op.statements()) == 1 for op in ends)


def _window(pad: PadOp, member: Mapping[Operation, Group]) -> Group | None:
    """The group that a window begins which alone reads ``pad``, plane by plane, if a plane is small."""
    readers = [use.operation for use in pad.result.uses]
    if len(readers) != 1 or readers[0] not in member or not _by_planes(readers[0]):
        return None
    group, plane = member[readers[0]], product(shape_of(pad.result)[2:])
    small = isinstance(plane, int) and plane <= PLANE_LIMIT and _planes(pad) >= PLANES
    return group if small and group.ops[0] is readers[0] else None


def _by_planes(op: Operation) -> bool:
    """Whether a result's plane comes from the operand's plane of the same number."""
    if isinstance(op, ConvOp):
        return op.layout.data == "NCXc_depthwise" or _depthwise(op)
    return isinstance(op, PoolOp)


def _depthwise(op: ConvOp) -> bool:
    filters, channels, groups = shape_of(op.weight)[0], shape_of(op.weight)[1], op.groups.value.data
    return op.layout.data == "NCX" and channels == 1 and filters == groups


def _planes(pad: PadOp) -> int:
    """How many planes one axis numbers; none where two do, or where planes are added."""
    shape, source = shape_of(pad.result)[:2], shape_of(pad.input)[:2]
    sizes = [d for d in shape if isinstance(d, int)]
    return max(sizes) if shape == source and len(sizes) == 2 and 1 in sizes else 0
