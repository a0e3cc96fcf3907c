"""Fusion of paddings: into the kernel that computes the operand, or else into the kernel of the only reader, a
window.

conv, relu | pad | conv   →   conv, relu, pad | conv
pad | max pool            →   pad, max pool
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from mlc.dialects.graph import PadOp, StructuredOp, dims_of, ints_of
from mlc.dialects.graph.traits import PlaneByPlane, has
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import shape_of
from mlc.target import Target

if TYPE_CHECKING:
    from mlc.passes.fuse.grouping.groups import Group


def with_paddings(groups: list[Group], member: Mapping[Operation, Group], target: Target) -> list[Group]:
    """Fuse a padding as the last operator into the group of its operand, at most one per group, or as the first
    operator into the group of a window.

    Paddings fuse after all other operators, because no operator can join a group after a padding. No cycle can arise:
    an operator that depends on a padding depends on the padding's operand as well, so it is not in the operand's group.
    Fusion with the only reader makes no cycle either.
    """
    for group in list(groups):
        pad = group.ops[0]
        if not isinstance(pad, PadOp) or not _moves(pad):
            continue
        producer = member.get(pad.input.owner) if isinstance(pad.input.owner, Operation) else None
        if producer is not None and _takes(producer, pad):
            producer.add(pad)
            groups.remove(group)
        elif (reader := _window(pad, member, target)) is not None:
            reader.ops.insert(0, pad)
            groups.remove(group)
    return groups


def _moves(pad: PadOp) -> bool:
    """Return whether the padding only shifts its operand by a constant distance."""
    return all(isinstance(p, int) for p in (*dims_of(pad.low), *dims_of(pad.high))) and not any(ints_of(pad.interior))


def _takes(group: Group, pad: PadOp) -> bool:
    """Return whether the padding can join ``group``: its operand has the iteration space of the group."""
    return shape_of(pad.input) == group.shape and single_writer(group)


def single_writer(group: Group) -> bool:
    """Return whether one statement writes the result, so that readers get it in registers. A padding or concatenation
    has several statements."""
    ends = (group.ops[0], group.ops[-1])
    return all(not isinstance(op, StructuredOp) or len(op.statements()) == 1 for op in ends)


def _window(pad: PadOp, member: Mapping[Operation, Group], target: Target) -> Group | None:
    """Return the group of the only reader of ``pad``, if that is a window over planes that fit in L2; None
    otherwise."""
    readers = [use.operation for use in pad.result.uses]
    if len(readers) != 1 or readers[0] not in member or not has(readers[0], PlaneByPlane):
        return None
    group, plane = member[readers[0]], product(shape_of(pad.result)[2:])
    small = isinstance(plane, int) and 4 * plane <= target.block_bytes and _planes(pad) >= target.tasks(2)
    return group if small and group.ops[0] is readers[0] else None


def _planes(pad: PadOp) -> int:
    """Return the number of planes, if one axis counts them; 0 if two axes do, or if the padding adds planes."""
    shape, source = shape_of(pad.result)[:2], shape_of(pad.input)[:2]
    sizes = [d for d in shape if isinstance(d, int)]
    return max(sizes) if shape == source and len(sizes) == 2 and 1 in sizes else 0
