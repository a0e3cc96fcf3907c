"""Staged products: the loops over sums of products of staged operands that tensor cores can run, and the operands of
each.

A left operand may also be a matrix that the kernel has computed, if all its steps are in a local array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import IntegerAttr, UnrealizedConversionCastOp, VectorType
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.types import element_of
from mlc.passes.device.gathers.axis_info import are_neighbours
from mlc.passes.device.loops.coefficients import coefficient, constant_of

SUMS = {"f32": (arith.AddfOp, arith.MulfOp), "i32": (arith.AddiOp, arith.MuliOp)}
WIDENING = {"arith.extf": ("f16", "bf16"), "arith.extsi": ("i8",), "arith.extui": ("ui8",),
            "arith.sitofp": ("i8",), "arith.uitofp": ("ui8",)}  # fmt: skip
WIDENING |= {name: (element,) for element, name in kernel.WIDENING.items()}
"""The casts of a factor, and the element types of which each keeps the value."""
NEIGHBOURS = (8, 4)  # at computed offsets, which a thread copies at a time


@dataclass(frozen=True)
class Factor:
    """An operand whose elements (k, x) ``write`` stages, as a tile whose axis ``axis`` is that of x."""

    local: kernel.LocalOp
    write: kernel.WriteOp
    axis: int

    @property
    def element(self) -> str:
        return element_of(self.local.result)

    @property
    def contiguous_sum(self) -> bool:
        """Whether neighbours along the sum are contiguous in memory."""
        read = self.write.value.owner
        if isinstance(read, kernel.GatherOp):
            return any(are_neighbours(read.offsets, 0, n) for n in NEIGHBOURS)
        return isinstance(read, kernel.ReadOp) and read.stride(0) == 1


@dataclass(frozen=True)
class HeldFactor:
    """A left operand that the kernel has computed, and that ``write`` has stored as a tile of rows × steps."""

    local: kernel.LocalOp
    write: kernel.WriteOp
    axis: int = 0

    @property
    def element(self) -> str:
        return element_of(self.local.result)


@dataclass(frozen=True)
class StagedProduct:
    """A loop over steps that are staged together. Each step adds the product of a column and a row to a matrix."""

    loop: scf.ForOp
    left: Factor | HeldFactor
    right: Factor

    @property
    def element(self) -> str:
        """The element type in which the factors are multiplied; factors of 8 bits may have two types."""
        found = kernel.factor_element((self.left.element, self.right.element))
        assert found is not None
        return found

    def multiplied(self, factor: Factor | HeldFactor) -> str:
        """Return the element type in which one factor is multiplied."""
        return self.element if kernel.MMA_SHAPES[self.element].bits == 16 else factor.element

    @property
    def tile(self) -> tuple[int, int]:
        type_ = self.loop.results[0].type
        assert isinstance(type_, VectorType)
        rows, columns = type_.get_shape()
        return rows, columns

    @property
    def steps(self) -> int:
        op = self.loop.ub.owner
        assert isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr)
        return int(op.value.value.data)


def staged_product(loop: scf.ForOp) -> StagedProduct | None:
    """Return the product that a loop over staged steps computes; None for other loops."""
    last, type_ = loop.body.block.last_op, loop.results[0].type
    if len(loop.results) != 1 or last is None or not isinstance(type_, VectorType) or len(type_.get_shape()) != 2:
        return None
    add, multiply = SUMS.get(str(type_.element_type), (None, None))
    total = last.operands[0].owner
    if add is None or multiply is None or not isinstance(total, add):
        return None
    terms = [v.owner for v in total.operands if v is not loop.body.block.args[1]]
    if len(terms) != 1 or not isinstance(terms[0], multiply):
        return None
    found = {side.axis: side for v in terms[0].operands if (side := _factor(v, loop))}
    element = kernel.factor_element(factor.element for factor in found.values())
    known = element is not None and kernel.MMA_SHAPES[element].total == str(type_.element_type)
    right = found.get(1)
    return StagedProduct(loop, found[0], right) if 0 in found and isinstance(right, Factor) and known else None


def _factor(value: SSAValue, loop: scf.ForOp) -> Factor | HeldFactor | None:
    """Return a factor that is one step of a staged operand, widened or not; None for other values."""
    cast: str | None = None
    op = value.owner
    while not isinstance(op, kernel.ReadOp):
        name = op.op.data if isinstance(op, kernel.LanewiseOp) else op.name if isinstance(op, Operation) else ""
        if name in WIDENING and cast is None:
            cast = name
        elif not isinstance(op, vector.BroadcastOp | UnrealizedConversionCastOp):
            return None
        assert isinstance(op, Operation)
        op = op.operands[0].owner
    local, strides = op.buffer.owner, [int(s) for s in op.strides.get_values()]
    if not isinstance(local, kernel.LocalOp) or op.valid:
        return None
    if cast is not None and (held := _held_factor(op, local, loop)):
        return held
    if sorted(strides) != [0, 1]:
        return None
    if not isinstance(coefficient(op.offset, loop.body.block.args[0]), int):
        return None
    whole = element_of(local.result) in (WIDENING[cast] if cast else ("f32",))
    writes = [use.operation for use in local.result.uses if isinstance(use.operation, kernel.WriteOp)]
    staged = len(writes) == 1 and len(writes[0].strides) == 3  # not a matrix that the kernel has computed
    return Factor(local, writes[0], strides.index(1)) if whole and staged else None


def _held_factor(op: kernel.ReadOp, local: kernel.LocalOp, loop: scf.ForOp) -> HeldFactor | None:
    """Return the tile that the loop's block has stored last, if each step reads the next column of it; None
    otherwise."""
    type_, steps, write = op.result.type, constant_of(loop.ub), _last_write(local, loop)
    if write is None or not isinstance(type_, VectorType) or not isinstance(write.value.type, VectorType):
        return None
    rows, shape = type_.get_shape()[0], write.value.type.get_shape()
    read, written = ([int(s) for s in o.strides.get_values()] for o in (op, write))
    whole = shape[:-1] == (rows,) and steps is not None and shape[-1] <= steps
    whole = whole and written in ([written[0], 1], [1, written[-1]]) and max(written) >= shape[written[0] > 1]
    columns = coefficient(op.offset, loop.body.block.args[0]) == written[-1] and constant_of(write.offset) == 0
    columns = columns and read == [written[0], 0]
    return HeldFactor(local, write) if whole and columns and not write.valid else None


def _last_write(local: kernel.LocalOp, loop: scf.ForOp) -> kernel.WriteOp | None:
    """Return the last write of a local array before the loop, in the loop's block."""
    before = loop.prev_op
    while before is not None and not (isinstance(before, kernel.WriteOp) and before.buffer is local.result):
        before = before.prev_op
    return before


def strides_of(factor: Factor, along: int, across: int) -> Sequence[int]:
    """Return the strides of the tile that stages a factor: ``along`` between steps, and ``across`` along x."""
    return [along, *(across if n == factor.axis else 0 for n in range(2))]
