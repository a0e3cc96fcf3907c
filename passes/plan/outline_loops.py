"""Outlining of small loops (``outline-loops``): a loop of the host program whose iterations are small is one kernel.

    %r = rt.loop "step0" to "1000"(%x) (%ping) (%pong) {     kernel.func @loop_0(%x, %out) {
    ^bb0(%old, %new):                                          kernel.copy %x, %old
      rt.launch @map_1(%old, %new)                       →     kernel.repeat "step0" to "1000" {
    }                                                            <the body of @map_1>
                                                                 kernel.copy %new, %old }
                                                               kernel.copy %old, %out }
                                                             rt.launch @loop_0(%x, %ping)

A launch and its barrier take some ten nanoseconds, as long as a hundred operations, and what it computes goes through
memory. An iteration is small if one thread runs each of its launches before a team would have passed a barrier, and its
tensors fit in half of L1. The loops inside become loops of the kernel. Where a loop stays in the host program, the
loops in its body are tried; it says why it stays (``apart``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel, rt
from mlc.dialects.graph import LoopOp, source_nodes, with_nodes
from mlc.dialects.semantics.dims import DimLike
from mlc.passes.context import cpu_facts, machine_of
from mlc.passes.plan.program.sequence import Kernels, Sequence, arguments_of, condition_of, local_bytes
from mlc.target import CpuTarget

OPERATIONS = 3000  # of the kernels in a loop: what the C compiler is given
MEMORY = rt.BufferOp | rt.ViewOp | rt.WeightOp | rt.RunCounterOp
STEPS = rt.LaunchOp | rt.CopyOp | rt.LoopConditionOp | rt.LoopOp | rt.IfOp | rt.BarrierOp


@dataclass(frozen=True)
class OutlineLoops(ModulePass):
    name = "outline-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {o.sym_name.data: o for o in op.ops if isinstance(o, kernel.FuncOp)}
        programs = [o for o in op.ops if isinstance(o, rt.ProgramOp)]
        for program in programs:
            _Outlining(functions, cpu_facts(machine_of(ctx)), op).run(program.body.block)
        called = {o.callee for p in programs for o in rt.walk(p.body.block) if isinstance(o, rt.LaunchOp)}
        names = {each.root_reference.data for each in called}
        for name, fn in functions.items():
            if name not in names:
                Rewriter.erase_op(fn)


@dataclass(frozen=True)
class _Outlining:
    functions: Kernels
    target: CpuTarget
    module: ModuleOp

    def run(self, block: Block) -> None:
        for op in list(block.ops):
            if isinstance(op, rt.LoopOp):
                if (why := self.why_apart(op)) is None:
                    self._outline(op)
                    continue
                op.apart = StringAttr(why)
            if isinstance(op, rt.NESTS):
                for region in op.regions:
                    self.run(region.block)

    def _outline(self, op: rt.LoopOp) -> None:
        name = f"loop_{op.step.data.removeprefix('step')}"
        fn, launch = Sequence(op, self.functions).build(name)
        self.module.body.block.add_op(fn)
        condition = condition_of(op)
        block = op.parent
        assert block is not None
        block.insert_op_before(with_nodes(launch, source_nodes(op)), op)
        for result, buffer in zip(op.res, op.ping, strict=True):
            result.replace_all_uses_with(buffer)
        Rewriter.erase_op(op)
        if condition is not None:
            Rewriter.erase_op(condition)

    def why_apart(self, op: rt.LoopOp) -> str | None:
        """Return why a loop stays in the host program; None if it becomes a kernel."""
        return next(self._reasons(op), None)

    def _reasons(self, op: rt.LoopOp) -> Iterator[str]:
        condition = condition_of(op)
        for each in [op, *([condition] if condition else []), *rt.walk(op.body.block)]:
            yield from self._reasons_of_step(each)
        sizes = local_bytes(op)
        if any(not isinstance(size, int) for size in sizes):
            yield "an iteration computes a tensor of open extents"
        room = self.target.l1.size // 2
        if (total := sum(size for size in sizes if isinstance(size, int))) > room:
            yield f"its tensors take {total:,} bytes, of which {room:,} are small"
        launched = [self._callee(o) for o in rt.walk(op.body.block) if isinstance(o, rt.LaunchOp)]
        if (count := sum(1 for fn in launched for _ in fn.walk())) > OPERATIONS:
            yield f"its kernels are {count:,} operations of code, more than {OPERATIONS:,}"
        read, written = arguments_of(op)
        roots = [rt.root(v) for v in (*read, *written) if not isinstance(v.owner, rt.WeightOp)]
        if len(set(roots)) < len(roots):
            yield "it reads an argument whose memory a result takes over"

    def _callee(self, launch: rt.LaunchOp) -> kernel.FuncOp:
        return self.functions[launch.callee.root_reference.data]

    def _reasons_of_step(self, op: Operation) -> Iterator[str]:
        if not isinstance(op, MEMORY | STEPS):
            yield f"an iteration has a step of its own, {op.name}"
        if isinstance(op, rt.LoopConditionOp) and op.size is not None:
            yield "it collects tensors, and data decide on the number of its iterations"
        if isinstance(op, rt.LoopOp):
            carried: list[DimLike] = local_bytes(op)[: 2 * len(op.ping)]
            room = self.target.l1.size // 16  # they are copied once an iteration
            if (total := sum(n for n in carried if isinstance(n, int)) // 2) > room:
                yield f"it carries {total:,} bytes from one iteration to the next, more than {room:,}"
        if isinstance(op, rt.LaunchOp):
            yield from reasons_of_kernel(self._callee(op), self.target)


def reasons_of_kernel(fn: kernel.FuncOp, target: CpuTarget) -> Iterator[str]:
    """Yield why an iteration that launches a kernel is not small."""
    name, work, rates = fn.sym_name.data, fn.work, target.rates
    operations, moved = int(rates.barrier * rates.clock * target.issue_width), target.l1.size // 2
    if not isinstance(work.flops, int) or not isinstance(work.bytes, int):
        yield f"kernel @{name} has open extents"
        return
    if work.flops > operations:
        yield f"kernel @{name} has {work.flops:,} operations, of which {operations:,} are small"
    if work.bytes > moved:
        yield f"kernel @{name} moves {work.bytes:,} bytes, of which {moved:,} are small"
    if fn.scratch != kernel.Scratch():
        yield f"kernel @{name} has scratch arrays"


def small_in_loops(module: ModuleOp, target: CpuTarget) -> set[str]:
    """Return the kernels whose bodies may become parts of loops, by name, before ``build-program``."""
    loops = [o for o in module.walk() if isinstance(o, LoopOp)]
    called = {o.callee.root_reference.data for loop in loops for o in loop.walk() if isinstance(o, kernel.CallOp)}
    functions = [o for o in module.ops if isinstance(o, kernel.FuncOp)]
    return {fn.sym_name.data for fn in functions
            if fn.sym_name.data in called and not any(reasons_of_kernel(fn, target))}  # fmt: skip
