"""Verifier of the kernel level (``verify-kernel``): a main function on tensors calls kernels on buffers.

The main function contains kernel calls, weights and zero-copy views (contiguous reshapes, slices and concatenations). A
kernel contains statements in destination-passing style and, once it is tiled, their tiles. Its parameters match the
operands and results of its calls: first inputs, then results, as buffers of the tensors' shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel, poly
from mlc.dialects.graph import ConcatOp, SliceOp
from mlc.dialects.semantics.dims import symbols_of
from mlc.dialects.types import Shape, element_of, shape_of
from mlc.passes.fuse.grouping.views import part_offsets, slice_offset
from mlc.passes.legality import SCALARS, TENSORS, Level, calls
from mlc.passes.rewriter import bodies

_STEPS = (
    "graph.weight graph.constant graph.reshape graph.bitcast graph.slice graph.concat graph.nonzero graph.size "
    "graph.run_counter graph.routine graph.loop graph.if comm.* kernel.call"
)
MAIN = {
    "func.func": f"{_STEPS} func.return",
    "graph.loop": f"{_STEPS} graph.yield",
    "graph.if": f"{_STEPS} graph.yield",
}
"""The operations that the main function may contain from fusion to the host program."""
LEVEL = Level(
    "kernel",
    {
        "builtin.module": "func.func kernel.func",
        **MAIN,
        "kernel.func": "kernel.local kernel.library_call poly.statement poly.tile kernel.return",
        "poly.statement": f"{SCALARS} poly.yield",
    },
    TENSORS,
    frozenset({"kernel.call"}),
)


@dataclass(frozen=True)
class VerifyKernel(ModulePass):
    """Raise IllegalIR if the module breaks a rule of the kernel level; change nothing."""

    name = "verify-kernel"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        LEVEL.verify(op)
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            _verify_names(fn)
        _verify_calls(op)
        _verify_views(op)


def _verify_names(fn: kernel.FuncOp) -> None:
    """Check that no iterator has the name of a symbolic dimension: isl's syntax has one name space for both."""
    dims = symbols_of(d for a in fn.block.args for d in shape_of(a))
    for op in [o for o in fn.block.ops if isinstance(o, poly.StatementOp)]:
        if both := dims & {iterator for iterator, _ in op.domain.data}:
            raise LEVEL.error(op, f"'{min(both)}' names both an iterator and a dimension")


def _verify_calls(module: ModuleOp) -> None:
    """Check that each kernel.call names a kernel whose parameters have the types of the call's operands and results."""
    taken = {o.sym_name.data: _tensors(o.block.args) for o in module.ops if isinstance(o, kernel.FuncOp)}
    for call, callee in calls(module, "kernel.call"):
        given = _tensors((*call.operands, *call.results))
        if callee not in taken:
            raise LEVEL.error(call, f"there is no kernel @{callee}")
        if taken[callee] != given:
            raise LEVEL.error(call, f"kernel @{callee} takes {_list(taken[callee])}, not {_list(given)}")


def _verify_views(module: ModuleOp) -> None:
    for op in [o for block in bodies(module) for o in block.ops]:
        strided = isinstance(op, SliceOp) and slice_offset(op) is None
        if strided or (isinstance(op, ConcatOp) and part_offsets(op) is None):
            raise LEVEL.error(op, "it is not contiguous, so a kernel must compute it")


def _tensors(values: Sequence[SSAValue]) -> list[tuple[str, Shape]]:
    return [(element_of(v), shape_of(v)) for v in values]


def _list(tensors: list[tuple[str, Shape]]) -> str:
    return ", ".join("x".join([*map(str, shape), element]) for element, shape in tensors)
