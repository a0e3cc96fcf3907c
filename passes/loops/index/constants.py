"""Constant folding of index arithmetic, and deduplication of constants: one constant for each value, at the kernel's
start.

%14 = arith.constant 16 : index          %c16 = arith.constant 16 : index
%15 = arith.constant 0 : index      →    %16 = arith.muli %11, %c16 : index
%16 = arith.addi %11, %15 : index
%17 = arith.muli %16, %14 : index
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

_FOLD: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: int.__add__,
    arith.SubiOp: int.__sub__,
    arith.MuliOp: int.__mul__,
}
_RIGHT_IDENTITY: dict[type[Operation], int] = {arith.AddiOp: 0, arith.SubiOp: 0, arith.MuliOp: 1}


def fold_constants(block: Block) -> None:
    """Fold the arithmetic of a kernel's block and of its nested blocks."""
    known: dict[Hashable, SSAValue] = {}
    first = block.first_op
    for op in [op for top in block.ops for op in top.walk()]:
        if isinstance(op, arith.ConstantOp):
            _merge(op, known, block, first)
        elif type(op) in _FOLD and isinstance(op.results[0].type, IndexType):
            _fold(op, known, block, first)
    for value in known.values():
        if not value.uses.get_length():
            assert isinstance(value.owner, Operation)
            Rewriter.erase_op(value.owner)


def _merge(op: arith.ConstantOp, known: dict[Hashable, SSAValue], block: Block, first: Operation | None) -> None:
    """Replace equal constants by one."""
    if (value := known.setdefault(_key(op), op.result)) is not op.result:
        op.result.replace_all_uses_with(value)
        Rewriter.erase_op(op)
        return
    op.result.name_hint = _hint(op)
    if op is not first:
        op.detach()
        assert first is not None
        block.insert_op_before(op, first)


def _fold(op: Operation, known: dict[Hashable, SSAValue], block: Block, first: Operation | None) -> None:
    left, right = (_number(v) for v in op.operands)
    if left is not None and right is not None:
        constant = arith.ConstantOp(IntegerAttr(_FOLD[type(op)](left, right), IndexType()))
        assert first is not None
        block.insert_op_before(constant, first)
        _merge(constant, known, block, first)
        result = known[_key(constant)]
    elif right == _RIGHT_IDENTITY[type(op)]:
        result = op.operands[0]
    else:
        return
    op.results[0].replace_all_uses_with(result)
    Rewriter.erase_op(op)


def _number(value: SSAValue) -> int | None:
    constant = value.owner
    if isinstance(constant, arith.ConstantOp) and isinstance(constant.value, IntegerAttr):
        return constant.value.value.data
    return None


def _key(op: arith.ConstantOp) -> Hashable:
    """Return a key that is equal for identical constants: 0.0 differs from -0.0, and NaN equals NaN."""
    value = op.value
    return (value.type, struct.pack("<d", value.value.data)) if isinstance(value, FloatAttr) else value


def _hint(op: arith.ConstantOp) -> str:
    """Return MLIR's name of a constant: ``c16`` of type index, ``c16_i64``, ``cst`` of a float."""
    if not isinstance(op.value, IntegerAttr):
        return "cst"
    number = str(op.value.value.data)
    return f"c{number}" if isinstance(op.value.type, IndexType) else f"c{number}_{op.value.type}"
