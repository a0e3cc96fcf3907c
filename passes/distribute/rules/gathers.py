"""Gathered axes: a rank that has a block of a table reads what is in it, and zeros elsewhere: a partial sum."""

from __future__ import annotations

from collections.abc import Iterator

from mlc.dialects.comm.reductions import NUMBERS
from mlc.dialects.dist.states import WHOLE, PartialAttr, SplitAttr
from mlc.dialects.graph import ComputeOp
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.expr import Call, Const, Expr, Load, loads, substitute
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import element_of, shape_of
from mlc.passes.distribute.rules.affine import isl_text
from mlc.passes.distribute.rules.extents import static
from mlc.passes.distribute.rules.linear import LINEAR, degree
from mlc.passes.distribute.rules.strategy import Strategy


def gathered(op: ComputeOp, s: Statement, blocks: int, units: frozenset[DimLike] = frozenset()) -> Iterator[Strategy]:
    """Yield a strategy for each dimension of an operand that is read at computed indices, and in which the value is
    linear. A rank without a row has none to read, so uneven blocks have one at least."""
    if s.monoid not in (None, "add") or element_of(op.results[0]) not in (*NUMBERS, "f16", "bf16"):
        return
    for n, operand in enumerate(op.operands):
        read = [load for load in loads(s.value) if load.operand == n]
        if len(read) != 1 or degree(s.value, [n], element_of(operand)[0] in "fb") != LINEAR:
            continue
        for dim, (at, extent) in enumerate(zip(read[0].index or (), shape_of(operand), strict=True)):
            fits = isinstance(extent, int) and (extent % blocks == 0 or (units and extent >= blocks))
            if isl_text(at) is None and fits:
                states = [WHOLE if k != n else SplitAttr.of(dim) for k in range(len(op.operands))]
                why = f"dimension {dim} of x{n}, which is gathered from"
                yield Strategy(tuple(states), PartialAttr.of("add"), why, gathers=(n, dim, static(extent)))


def masked(value: Expr, operand: int, dim: int, block: Expr, first: Expr) -> Expr:
    """Return a value that reads its block of ``block`` elements, at least one, from ``first`` on, and is 0 where the
    index is not in it."""

    def load(read: Load) -> Expr:
        if read.operand != operand:
            return read
        index = list(read.index or ())
        at = Call("sub", (Call("i64", (index[dim],)), first))
        inside = Call("and_", (Call("ge", (at, Const(0))), Call("lt", (at, block))))
        index[dim] = Call("max", (Call("min", (at, Call("sub", (block, Const(1))))), Const(0)))
        return Call("where", (inside, Load(operand, tuple(index)), Const(0)))

    return substitute(value, load)
