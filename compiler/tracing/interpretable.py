"""Which programs the interpreter answers while the C compiler works: those that it takes less time for."""

from __future__ import annotations

from math import inf, prod
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from mlc.dialects.comm import CommOp
from mlc.dialects.graph import ContractOp, ConvOp, IfOp, LoopOp, MapOp
from mlc.dialects.graph.base import StructuredOp
from mlc.dialects.graph.library import LibraryOp
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.expr import walk
from mlc.dialects.semantics.interpreter import main_of
from mlc.dialects.types import shape_of

LIMIT = 0.3
"""Seconds of one call; the C compiler takes about 0.7."""
CALL = 5e-6
"""Seconds of an operator beside its elements."""
MAPPED, MULTIPLIED, CONVOLVED, INDEXED, LIBRARY = 2e-9, 1e-10, 1e-9, 2e-8, 1e-7
"""Seconds of NumPy for one function of an element, for a product within a matrix product and within a convolution, for
a point of a statement with arrays of indices, for an element that is sorted or scattered."""


def is_interpretable(module: ModuleOp) -> bool:
    """Whether all dimensions are fixed and a call takes the interpreter at most ``LIMIT`` seconds."""
    main = main_of(module)
    fixed = all(_volume(shape_of(x)) < inf for x in main.args)
    return fixed and _of_block(main.body.block) <= LIMIT


def _of_block(block: Block) -> float:
    return sum(map(_of, block.ops))


def _of(op: Operation) -> float:
    """Seconds."""
    match op:
        case CommOp():
            return inf  # ranks that interpret and ranks that run compiled code would not meet
        case LoopOp():
            return _volume((op.most,)) * _of_block(op.body.block)
        case IfOp():
            return _of_block(op.then.block) + _of_block(op.otherwise.block)
        case MapOp():
            return CALL + MAPPED * _volume(shape_of(op.result)) * sum(1 for _ in walk(op.scalar))
        case StructuredOp():
            each = MULTIPLIED if isinstance(op, ContractOp) else CONVOLVED if isinstance(op, ConvOp) else INDEXED
            return CALL + each * sum(_volume(s.bounds) for s in op.statements())
    each = LIBRARY if isinstance(op, LibraryOp) else 0
    return CALL + sum(each * _volume(shape_of(x)) for x in op.results)


def _volume(extents: tuple[DimLike, ...]) -> float:
    return prod(cast("tuple[int, ...]", extents)) if all(isinstance(d, int) for d in extents) else inf
