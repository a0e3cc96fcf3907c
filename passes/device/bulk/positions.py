"""The position of a tile's box in its tensor: coordinates as index arithmetic on loop variables."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, scf
from xdsl.ir import SSAValue

from mlc.passes.device.distribution.tensor_box import TensorAxis, Variable
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.loops.index_dims import dim_of
from mlc.passes.device.loops.insertion import Inserter


def variables_of(loop: scf.ForOp) -> dict[SSAValue, Variable] | None:
    """Return the variables of a loop and of the loop over tiles around it; None if bounds are no dimension
    expressions."""
    tiles, step, end = loop.parent_op(), constant_of(loop.step), dim_of(loop.ub)
    assert isinstance(tiles, scf.ParallelOp)
    ends = [dim_of(high) for high in tiles.upperBound]
    if step is None or end is None or None in ends:
        return None
    values = [*zip(tiles.body.block.args, [1] * len(ends), ends, strict=True), (loop.body.block.args[0], step, end)]
    return {value: Variable(f"%{n}", size, last) for n, (value, size, last) in enumerate(values) if last is not None}


def place_along(axis: TensorAxis, variables: Mapping[SSAValue, Variable], build: Inserter, more: int = 0) -> SSAValue:
    """Return the coordinate of a tile along an axis, plus ``more`` elements."""
    total = build.index(axis.start + more)
    for value, variable in variables.items():
        if factor := axis.moves.get(variable.name):
            part = build.add(arith.MuliOp(value, build.index(factor))).results[0]
            total = build.add(arith.AddiOp(total, part)).results[0]
    return total
