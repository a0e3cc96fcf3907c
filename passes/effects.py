"""What passes below the graph ask of the effects that operations declare: what is dead, and what is written."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import MemoryEffectKind, get_effects
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from mlc.dialects import kernel

WRITE = MemoryEffectKind.WRITE


def erase_dead(ops: Iterable[Operation]) -> None:
    """Erase the dead operations of ``ops``, by xDSL's rule: they have no reader, and no effect but to read or allocate.
    ``ops`` are in the order of the text, so that readers are erased before what they read."""
    for op in reversed([*ops]):
        if is_trivially_dead(op):
            Rewriter.erase_op(op)


def written_by(op: Operation) -> set[SSAValue]:
    """Return the buffers that an operation of a kernel writes, whole ones in place of their subviews."""
    if op.regions:
        return set()
    effects = get_effects(op) or ()
    return {kernel.root_of(e.value) for e in effects if e.kind is WRITE and isinstance(e.value, SSAValue)}
