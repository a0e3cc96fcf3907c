"""Which programs the reference interpreter answers while the C compiler works."""

from __future__ import annotations

from math import inf, prod
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from mlc.dialects.graph import IfOp, LoopOp
from mlc.dialects.graph.base import StructuredOp
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.interpreter import main_of
from mlc.dialects.types import shape_of

LIMIT = 1 << 22
"""Scalar operations: NumPy takes some tens of milliseconds for them, and the C compiler half a second."""


def is_interpretable(module: ModuleOp) -> bool:
    """Whether all dimensions are fixed and it has at most ``LIMIT`` scalar operations."""
    main = main_of(module)
    return _of_block(main.body.block) + sum(_volume(shape_of(x)) for x in main.args) <= LIMIT


def _of_block(block: Block) -> float:
    return sum(map(_of, block.ops))


def _of(op: Operation) -> float:
    if isinstance(op, LoopOp):
        return _volume((op.most,)) * _of_block(op.body.block)
    if isinstance(op, IfOp):
        return _of_block(op.then.block) + _of_block(op.otherwise.block)
    if isinstance(op, StructuredOp):
        return sum(_volume(s.bounds) for s in op.statements())
    return sum(_volume(shape_of(x)) for x in op.results)


def _volume(extents: tuple[DimLike, ...]) -> float:
    return prod(cast("tuple[int, ...]", extents)) if all(isinstance(d, int) for d in extents) else inf
