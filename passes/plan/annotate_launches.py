"""Annotation of launches (``annotate-launches``): each launch gets its kernel's dimensions, operations and bytes.

    rt.launch @k(%x, %y)   →   rt.launch @k(%x, %y) {bytes = "8*batch", dims = ["batch"], flops = "batch"}

``flops`` and ``bytes`` count all iterations of the loops around the launch, at the upper bounds of run-time dimensions.
``iterations`` is the number of these iterations, where there are loops. Code generation only reads the attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from mlc.dialects import kernel, rt
from mlc.dialects.graph.sizes import upper
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.passes.assumed_extents import PLANNED
from mlc.passes.kernel.count_work import BYTES, FLOPS


@dataclass(frozen=True)
class AnnotateLaunches(ModulePass):
    name = "annotate-launches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {o.sym_name.data: o for o in op.ops if isinstance(o, kernel.FuncOp)}
        for program in [o for o in op.ops if isinstance(o, rt.ProgramOp)]:
            bounds = program.bound_of
            for launch in [o for o in rt.walk(program.body.block) if isinstance(o, rt.LaunchOp)]:
                launch.properties |= _facts(launch, functions[launch.callee.root_reference.data], bounds)


def _facts(launch: rt.LaunchOp, callee: kernel.FuncOp, bounds: Mapping[str, DimLike]) -> dict[str, Attribute]:
    iterations = iterations_of(launch)
    facts: dict[str, Attribute] = {}
    if callee.symbols:
        facts["dims"] = ArrayAttr(StringAttr(name) for name in callee.symbols)
    if iterations != 1:
        facts["iterations"] = StringAttr(str(upper(iterations, bounds)))
    for key, name in (("flops", FLOPS), ("bytes", BYTES)):
        if isinstance(count := callee.attributes.get(name), StringAttr):
            facts[key] = StringAttr(str(upper(parse_dim(count.data) * iterations, bounds)))
    return facts


def iterations_of(op: Operation) -> DimLike:
    """The number of iterations in which an operation of the host program runs; a data-dependent loop counts as
    PLANNED."""
    iterations: DimLike = 1
    while (outer := op.parent_op()) is not None:
        if isinstance(outer, rt.LoopOp):
            iterations = iterations * (PLANNED if outer.trips is None else parse_dim(outer.trips.data))
        op = outer
    return iterations
