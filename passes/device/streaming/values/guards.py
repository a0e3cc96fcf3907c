"""Guards of a stream's blocks: conditional operations become loops of at most one iteration, which can carry values.

scf.if %c { … }      →      %n = arith.select %c, 1, 0
                            scf.for %i = 0 to %n step 1 { … }
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.loops.insertion import Inserter


def guards_to_loops(fn: kernel.FuncOp) -> None:
    """Replace each scf.if with one branch and no result by a loop."""
    for op in [o for o in fn.walk() if isinstance(o, scf.IfOp) and not o.results and not o.false_region.blocks]:
        build = Inserter(op)
        zero, one = build.index(0), build.index(1)
        count = build.add(arith.SelectOp(op.cond, one, zero)).results[0]
        body = op.true_region.block
        body.insert_arg(IndexType(), 0)
        build.add(scf.ForOp(zero, count, one, [], op.detach_region(op.true_region)))
        Rewriter.erase_op(op)


def is_guard(loop: scf.ForOp) -> bool:
    """Return whether a loop has at most one iteration."""
    return constant_of(loop.lb) == 0 and _at_most_one(loop.ub)


def _at_most_one(value: SSAValue) -> bool:
    op = value.owner
    return (
        isinstance(op, Operation)
        and isinstance(op, arith.SelectOp)
        and {constant_of(v) for v in op.operands[1:]} <= {0, 1}
    )
