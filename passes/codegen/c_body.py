"""The C function that every thread of the team runs: phases of launches, loops and branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import rt
from mlc.dialects.dims import parse_dim
from mlc.dialects.graph.sizes import ROOM
from mlc.dialects.types import bytes_of, elements_in
from mlc.passes.codegen.c_dims import c_dim
from mlc.passes.codegen.c_routine import c_string, routine_call


def declare(dims: Sequence[str], type_: str, source: str) -> list[str]:
    """Variables of the symbolic dimensions."""
    return [f"  const {type_} {d} = {source}[{n}]; (void){d};" for n, d in enumerate(dims)]


def buffers_of(program: rt.ProgramOp) -> list[rt.BufferOp]:
    return [o for o in rt.walk(program.body.block) if isinstance(o, rt.BufferOp)]


def decisions_of(program: rt.ProgramOp) -> list[str]:
    """The loops and branches that ``rt.decide`` decides on."""
    return list(dict.fromkeys(o.symbol.data for o in rt.walk(program.body.block) if isinstance(o, rt.DecideOp)))


def print_body(
    program: rt.ProgramOp, dims: Sequence[str], symbols: Mapping[str, str], kernel_dims: Mapping[str, Sequence[str]]
) -> str:
    """``body``. ``symbols`` maps kernels to C functions, ``kernel_dims`` to the symbolic dimensions they take."""
    buffers = buffers_of(program)
    lines = ["static void body(mlc_call *c) {", *declare(dims, "int64_t", "c->dim")]
    if any(b.offset is None for b in buffers):
        lines += [f"  int64_t offset[{len(buffers)}];", "  place(c->dim, offset);"]
    numbers: dict[SSAValue, int] = {b.result: n for n, b in enumerate(buffers)}
    fails = any(isinstance(o, rt.SizeOp) for o in rt.walk(program.body.block))
    body = _Body(symbols, kernel_dims, numbers, list(program.bound_of), decisions_of(program), fails)
    body.block(program.body.block, "  ")
    return "\n".join([*lines, *body.lines, "  (void)c;", "}"])


@dataclass
class _Body:
    symbols: Mapping[str, str]
    kernel_dims: Mapping[str, Sequence[str]]
    buffers: Mapping[SSAValue, int]
    sizes: Sequence[str]
    decisions: Sequence[str]
    fails: bool  # a size may be none, which ends the run
    lines: list[str] = field(default_factory=list)
    places: dict[SSAValue, str] = field(default_factory=dict)
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
                self.places[op.results[0]] = self._place(op)
        self._phase(phase, indent)

    def _phase(self, ops: Sequence[Operation], indent: str) -> None:
        """A thread takes parts while there are any, and waits for the others'. The last launch has the wait's time."""
        if not ops:
            return
        before = self.launches
        steps = [step for op in ops for step in self._step(op)]
        if self.fails:  # what was measured wrong leaves no place to work on; decisions say that there is no more to do
            first = [step for op in ops if isinstance(op, rt.DecideOp) for step in self._step(op)]
            steps = [*first, "if (mlc_failed(c)) continue;", *(step for step in steps if step not in first)]
        self.lines.append(f"{indent}for (int part; (part = mlc_claim(c)) >= 0;) {{")
        self.lines += [*(f"{indent}  {step}" for step in steps), f"{indent}}}", f"{indent}mlc_join(c);"]
        if self.launches > before:
            self.lines.append(f"{indent}mlc_mark(c, {self.launches - 1});")
        for op in ops:
            if isinstance(op, rt.PositionsOp | rt.SizeOp):
                self._size(op.symbol.data, f"mlc_size(c, {self.sizes.index(op.symbol.data)})", indent)

    def _size(self, name: str, value: str, indent: str) -> None:
        self.lines.append(f"{indent}const int64_t {name} = {value}; (void){name};")

    def _step(self, op: Operation) -> list[str]:
        match op:
            case rt.LaunchOp():
                name = op.callee.root_reference.data
                args = ", ".join(self.places[a] for a in op.args)
                values = ", ".join(self.kernel_dims[name]) or "0"
                self.launches += 1
                call = f"{self.symbols[name]}((void *[]){{{args}}}, (int64_t[]){{{values}}}, part, c->parts);"
                return [call, f"mlc_mark(c, {self.launches - 1});"]
            case rt.CopyOp():
                size = c_dim(bytes_of(op.target))
                return [f"if (part == 0) memcpy({self.places[op.target]}, {self.places[op.source]}, (size_t){size});"]
            case rt.PositionsOp():
                places = f"{self.places[op.mask]}, {c_dim(elements_in(op.mask))}, {self.places[op.where]}"
                number = self.sizes.index(op.symbol.data)
                return [f"if (part == 0) mlc_positions(c, {number}, {places}, {self.places[op.size]});"]
            case rt.SizeOp():
                number, grows = self.sizes.index(op.symbol.data), int(bool(ROOM.fullmatch(op.most.data)))
                value = f"{self.places[op.value]}, {c_dim(parse_dim(op.most.data))}, {self.places[op.size]}"
                return [f"if (part == 0) mlc_measure(c, {number}, {value}, {grows}, {c_string(op.why.data)});"]
            case rt.RoutineOp():
                return [f"if (part == 0) {routine_call(op, [self.places[a] for a in op.args])}"]
        assert isinstance(op, rt.DecideOp)
        return [f"if (part == 0) {{ {self._decide(op)} }}"]

    def _decide(self, op: rt.DecideOp) -> str:
        """Behind the first decision the loop begins: that phase is its run, by which late threads know it."""
        turn, number = c_dim(parse_dim(op.next.data)), self.decisions.index(op.symbol.data)
        run = "c->phase + 1" if turn == "0" else f"at_{op.symbol.data}.run"
        goes_on = [f"{turn} < *(const int64_t *){self.places[op.limit]}"] if op.limit is not None else []
        goes_on += [f"*(const uint8_t *){self.places[op.active]}"] if op.active is not None else []
        most = [] if op.most is None else [f"{turn} < {c_dim(parse_dim(op.most.data))}"]
        goes_on += ["!mlc_failed(c)"] if self.fails else []
        steps = f"mlc_decide(c, {number}, {run}, {turn}, {' && '.join([*most, *goes_on]) or '1'});"
        if op.strict is not None and most:
            too_many = " && ".join([f"!({most[0]})", *goes_on])
            steps += f' if ({too_many}) mlc_stop(c, "{op.strict.data}");'
        return steps + (f" *(int64_t *){self.places[op.told]} = {turn};" if op.told is not None else "")

    def _loop(self, op: rt.LoopOp, indent: str) -> None:
        step, inner = op.step.data, indent + "  "
        if op.trips is not None:
            turns = c_dim(parse_dim(op.trips.data))
            self.lines.append(f"{indent}for (int64_t {step} = 0; {step} < {turns}; {step}++) {{")
        else:
            turns, number = f"at_{step}.step", self.decisions.index(step)
            self.lines.append(f"{indent}mlc_loop at_{step} = {{c->phase, 0}};")
            self.lines.append(f"{indent}while (mlc_turn(c, {number}, &at_{step})) {{")
            self._size(step, turns, inner)
        count = len(op.even)
        for n, (old, new) in enumerate(zip(op.body.block.args[:count], op.body.block.args[count:], strict=True)):
            even, odd = self.places[op.even[n]], self.places[op.odd[n]]
            self._state(old, f"mlc_state({step}, {self.places[op.first[n]]}, {even}, {odd})", inner)
            self._state(new, f"mlc_state({step} + 1, 0, {even}, {odd})", inner)
        self.block(op.body.block, inner)
        self.lines.append(f"{indent}}}")
        for n, result in enumerate(op.res):
            places = f"{self.places[op.first[n]]}, {self.places[op.even[n]]}, {self.places[op.odd[n]]}"
            self._state(result, f"mlc_state({turns}, {places})", indent)
        decision = op.prev_op
        while isinstance(decision, rt.BarrierOp):
            decision = decision.prev_op
        if isinstance(decision, rt.DecideOp) and decision.size is not None:
            self._size(decision.size.data, turns, indent)

    def _state(self, value: SSAValue, place: str, indent: str) -> None:
        name = self.places[value] = f"state{self.states}"
        self.states += 1
        self.lines.append(f"{indent}void *const {name} = {place}; (void){name};")

    def _if(self, op: rt.IfOp, indent: str) -> None:
        name = op.symbol.data
        self.lines.append(f"{indent}const int {name} = mlc_branch(c, {self.decisions.index(name)});")
        self.lines.append(f"{indent}if ({name} > 0) {{")
        self.block(op.then.block, indent + "  ")
        self.lines.append(f"{indent}}} else if ({name} == 0) {{")
        self.block(op.otherwise.block, indent + "  ")
        self.lines.append(f"{indent}}}")

    def _place(self, op: Operation) -> str:
        match op:
            case rt.InputOp():
                return f"(void *)c->in[{op.index.value.data}]"
            case rt.OutputOp():
                return f"c->out[{op.index.value.data}]"
            case rt.WeightOp():
                return f"(void *)(c->weights + {op.offset.value.data if op.offset is not None else 0})"
            case rt.RunNumberOp():
                return "(void *)&c->number"
            case rt.ViewOp():
                start = "" if op.start == 0 else f" + {c_dim(op.start)}"
                return f"((char *){self.places[op.source]}{start})" if start else self.places[op.source]
        assert isinstance(op, rt.BufferOp)
        if op.offset is not None:
            return f"(void *)(c->arena + {op.offset.value.data})"
        return f"(void *)(c->arena + offset[{self.buffers[op.result]}])"
