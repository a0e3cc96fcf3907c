"""The C function that every thread of the team runs: phases of launches, loops and branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from mlc.dialects import rt
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.types import bytes_of
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_program import HostProgram, buffer_numbers, decisions_of, declare, start_body
from mlc.passes.plan.program.arena import buffers_of

LAUNCHES = 64
"""The launches in one function: the C compiler takes twice as long for a function of 1,000 launches as for its
parts."""


def print_body(program: rt.ProgramOp, dims: Sequence[str], symbols: Mapping[str, str]) -> str:
    """Return the C function ``body``. ``symbols`` maps kernels to C functions."""
    fails = any(isinstance(o, rt.SizeOp | rt.StartOp) for o in rt.walk(program.body.block))
    body = _Body(
        symbols, buffer_numbers(program), list(program.bound_of), decisions_of(program), dims=dims, fails=fails
    )
    body.block(program.body.block, "  ")
    functions, lines = _divided(body, program, dims) if _is_straight(program) else ([], body.lines)
    return "\n".join([*functions, *start_body(program, dims), *lines, "  (void)c;", "}"])


def _is_straight(program: rt.ProgramOp) -> bool:
    """Return whether no phase reads a variable that another phase declares."""
    return not (program.bound_of or any(isinstance(op, rt.NESTS) for op in program.body.block.ops))


def _divided(body: _Body, program: rt.ProgramOp, dims: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the groups of phases, which end before the lines ``ends``, as functions; and their calls, followed by the
    remaining lines."""
    functions: list[str] = []
    fixed = all(buffer.offset is not None for buffer in buffers_of(program))
    parameter, argument = ("", "") if fixed else (", const int64_t *offset", ", offset")
    for n, (first, last) in enumerate(zip((0, *body.ends), body.ends, strict=False)):
        head = f"static MLC_NOINLINE void body_{n}(mlc_call *c{parameter}) {{"
        functions += [head, *declare(dims, "int64_t", "c->dim"), *body.lines[first:last], "}", ""]
    rest = body.lines[body.ends[-1] :] if body.ends else body.lines
    return functions, [*(f"  body_{n}(c{argument});" for n in range(len(body.ends))), *rest]


@dataclass
class _Body(HostProgram):
    dims: Sequence[str] = ()  # the symbolic dimensions of the model
    fails: bool = False  # a run-time dimension out of bounds, or ranks that do not come, may end the run
    ends: list[int] = field(default_factory=list)  # of groups of consecutive phases: the number of the next line
    begun: int = 0  # launches before the last group
    counter = "(void *)&c->number"

    def _phase(self, ops: Sequence[Operation], indent: str) -> None:
        """Print the loop in which a thread claims parts until none is left, then waits for the other threads; the time
        of the last launch includes the wait."""
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
        self._sizes_of(ops, indent)
        self._end_group()

    def _end_group(self) -> None:
        """Begin the next group of phases after LAUNCHES launches."""
        if self.launches - self.begun >= LAUNCHES:
            self.ends.append(len(self.lines))
            self.begun = self.launches

    def _step(self, op: Operation) -> list[str]:
        match op:
            case rt.LaunchOp():
                name = op.callee.root_reference.data
                args = ", ".join(self.pointers[a] for a in op.args)
                self.launches += 1
                call = f"{self.symbols[name]}((void *[]){{{args}}}, {self._dims(op)}, part, c->parts);"
                return [call, f"mlc_mark(c, {self.launches - 1});"]
            case rt.CopyOp():
                target, source = self.pointers[op.target], self.pointers[op.source]
                return [f"if (part == 0) memcpy({target}, {source}, (size_t){c_dim(bytes_of(op.target))});"]
        return [f"if (part == 0) {self._host_step(op)}"]

    def _dims(self, op: rt.LaunchOp) -> str:
        """Return the dimensions of a launch: the array of the model's dimensions if they are the first of these, else a
        new array."""
        names = [dim.data for dim in op.dims or ()]
        return "c->dim" if names == self.dims[: len(names)] else f"(int64_t[]){{{', '.join(names)}}}"

    def _decide(self, op: rt.LoopConditionOp) -> str:
        """Return the condition of one iteration. A loop is identified by the phase after its first condition, also for
        threads that arrive late."""
        iteration, number = c_dim(parse_dim(op.next.data)), self.decisions.index(op.symbol.data)
        run = "c->phase + 1" if iteration == "0" else f"at_{op.symbol.data}.run"
        continues = self._continues(op)
        bound = [] if op.most is None else [f"{iteration} < {c_dim(parse_dim(op.most.data))}"]
        continues += ["!mlc_failed(c)"] if self.fails else []
        steps = f"mlc_loop_condition(c, {number}, {run}, {iteration}, {' && '.join([*bound, *continues]) or '1'});"
        if op.strict is not None and bound:
            too_many = " && ".join([f"!({bound[0]})", *continues])
            steps += f' if ({too_many}) mlc_stop(c, "{op.strict.data}");'
        return steps + self._set_count(op)

    def _while(self, step: str, indent: str) -> str:
        self.lines.append(f"{indent}mlc_loop at_{step} = {{c->phase, 0}};")
        self.lines.append(f"{indent}while (mlc_iteration(c, {self.decisions.index(step)}, &at_{step})) {{")
        return f"at_{step}.step"

    def _choice(self, name: str, indent: str) -> tuple[str, str]:
        self.lines.append(f"{indent}const int {name} = mlc_branch(c, {self.decisions.index(name)});")
        return f"{name} > 0", f"if ({name} == 0) "
