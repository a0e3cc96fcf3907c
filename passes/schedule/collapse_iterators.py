"""Collapsing of iterators (``collapse-iterators``): a convolution becomes a product of matrices (implicit GEMM).

S0[b, f, y, x, c, ky, kx]: t[b, f, y, x] += w[f, c, ky, kx] · a[b, c, y + ky, x + kx]
  →   S0[f, b_y_x, c_ky_kx]: with b = b_y_x // 3136, y = b_y_x // 56 % 56, x = b_y_x % 56, c = c_ky_kx // 9, …

The iterators of a sum of products on which only its left factor depends are its rows, those on which only the right one
depends are its columns, and those of the sum are a third group. Each group becomes one iterator, which a GPU's rule
cuts into tiles of any size: rows of 7 pixels fill no tile. Points keep their order, and accesses become quotients and
remainders by constants, so only the first iterator of a group may have a symbolic extent. Where a statement uses an
iterator as a number, all stay. (Chetlur et al., cuDNN, 2014; MLIR: collapse_shape.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects import kernel, poly
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate, floordiv, product
from mlc.passes.context import gpu_of
from mlc.passes.schedule.gpu.contraction import contraction, roles_of
from mlc.passes.schedule.polyhedral.bounded import ISL_OPERATIONS, IslLimit, bounded
from mlc.passes.schedule.polyhedral.dependences import components
from mlc.passes.schedule.polyhedral.statement_view import StatementView, statements_of
from mlc.target import GpuTarget

Group = tuple[str, ...]


@dataclass(frozen=True)
class CollapseIterators(ModulePass):
    name = "collapse-iterators"
    isl_operations: int = ISL_OPERATIONS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            statements = statements_of(fn)
            if not any(_groups(s) for s in statements):
                continue
            try:
                with bounded(fn, self.name, self.isl_operations):
                    for members in _contractions(statements, gpu_of(ctx)):
                        _collapse(members, _groups(members[0]))
            except IslLimit:
                continue


def _contractions(statements: Sequence[StatementView], target: GpuTarget) -> Iterator[Sequence[StatementView]]:
    """The statements of a kernel that the rule for sums of products takes together: all, or those of a component."""
    if any(contraction(statements, target)):
        yield statements
        return
    yield from (part for part in components(statements) if any(contraction(part, target)))


def _groups(s: StatementView) -> list[Group]:
    """The groups of several iterators of a sum of products, in the order of its domain."""
    roles = roles_of(s)
    if roles is None:
        return []
    columns = {*roles.panels, roles.lanes}
    sets = (roles.rows, [i for i in s.parallel if i in columns], s.reduced)
    return [group for members in sets if (group := _constant(members, s.bounds))]


def _constant(members: Sequence[str], bounds: Mapping[str, DimLike]) -> Group | None:
    """A group of which all extents but the first are constants; None where it has one iterator."""
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
                _rewrite(s.op, group)


def _rewrite(op: poly.StatementOp, group: Group) -> None:
    """Replace the iterators of a group by one."""
    bounds = dict(op.domain.data)
    name, known = "_".join(group), digits(group, [bounds[i] for i in group])
    extent = product(bounds[i] for i in group)
    kept = [(i, n) for i, n in op.domain.data if i not in group[:-1]]
    op.properties["domain"] = poly.DomainAttr((name, extent) if i == group[-1] else (i, n) for i, n in kept)
    accesses = ((a.data[0], tuple(evaluate(i, known) for i in a.data[1])) for a in op.accesses)
    op.properties["accesses"] = ArrayAttr(poly.AccessAttr(a) for a in accesses)


def digits(group: Group, extents: Sequence[DimLike]) -> dict[str, DimLike]:
    """Each iterator of a group as a function of the one that replaces it: ``x`` is ``y_x - 56·(y_x // 56)``."""
    whole: DimLike = Dim.symbol("_".join(group))
    found: dict[str, DimLike] = {}
    for n, name in enumerate(group):
        inner = product(extents[n + 1 :])
        outer = floordiv(whole, inner * extents[n]) * extents[n] if n else 0
        found[name] = floordiv(whole, inner) - outer
    return found
