"""Merged rows: queries of heads that share keys become rows of one tile; the iterators on which the keys do not depend
become one iterator.

    S0[h, g, m, n, d]: t0[h, g, m, n] += q[h, g, m, d]·k[h, n, d]
      →   S0[h, g_m, n, d]: t0[h, g_m, n] += q[h, g_m // 3, g_m % 3, d]·k[h, n, d]     (3 queries)

Local arrays have one dimension in place of those of the iterators. The tile of a thread block then has the queries of
all heads of a group, and reads their keys once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import ArrayAttr, MemRefType
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel, poly
from mlc.dialects.semantics.dims import Dim
from mlc.dialects.types import element_of, memref, shape_of
from mlc.passes.schedule.collapse_iterators import collapse
from mlc.passes.schedule.polyhedral.shared_axes import Axis
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView

Group = tuple[str, ...]


def merge_rows(fn: kernel.FuncOp, statements: Sequence[StatementView], axes: Sequence[Axis]) -> bool:
    """Merge ``axes``, which all statements have, into one axis. Return False and change nothing if a local array has
    them in another order, or a statement uses one as a number."""
    groups = {s.name: tuple(axis[s.name] for axis in axes) for s in statements}
    positions: dict[SSAValue, int] = {}
    for s in statements:
        if any(isinstance(o, kernel.IndexOp) and o.iterator.data in groups[s.name] for o in s.op.walk()):
            return False
        for value, access in _locals(s):
            at = _position(access, groups[s.name])
            if at is None or positions.setdefault(value, at) != at:
                return False
    for s in statements:
        _merge(s, groups[s.name], positions)
    for value, at in positions.items():
        assert isinstance(value.owner, kernel.LocalOp)
        _replace(value.owner, at, len(axes))
    return True


def _locals(s: StatementView) -> list[tuple[SSAValue, Access]]:
    """Return the accesses of a statement to local arrays."""
    pairs = zip((*s.op.ins, s.op.out), (*s.reads, s.write), strict=True)
    return [(value, access) for value, access in pairs if isinstance(value.owner, kernel.LocalOp)]


def _position(access: Access, group: Group) -> int | None:
    """Return the first of neighbouring dimensions that the iterators of a group index in order; None if there is not
    exactly one such place."""
    names = [str(i) for i in access.index]
    found = [n for n in range(len(names)) if tuple(names[n : n + len(group)]) == group]
    return found[0] if len(found) == 1 else None


def _merge(s: StatementView, group: Group, positions: Mapping[SSAValue, int]) -> None:
    collapse(s.op, group)
    accesses = []
    for value, access in zip((*s.op.ins, s.op.out), s.op.accesses, strict=True):
        array, index = access.data
        if (at := positions.get(value)) is not None:
            index = (*index[:at], Dim.symbol("_".join(group)), *index[at + len(group) :])
        accesses.append(poly.AccessAttr((array, index)))
    s.op.properties["accesses"] = ArrayAttr(accesses)


def _replace(local: kernel.LocalOp, at: int, count: int) -> None:
    """Replace a local array by one that has one dimension in place of ``count`` dimensions from ``at`` on."""
    shape = shape_of(local.result)
    extents = [n for n in shape[at : at + count] if isinstance(n, int)]
    type_: MemRefType = memref(element_of(local.result), (*shape[:at], prod(extents), *shape[at + count :]))
    new = kernel.LocalOp(type_, local.layout)
    assert local.parent is not None
    local.parent.insert_op_before(new, local)
    local.result.replace_all_uses_with(new.result)
    Rewriter.erase_op(local)
