"""The C function that runs a model on a GPU: it records launches in phases, and runs data-dependent steps on the host.

What is recorded between two steps on the host becomes one CUDA graph at run time (``runtime/c/cuda/mlc_cuda_graph.c``).
A loop is a loop of C, so one with known trips is unrolled into the graph. Pointers are addresses of the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from mlc.dialects import rt
from mlc.dialects.graph.sizes import ROOM
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.types import ITEMSIZE, bytes_of, element_of, elements_in
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_program import HostProgram, buffer_numbers, decisions_of, declare
from mlc.passes.codegen.c_like.c_routine import routine_step
from mlc.passes.codegen.c_like.c_string import c_string
from mlc.passes.codegen.cuda.launch_geometry import Geometry
from mlc.passes.plan.program.arena import buffers_of


def print_body(
    program: rt.ProgramOp,
    dims: Sequence[str],
    symbols: Mapping[str, str],
    numbers: Mapping[str, int],
    geometry: Mapping[str, Geometry],
) -> str:
    """``body``. ``symbols`` maps kernels to symbols, ``numbers`` these to the kernels of the device's code."""
    buffers, decisions = buffers_of(program), decisions_of(program)
    lines = ["static void body(mlc_call *c) {", *declare(dims, "int64_t", "c->dim")]
    if any(b.offset is None for b in buffers):
        lines += [f"  int64_t offset[{len(buffers)}];", "  place(c->dim, offset);"]
    lines += [f"  int64_t at_{name} = 0, next_{name} = 0; (void)at_{name}, (void)next_{name};" for name in decisions]
    body = _Body(symbols, buffer_numbers(program), list(program.bound_of), decisions)
    body.numbers, body.geometry = numbers, geometry
    body.block(program.body.block, "  ")
    return "\n".join([*lines, *body.lines, "  (void)c;", "}"])


@dataclass
class _Body(HostProgram):
    numbers: Mapping[str, int] = field(default_factory=dict)
    geometry: Mapping[str, Geometry] = field(default_factory=dict)
    counter = "mlc_cuda_counter(c)"

    def _phase(self, ops: Sequence[Operation], indent: str) -> None:
        """Steps without an edge between them in the graph."""
        if not ops:
            return
        self.lines += [f"{indent}{self._step(op)}" for op in ops]
        self.lines.append(f"{indent}mlc_cuda_barrier(c);")
        self._sizes_of(ops, indent)

    def _step(self, op: Operation) -> str:
        match op:
            case rt.LaunchOp():
                return self._launch(op)
            case rt.CopyOp():
                target, source = self.pointers[op.target], self.pointers[op.source]
                return f"mlc_cuda_copy(c, {target}, {source}, {c_dim(bytes_of(op.target))});"
            case rt.NonzeroOp():
                arguments = f"{self.pointers[op.mask]}, {c_dim(elements_in(op.mask))}, {self.pointers[op.where]}"
                number = self.sizes.index(op.symbol.data)
                return f"mlc_cuda_nonzero(c, {number}, {arguments}, {self.pointers[op.size]});"
            case rt.SizeOp():
                number, grows = self.sizes.index(op.symbol.data), int(bool(ROOM.fullmatch(op.most.data)))
                value = f"{self.pointers[op.value]}, {c_dim(parse_dim(op.most.data))}, {self.pointers[op.size]}"
                return f"mlc_cuda_measure(c, {number}, {value}, {grows}, {c_string(op.why.data)});"
            case rt.RoutineOp():
                return self._routine(op)
        assert isinstance(op, rt.LoopConditionOp)
        return self._condition(op)

    def _launch(self, op: rt.LaunchOp) -> str:
        name = op.callee.root_reference.data
        shape, symbol = self.geometry[name], self.symbols[name]
        pointers, dims = ", ".join(self.pointers[a] for a in op.args), ", ".join(d.data for d in op.dims or ())
        self.launches += 1
        numbers = f"{self.launches - 1}, {self.numbers[symbol]}, {c_dim(shape.grid)}, {shape.threads}"
        buffers = f"{len(op.args)}, (void *const[]){{{pointers or '0'}}}"
        return f"mlc_cuda_launch(c, {numbers}, {buffers}, {len(op.dims or ())}, (const int64_t[]){{{dims or '0'}}});"

    def _routine(self, op: rt.RoutineOp) -> str:
        function, step = routine_step(op, [self.pointers[a] for a in op.args])
        *inputs, made = (c_dim(elements_in(a) * ITEMSIZE[element_of(a)]) for a in op.args)
        return f"mlc_cuda_routine(c, {function}, &{step}, (const int64_t[3]){{{', '.join(inputs) or '0'}}}, {made});"

    def _condition(self, op: rt.LoopConditionOp) -> str:
        """Whether there is an iteration ``next``, or which branch is taken. After a failure there is none."""
        name, iteration = op.symbol.data, c_dim(parse_dim(op.next.data))
        continues = [f"{iteration} < mlc_cuda_i64(c, {self.pointers[op.limit]})"] if op.limit is not None else []
        continues += [f"mlc_cuda_flag(c, {self.pointers[op.active]})"] if op.active is not None else []
        goes_on = " && ".join([*continues, "!mlc_failed(c)"])
        bound = "1" if op.most is None else f"{iteration} < {c_dim(parse_dim(op.most.data))}"
        text = f"at_{name} = {iteration}; next_{name} = {goes_on};"
        if op.strict is not None and op.most is not None:
            text += f" if (next_{name} && !({bound})) mlc_stop(c, {c_string(op.strict.data)});"
        text += f" next_{name} = next_{name} && {bound};"
        return text + (f" mlc_cuda_set_i64(c, {self.pointers[op.count]}, {iteration});" if op.count is not None else "")

    def _loop(self, op: rt.LoopOp, indent: str) -> None:
        step, inner = op.step.data, indent + "  "
        if op.trips is not None:
            iterations = c_dim(parse_dim(op.trips.data))
            self.lines.append(f"{indent}for (int64_t {step} = 0; {step} < {iterations}; {step}++) {{")
        else:
            iterations = f"at_{step}"
            self.lines.append(f"{indent}while (next_{step}) {{")
            self._size(step, iterations, inner)
        self._loop_arguments(op, inner)
        self.block(op.body.block, inner)
        self.lines.append(f"{indent}}}")
        self._loop_results(op, iterations, indent)

    def _if(self, op: rt.IfOp, indent: str) -> None:
        self.lines.append(f"{indent}if (next_{op.symbol.data}) {{")
        self.block(op.then.block, indent + "  ")
        self.lines.append(f"{indent}}} else {{")
        self.block(op.otherwise.block, indent + "  ")
        self.lines.append(f"{indent}}}")
