"""Tensor boxes: the box of a tensor that a bulk copy reads for a loop's operand, and the layout in which it writes the
elements.

A tile of an operand is a box of a tensor with two axes, the contiguous one and another, and one axis more for each
other loop (the batch) that moves it. Rows of a box have at most 128 bytes; a tile with longer rows is several boxes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.kernel.bulk_copy import MOST_AXES, MOST_BOX
from mlc.dialects.kernel.linear_layout import LinearLayout, bits_of
from mlc.dialects.semantics.dims import DimLike
from mlc.passes.device.distribution.value_classes import extents
from mlc.passes.device.loops.index_dims import dim_of, linear

ROW = 128  # bytes of a row of a box at most
CHUNK, PHASE = 16, 3  # bytes that a swizzle moves together; from the bits of a chunk to those that swizzle them


@dataclass(frozen=True)
class Variable:
    """A loop variable: its symbol, its step in elements, and the value after the last one."""

    name: str
    step: int
    end: DimLike


@dataclass
class TensorAxis:
    """An axis of a tensor: its ``stride`` in elements; the first element of the tile as ``start`` plus variables times
    ``moves``."""

    stride: int
    tile: int
    extent: DimLike = 0
    start: int = 0
    moves: Mapping[str, int] = field(default_factory=dict)


def tensor_axes(read: kernel.ReadOp | kernel.WriteOp, variables: Mapping[SSAValue, Variable]) -> list[TensorAxis] | str:
    """Return the axes of the tensor of which a tile is read or written, the fastest first; or the reason why no bulk
    copy can move the tile."""
    names = {value: each.name for value, each in variables.items()}
    offset = dim_of(read.offset, names)
    found = None if offset is None else linear(offset, names)
    coefficients, constant = found or ({}, None)
    if not isinstance(constant, int):
        return "an operand has offsets that are not linear in the tile's place"
    value = read.value if isinstance(read, kernel.WriteOp) else read.result
    axes, limits = list[TensorAxis](), dict[int, SSAValue]()
    for n, (extent, stride) in enumerate(zip(extents(value), read.mixed_strides, strict=True)):
        if extent == 1:
            continue
        if not isinstance(stride, int):
            return "an operand has strides that are known at run time only"
        axes.append(TensorAxis(stride, extent))
        limits |= {id(axes[-1]): kernel.valid_of(read)[n]} if n in kernel.valid_of(read) else {}
    axes.sort(key=lambda axis: axis.stride)
    if len(axes) != 2 or axes[0].stride != 1:
        return "an operand has no contiguous axis, or not two axes"
    for axis in axes:
        if id(axis) in limits and not _limited(axis, dim_of(limits[id(axis)], names), names, coefficients):
            return "an operand's limits are not linear in the tile's place"
    for axis in axes:
        if id(axis) not in limits:
            _tiled(axis, [*variables.values()], coefficients)
    axes += [TensorAxis(c, 1, v.end, moves={v.name: 1}) for v in variables.values() if (c := coefficients.get(v.name))]
    axes.sort(key=lambda axis: axis.stride)
    for axis in reversed(axes):
        axis.start, constant = divmod(constant, axis.stride)
        axis.extent = axis.extent + axis.start
    return axes


def _limited(axis: TensorAxis, limit: DimLike | None, names: Mapping[SSAValue, str], left: dict[str, int]) -> bool:
    """Set the position of an axis from the number of its elements that are left, extent - position; return whether that
    is linear."""
    found = None if limit is None else linear(limit, names)
    if found is None:
        return False
    axis.moves, axis.extent = {name: -c for name, c in found[0].items()}, found[1]
    for name, c in axis.moves.items():
        left[name] = left.get(name, 0) - c * axis.stride
    return True


def _tiled(axis: TensorAxis, variables: list[Variable], left: dict[str, int]) -> None:
    """Set the position of an axis from the variable that moves it from tile to tile."""
    axis.moves, axis.extent = {}, axis.tile
    for v in variables:
        if v.step * left.get(v.name, 0) == axis.stride * axis.tile and not axis.moves:
            factor = left.pop(v.name) // axis.stride
            axis.moves, axis.extent = {v.name: factor}, axis.tile + factor * (v.end - v.step)


def refused(axes: list[TensorAxis], itemsize: int) -> str | None:
    """Return why a tensor with these axes has no tensor map (CUDA Driver API, ``cuTensorMapEncodeTiled``); None if it
    has one."""
    strides = [axis.stride * itemsize for axis in axes[1:]]
    if len(axes) > MOST_AXES:
        return f"an operand has {len(axes)} axes, more than {MOST_AXES}"
    if bad := next((s for s in strides if s % CHUNK), None):
        return f"an operand has a stride of {bad} bytes, which is no multiple of {CHUNK}"
    if any(after % before for before, after in zip(strides, strides[1:], strict=False)):
        return "an operand has strides of which one does not divide the next"
    if any(axis.tile > MOST_BOX for axis in axes[1:]):
        return f"an operand has more than {MOST_BOX} rows in a tile"
    return None


def box_layout(rows: int, columns: int, itemsize: int) -> LinearLayout:
    """Return the layout in which bulk copies write the elements of a tile, in row-major order: rows of a box of at most
    128 bytes, then the next box. The chunks of a row are swizzled by address bits 7 to 9, as many as a row has chunks
    for."""
    row = min(columns, ROW // itemsize)
    inner, outer, chunk = bits_of(row), bits_of(columns // row), bits_of(CHUNK // itemsize)
    bits = [*(1 << n for n in range(inner)), *(row * rows << n for n in range(outer)),
            *(row << n for n in range(bits_of(rows)))]  # fmt: skip
    swizzling = {1 << chunk + PHASE + n for n in range(max(inner - chunk, 0))}
    offsets = [(place ^ place >> PHASE if place in swizzling else place,) for place in bits]
    return LinearLayout.of((rows * columns,), offset=offsets)
