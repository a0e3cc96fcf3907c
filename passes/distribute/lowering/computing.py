"""Operators that a rank cannot run unchanged: those that compute with the number of an element, and masked gathers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from mlc.dialects.graph import ComputeOp, GraphOp
from mlc.dialects.semantics.expr import Call, Expr, Index, Load, parse, substitute
from mlc.dialects.types import shape_of
from mlc.passes.distribute.lowering.ranks import Ranks
from mlc.passes.distribute.rules.affine import isl_text
from mlc.passes.distribute.rules.extents import first_of
from mlc.passes.distribute.rules.gathers import masked
from mlc.passes.distribute.rules.strategy import Strategy


def counting(op: ComputeOp, local: GraphOp, strategy: Strategy, ranks: Ranks) -> ComputeOp:
    """Return the local form of an operator whose value has iterators: they count the elements of all ranks.

    ``"i0 * 2"`` becomes ``"(i0 + x1[()] * 4) * 2"`` for blocks of 4, where x1 is the number of the rank.
    """
    assert isinstance(local, ComputeOp)
    number = Load(len(op.args), ())
    first: dict[str, Expr] = {
        name: first_of(units, granule, ranks.blocks, number) for name, units, granule in strategy.counts
    }
    value = _numbered(parse(op.expr.data), first)
    local.operands = [*local.operands, ranks.number]
    local.properties["expr"] = type(op.expr)(str(value))
    return local


def _numbered(expr: Expr, first: dict[str, Expr]) -> Expr:
    """Replace the divided iterators of a value, but for those in affine indices of its loads."""
    match expr:
        case Index(name=name) if name in first:
            return Call("add", (expr, first[name]))
        case Load(operand=n, index=at) if at is not None:
            return Load(n, tuple(e if isl_text(e) is not None else _numbered(e, first) for e in at))
        case Call(fn=fn, args=args):
            return Call(fn, tuple(_numbered(a, first) for a in args))
    return expr


def gathering(op: ComputeOp, operands: Sequence[SSAValue], strategy: Strategy, ranks: Ranks) -> ComputeOp:
    """Return the masked read of a rank's block of a table."""
    assert strategy.gathers is not None
    n, dim, extent = strategy.gathers
    (s,) = op.statements()
    first = first_of(extent, 1, ranks.blocks, Load(len(operands), ()))
    rank = len(s.out)
    names: dict[str, Expr] = {name: Index(f"i{k}") for k, name in enumerate(s.iters[:rank])}
    names |= {name: Index(f"r{k}") for k, name in enumerate(s.iters[rank:])}
    read = masked(s.value, n, dim, parse(str(shape_of(operands[n])[dim])), first)
    value = substitute(read, None, lambda index: names.get(index.name, index))
    return ComputeOp(str(value), [*operands, ranks.number], s.bounds[:rank], s.bounds[rank:], s.monoid)
