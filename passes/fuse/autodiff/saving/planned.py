"""Planned arena: the arena that a module would get, computed by running the passes from fusion to memory planning on a
copy."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from mlc.dialects import kernel, rt
from mlc.dialects.semantics.dims import parse_dim, symbols_of
from mlc.passes.fuse.deduplicate_kernels import DeduplicateKernels
from mlc.passes.fuse.delay_updates import DelayUpdates
from mlc.passes.fuse.form_kernels import FormKernels
from mlc.passes.fuse.grouping.aliases import pairs_of_aliases
from mlc.passes.kernel.lower_kernels import LowerKernels
from mlc.passes.plan.build_program import BuildProgram
from mlc.passes.plan.plan_memory import PlanMemory
from mlc.passes.plan.program.arena import arena_bytes, buffers_of
from mlc.passes.schedule.prove_in_place import proved


def planned_arena(ctx: Context, module: ModuleOp) -> int | None:
    """Return the bytes of the arena; None if they depend on symbolic dimensions."""
    copy = module.clone()
    for each in (FormKernels(), DeduplicateKernels(), DelayUpdates()):
        each.apply(ctx, copy)
    _prove_updates(ctx, copy)
    for last in (BuildProgram(), PlanMemory()):
        last.apply(ctx, copy)
    programs = [op for op in copy.ops if isinstance(op, rt.ProgramOp)]
    if any(symbols_of([parse_dim(buffer.bytes.data)]) for program in programs for buffer in buffers_of(program)):
        return None
    return max((arena_bytes(program, {}) for program in programs), default=0)


def _prove_updates(ctx: Context, module: ModuleOp) -> None:
    """Run ``prove-in-place`` for the kernels that replace arguments, and record its result on them; only these are
    lowered, in copies."""
    asked = pairs_of_aliases(module)
    functions = [op for op in module.ops if isinstance(op, kernel.FuncOp) and asked.get(op.sym_name.data)]
    copies = ModuleOp([each.clone() for each in functions])
    LowerKernels().apply(ctx, copies)
    for function, copy in zip(functions, copies.ops, strict=True):
        assert isinstance(copy, kernel.FuncOp)
        if found := proved(copy, asked[function.sym_name.data]):
            function.in_place = found
