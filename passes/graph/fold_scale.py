"""Scale folding (``fold-scale``): constant scales and shifts of channels (batch normalization, bias) after a
convolution or a contraction with constant weights move into the weights and into one bias.

    %c = graph.conv(%x, %w)                                   %v = graph.map "x0 * x1"(%w, reshaped %s)
    %y = graph.map "(x0 + x1) * x2 + x3"(%c, %b, %s, %t)  →   %u = graph.map "x0 * x1 + x2"(%b, %s, %t)
                                                              %d = graph.conv(%x, %v)
                                                              %y = graph.map "x0 + x1"(%d, %u)

The products are rounded in another order, so ``numerics = strict`` changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, ConvOp, MapOp, ReshapeOp, ints_of, source_nodes
from mlc.dialects.semantics.expr import Call, Const, Expr, Load, loads, rename_operands
from mlc.dialects.types import element_of, elements_in, is_float, shape_of
from mlc.passes.graph.patterns.constants import constants_first, sole_user
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused

Affine = tuple[Expr | None, Expr | None]
"""(a, b) of a·x + b; None where a is 1 or b is 0."""
X = Load(0)  # in the forms of this pass, the result of the convolution; constants are x1, x2, …


@dataclass(frozen=True)
class FoldScale(ModulePass):
    """Fold channelwise affine maps into constant weights. ``numerics``: ``strict`` does nothing."""

    name = "fold-scale"
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.numerics == "strict":
            return
        for block in bodies(op):
            constants = constants_first(block)
            for anchor in [o for o in block.ops if isinstance(o, ConvOp | ContractOp)]:
                _fold(anchor, constants)


def affine(expr: Expr, x: Load) -> Affine | None:
    """``expr`` as a·x + b with a and b free of ``x``; None where it is not of that form."""
    if expr == x:
        return None, None
    if not isinstance(expr, Call) or sum(x in loads(a) for a in expr.args) != 1:
        return None
    left = x in loads(expr.args[0])
    inner = affine(expr.args[0 if left else 1], x) if len(expr.args) <= 2 else None
    if inner is None:
        return None
    return _compose(expr.fn, inner, expr.args[1 if left else 0] if len(expr.args) == 2 else None, left)


def _compose(fn: str, inner: Affine, other: Expr | None, left: bool) -> Affine | None:
    a, b = inner
    match fn:
        case "add":
            return a, _binary("add", b, other)
        case "sub" if left:
            return a, Call("neg", (other,)) if b is None else Call("sub", (b, other))  # type: ignore[arg-type]
        case "sub":
            return _negated(a), other if b is None else Call("sub", (other, b))  # type: ignore[arg-type]
        case "neg":
            return _negated(a), None if b is None else Call("neg", (b,))
        case "mul":
            return _binary("mul", a, other), None if b is None else _binary("mul", b, other)
        case "div" if left:
            return Call("div", (a or Const(1), other)), None if b is None else Call("div", (b, other))  # type: ignore[arg-type]
    return None


def _binary(fn: str, lhs: Expr | None, rhs: Expr | None) -> Expr | None:
    return Call(fn, (lhs, rhs)) if lhs is not None and rhs is not None else lhs if rhs is None else rhs


def _negated(a: Expr | None) -> Expr:
    return Const(-1) if a is None else Call("neg", (a,))


def _fold(anchor: ConvOp | ContractOp, constants: set[SSAValue]) -> None:
    channel = _channel(anchor) if anchor.operands[1] in constants else None
    if channel is None or not is_float(element_of(anchor.result)) or anchor.product:
        return
    chain, (a, b), args = _chain(anchor.result, channel, constants)
    if a is not None:
        axis = 0 if isinstance(anchor, ConvOp) else anchor.terms[1].index(anchor.terms[2][-1])
        builder = OpBuilder(anchor, (*source_nodes(anchor), *source_nodes(chain[0])))
        scale_weight(anchor, _channels_of(a, args, anchor), {axis}, builder)
    if a is not None or len(chain) > 1:
        _shift(anchor.result, chain, None if b is None else _channels_of(b, args, anchor))


def _channel(anchor: ConvOp | ContractOp) -> int | None:
    """The dimension of the result that only the constant weight has, counted from the last (-1); None without one."""
    if isinstance(anchor, ConvOp):
        return -1 - len(ints_of(anchor.strides)) if anchor.layouts is None else None
    lhs, rhs, out = anchor.terms
    plain = anchor.layouts is None and len(rhs) == 2 and bool(out)
    return -1 if plain and out[-1] in rhs and out[-1] not in lhs else None


def _chain(value: SSAValue, channel: int, constants: set[SSAValue]) -> tuple[list[MapOp], Affine, list[SSAValue]]:
    """Return the chain of maps that follow ``value`` and are affine in it with one scale and shift a channel; their
    composition; and its constant operands, which are x1, x2, … in it."""
    chain: list[MapOp] = []
    form: Affine = (None, None)
    args: list[SSAValue] = []
    while isinstance(user := sole_user(value), MapOp) and user.result.type == value.type:
        place = list(user.args).index(value)
        others = [v for v in user.args if v is not value]
        if not all(v in constants and _channelwise(v, channel) for v in others):
            break
        number = {n: len(args) + 1 + others.index(v) for n, v in enumerate(user.args) if n != place} | {place: 0}
        step = affine(rename_operands(user.scalar, [number[n] for n in range(len(user.args))]), X)
        if step is None:
            break
        form, args, value = _then(form, step), args + others, user.result
        chain.append(user)
    return chain, form, args


def _channelwise(value: SSAValue, channel: int) -> bool:
    shape = shape_of(value)
    return all(d == 1 or n - len(shape) == channel for n, d in enumerate(shape))


def _then(first: Affine, second: Affine) -> Affine:
    (a, b), (c, d) = first, second
    return _binary("mul", a, c), _binary("add", b if c is None or b is None else Call("mul", (b, c)), d)


def _channels_of(expr: Expr, args: Sequence[SSAValue], anchor: ConvOp | ContractOp) -> MapOp:
    """Return a map that computes ``expr`` of those constants of ``args`` (x1, x2, …) that ``expr`` reads."""
    typed = expr if loads(expr) else Call(element_of(anchor.result), (expr,))
    return MapOp.reading(typed, [anchor.result, *args])


def scale_weight(anchor: ConvOp | ContractOp, scale: MapOp, axes: set[int], builder: OpBuilder) -> None:
    """Multiply the weight of ``anchor`` by ``scale``, which is one number, or one for each channel along ``axes`` of
    the weight."""
    weight = anchor.operands[1]
    along = axes if elements_in(scale.result) != 1 else set[int]()
    shape = [d if n in along else 1 for n, d in enumerate(shape_of(weight))]
    factor = builder.emit(ReshapeOp(builder.emit(scale), shape))
    anchor.operands[1] = builder.emit(MapOp("x0 * x1", [weight, factor]))


def _shift(result: SSAValue, chain: Sequence[MapOp], bias: MapOp | None) -> None:
    """Replace the last map of ``chain`` by ``result + bias``."""
    last = chain[-1]
    if bias is not None:
        builder = OpBuilder(last, tuple(n for m in chain for n in source_nodes(m)))
        result = builder.emit(MapOp("x0 + x1", [result, builder.emit(bias)]))
    last.result.replace_all_uses_with(result)
    erase_unused([last])
