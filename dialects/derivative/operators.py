"""The derivative of each graph operator, as graph operators: what it adds to the adjoints of its operands.

A rule takes the operator, the adjoint ``bar`` of its result (in the result's type), and ``emit``, which adds an
operator and returns its result; it returns an adjoint for each operand, in the operand's type, or None where it adds
nothing.
Operators without a rule of their own, but with statements, have the derivative of these (``statements.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from mlc.dialects.derivative.emitting import (
    WIDE,
    Adjoints,
    Emit,
    computed,
    filled,
    mapped,
    reshaped,
    stretched,
    summed,
    summed_to,
)
from mlc.dialects.derivative.scalar import NoDerivative, pullback, total
from mlc.dialects.derivative.statements import through_statements
from mlc.dialects.dims import DimLike, product
from mlc.dialects.expr import Expr, Index, Load, substitute
from mlc.dialects.graph import (
    BroadcastOp,
    ComputeOp,
    ConcatOp,
    ContractOp,
    ConvOp,
    MapOp,
    PadOp,
    PoolOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    ScatterOp,
    SliceOp,
    StructuredOp,
    TransposeOp,
    dims_of,
    ints_of,
)
from mlc.dialects.types import element_of, shape_of

Rule = Callable[[Any, SSAValue, Emit], Adjoints]
RULES: dict[type[Operation], Rule] = {}


def derivative(op: type[Operation]) -> Callable[[Rule], Rule]:
    """Register the rule of an operator."""

    def register(rule: Rule) -> Rule:
        RULES[op] = rule
        return rule

    return register


def adjoints(op: Operation, bar: SSAValue, emit: Emit) -> Adjoints:
    """What ``op`` adds to the adjoints of its operands where that of its result is ``bar``.

    Raises:
        NoDerivative: it has none.
    """
    rule = RULES.get(type(op))
    if rule is not None:
        return rule(op, bar, emit)
    if isinstance(op, StructuredOp):
        return through_statements(op, bar, emit)
    raise NoDerivative(f"{op.name} has no derivative")


# -- elementwise


@derivative(MapOp)
def of_map(op: MapOp, bar: SSAValue, emit: Emit) -> Adjoints:
    xs = [*op.args, bar]
    found: dict[int, list[Expr]] = {}
    for load, g in pullback(op.scalar, Load(len(op.args)), [element_of(x) for x in xs]):
        found.setdefault(load.operand, []).append(g)
    return [
        summed_to(emit, mapped(emit, total(found[n]), *xs), shape_of(x)) if n in found else None
        for n, x in enumerate(op.args)
    ]


# -- moves


@derivative(ReshapeOp)
def of_reshape(op: ReshapeOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return [reshaped(emit, bar, shape_of(op.input))]


@derivative(TransposeOp)
def of_transpose(op: TransposeOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return [_moved_back(bar, ints_of(op.perm), emit)]


@derivative(BroadcastOp)
def of_broadcast(op: BroadcastOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return [summed_to(emit, bar, shape_of(op.input))]


@derivative(SliceOp)
def of_slice(op: SliceOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """Zeros round it and between its elements; a step back is one forward of the reversed adjoint."""
    starts, sizes, steps, shape = dims_of(op.starts), dims_of(op.sizes), ints_of(op.steps), shape_of(op.input)
    if 0 in sizes:
        return [filled(emit, 0, element_of(bar), shape)]
    ends = [start + (size - 1) * step for start, size, step in zip(starts, sizes, steps, strict=True)]
    low = [end if step < 0 else start for start, end, step in zip(starts, ends, steps, strict=True)]
    last = [start if step < 0 else end for start, end, step in zip(starts, ends, steps, strict=True)]
    high = [d - end - 1 for d, end in zip(shape, last, strict=True)]
    forward = _reversed(bar, [n for n, step in enumerate(steps) if step < 0], emit)
    return [_padded(forward, low, high, [abs(step) - 1 for step in steps], emit)]


@derivative(PadOp)
def of_pad(op: PadOp, bar: SSAValue, emit: Emit) -> Adjoints:
    steps = [n + 1 for n in ints_of(op.interior)]
    return [_cut(bar, dims_of(op.low), shape_of(op.input), steps, emit)]


@derivative(ConcatOp)
def of_concat(op: ConcatOp, bar: SSAValue, emit: Emit) -> Adjoints:
    axis, shape, found = op.axis.value.data, shape_of(bar), []
    start: DimLike = 0
    for x in op.args:
        starts = [start if n == axis else 0 for n in range(len(shape))]
        found.append(_cut(bar, starts, shape_of(x), [1] * len(shape), emit))
        start = start + shape_of(x)[axis]
    return list(found)


@derivative(ScatterOp)
def of_scatter(op: ScatterOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """Of updates what stands in their places; of places that are written (not added to) the data has no part.

    Where one place is written twice, which ONNX does not allow, both updates get the adjoint.
    """
    kind, cells = op.reduction.data, shape_of(op.data)[0]
    if kind not in ("none", "add"):
        raise NoDerivative(f"{op.name} that combines by {kind} has no derivative")
    inside = f"(x1[i0] >= 0) & (x1[i0] < {cells})"
    read = f"where({inside}, x0[min(max(x1[i0], 0), {cells} - 1), i1], 0)"
    updates = computed(emit, read, [bar, op.places], shape_of(op.updates))
    if kind == "add":
        return [bar, None, updates]
    zeros = filled(emit, 0, element_of(bar), shape_of(op.updates))
    return [emit(ScatterOp("none", bar, op.places, zeros)), None, updates]


@derivative(ScanOp)
def of_scan(op: ScanOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """Of running sums those of the adjoint from the other end."""
    if op.monoid.data != "add":
        raise NoDerivative(f"{op.name} of products has no derivative")
    return [emit(ScanOp("add", bar, bool(op.exclusive), not bool(op.reverse)))]


def _moved_back(x: SSAValue, perm: Sequence[int], emit: Emit) -> SSAValue:
    return emit(TransposeOp(x, [list(perm).index(n) for n in range(len(perm))]))


def _reversed(x: SSAValue, axes: Sequence[int], emit: Emit) -> SSAValue:
    if not axes:
        return x
    shape = shape_of(x)
    starts = [d - 1 if n in axes else 0 for n, d in enumerate(shape)]
    return emit(SliceOp(x, starts, shape, [-1 if n in axes else 1 for n in range(len(shape))]))


def _padded(
    x: SSAValue, low: Sequence[DimLike], high: Sequence[DimLike], between: Sequence[int], emit: Emit
) -> SSAValue:
    return emit(PadOp(x, low, high, "0", between)) if any(p != 0 for p in (*low, *high, *between)) else x


def _cut(
    x: SSAValue, starts: Sequence[DimLike], sizes: Sequence[DimLike], steps: Sequence[int], emit: Emit
) -> SSAValue:
    return x if shape_of(x) == tuple(sizes) else emit(SliceOp(x, starts, sizes, steps))


# -- reductions


@derivative(ReduceOp)
def of_reduce(op: ReduceOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return [_of_reduced(op.fn.data, op.input, op.result, bar, ints_of(op.axes), emit)]


@derivative(ComputeOp)
@derivative(PoolOp)
def of_compute(op: ComputeOp | PoolOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """One that combines by a maximum, minimum or product: as the reduction of a tensor of all that it combines."""
    (s,) = op.statements()
    if s.monoid in (None, "add"):
        return through_statements(op, bar, emit)
    names: dict[str, Expr] = {name: Index(f"i{n}") for n, name in enumerate(s.iters)}
    every = ComputeOp(str(substitute(s.value, index=lambda i: names.get(i.name, i))), list(op.operands), s.bounds)
    axes = [n for n, reduced in enumerate(s.reduction) if reduced]
    inner = _of_reduced(str(s.monoid), emit(every), op.result, bar, axes, emit)
    return through_statements(every, inner, emit)


def _of_reduced(fn: str, x: SSAValue, y: SSAValue, bar: SSAValue, axes: Sequence[int], emit: Emit) -> SSAValue:
    """Of a sum the adjoint itself; of an extreme value shared out evenly among the elements that are it, as JAX and
    PyTorch's ``amax`` do; of a product times the product of the other elements, which may be 0."""
    shape, element = shape_of(x), element_of(x)
    kept = [1 if n in axes else d for n, d in enumerate(shape)]
    bar, y = reshaped(emit, bar, kept), reshaped(emit, y, kept)
    if fn == "add":
        return stretched(emit, bar, shape)
    if fn in ("max", "min"):
        wide = WIDE[element]
        count = summed(emit, mapped(emit, f"{wide}(x0 == x1)", x, y), axes, keepdims=True)
        return mapped(emit, f"where(x0 == x1, {element}({wide}(x2) / x3), 0)", x, y, bar, count)
    if fn == "mul":
        return mapped(emit, "x0 * x1", _products_of_others(x, axes, emit), bar)
    raise NoDerivative(f"a reduction by {fn} has no derivative")


def _products_of_others(x: SSAValue, axes: Sequence[int], emit: Emit) -> SSAValue:
    """For each element of ``x`` the product of the others along ``axes``: the square of the time, but of no memory."""
    shape, outer = shape_of(x), [n for n in range(len(shape_of(x))) if n not in axes]
    perm, kept, size = [*outer, *axes], [shape[n] for n in outer], product(shape[n] for n in axes)
    rows = reshaped(emit, emit(TransposeOp(x, perm)), (*kept, size))
    read = f"x0[{', '.join([*(f'i{n}' for n in range(len(kept))), 'r0'])}]"
    others = f"where(i{len(kept)} == r0, {element_of(x)}(1), {read})"
    products = emit(ComputeOp(others, [rows], (*kept, size), [size], "mul"))
    return _moved_back(reshaped(emit, products, [shape[n] for n in perm]), perm, emit)


# -- products


@derivative(ContractOp)
def of_contract(op: ContractOp, bar: SSAValue, emit: Emit) -> Adjoints:
    lhs, rhs, _ = op.terms
    if op.packing or op.product or len({*lhs}) != len(lhs) or len({*rhs}) != len(rhs):
        raise NoDerivative(f"{op.name} of packed operands or {op.equation.data} has no derivative")
    return [_factor(op, lhs, op.lhs, rhs, op.rhs, bar, emit), _factor(op, rhs, op.rhs, lhs, op.lhs, bar, emit)]


def _factor(
    op: ContractOp, letters: str, x: SSAValue, others: str, other: SSAValue, bar: SSAValue, emit: Emit
) -> SSAValue:
    """The adjoint of one factor: that of the product times the other, summed over what this one lacks or stretches."""
    out, shape, extents = op.terms[2], shape_of(x), op.extents()
    whole = {c for c, d in zip(letters, shape, strict=True) if d == extents[c]}
    kept = "".join(c for c in letters if c in whole and c in out + others)
    result = emit(ContractOp(f"{out},{others}->{kept}", bar, other))
    found = dict(zip(kept, shape_of(result), strict=True))
    return stretched(emit, reshaped(emit, result, [found.get(c, 1) for c in letters]), shape)


@derivative(ConvOp)
def of_conv(op: ConvOp, bar: SSAValue, emit: Emit) -> Adjoints:
    if op.product or op.layout.data != "NCX":
        return through_statements(op, bar, emit)
    return [_of_image(op, bar, emit), _of_filters(op, bar, emit)]


def _of_image(op: ConvOp, bar: SSAValue, emit: Emit) -> SSAValue:
    """A convolution of the adjoint, spread by the strides, with the reversed filters, channels and filters swapped."""
    groups, strides, dilations = op.groups.value.data, ints_of(op.strides), ints_of(op.dilations)
    x, w, y, rank = shape_of(op.input), shape_of(op.weight), shape_of(bar), len(op.strides)
    reach = [d * (k - 1) for k, d in zip(w[2:], dilations, strict=True)]
    behind = [x[2 + n] - (y[2 + n] - 1) * strides[n] - 1 for n in range(rank)]
    spread = _padded(bar, [0, 0, *reach], [0, 0, *behind], [0, 0, *(s - 1 for s in strides)], emit)
    each = w[0] // groups
    flipped = reshaped(emit, _reversed(op.weight, range(2, 2 + rank), emit), (groups, each, *w[1:]))
    swapped = emit(TransposeOp(flipped, [0, 2, 1, *range(3, 3 + rank)]))
    filters = reshaped(emit, swapped, (groups * w[1], each, *w[2:]))
    return emit(ConvOp(spread, filters, [1] * rank, dilations, groups))


def _of_filters(op: ConvOp, bar: SSAValue, emit: Emit) -> SSAValue:
    """A convolution of the image with the adjoint as filters, over the batch; strides and dilations change places."""
    groups, strides, dilations = op.groups.value.data, ints_of(op.strides), ints_of(op.dilations)
    x, w, rank = shape_of(op.input), shape_of(op.weight), len(op.strides)
    spatial = range(3, 3 + rank)
    apart = reshaped(emit, op.input, (x[0], groups, w[1], *x[2:]))
    images = reshaped(emit, emit(TransposeOp(apart, [2, 1, 0, *spatial])), (w[1], groups * x[0], *x[2:]))
    filters = emit(TransposeOp(bar, [1, 0, *range(2, 2 + rank)]))
    y = emit(ConvOp(images, filters, dilations, strides, groups))
    taps = _cut(y, [0] * (2 + rank), (w[1], w[0], *w[2:]), [1] * (2 + rank), emit)
    return emit(TransposeOp(taps, [1, 0, *range(2, 2 + rank)]))
