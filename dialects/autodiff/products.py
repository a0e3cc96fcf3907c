"""Derivatives of contractions and convolutions, as contractions and convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import SSAValue

from mlc.dialects.autodiff.emitting import Adjoints, Emit, cut, padded, reshaped, reversed_along, stretched, swapped
from mlc.dialects.autodiff.operators import derivative
from mlc.dialects.autodiff.phases import has_phases, of_image_by_phases
from mlc.dialects.autodiff.scalar import NoDerivative
from mlc.dialects.autodiff.statements import through_statements
from mlc.dialects.graph import ContractOp, ConvOp, TransposeOp, ints_of
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import Shape, shape_of


@derivative(ContractOp)
def of_contract(op: ContractOp, bar: SSAValue, emit: Emit) -> Adjoints:
    lhs, rhs, _ = op.terms
    if op.layouts or op.product or len({*lhs}) != len(lhs) or len({*rhs}) != len(rhs):
        raise NoDerivative(f"{op.name} of packed operands or {op.equation.data} has no derivative")
    return [_factor(op, lhs, op.lhs, rhs, op.rhs, bar, emit), _factor(op, rhs, op.rhs, lhs, op.lhs, bar, emit)]


def _factor(
    op: ContractOp, letters: str, x: SSAValue, others: str, other: SSAValue, bar: SSAValue, emit: Emit
) -> SSAValue:
    """Return the adjoint of one factor ``x``: the product's adjoint times the other factor, summed over the axes that
    ``x`` lacks or broadcasts."""
    out, shape, extents = op.terms[2], shape_of(x), op.extents()
    whole = {c for c, d in zip(letters, shape, strict=True) if d == extents[c]}
    kept = "".join(c for c in letters if c in whole and c in out + others)
    result = emit(ContractOp(f"{out},{others}->{kept}", bar, other))
    found = dict(zip(kept, shape_of(result), strict=True))
    return stretched(emit, reshaped(emit, result, [found.get(c, 1) for c in letters]), shape)


@derivative(ConvOp)
def of_conv(op: ConvOp, bar: SSAValue, emit: Emit) -> Adjoints:
    if op.product or op.layouts:
        return through_statements(op, bar, emit)
    return [_of_image(op, bar, emit), _of_filters(op, bar, emit)]


def _of_image(op: ConvOp, bar: SSAValue, emit: Emit) -> SSAValue:
    if has_phases(op):
        return of_image_by_phases(op, bar, emit)
    strides, dilations = op.window
    known = op.groups.value.data == 1 and all(isinstance(n, int) for n in shape_of(op.weight))
    phases = known and any(s > 1 for s in strides) and all(d == 1 for d in dilations)
    return _by_phases(op, bar, emit) if phases else _of_dilated(op, bar, emit)


def _of_dilated(op: ConvOp, bar: SSAValue, emit: Emit) -> SSAValue:
    """Return the adjoint of the image: a convolution of the adjoint, dilated by the strides, with the filters reversed
    and their input and output channels swapped."""
    groups, strides, dilations = op.groups.value.data, ints_of(op.strides), ints_of(op.dilations)
    x, w, y, rank = shape_of(op.input), shape_of(op.weight), shape_of(bar), len(op.strides)
    reach = [d * (k - 1) for k, d in zip(w[2:], dilations, strict=True)]
    after = [x[2 + n] - (y[2 + n] - 1) * strides[n] - 1 for n in range(rank)]
    spread = padded(emit, bar, [0, 0, *reach], [0, 0, *after], [0, 0, *(s - 1 for s in strides)])
    filters = swapped(emit, reversed_along(emit, op.weight, range(2, 2 + rank)), groups)
    return emit(ConvOp(spread, filters, [1] * rank, dilations, groups))


def _by_phases(op: ConvOp, bar: SSAValue, emit: Emit) -> SSAValue:
    """Return the adjoint of the image as one convolution of the adjoint, without dilation, whose zeros would be
    multiplied. For each phase p of the stride s, some channels of its result are the elements s·j + p, with the taps
    s·t + p."""
    w, rank = [n for n in shape_of(op.weight) if isinstance(n, int)], len(op.strides)
    phases = [min(k, s) for k, s in zip(w[2:], ints_of(op.strides), strict=True)]
    taps = [-(-k // p) for k, p in zip(w[2:], phases, strict=True)]
    more = [t * p - k for t, p, k in zip(taps, phases, w[2:], strict=True)]
    none, axes = [0] * (2 + rank), range(rank)
    whole = padded(emit, op.weight, none, [0, 0, *more], none)
    split = reshaped(emit, whole, (*w[:2], *(n for pair in zip(taps, phases, strict=True) for n in pair)))
    by_phase = emit(TransposeOp(split, [*(3 + 2 * n for n in axes), 1, 0, *(2 + 2 * n for n in axes)]))
    filters = reshaped(emit, by_phase, (math.prod(phases) * w[1], w[0], *taps))
    reach = [0, 0, *(t - 1 for t in taps)]
    flipped = reversed_along(emit, filters, range(2, 2 + rank))
    y = emit(ConvOp(padded(emit, bar, reach, reach, none), flipped, [1] * rank, [1] * rank))
    return _interleaved(y, phases, ints_of(op.strides), shape_of(op.input), emit)


def _interleaved(y: SSAValue, phases: Sequence[int], strides: Sequence[int], image: Shape, emit: Emit) -> SSAValue:
    """Reorder [N, p·C, J…] to the image [N, C, X…]: each J·s is filled with zeros and cut to X."""
    rank, positions = len(strides), shape_of(y)[2:]
    split = reshaped(emit, y, (image[0], *phases, image[1], *positions))
    order = [0, 1 + rank, *(n for k in range(rank) for n in (2 + rank + k, 1 + k))]
    none, ones = [0] * (2 + 2 * rank), [1] * (2 + rank)
    fill = [n for p, s in zip(phases, strides, strict=True) for n in (0, s - p)]
    moved = padded(emit, emit(TransposeOp(split, order)), none, [0, 0, *fill], none)
    full = [j * s for j, s in zip(positions, strides, strict=True)]
    more = [_missing(x - f, s) for x, f, s in zip(image[2:], full, strides, strict=True)]
    whole = padded(emit, reshaped(emit, moved, (*image[:2], *full)), none[rank:], [0, 0, *more], none[rank:])
    return cut(emit, whole, none[rank:], image, ones)


def _missing(extent: DimLike, stride: int) -> int:
    """Return the number of image elements after the last window; if it is not constant, its bound, a stride less 1."""
    return max(extent, 0) if isinstance(extent, int) else stride - 1


def _by_channel(x: SSAValue, groups: int, each: DimLike, emit: Emit) -> SSAValue:
    """Reorder [N, G·C, X…] to [C, G·N, X…]."""
    shape, spatial = shape_of(x), range(3, 1 + len(shape_of(x)))
    if each == 1:  # no dimension of C, so that later passes see the transposition of a depthwise convolution
        moved = emit(TransposeOp(x, [1, 0, *(n - 1 for n in spatial)]))
    else:
        by_group = reshaped(emit, x, (shape[0], groups, each, *shape[2:]))
        moved = emit(TransposeOp(by_group, [2, 1, 0, *spatial]))
    return reshaped(emit, moved, (each, groups * shape[0], *shape[2:]))


def _of_filters(op: ConvOp, bar: SSAValue, emit: Emit) -> SSAValue:
    """Return the adjoint of the filters: a convolution of the image with the adjoint as filters, summed over the batch,
    with strides and dilations exchanged."""
    groups, strides, dilations = op.groups.value.data, ints_of(op.strides), ints_of(op.dilations)
    w, rank = shape_of(op.weight), len(op.strides)
    images = _by_channel(op.input, groups, w[1], emit)
    filters = emit(TransposeOp(bar, [1, 0, *range(2, 2 + rank)]))
    y = emit(ConvOp(images, filters, dilations, strides, groups))
    taps = cut(emit, y, [0] * (2 + rank), (w[1], w[0], *w[2:]), [1] * (2 + rank))
    return emit(TransposeOp(taps, [1, 0, *range(2, 2 + rank)]))
