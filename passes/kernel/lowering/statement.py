"""Lowering of statements to ``poly.statement`` operations on buffers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.memref import LoadOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from mlc.dialects import kernel, poly
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.expr import Expr, ExprError, Load, loads
from mlc.dialects.semantics.statement import MONOIDS, Statement
from mlc.dialects.types import ELEMENTS, element_of, is_narrow, numpy_dtype
from mlc.passes.kernel.lowering.affine import affine
from mlc.passes.kernel.lowering.array_names import array_names
from mlc.passes.kernel.lowering.scalars import ScalarBuilder


def append_statement(
    block: Block, s: Statement, buffers: Sequence[SSAValue], out: SSAValue, float8: bool = False
) -> None:
    """Append ``s``, whose loads name entries of ``buffers``, as a poly.statement that writes ``out``.

    Affine loads become operands; a gather remains a memref.load in the body. ``float8``: that of ``ScalarBuilder``.
    """
    reads = {load: at for load in loads(s.value) if (at := _affine_index(load.index or (), s)) is not None}
    written = _affine_index(s.out, s)
    assert written is not None, f"{s} writes at an index that is not affine"
    operands = [*(buffers[load.operand] for load in reads), out]
    names = array_names(block)
    accesses = [
        poly.AccessAttr((names[x], index)) for x, index in zip(operands, (*reads.values(), written), strict=True)
    ]
    id = f"S{sum(isinstance(op, poly.StatementOp) for op in block.ops)}"
    domain = poly.DomainAttr(zip(s.iters, s.bounds, strict=True))
    body, init = _body(s, list(reads), out, buffers, float8), _init(s, out)
    block.add_op(poly.StatementOp(id, domain, accesses, operands[:-1], out, body, s.monoid, init))


def _affine_index(index: Sequence[Expr], s: Statement) -> tuple[DimLike, ...] | None:
    """Return the indices of an access as dimension expressions; None if one of them is not affine."""
    found = tuple(i for e in index if (i := affine(e, s.iters)) is not None)
    return found if len(found) == len(index) else None


def _init(s: Statement, out: SSAValue) -> Attribute | None:
    """Return the identity of the statement's monoid; None for a statement without one.

    Raises:
        ExprError: the statement combines elements of a narrow type.
    """
    if s.monoid is None:
        return None
    if is_narrow(element_of(out)):
        raise ExprError(f"no function computes in {element_of(out)}")
    identity = MONOIDS[s.monoid].identity(numpy_dtype(element_of(out)))
    constant = ScalarBuilder(Block(), _no_load, _no_index).constant(identity, element_of(out)).owner
    assert isinstance(constant, arith.ConstantOp)
    return constant.value


def _no_load(load: Load) -> tuple[SSAValue, str]:
    raise AssertionError(f"a constant has no load {load}")


def _no_index(name: str) -> SSAValue:
    raise AssertionError(f"a constant has no iterator {name}")


def _body(s: Statement, reads: Sequence[Load], out: SSAValue, buffers: Sequence[SSAValue], float8: bool) -> Region:
    block = Block(arg_types=[ELEMENTS[element_of(buffers[load.operand])] for load in reads])

    def load(node: Load) -> tuple[SSAValue, str]:
        element = element_of(buffers[node.operand])
        if node in reads:
            return builder.strip_sign(block.args[reads.index(node)], element), element
        at = [builder.to_index(i) for i in node.index or ()]
        return builder.strip_sign(builder.emit(LoadOp.get(buffers[node.operand], at)), element), element

    def index(name: str) -> SSAValue:
        return builder.emit(kernel.IndexOp(name) if name in s.iters else kernel.SymbolOp(name))

    builder = ScalarBuilder(block, load, index, float8)
    element = element_of(out)
    value, actual = builder.build(s.value, element)
    value, _ = builder.cast(value, actual, element)
    block.add_op(poly.YieldOp(builder.restore_sign(value, element)))
    return Region(block)
