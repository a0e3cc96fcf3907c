"""The derivative of a strided convolution with respect to its image: a convolution of the adjoint for each phase.

Only the taps p, p + s, … read element s·j + p of the image, so the convolution of phase p has those taps, and no
product has a zero as factor: the four phases of 3x3 filters of stride 2 have 1, 2, 2 and 4 taps. The elements that a
padding adds to the image are left out, as nothing reads their adjoint.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from mlc.dialects.autodiff.emitting import Emit, computed, cut, padded, swapped
from mlc.dialects.graph import ConvOp, PadOp, SliceOp, dims_of, ints_of
from mlc.dialects.types import shape_of


@dataclass(frozen=True)
class Phase:
    """The elements low + q, low + q + stride, … along one axis of the image; there are ``count`` of them for each q.
    They read ``taps`` taps, from ``tap`` on; the first element reads the adjoint at ``start`` and before it."""

    tap: int
    taps: int
    start: int
    count: int


def has_phases(op: ConvOp) -> bool:
    """Return whether a strided convolution has constant extents and no dilations."""
    strides, dilations = op.window
    extents = [d for v in (op.input, op.weight, op.result) for d in shape_of(v)[2:]]
    constant = all(isinstance(d, int) and d > 0 for d in (*extents, *shape_of(op.weight)))
    return constant and any(s > 1 for s in strides) and all(d == 1 for d in dilations)


def of_image_by_phases(op: ConvOp, bar: SSAValue, emit: Emit) -> SSAValue:
    """Return the adjoint of the image of a convolution for which ``has_phases`` holds."""
    strides, image, kernel = ints_of(op.strides), shape_of(op.input), _extents(op.weight)
    low, sizes = _read(op)
    axes = [_phases(*each) for each in zip(low, sizes, kernel, strides, strict=True)]
    parts = [_phase(op, each, bar, emit) for each in itertools.product(*axes)]
    found = [x for x in parts if x is not None]
    names = iter(range(len(found)))
    reads = [_load(next(names), strides) if x is not None else "0" for x in parts]
    shape = (*image[:2], *sizes)
    inner = computed(emit, _choice(reads, strides, [len(axis) for axis in axes]), found, shape)
    after = [d - n - size for d, n, size in zip(image[2:], low, sizes, strict=True)]
    return padded(emit, inner, [0, 0, *low], [0, 0, *after], [0] * len(shape))


def _extents(x: SSAValue) -> list[int]:
    """Return the spatial extents of ``x``, which are constant."""
    return [d for d in shape_of(x)[2:] if isinstance(d, int)]


def _read(op: ConvOp) -> tuple[list[int], list[int]]:
    """Return the first element and the extent, along each axis, of the image without its padding."""
    pad, whole = op.input.owner, _extents(op.input)
    if isinstance(pad, PadOp) and not any(ints_of(pad.interior)):
        low, inner = dims_of(pad.low)[2:], shape_of(pad.input)[2:]
        known = [n for n in (*low, *inner) if isinstance(n, int) and n >= 0]
        outside = dims_of(pad.high)[2:]
        if len(known) == 2 * len(whole) and all(isinstance(n, int) and n >= 0 for n in outside):
            return known[: len(whole)], known[len(whole) :]
    return [0] * len(whole), whole


def _phases(low: int, size: int, kernel: int, stride: int) -> list[Phase]:
    """Return the phases of an axis in the order of their first elements."""
    found = []
    for q in range(min(stride, size)):
        start, tap = divmod(low + q, stride)
        found.append(Phase(tap, len(range(tap, kernel, stride)), start, -(-size // stride)))
    return found


def _phase(op: ConvOp, phases: Sequence[Phase], bar: SSAValue, emit: Emit) -> SSAValue | None:
    """Return the adjoint of the elements of one phase per axis, or None if they have no taps or read no adjoint."""
    y, strides = shape_of(bar), ints_of(op.strides)
    spans = [(each.start - each.taps + 1, each.start + each.count) for each in phases]
    inside = [(max(a, 0), min(b, n)) for (a, b), n in zip(spans, _extents(bar), strict=True)]
    if any(a >= b for a, b in inside) or not all(each.taps for each in phases):
        return None
    part = cut(emit, bar, [0, 0, *(a for a, _ in inside)], [*y[:2], *(b - a for a, b in inside)], [1] * len(y))
    before, after = ([abs(s[n] - i[n]) for s, i in zip(spans, inside, strict=True)] for n in (0, 1))
    whole = padded(emit, part, [0, 0, *before], [0, 0, *after], [0] * len(y))
    last = [each.tap + s * (each.taps - 1) for each, s in zip(phases, strides, strict=True)]
    filters = SliceOp(op.weight, [0, 0, *last], [*shape_of(op.weight)[:2], *(each.taps for each in phases)],
                      [1, 1, *(-s for s in strides)])  # fmt: skip
    groups, ones = op.groups.value.data, [1] * len(phases)
    return emit(ConvOp(whole, swapped(emit, emit(filters), groups), ones, ones, groups))


def _load(operand: int, strides: Sequence[int]) -> str:
    at = [f"i{2 + n} // {s}" if s > 1 else f"i{2 + n}" for n, s in enumerate(strides)]
    return f"x{operand}[{', '.join(['i0', 'i1', *at])}]"


def _choice(reads: Sequence[str], strides: Sequence[int], counts: Sequence[int], axis: int = 2) -> str:
    """Return the expression that reads each element from its phase; ``reads`` are in row-major order of the phases."""
    if not strides:
        return reads[0]
    each = len(reads) // counts[0]
    parts = [_choice(reads[n * each : (n + 1) * each], strides[1:], counts[1:], axis + 1) for n in range(counts[0])]
    text = parts[-1]
    for q in reversed(range(len(parts) - 1)):
        text = f"where(i{axis} % {strides[0]} == {q}, {parts[q]}, {text})"
    return text
