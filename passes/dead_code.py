"""Dead code elimination below the graph, by xDSL's rule: what has no reader, and no effect but to read or allocate."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation
from xdsl.rewriter import Rewriter
from xdsl.transforms.dead_code_elimination import is_trivially_dead


def erase_dead(ops: Iterable[Operation]) -> None:
    """Erase those of ``ops`` that are dead. They are in the order of the text, so that readers go before what they
    read."""
    for op in reversed([*ops]):
        if is_trivially_dead(op):
            Rewriter.erase_op(op)
