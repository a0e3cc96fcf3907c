"""Annotation of launches (``annotate-launches``): each launch gets its kernel's dimensions, operations and bytes.

    rt.launch @k(%x, %y)   →   rt.launch @k(%x, %y) {bytes = "8*batch", dims = ["batch"], flops = "batch"}

``flops`` and ``bytes`` count all iterations of the loops around the launch, at the upper bounds of run-time dimensions.
``iterations`` is the number of these iterations, if there are loops. A launch is ``serial`` if a second thread would
have nothing to do, and ``resident`` if the buffers that it accesses stay in L2 from one iteration to the next. Code
generation only reads the attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel, rt
from mlc.dialects.graph.sizes import upper
from mlc.dialects.semantics.dims import DimLike
from mlc.passes.context import machine_of
from mlc.passes.plan.program.iterations import iterations_of
from mlc.target import Target


@dataclass(frozen=True)
class AnnotateLaunches(ModulePass):
    name = "annotate-launches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {o.sym_name.data: o for o in op.ops if isinstance(o, kernel.FuncOp)}
        for program in [o for o in op.ops if isinstance(o, rt.ProgramOp)]:
            bounds = program.bound_of
            for launch in [o for o in rt.walk(program.body.block) if isinstance(o, rt.LaunchOp)]:
                callee = functions[launch.callee.root_reference.data]
                launch.properties |= _facts(launch, callee, bounds) | _kinds(launch, callee, machine_of(ctx))


def _facts(launch: rt.LaunchOp, callee: kernel.FuncOp, bounds: Mapping[str, DimLike]) -> dict[str, Attribute]:
    iterations = iterations_of(launch)
    facts: dict[str, Attribute] = {}
    if callee.symbols:
        facts["dims"] = ArrayAttr(StringAttr(name) for name in callee.symbols)
    if iterations != 1:
        facts["iterations"] = StringAttr(str(upper(iterations, bounds)))
    for key, count in (("flops", callee.work.flops), ("bytes", callee.work.bytes)):
        if count is not None:
            facts[key] = StringAttr(str(upper(count * iterations, bounds)))
    return facts


def _kinds(launch: rt.LaunchOp, callee: kernel.FuncOp, target: Target) -> dict[str, Attribute]:
    """Return whether one thread of a CPU runs the launch (``serial``), and whether its buffers stay in L2
    (``resident``)."""
    kinds: dict[str, Attribute] = {}
    if target.thread_blocks:
        return kinds
    if is_serial(callee):
        kinds["serial"] = UnitAttr()
    moved = callee.work.bytes
    if iterations_of(launch) != 1 and isinstance(moved, int) and moved <= target.resident_bytes:
        kinds["resident"] = UnitAttr()
    return kinds


def is_serial(callee: kernel.FuncOp) -> bool:
    """Return whether no parallel loop of a kernel has several iterations. A runtime library function divides its own
    work."""
    loops = [o for o in callee.walk() if isinstance(o, scf.ParallelOp)]
    if callee.serial is not None:
        return True
    return bool(loops) and all(_trip_count(b) == 1 for o in loops for b in zip(o.lowerBound, o.upperBound, strict=True))


def _trip_count(bounds: tuple[SSAValue, SSAValue]) -> int | None:
    constants = [v.owner.value for v in bounds if isinstance(v.owner, arith.ConstantOp)]
    numbers = [c.value.data for c in constants if isinstance(c, IntegerAttr)]
    return numbers[1] - numbers[0] if len(numbers) == 2 else None
