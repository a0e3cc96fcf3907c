"""Verifier of the plan level (``verify-plan``): a host program launches kernels; all buffers and weights have
offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel, rt
from mlc.dialects.graph.loop import STEP, local_symbols
from mlc.dialects.graph.sizes import SIZE, sizes_of
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.types import shape_of
from mlc.passes.context import machine_of
from mlc.passes.legality import VECTORS, Level, calls
from mlc.passes.loops.verify_loops import DEVICE_KERNELS, sequences
from mlc.passes.plan.program.accessed import accesses
from mlc.passes.plan.program.arena import arena_of

MEMORY = "rt.input rt.output rt.weight rt.run_counter rt.state rt.update rt.buffer rt.view"
STEPS = "rt.launch rt.copy rt.nonzero rt.size rt.routine rt.start rt.wait rt.loop_condition rt.barrier rt.loop rt.if"
MODULE = {"builtin.module": "rt.program kernel.func", "rt.program": f"{MEMORY} {STEPS}"}
MODULE |= dict.fromkeys(("rt.loop", "rt.if"), f"{MEMORY} {STEPS}")
LEVEL, DEVICE_LEVEL = (
    Level("plan", MODULE | nested, VECTORS, frozenset({"rt.launch"})) for nested in (sequences(), DEVICE_KERNELS)
)


@dataclass(frozen=True)
class VerifyPlan(ModulePass):
    """Raise IllegalIR if the module breaks a rule of the plan level; change nothing."""

    name = "verify-plan"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        has_host = machine_of(ctx).device_memory
        (DEVICE_LEVEL if has_host else LEVEL).verify(op)
        functions = {o.sym_name.data: o for o in op.ops if isinstance(o, kernel.FuncOp)}
        named = {name: fn.symbols for name, fn in functions.items()}
        _verify_launches(op, functions, named)
        programs = [o for o in op.ops if isinstance(o, rt.ProgramOp)]
        for each in (o for program in programs for o in rt.walk(program.body.block)):
            if isinstance(each, rt.BufferOp) and each.offset is None and each.after is None:
                raise LEVEL.error(each, "it has no offset in the arena")
            if isinstance(each, rt.WeightOp) and each.offset is None:
                raise LEVEL.error(each, "it has no offset in the payload")
            if isinstance(each, rt.StateOp) and each.offset is None:
                raise LEVEL.error(each, "it has no offset in the memory of the state")
        for program in programs:
            _verify_memory_spaces(program, has_host)
            _verify_sizes(program.body.block, named, set())
            _verify_aliases(program, functions)
            if program.arena is not None and program.arena != (found := arena_of(program)):
                raise LEVEL.error(program, f"its arena is {found}")


def _verify_memory_spaces(program: rt.ProgramOp, has_host: bool) -> None:
    """Check that kernels access the target's memory and, if the target is a device, that steps of its host access the
    host's memory."""
    for op in rt.walk(program.body.block):
        if isinstance(op, rt.CopyOp | rt.BufferOp):
            continue
        wanted = has_host and isinstance(op, rt.HOST_STEPS)
        for n, value in enumerate((*op.operands, *op.results)):
            if rt.on_host(value) != wanted:
                where = ("the host's", "the device's")[wanted]
                raise LEVEL.error(op, f"buffer {n} is in {where} memory: it needs an rt.copy of it")


def _verify_aliases(program: rt.ProgramOp, functions: Mapping[str, kernel.FuncOp]) -> None:
    """Check that an input or state is replaced by at most one new value, and that no step reads the old value after the
    new one is written. One launch may read the old and write the new value if its kernel is proved to work in place
    (``prove-in-place``)."""
    news = [o for o in rt.walk(program.body.block) if isinstance(o, rt.OutputOp | rt.UpdateOp)]
    old = {o: memory for o in news if (memory := rt.replaced(o.result)) is not None}
    for op, memory in old.items():
        if not isinstance(memory.owner, rt.InputOp | rt.StateOp) or list(old.values()).count(memory) > 1:
            raise LEVEL.error(op, "the memory that it replaces is no input or state, or replaced twice")
    written: set[SSAValue] = set()
    for step in (o for o in rt.walk(program.body.block) if old and isinstance(o, rt.STEPS | rt.LoopOp)):
        reads, writes = accesses(step) if isinstance(step, rt.STEPS) else ([*step.first], [])
        new = {memory for value in writes if (memory := rt.replaced(_viewed(value))) is not None}
        late = [n for n, value in enumerate(reads) if _viewed(value) in written | new]
        proved = _proved_reads(step, functions) if isinstance(step, rt.LaunchOp) else set()
        if wrong := [n for n in late if _viewed(reads[n]) in written or n not in proved]:
            raise LEVEL.error(step, f"operand {wrong[0]} is the old value of an input or state that is overwritten")
        written |= new


def _viewed(value: SSAValue) -> SSAValue:
    """Return the value of which ``value`` is a view."""
    while isinstance(value.owner, rt.ViewOp):
        value = value.owner.source
    return value


def _proved_reads(launch: rt.LaunchOp, functions: Mapping[str, kernel.FuncOp]) -> set[int]:
    """Return the operands of a launch that its kernel reads at the location where it writes a result."""
    proved = functions[launch.callee.root_reference.data].in_place
    pairs = [(n, launch.args[n], launch.args[k]) for n, k in proved]
    return {n for n, old, new in pairs if rt.root(old) is rt.root(new) and rt.start(old) == rt.start(new)}


def _verify_sizes(block: Block, named: Mapping[str, Sequence[str]], known: set[str]) -> None:
    """Check that a step uses a run-time dimension only after its definition and a barrier, and the number of an
    iteration only in its loop; that there is a barrier before each loop and branch, and at the end of their regions."""
    known, found = set(known), set[str]()
    pending = False
    for op in block.ops:
        pending = isinstance(op, rt.STEPS) or (pending and not isinstance(op, rt.BarrierOp))
        if isinstance(op, rt.BarrierOp):
            known |= found
        if isinstance(op, rt.NonzeroOp | rt.SizeOp):
            found.add(op.symbol.data)
        if isinstance(op, rt.LoopConditionOp) and op.size is not None:
            found.add(op.size.data)
        if isinstance(op, rt.NESTS):
            if pending:
                raise LEVEL.error(op, "there is no barrier between it and the step before it")
            own = {op.step.data} if isinstance(op, rt.LoopOp) else set()
            for region in op.regions:
                _verify_sizes(region.block, named, known | own)
        if missing := _sizes_needed(op, named) - known:
            raise LEVEL.error(op, f"the run-time dimension {min(missing)} is not known here")
    if pending and not isinstance(block.parent_op(), rt.ProgramOp):
        raise LEVEL.error(block.parent_op() or op, "its region does not end with a barrier")


def _sizes_needed(op: Operation, named: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the run-time dimensions in the shapes and offsets of a step's buffers, and those that its kernel reads."""
    if isinstance(op, rt.NonzeroOp):
        return sizes_of(shape_of(op.mask))
    if isinstance(op, rt.SizeOp):
        return local_symbols([parse_dim(op.most.data)])
    touched = op.operands if isinstance(op, rt.LaunchOp | rt.CopyOp | rt.RoutineOp | rt.StartOp | rt.WaitOp) else ()
    taken = named.get(op.callee.root_reference.data, ()) if isinstance(op, rt.LaunchOp) else ()
    read = {symbol for symbol in taken if SIZE.fullmatch(symbol) or STEP.fullmatch(symbol)}
    return read.union(*(local_symbols([*shape_of(v), rt.start(v)]) for v in touched))


def _verify_launches(
    module: ModuleOp, functions: Mapping[str, kernel.FuncOp], named: Mapping[str, tuple[str, ...]]
) -> None:
    for launch, callee in calls(module, "rt.launch"):
        if callee not in functions:
            raise LEVEL.error(launch, f"there is no kernel @{callee}")
        if list(functions[callee].block.arg_types) != list(launch.operand_types):
            raise LEVEL.error(launch, f"its buffers do not match the parameters of kernel @{callee}")
        if (dims := named[callee]) != tuple(d.data for d in launch.dims or ()):  # type: ignore[attr-defined]
            raise LEVEL.error(launch, f"kernel @{callee} takes the dimensions {', '.join(dims) or 'none'}")
