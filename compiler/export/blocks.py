"""The walk over a block that every form of export has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.graph import YieldOp
from mlc.dialects.graph.base import source_nodes
from mlc.errors import MlcError

V = TypeVar("V")


def written_block(block: Block, values: Mapping[SSAValue, V], write: Callable[[Operation], None]) -> list[V]:
    """Write the operations of a block in order, each of which adds its results to ``values``; return those that the
    block ends with.

    Raises:
        MlcError: that of ``write``, with the source nodes of the operation.
    """
    for op in block.ops:
        if isinstance(op, ReturnOp | YieldOp):
            return [values[x] for x in op.operands]
        try:
            write(op)
        except MlcError as error:
            if found := [x for x in source_nodes(op) if x]:
                error.message = f"{', '.join(found[:2])}: {error.message}"
                error.args = (error.message,)
            raise
    raise AssertionError("a block without an end")
