"""Addresses of the elements that a statement reads and writes: a base, and a stride for each iterator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from mlc.dialects.poly import StatementOp
from mlc.dialects.semantics.dims import Dim, DimLike, signature_names
from mlc.dialects.types import element_of, shape_of


class CannotRun(Exception):
    """A kernel has no instructions of the accelerator."""


class Access(NamedTuple):
    """The address of an operand's element: ``base`` + the sum of ``strides[i]`` · iterator i, in floats."""

    buffer: int
    base: int
    strides: tuple[int, ...]


def accesses(op: StatementOp, buffers: dict[SSAValue, int], iterators: Sequence[str]) -> list[Access]:
    """Those of the operands read, in order, and of the one written."""
    pairs = zip(op.operands, op.accesses, strict=True)
    return [_access(x, access.data[1], buffers[x], iterators) for x, access in pairs]


def _access(x: SSAValue, index: Sequence[DimLike], buffer: int, iterators: Sequence[str]) -> Access:
    if element_of(x) != "f32":
        raise CannotRun(f"it computes with floats of 32 bits, not {element_of(x)}")
    base, strides, step = 0, [0] * len(iterators), 1
    for at, extent in zip(reversed(index), reversed(extents(shape_of(x))), strict=True):
        constant, factors = _linear(at, iterators)
        base += constant * step
        strides = [total + factor * step for total, factor in zip(strides, factors, strict=True)]
        step *= extent
    return Access(buffer, base, tuple(strides))


def extents(shape: Sequence[DimLike]) -> list[int]:
    """The extents of an array or a box, which the instructions hold as numbers."""
    if unknown := [signature_names(str(d)) for d in shape if not isinstance(d, int)]:
        raise CannotRun(f"the dimension {unknown[0]} has no fixed extent: give --dim {unknown[0]}=N")
    return [int(d) for d in shape]  # type: ignore[arg-type]


def _linear(at: DimLike, iterators: Sequence[str]) -> tuple[int, list[int]]:
    """An index as a constant and a factor for each iterator."""
    constant, factors = 0, [0] * len(iterators)
    for monomial, factor in at.terms if isinstance(at, Dim) else [((), at)]:
        if not monomial:
            constant += factor
        elif len(monomial) == 1 and monomial[0] in iterators:
            factors[iterators.index(monomial[0])] += factor
        else:
            raise CannotRun(f"the index {at} is no sum of multiples of iterators")
    return constant, factors
