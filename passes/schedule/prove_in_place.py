"""Proof of in-place updates (``prove-in-place``): which pairs of an input and an output of a kernel may share
memory.

    kernel.func @update(%0, %1, %2) { S0: b2[i] = b0[i] - b1[i] }   →   kernel.func @update(…) {in_place = [[0, 2]]}

For each pair that an input-output alias of ``main`` wants, isl proves that under every schedule an element of the input
is read only by the statement instance that writes the element of the output, or by instances on which this instance
depends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel, poly
from mlc.passes.fuse.grouping.aliases import pairs_of_aliases, scatter_of
from mlc.passes.schedule.polyhedral.dependences import between, element_access
from mlc.passes.schedule.polyhedral.statement_view import StatementView, statements_of


@dataclass(frozen=True)
class ProveInPlace(ModulePass):
    name = "prove-in-place"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {o.sym_name.data: o for o in op.ops if isinstance(o, kernel.FuncOp)}
        for name, pairs in pairs_of_aliases(op).items():
            if found := proved(functions[name], pairs):
                functions[name].in_place = found


def proved(fn: kernel.FuncOp, pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return those of ``pairs`` whose arguments may share memory. The kernel must have polyhedral statements, or be a
    scatter."""
    buffers, statements = fn.block.args, statements_of(fn)
    if (scatter := scatter_of(fn)) is not None:
        data, out = scatter.args[0], scatter.args[-1]
        return {(n, k) for n, k in pairs if (buffers[n], buffers[k]) == (data, out) and len(list(data.uses)) == 1}
    fit = [(n, k) for n, k in pairs if buffers[n].type == buffers[k].type]
    fit = [(n, k) for n, k in fit if _has_known_accesses(buffers[n]) and _has_known_accesses(buffers[k])]
    return {(n, k) for n, k in fit if is_in_place(statements, f"b{n}", f"b{k}")}


def _has_known_accesses(buffer: SSAValue) -> bool:
    """Return whether only statements access a buffer, at indices that isl knows: no library function, and no index from
    data."""
    return all(isinstance(use.operation, poly.StatementOp) for use in buffer.uses)


def is_in_place(statements: Sequence[StatementView], read: str, written: str) -> bool:
    """Return whether every read of an element of the array ``read`` comes before the write of that element of
    ``written``, in each schedule that keeps the dependences: the same instance reads and writes it, or the writing
    instance depends on the reading one.

    A reduction is never in place: it writes an element before it has read all others.
    """
    writers = [n for n, s in enumerate(statements) if s.write.array == written]
    if len(writers) != 1 or statements[writers[0]].op.monoid is not None:
        return False
    last = writers[0]
    write = element_access(statements[last].domain, statements[last].accesses[-1])
    for n, s in enumerate(statements):
        for access, text in zip(s.reads, s.accesses, strict=False):
            if access.array == read:
                reads = element_access(s.domain, text).set_tuple_name(isl.dim_type.out, written)
                overwritten = isl.UnionMap.from_map(reads.apply_range(write.reverse()))
                if not overwritten.is_subset(_before(statements, n, last)):
                    return False
    return True


def _before(statements: Sequence[StatementView], first: int, last: int) -> isl.UnionMap:
    """Return pairs of instances (first, last) that are equal, or of which the second depends on the first."""
    if first == last:
        return isl.UnionSet(statements[first].domain).identity()
    found = isl.UnionMap("{ }")
    for n in range(first + 1, last + 1):
        step = between(statements[first], statements[n])
        if not step.is_empty():
            found = found.union(step.apply_range(_before(statements, n, last)))
    return found
