"""Lowering of collectives to the host program, for ``build-program``: a start and, at once, its wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlc.dialects import rt
from mlc.dialects.comm import CommOp
from mlc.dialects.graph import source_nodes, with_nodes
from mlc.errors import MlcError
from mlc.passes.context import machine_of

if TYPE_CHECKING:
    from mlc.passes.plan.build_program import Builder


def build_collective(builder: Builder, op: CommOp) -> None:
    """Add both steps of a collective, and record the memory of its result.

    Raises:
        MlcError: the target is a GPU.
    """
    if machine_of(builder.ctx).device_memory:
        raise MlcError("Collectives run on CPUs only", op=op.name, node=", ".join(source_nodes(op)) or None,
                       hint="Compile for a CPU")  # fmt: skip
    source = builder.memory[op.operands[0]] if op.operands else None
    target = builder.memory[op.results[0]] = builder.allocate(op.results[0])
    slot, builder.slots = builder.slots, builder.slots + 1
    start = rt.StartOp(op.name, slot, dict(op.properties), target, source)
    for step in (start, rt.WaitOp(slot, target, source)):
        builder.block.add_op(with_nodes(step, source_nodes(op)))
