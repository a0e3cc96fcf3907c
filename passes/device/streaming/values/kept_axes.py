"""Kept axes: vectors of rows keep the reduced axis. ``vector<64xf32>`` becomes ``vector<64x1xf32>``, which has the
distribution of the rows' elements.

    %m = kernel.multi_reduction %s : vector<64x64xf32> -> vector<64x1xf32>
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import DenseArrayBase, VectorType, i64
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.passes.device.distribution.value_classes import extents, value_classes


def keep_axes(fn: kernel.FuncOp, locals_: Iterable[SSAValue]) -> None:
    """Give a second axis to all vectors of one axis that local arrays connect, also through elementwise operations."""
    classes = value_classes(fn)
    accessed = (v for local in locals_ for v in _values(local) if len(extents(v)) == 1)
    found = {id(classes[v]): classes[v] for v in accessed}
    for value in (v for each in found.values() for v in each.values):
        type_ = value.type
        assert isinstance(type_, VectorType)
        new = Rewriter.replace_value_with_new_type(value, VectorType(type_.element_type, [*type_.get_shape(), 1]))
        _widen_accesses(new)


def _values(local: SSAValue) -> Iterator[SSAValue]:
    for use in local.uses:
        op = use.operation
        if isinstance(op, kernel.ReadOp | kernel.WriteOp):
            yield op.value if isinstance(op, kernel.WriteOp) else op.result


def _widen_accesses(value: SSAValue) -> None:
    """Give the read that defines a value, and its writes, a stride along the new axis."""
    writes = [use.operation for use in value.uses if isinstance(use.operation, kernel.WriteOp)]
    for op in (value.owner, *writes):
        if isinstance(op, kernel.ReadOp | kernel.WriteOp):
            op.strides = DenseArrayBase.from_list(i64, [*(int(s) for s in op.strides.get_values()), 0])
