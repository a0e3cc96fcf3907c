"""Lowering of statements to ``kernel.generic`` operations on buffers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.memref import LoadOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from mlc.dialects import kernel
from mlc.dialects.semantics.expr import ExprError, Load, loads
from mlc.dialects.semantics.statement import MONOIDS, Statement
from mlc.dialects.types import ELEMENTS, element_of, is_narrow, numpy_dtype
from mlc.passes.kernel.lowering.affine import Symbols, affine
from mlc.passes.kernel.lowering.scalars import ScalarBuilder


def generic(block: Block, s: Statement, buffers: Sequence[SSAValue], out: SSAValue, float8: bool = False) -> None:
    """Append ``s``, whose loads name entries of ``buffers``, as a kernel.generic that writes ``out``.

    Affine loads become operands; a gather remains a memref.load in the body. ``float8``: that of ``ScalarBuilder``.
    """
    symbols = Symbols()
    reads: dict[Load, tuple[AffineExpr, ...]] = {}
    for load in loads(s.value):
        index = [affine(i, s.iters, symbols) for i in load.index or ()]
        if all(i is not None for i in index):
            reads[load] = tuple(i for i in index if i is not None)
    written = tuple(i for o in s.out if (i := affine(o, s.iters, symbols)) is not None)
    assert len(written) == len(s.out), f"{s} writes at an index that is not affine"
    maps = [AffineMap(len(s.iters), len(symbols.names), m) for m in (*reads.values(), written)]
    ins = [buffers[load.operand] for load in reads]
    body, init = _body(s, list(reads), out, buffers, float8), _init(s, out)
    block.add_op(kernel.GenericOp(s.iters, s.bounds, maps, ins, out, body, symbols.names, s.monoid, init))


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
    block.add_op(kernel.YieldOp(builder.restore_sign(value, element)))
    return Region(block)
