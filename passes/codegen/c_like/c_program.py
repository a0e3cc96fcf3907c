"""The common part of the printers of host programs: buffers as C expressions, and the walk over phases, loops and
branches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import rt
from mlc.dialects.graph.sizes import ROOM
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.types import elements_in
from mlc.passes.codegen.c_like.c_collective import start_call
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_routine import routine_call
from mlc.passes.codegen.c_like.c_string import c_string
from mlc.passes.plan.program.arena import buffers_of


def declare(dims: Sequence[str], type_: str, source: str) -> list[str]:
    """Return the lines that declare variables of the symbolic dimensions."""
    return [f"  const {type_} {d} = {source}[{n}]; (void){d};" for n, d in enumerate(dims)]


def output_in(op: rt.InputOp) -> int | None:
    """Return the number of the output that is in the memory of an input; None if there is none."""
    users = (use.operation for use in op.result.uses)
    return next((o.index.value.data for o in users if isinstance(o, rt.OutputOp)), None)


def decisions_of(program: rt.ProgramOp) -> list[str]:
    """Return the loops and branches that have an ``rt.loop_condition``."""
    return list(dict.fromkeys(o.symbol.data for o in rt.walk(program.body.block) if isinstance(o, rt.LoopConditionOp)))


def buffer_numbers(program: rt.ProgramOp) -> dict[SSAValue, int]:
    """Return the number of each buffer in the array of offsets."""
    return {b.result: n for n, b in enumerate(buffers_of(program))}


def start_body(program: rt.ProgramOp, dims: Sequence[str]) -> list[str]:
    """Return the first lines of the function ``body``: the dimensions and, if they are symbolic, the buffers'
    offsets."""
    buffers = buffers_of(program)
    lines = ["static void body(mlc_call *c) {", *declare(dims, "int64_t", "c->dim")]
    if any(b.offset is None for b in buffers):
        lines += [f"  int64_t offset[{len(buffers)}];", "  place(c->dim, offset, 0);"]
    return lines


@dataclass
class HostProgram(ABC):
    """A printer of the body of a host program. ``symbols`` maps kernels to C functions; ``sizes`` are run-time
    dimensions."""

    symbols: Mapping[str, str]
    buffers: Mapping[SSAValue, int]
    sizes: Sequence[str]
    decisions: Sequence[str]
    lines: list[str] = field(default_factory=list)
    pointers: dict[SSAValue, str] = field(default_factory=dict)
    launches: int = 0
    states: int = 0
    counter = ""  # the address of the run counter
    host_arena = ""  # the memory of a device's host

    def block(self, block: Block, indent: str) -> None:
        """Print all phases of a block."""
        phase: list[Operation] = []
        for op in block.ops:
            if isinstance(op, rt.STEPS):
                phase.append(op)
            elif isinstance(op, rt.BarrierOp):
                self._phase(phase, indent)
                phase = []
            elif isinstance(op, rt.LoopOp):
                self._loop(op, indent)
            elif isinstance(op, rt.IfOp):
                self._if(op, indent)
            else:
                self.pointers[op.results[0]] = self._pointer(op)
        self._phase(phase, indent)

    @abstractmethod
    def _phase(self, ops: Sequence[Operation], indent: str) -> None:
        """Print steps that do not depend on each other."""

    def _loop(self, op: rt.LoopOp, indent: str) -> None:
        step, inner = op.step.data, indent + "  "
        if op.trips is not None:
            iterations = c_dim(parse_dim(op.trips.data))
            self.lines.append(f"{indent}for (int64_t {step} = 0; {step} < {iterations}; {step}++) {{")
        else:
            iterations = self._while(step, indent)
            self._size(step, iterations, inner)
        self._loop_arguments(op, inner)
        self.block(op.body.block, inner)
        self.lines.append(f"{indent}}}")
        self._loop_results(op, iterations, indent)

    @abstractmethod
    def _while(self, step: str, indent: str) -> str:
        """Open a loop whose iterations ``rt.loop_condition`` determines; return the number of the iteration in C."""

    def _if(self, op: rt.IfOp, indent: str) -> None:
        then, otherwise = self._choice(op.symbol.data, indent)
        self.lines.append(f"{indent}if ({then}) {{")
        self.block(op.then.block, indent + "  ")
        self.lines.append(f"{indent}}} else {otherwise}{{")
        self.block(op.otherwise.block, indent + "  ")
        self.lines.append(f"{indent}}}")

    @abstractmethod
    def _choice(self, name: str, indent: str) -> tuple[str, str]:
        """Return the C condition of the first branch, and ``if (…) `` if possibly neither branch runs."""

    @abstractmethod
    def _decide(self, op: rt.LoopConditionOp) -> str:
        """Return the statements that evaluate the condition of one iteration, or of a branch."""

    def _host_step(self, op: Operation) -> str:
        """Return the statements of a step that one thread of the host executes."""
        match op:
            case rt.NonzeroOp():
                arguments = f"{self.pointers[op.mask]}, {c_dim(elements_in(op.mask))}, {self.pointers[op.where]}"
                return f"mlc_nonzero(c, {self.sizes.index(op.symbol.data)}, {arguments}, {self.pointers[op.size]});"
            case rt.SizeOp():
                number, grows = self.sizes.index(op.symbol.data), int(bool(ROOM.fullmatch(op.most.data)))
                value = f"{self.pointers[op.value]}, {c_dim(parse_dim(op.most.data))}, {self.pointers[op.size]}"
                return f"mlc_measure(c, {number}, {value}, {grows}, {c_string(op.why.data)});"
            case rt.RoutineOp():
                return routine_call(op, [self.pointers[a] for a in op.args])
            case rt.StartOp():
                source = None if op.source is None else self.pointers[op.source]
                return start_call(op, source, self.pointers[op.target])
            case rt.WaitOp():
                return f"mlc_wait(c, {op.slot.value.data});"
        assert isinstance(op, rt.LoopConditionOp)
        return f"{{ {self._decide(op)} }}"

    def _continues(self, op: rt.LoopConditionOp) -> list[str]:
        """Return the C conditions under which data allow another iteration: the given count, and the flag of the last
        iteration."""
        iteration = c_dim(parse_dim(op.next.data))
        limit = [f"{iteration} < *(const int64_t *){self.pointers[op.limit]}"] if op.limit is not None else []
        return limit + ([f"*(const uint8_t *){self.pointers[op.active]}"] if op.active is not None else [])

    def _set_count(self, op: rt.LoopConditionOp) -> str:
        """Return the statement that writes the number of iterations, if it is a run-time dimension."""
        if op.count is None:
            return ""
        return f" *(int64_t *){self.pointers[op.count]} = {c_dim(parse_dim(op.next.data))};"

    def _size(self, name: str, value: str, indent: str) -> None:
        self.lines.append(f"{indent}const int64_t {name} = {value}; (void){name};")

    def _sizes_of(self, ops: Sequence[Operation], indent: str) -> None:
        """Print variables of the run-time dimensions that a phase has defined."""
        for op in ops:
            if isinstance(op, rt.NonzeroOp | rt.SizeOp):
                self._size(op.symbol.data, f"mlc_size(c, {self.sizes.index(op.symbol.data)})", indent)

    def _loop_arguments(self, op: rt.LoopOp, indent: str) -> None:
        """Print the buffers that an iteration reads and writes (double buffering)."""
        step, count = op.step.data, len(op.ping)
        for n, (old, new) in enumerate(zip(op.body.block.args[:count], op.body.block.args[count:], strict=True)):
            ping, pong = self.pointers[op.ping[n]], self.pointers[op.pong[n]]
            self._state(old, f"mlc_state({step}, {self.pointers[op.first[n]]}, {ping}, {pong})", indent)
            self._state(new, f"mlc_state({step} + 1, 0, {ping}, {pong})", indent)

    def _loop_results(self, op: rt.LoopOp, iterations: str, indent: str) -> None:
        """Print the buffers of a loop's results, and the run-time dimension that is the number of its iterations."""
        for n, result in enumerate(op.res):
            buffers = f"{self.pointers[op.first[n]]}, {self.pointers[op.ping[n]]}, {self.pointers[op.pong[n]]}"
            self._state(result, f"mlc_state({iterations}, {buffers})", indent)
        decisions = (o for o in op.body.block.ops if isinstance(o, rt.LoopConditionOp) and o.symbol == op.step)
        for size in dict.fromkeys(o.size.data for o in decisions if o.size is not None):
            self._size(size, iterations, indent)

    def _state(self, value: SSAValue, pointer: str, indent: str) -> None:
        name = self.pointers[value] = f"state{self.states}"
        self.states += 1
        self.lines.append(f"{indent}void *const {name} = {pointer}; (void){name};")

    def _pointer(self, op: Operation) -> str:
        match op:
            case rt.InputOp():
                output = output_in(op)
                return f"c->out[{output}]" if output is not None else f"(void *)c->in[{op.index.value.data}]"
            case rt.OutputOp():
                return f"c->out[{op.index.value.data}]"
            case rt.StateOp():
                return f"(void *)(c->state + {op.offset.value.data if op.offset is not None else 0})"
            case rt.UpdateOp():
                return self.pointers[op.source]
            case rt.WeightOp():
                return f"(void *)(c->weights + {op.offset.value.data if op.offset is not None else 0})"
            case rt.RunCounterOp():
                return self.counter
            case rt.ViewOp():
                start = "" if op.start == 0 else f" + {c_dim(op.start)}"
                return f"((char *){self.pointers[op.source]}{start})" if start else self.pointers[op.source]
        assert isinstance(op, rt.BufferOp)
        start = str(op.offset.value.data) if op.offset is not None else f"offset[{self.buffers[op.result]}]"
        return f"(void *)({self.host_arena if rt.on_host(op.result) else 'c->arena'} + {start})"
