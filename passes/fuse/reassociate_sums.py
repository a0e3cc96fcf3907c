"""Reassociated sums (``reassociate-sums``): a sum along the rows of the elementwise product of a matrix product and
another matrix becomes a sum over the result of a second matrix product, which has shorter rows.

    %d = graph.contract "mv,nv->mn"(%g, %v)                     %o = graph.contract "mn,nv->mv"(%p, %v)
    %o = graph.contract "mn,nv->mv"(%p, %v)                 →   %r = graph.contract "mv,mv->m"(%g, %o)
    %r = graph.reduce "add"(graph.map "x0 * x1"(%p, %d))

Σn pmn Σv gmv vnv = Σv gmv Σn pmn vnv. The derivative of a softmax then reads the attention's result in place of a row
of another product (Dao et al., FlashAttention, 2022, appendix B.2). A factor that is equal along a row multiplies the
sum. If terms were rounded to halves before they were added, now the result that is read is rounded instead. Other
readers of the first product then read it unrounded too, so that the sum they subtract is still the mean of their terms.
``numerics = strict`` changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, MapOp, ReduceOp, TransposeOp, ints_of, source_nodes, with_nodes
from mlc.dialects.semantics.expr import Call, Expr, Load, element_type, replaced, substitute
from mlc.dialects.types import element_of, shape_of
from mlc.passes.fuse.factor_sums import split
from mlc.passes.fuse.grouping.attention import HALVES
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused


@dataclass(frozen=True)
class ReassociateSums(ModulePass):
    """Sum over results of products in place of terms. ``numerics``: ``strict`` does nothing."""

    name = "reassociate-sums"
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.numerics == "strict":
            return
        for block in bodies(op):
            position = {o: n for n, o in enumerate(block.ops)}
            for each in [o for o in block.ops if isinstance(o, ReduceOp) and _sums_rows(o)]:
                if found := next(_products(each, position), None):
                    _reassociate(each, found)
        eliminate_dead(op)


@dataclass(frozen=True)
class Factored:
    """The result of ``op`` as a product of ``factor``, an expression over the operands of ``op`` with one value for
    each row, and the operands ``rest``."""

    op: MapOp
    factor: Expr
    rest: tuple[SSAValue, ...]


@dataclass(frozen=True)
class Pair:
    """Two products. ``product`` is a factor of the summed ``terms``; ``other`` is the one whose result is read instead.
    ``weights`` is the left operand of ``other``, if a map scales its rows."""

    terms: Factored
    product: ContractOp
    other: ContractOp
    weights: Factored | None
    letters: str  # of the other product's result, in those of the product


def _sums_rows(op: ReduceOp) -> bool:
    return op.fn.data == "add" and ints_of(op.axes) == (len(shape_of(op.input)) - 1,)


def _products(op: ReduceOp, position: dict[Operation, int]) -> Iterator[Pair]:
    terms = _factored(op.input)
    if terms is None or len(terms.rest) != 2:
        return
    for product, weight in (terms.rest, terms.rest[::-1]):
        if isinstance(product.owner, ContractOp):
            for other, weights in _readers(weight):
                letters = _letters(product.owner, other)
                if letters and position.get(other, len(position)) < position[op]:
                    yield Pair(terms, product.owner, other, weights, letters)


def _factored(value: SSAValue) -> Factored | None:
    op = value.owner
    if not isinstance(op, MapOp):
        return None
    exact = _unrounded(op.scalar, [element_of(v) for v in op.args])
    factor, rest = split(exact, lambda load: shape_of(op.args[load.operand])[-1:] in ((), (1,)))
    if not all(isinstance(each, Load) and shape_of(op.args[each.operand]) == shape_of(value) for each in rest):
        return None
    return Factored(op, factor, tuple(op.args[each.operand] for each in rest))  # type: ignore[union-attr]


def _unrounded(expr: Expr, operands: Sequence[str]) -> Expr:
    """Return ``expr``, a product of f32 numbers, without the roundings of itself and of its factors to halves."""
    match expr:
        case Call("f32", (Call(half, (exact,)),)) | Call(half, (exact,)) if half in HALVES:
            return _unrounded(exact, operands) if element_type(exact, operands) == "f32" else expr
        case Call("neg" | "mul" | "div", args):
            return Call(expr.fn, tuple(_unrounded(a, operands) for a in args))
    return expr


def _readers(weight: SSAValue) -> Iterator[tuple[ContractOp, Factored | None]]:
    """Return the products whose left operand is ``weight``, or a map that multiplies each row of ``weight`` by a
    number."""
    for use in list(weight.uses):
        op = use.operation
        if isinstance(op, ContractOp) and use.index == 0:
            yield op, None
        elif isinstance(op, MapOp) and (found := _factored(op.result)) and found.rest == (weight,):
            readers = [u.operation for u in op.result.uses if u.index == 0]
            yield from ((reader, found) for reader in readers if isinstance(reader, ContractOp))


def _letters(product: ContractOp, other: ContractOp) -> str:
    """Return the axes of the result of ``other`` as letters of ``product``; "" unless both products read the same right
    operand."""
    (given, second, out), (weights, values, result) = product.terms, other.terms
    (one, first), (two, last) = _stored(product.rhs, second), _stored(other.rhs, values)
    same = dict(zip(weights, out, strict=False))
    if one is not two or len(weights) != len(out) or product.layouts or other.layouts:
        return ""
    if any(same.setdefault(a, b) != b for a, b in zip(last, first, strict=True)):
        return ""
    letters = "".join(same.get(c, "?") for c in result)
    summed = [c for c in given if c not in out]
    wanted = {*out[:-1], *summed}
    return letters if weights[-1] not in result and set(letters) == wanted == set(given) else ""


def _stored(value: SSAValue, letters: str) -> tuple[SSAValue, str]:
    """Return the tensor of which ``value`` is a transposition, and the letters of its axes."""
    while isinstance(value.owner, TransposeOp):
        perm = ints_of(value.owner.perm)
        letters = "".join(letters[perm.index(n)] for n in range(len(perm)))
        value = value.owner.operands[0]
    return value, letters


def _reassociate(op: ReduceOp, pair: Pair) -> None:
    builder = OpBuilder(op)
    given, _, out = pair.product.terms
    equation = f"{given},{pair.letters}->{out[:-1]}"
    result = _rounded(pair.other.result, element_of(pair.product.lhs))
    sums = ContractOp(equation, pair.product.lhs, result, product=pair.product.product)
    whole = builder.reshape(builder.emit(sums), (*shape_of(op.input)[:-1], 1))
    expr, args = _scaled("mul", Load(0), [whole], pair.terms)
    if pair.weights:
        expr, args = _scaled("div", expr, args, pair.weights)
    rows = builder.emit(MapOp.reading(expr, args))
    op.result.replace_all_uses_with(builder.reshape(rows, shape_of(op.result)))
    erase_unused([op, pair.terms.op])
    for use in list(pair.product.result.uses):
        if isinstance(use.operation, MapOp):
            _read_exactly(use.operation, pair.product.result)


def _read_exactly(op: MapOp, product: SSAValue) -> None:
    """Let a map that rounds an f32 product to halves and widens it again read the product itself."""
    expr = op.scalar
    for load in (Load(n) for n, arg in enumerate(op.args) if arg is product):
        for half in HALVES:
            expr = replaced(expr, Call("f32", (Call(half, (load,)),)), load)
    if expr != op.scalar:
        exact = OpBuilder(op).emit(MapOp.reading(expr, op.args))
        op.result.replace_all_uses_with(exact)
        erase_unused([op])


def _rounded(result: SSAValue, element: str) -> SSAValue:
    """Return a product's result as ``element``: an existing cast if there is one, or a new one."""
    if element_of(result) == element:
        return result
    cast = Call(element, (Load(0),))
    for reader in (use.operation for use in result.uses):
        if isinstance(reader, MapOp) and reader.scalar == cast:
            return reader.result
    assert isinstance(result.owner, ContractOp) and isinstance(result.owner.parent, Block)
    rounded = MapOp.reading(cast, [result])
    result.owner.parent.insert_op_after(with_nodes(rounded, source_nodes(result.owner)), result.owner)
    return rounded.result


def _scaled(fn: str, expr: Expr, args: list[SSAValue], by: Factored) -> tuple[Expr, list[SSAValue]]:
    """Return ``expr`` multiplied or divided (``fn``) by the factor of ``by``, and its operands."""
    factor = substitute(by.factor, lambda load: Load(len(args) + load.operand))
    return Call(fn, (expr, factor)), [*args, *by.op.args]
