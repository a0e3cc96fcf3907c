"""Collapsing of iterators (``collapse-iterators``): a convolution becomes a product of matrices (implicit GEMM).

S0[b, f, y, x, c, ky, kx]: t[b, f, y, x] += w[f, c, ky, kx] · a[b, c, y + ky, x + kx]
  →   S0[f, b_y_x, c_ky_kx]: with b = b_y_x // 3136, y = b_y_x // 56 % 56, x = b_y_x % 56, c = c_ky_kx // 9, …

In a sum of products, the iterators on which only the left factor depends are the rows, those on which only the right
factor depends are the columns, and the reduced iterators are a third group. Each group becomes one iterator, which a
GPU's rule cuts into tiles of any size: rows of 7 pixels fill no tile. Points keep their order, and accesses become
quotients and remainders by constants, so only the first iterator of a group may have a symbolic extent. If a statement
uses an iterator as a number, none is collapsed. (Chetlur et al., cuDNN, 2014; MLIR: collapse_shape.)

In other reductions, the iterators that are contiguous together become one: y_x of a mean of pixels. On a CPU only
elementwise statements change, and only if their rows are shorter than a vector, such as those on filters of 3 x 3.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects import kernel, poly
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate, floordiv, product
from mlc.passes.context import cpu_facts, gpu_facts, machine_of
from mlc.passes.schedule.gpu.contraction import contraction, roles_of
from mlc.passes.schedule.polyhedral.bounded import ISL_OPERATIONS, IslLimit, bounded
from mlc.passes.schedule.polyhedral.dependences import components
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView, statements_of
from mlc.target import CpuTarget, GpuTarget

Group = tuple[str, ...]
ROW_VECTORS = 32  # of collapsed iterators at least: one partial vector at the end costs little


@dataclass(frozen=True)
class CollapseIterators(ModulePass):
    name = "collapse-iterators"
    isl_operations: int = ISL_OPERATIONS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = machine_of(ctx)
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            statements = statements_of(fn)
            if not target.thread_blocks:
                if rows := _short_rows(statements, cpu_facts(target)):
                    _collapse(statements, [rows])
                continue
            if not any(_groups(s) or _run(s) for s in statements):
                continue
            try:
                with bounded(fn, self.name, self.isl_operations):
                    for members in _together(statements, gpu_facts(target)):
                        is_product = any(contraction(members, gpu_facts(target)))
                        _collapse(members, _groups(members[0]) if is_product else _runs(members))
            except IslLimit:
                continue


def _together(statements: Sequence[StatementView], target: GpuTarget) -> Sequence[Sequence[StatementView]]:
    """Return the groups of statements that share a nest: all statements of a sum of products, otherwise each
    component."""
    return [statements] if any(contraction(statements, target)) else components(statements)


def _runs(statements: Sequence[StatementView]) -> list[Group]:
    """Return the first run of iterators along which a statement reduces, and all statements read and write
    contiguously."""
    runs = (run for s in statements if (run := _run(s)))
    return next(([run] for run in runs if all(_is_contiguous(s, run) for s in statements)), [])


def _short_rows(statements: Sequence[StatementView], target: CpuTarget) -> Group | None:
    """Return the innermost iterators of elementwise statements that fill vectors together, if the rows alone do not.
    The other iterators must suffice for all threads, or there must be none."""
    first = statements[0] if statements else None
    if first is None or len(first.iters) < 2 or any(s.op.monoid or s.bounds != first.bounds for s in statements):
        return None
    for n in range(2, len(first.iters) + 1):
        group = first.iters[-n:]
        extents = [d for i in group if isinstance(d := first.bounds[i], int)]
        if len(extents) < n or extents[-1] >= target.lanes or not all(_is_contiguous(s, group) for s in statements):
            return None
        others = [d for i in first.iters[:-n] if isinstance(d := first.bounds[i], int)]
        shared = n == len(first.iters) or math.prod(others) >= target.threads
        if math.prod(extents) >= ROW_VECTORS * target.lanes and shared:
            return group
    return None


def _run(s: StatementView) -> Group | None:
    """Return the innermost iterators of a reduction that are contiguous together, such as all pixels of a channel for
    their mean; None if there are not several."""
    names = s.reduced
    while len(names) > 1:
        if _is_contiguous(s, names) and _constant(names, s.bounds):
            return names
        names = names[1:]
    return None


def _is_contiguous(s: StatementView, group: Group) -> bool:
    """Return whether each access of a statement has one constant distance between consecutive points of a group (0 if
    it depends on no iterator of the group)."""
    if not set(group) & set(s.iters):
        return True
    pairs = [(access, a, b) for access in (*s.reads, s.write) for a, b in itertools.pairwise(group)]
    return set(group) <= set(s.iters) and all(_follows(access, a, b, s.bounds[b]) for access, a, b in pairs)


def _follows(access: Access, outer: str, inner: str, extent: DimLike) -> bool:
    step = access.stride(inner)
    return step is not None and access.stride(outer) == step * extent


def _groups(s: StatementView) -> list[Group]:
    """Return the groups of several iterators (rows, columns, terms) of a sum of products, in the order of its
    domain."""
    roles = roles_of(s)
    if roles is None:
        return []
    columns = {*roles.panels, roles.lanes}
    sets = (roles.rows, [i for i in s.parallel if i in columns], s.reduced)
    return [group for members in sets if (group := _constant(members, s.bounds))]


def _constant(members: Sequence[str], bounds: Mapping[str, DimLike]) -> Group | None:
    """Return ``members`` as a group if they are several iterators, and all extents but the first are constants; None
    otherwise."""
    known = all(isinstance(bounds[i], int) for i in members[1:])
    return tuple(members) if known and len(members) > 1 else None


def _collapse(statements: Iterable[StatementView], groups: Sequence[Group]) -> None:
    for s in statements:
        used = {o.iterator.data for o in s.op.walk() if isinstance(o, kernel.IndexOp)}
        if used.intersection(i for group in groups for i in group):
            return
    for s in statements:
        for group in groups:
            if set(group) <= set(s.iters):
                collapse(s.op, group)


def collapse(op: poly.StatementOp, group: Group) -> None:
    """Replace the iterators of a group by one iterator."""
    bounds = dict(op.domain.data)
    name, known = "_".join(group), digits(group, [bounds[i] for i in group])
    extent = product(bounds[i] for i in group)
    kept = [(i, n) for i, n in op.domain.data if i not in group[:-1]]
    op.properties["domain"] = poly.DomainAttr((name, extent) if i == group[-1] else (i, n) for i, n in kept)
    accesses = ((a.data[0], tuple(evaluate(i, known) for i in a.data[1])) for a in op.accesses)
    op.properties["accesses"] = ArrayAttr(poly.AccessAttr(a) for a in accesses)


def digits(group: Group, extents: Sequence[DimLike]) -> dict[str, DimLike]:
    """Return each iterator of a group as a function of the one that replaces the group: ``x`` is ``y_x - 56·(y_x //
    56)``."""
    whole: DimLike = Dim.symbol("_".join(group))
    found: dict[str, DimLike] = {}
    for n, name in enumerate(group):
        inner = product(extents[n + 1 :])
        outer = floordiv(whole, inner * extents[n]) * extents[n] if n else 0
        found[name] = floordiv(whole, inner) - outer
    return found
