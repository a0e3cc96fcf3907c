"""The C function that every thread of the team runs: phases of launches, loops and branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import rt
from mlc.dialects.graph.sizes import ROOM
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.types import bytes_of, elements_in
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_routine import c_string, routine_call
from mlc.passes.plan.program.arena import buffers_of


def declare(dims: Sequence[str], type_: str, source: str) -> list[str]:
    """Variables of the symbolic dimensions."""
    return [f"  const {type_} {d} = {source}[{n}]; (void){d};" for n, d in enumerate(dims)]


def output_in(op: rt.InputOp) -> int | None:
    """The number of the output that is the memory of an input, if there is one."""
    users = (use.operation for use in op.result.uses)
    return next((o.index.value.data for o in users if isinstance(o, rt.OutputOp)), None)


def decisions_of(program: rt.ProgramOp) -> list[str]:
    """The loops and branches with an ``rt.loop_condition``."""
    return list(dict.fromkeys(o.symbol.data for o in rt.walk(program.body.block) if isinstance(o, rt.LoopConditionOp)))


def print_body(program: rt.ProgramOp, dims: Sequence[str], symbols: Mapping[str, str]) -> str:
    """``body``. ``symbols`` maps kernels to C functions."""
    buffers = buffers_of(program)
    lines = ["static void body(mlc_call *c) {", *declare(dims, "int64_t", "c->dim")]
    if any(b.offset is None for b in buffers):
        lines += [f"  int64_t offset[{len(buffers)}];", "  place(c->dim, offset);"]
    numbers: dict[SSAValue, int] = {b.result: n for n, b in enumerate(buffers)}
    fails = any(isinstance(o, rt.SizeOp) for o in rt.walk(program.body.block))
    body = _Body(symbols, numbers, list(program.bound_of), decisions_of(program), fails)
    body.block(program.body.block, "  ")
    return "\n".join([*lines, *body.lines, "  (void)c;", "}"])


@dataclass
class _Body:
    symbols: Mapping[str, str]
    buffers: Mapping[SSAValue, int]
    sizes: Sequence[str]
    decisions: Sequence[str]
    fails: bool  # a run-time dimension may be out of bounds, which ends the run
    lines: list[str] = field(default_factory=list)
    pointers: dict[SSAValue, str] = field(default_factory=dict)
    launches: int = 0
    states: int = 0

    def block(self, block: Block, indent: str) -> None:
        """All phases of a block."""
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

    def _phase(self, ops: Sequence[Operation], indent: str) -> None:
        """A thread claims parts until none is left, then waits for the other threads; the last launch includes the
        wait."""
        if not ops:
            return
        before = self.launches
        steps = [step for op in ops for step in self._step(op)]
        if self.fails:  # after a failure, buffers have no valid size: only loop conditions are evaluated, to end loops
            first = [step for op in ops if isinstance(op, rt.LoopConditionOp) for step in self._step(op)]
            steps = [*first, "if (mlc_failed(c)) continue;", *(step for step in steps if step not in first)]
        self.lines.append(f"{indent}for (int part; (part = mlc_claim(c)) >= 0;) {{")
        self.lines += [*(f"{indent}  {step}" for step in steps), f"{indent}}}", f"{indent}mlc_join(c);"]
        if self.launches > before:
            self.lines.append(f"{indent}mlc_mark(c, {self.launches - 1});")
        for op in ops:
            if isinstance(op, rt.NonzeroOp | rt.SizeOp):
                self._size(op.symbol.data, f"mlc_size(c, {self.sizes.index(op.symbol.data)})", indent)

    def _size(self, name: str, value: str, indent: str) -> None:
        self.lines.append(f"{indent}const int64_t {name} = {value}; (void){name};")

    def _step(self, op: Operation) -> list[str]:
        match op:
            case rt.LaunchOp():
                name = op.callee.root_reference.data
                args = ", ".join(self.pointers[a] for a in op.args)
                values = ", ".join(dim.data for dim in op.dims or ()) or "0"
                self.launches += 1
                call = f"{self.symbols[name]}((void *[]){{{args}}}, (int64_t[]){{{values}}}, part, c->parts);"
                return [call, f"mlc_mark(c, {self.launches - 1});"]
            case rt.CopyOp():
                target, source = self.pointers[op.target], self.pointers[op.source]
                return [f"if (part == 0) memcpy({target}, {source}, (size_t){c_dim(bytes_of(op.target))});"]
            case rt.NonzeroOp():
                arguments = f"{self.pointers[op.mask]}, {c_dim(elements_in(op.mask))}, {self.pointers[op.where]}"
                number = self.sizes.index(op.symbol.data)
                return [f"if (part == 0) mlc_nonzero(c, {number}, {arguments}, {self.pointers[op.size]});"]
            case rt.SizeOp():
                number, grows = self.sizes.index(op.symbol.data), int(bool(ROOM.fullmatch(op.most.data)))
                value = f"{self.pointers[op.value]}, {c_dim(parse_dim(op.most.data))}, {self.pointers[op.size]}"
                return [f"if (part == 0) mlc_measure(c, {number}, {value}, {grows}, {c_string(op.why.data)});"]
            case rt.RoutineOp():
                return [f"if (part == 0) {routine_call(op, [self.pointers[a] for a in op.args])}"]
        assert isinstance(op, rt.LoopConditionOp)
        return [f"if (part == 0) {{ {self._decide(op)} }}"]

    def _decide(self, op: rt.LoopConditionOp) -> str:
        """The condition of one iteration. A loop is identified by the phase after its first condition, also for threads
        that arrive late."""
        iteration, number = c_dim(parse_dim(op.next.data)), self.decisions.index(op.symbol.data)
        run = "c->phase + 1" if iteration == "0" else f"at_{op.symbol.data}.run"
        continues = [f"{iteration} < *(const int64_t *){self.pointers[op.limit]}"] if op.limit is not None else []
        continues += [f"*(const uint8_t *){self.pointers[op.active]}"] if op.active is not None else []
        bound = [] if op.most is None else [f"{iteration} < {c_dim(parse_dim(op.most.data))}"]
        continues += ["!mlc_failed(c)"] if self.fails else []
        steps = f"mlc_loop_condition(c, {number}, {run}, {iteration}, {' && '.join([*bound, *continues]) or '1'});"
        if op.strict is not None and bound:
            too_many = " && ".join([f"!({bound[0]})", *continues])
            steps += f' if ({too_many}) mlc_stop(c, "{op.strict.data}");'
        return steps + (f" *(int64_t *){self.pointers[op.count]} = {iteration};" if op.count is not None else "")

    def _loop(self, op: rt.LoopOp, indent: str) -> None:
        step, inner = op.step.data, indent + "  "
        if op.trips is not None:
            iterations = c_dim(parse_dim(op.trips.data))
            self.lines.append(f"{indent}for (int64_t {step} = 0; {step} < {iterations}; {step}++) {{")
        else:
            iterations, number = f"at_{step}.step", self.decisions.index(step)
            self.lines.append(f"{indent}mlc_loop at_{step} = {{c->phase, 0}};")
            self.lines.append(f"{indent}while (mlc_iteration(c, {number}, &at_{step})) {{")
            self._size(step, iterations, inner)
        count = len(op.ping)
        for n, (old, new) in enumerate(zip(op.body.block.args[:count], op.body.block.args[count:], strict=True)):
            ping, pong = self.pointers[op.ping[n]], self.pointers[op.pong[n]]
            self._state(old, f"mlc_state({step}, {self.pointers[op.first[n]]}, {ping}, {pong})", inner)
            self._state(new, f"mlc_state({step} + 1, 0, {ping}, {pong})", inner)
        self.block(op.body.block, inner)
        self.lines.append(f"{indent}}}")
        for n, result in enumerate(op.res):
            buffers = f"{self.pointers[op.first[n]]}, {self.pointers[op.ping[n]]}, {self.pointers[op.pong[n]]}"
            self._state(result, f"mlc_state({iterations}, {buffers})", indent)
        decision = op.prev_op
        while isinstance(decision, rt.BarrierOp):
            decision = decision.prev_op
        if isinstance(decision, rt.LoopConditionOp) and decision.size is not None:
            self._size(decision.size.data, iterations, indent)

    def _state(self, value: SSAValue, pointer: str, indent: str) -> None:
        name = self.pointers[value] = f"state{self.states}"
        self.states += 1
        self.lines.append(f"{indent}void *const {name} = {pointer}; (void){name};")

    def _if(self, op: rt.IfOp, indent: str) -> None:
        name = op.symbol.data
        self.lines.append(f"{indent}const int {name} = mlc_branch(c, {self.decisions.index(name)});")
        self.lines.append(f"{indent}if ({name} > 0) {{")
        self.block(op.then.block, indent + "  ")
        self.lines.append(f"{indent}}} else if ({name} == 0) {{")
        self.block(op.otherwise.block, indent + "  ")
        self.lines.append(f"{indent}}}")

    def _pointer(self, op: Operation) -> str:
        match op:
            case rt.InputOp():
                output = output_in(op)
                return f"c->out[{output}]" if output is not None else f"(void *)c->in[{op.index.value.data}]"
            case rt.OutputOp():
                return f"c->out[{op.index.value.data}]"
            case rt.WeightOp():
                return f"(void *)(c->weights + {op.offset.value.data if op.offset is not None else 0})"
            case rt.RunCounterOp():
                return "(void *)&c->number"
            case rt.ViewOp():
                start = "" if op.start == 0 else f" + {c_dim(op.start)}"
                return f"((char *){self.pointers[op.source]}{start})" if start else self.pointers[op.source]
        assert isinstance(op, rt.BufferOp)
        if op.offset is not None:
            return f"(void *)(c->arena + {op.offset.value.data})"
        return f"(void *)(c->arena + offset[{self.buffers[op.result]}])"
