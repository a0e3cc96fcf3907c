"""Reassociated sums (``reassociate-sums``): a sum along the rows of two products' terms sums fewer of them.

    %d = graph.contract "mv,nv->mn"(%g, %v)                     %o = graph.contract "mn,nv->mv"(%p, %v)
    %o = graph.contract "mn,nv->mv"(%p, %v)                 →   %r = graph.contract "mv,mv->m"(%g, %o)
    %r = graph.reduce "add"(graph.map "x0 * x1"(%p, %d))

Σn pmn Σv gmv vnv = Σv gmv Σn pmn vnv. So the derivative of a softmax needs no row of another product: it reads the
attention's result (Dao et al., FlashAttention, 2022, appendix B.2). What is equal along a row is a factor of the sums.
``numerics = strict`` changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, MapOp, ReduceOp, TransposeOp, ints_of
from mlc.dialects.semantics.expr import Call, Expr, Load, substitute
from mlc.dialects.types import shape_of
from mlc.passes.fuse.factor_sums import split
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused


@dataclass(frozen=True)
class ReassociateSums(ModulePass):
    """``numerics``: ``strict`` does nothing."""

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
    """A map's value: ``factor``, over the map's operands, is one number a row; ``rest`` is multiplied by it."""

    op: MapOp
    factor: Expr
    rest: tuple[SSAValue, ...]


@dataclass(frozen=True)
class Pair:
    """The product whose rows are summed, and the one whose result is to be read, with its ``weights``."""

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
    factor, rest = split(op.scalar, lambda load: shape_of(op.args[load.operand])[-1:] in ((), (1,)))
    if not all(isinstance(each, Load) and shape_of(op.args[each.operand]) == shape_of(value) for each in rest):
        return None
    return Factored(op, factor, tuple(op.args[each.operand] for each in rest))  # type: ignore[union-attr]


def _readers(weight: SSAValue) -> Iterator[tuple[ContractOp, Factored | None]]:
    """Products whose left operand is ``weight``, or that times one number a row."""
    for use in list(weight.uses):
        op = use.operation
        if isinstance(op, ContractOp) and use.index == 0:
            yield op, None
        elif isinstance(op, MapOp) and (found := _factored(op.result)) and found.rest == (weight,):
            readers = [u.operation for u in op.result.uses if u.index == 0]
            yield from ((reader, found) for reader in readers if isinstance(reader, ContractOp))


def _letters(product: ContractOp, other: ContractOp) -> str:
    """The axes of ``other``'s result as letters of ``product``; "" where they do not have one operand in common."""
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
    """The value of which ``value`` is a transposition, and the letters of its axes."""
    while isinstance(value.owner, TransposeOp):
        perm = ints_of(value.owner.perm)
        letters = "".join(letters[perm.index(n)] for n in range(len(perm)))
        value = value.owner.operands[0]
    return value, letters


def _reassociate(op: ReduceOp, pair: Pair) -> None:
    builder = OpBuilder(op)
    given, _, out = pair.product.terms
    equation = f"{given},{pair.letters}->{out[:-1]}"
    sums = ContractOp(equation, pair.product.lhs, pair.other.result, product=pair.product.product)
    whole = builder.reshape(builder.emit(sums), (*shape_of(op.input)[:-1], 1))
    expr, args = _scaled("mul", Load(0), [whole], pair.terms)
    if pair.weights:
        expr, args = _scaled("div", expr, args, pair.weights)
    rows = builder.emit(MapOp.reading(expr, args))
    op.result.replace_all_uses_with(builder.reshape(rows, shape_of(op.result)))
    erase_unused([op, pair.terms.op])


def _scaled(fn: str, expr: Expr, args: list[SSAValue], by: Factored) -> tuple[Expr, list[SSAValue]]:
    """``expr`` times, or over, the factor of a map."""
    factor = substitute(by.factor, lambda load: Load(len(args) + load.operand))
    return Call(fn, (expr, factor)), [*args, *by.op.args]
