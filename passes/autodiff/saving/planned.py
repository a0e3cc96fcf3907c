"""The arena that a module would get: the passes from fusion to the memory plan, on a copy."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from mlc.dialects import rt
from mlc.dialects.semantics.dims import parse_dim, symbols_of
from mlc.passes.fuse.delay_updates import DelayUpdates
from mlc.passes.fuse.form_kernels import FormKernels
from mlc.passes.plan.build_program import BuildProgram
from mlc.passes.plan.plan_memory import PlanMemory
from mlc.passes.plan.program.arena import arena_bytes, buffers_of


def planned_arena(ctx: Context, module: ModuleOp) -> int | None:
    """The arena in bytes; None where it depends on symbolic dimensions."""
    copy = module.clone()
    for each in (FormKernels(), DelayUpdates(), BuildProgram(), PlanMemory()):
        each.apply(ctx, copy)
    programs = [op for op in copy.ops if isinstance(op, rt.ProgramOp)]
    if any(symbols_of([parse_dim(buffer.bytes.data)]) for program in programs for buffer in buffers_of(program)):
        return None
    return max((arena_bytes(program, {}) for program in programs), default=0)
