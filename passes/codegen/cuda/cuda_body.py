"""The C function that runs a model on a GPU: it records launches in phases, and executes the steps of the host.

The launches and copies recorded between two steps on the host become one CUDA graph at run time
(``runtime/c/cuda/mlc_cuda_graph.c``). A loop is a C loop, so a loop with a known trip count is unrolled into the graph.
Pointers are addresses of the device, except those of buffers in the memory space of the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from mlc.dialects import kernel, rt
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.types import bytes_of
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_program import HostProgram, buffer_numbers, decisions_of, start_body
from mlc.passes.codegen.c_like.c_string import c_string
from mlc.passes.codegen.cuda.launch_geometry import Geometry


def print_body(
    program: rt.ProgramOp,
    dims: Sequence[str],
    symbols: Mapping[str, str],
    numbers: Mapping[str, int],
    geometry: Mapping[str, Geometry],
) -> str:
    """Return the C function ``body``. ``symbols`` maps kernels to symbols, ``numbers`` maps symbols to the numbers of
    kernels in the device's code."""
    decisions = decisions_of(program)
    lines = ["  char *const host = mlc_cuda_host(c); (void)host;"]
    lines += [f"  int64_t at_{name} = 0, next_{name} = 0; (void)at_{name}, (void)next_{name};" for name in decisions]
    body = _Body(symbols, buffer_numbers(program), list(program.bound_of), decisions)
    body.numbers, body.geometry = numbers, geometry
    body.block(program.body.block, "  ")
    return "\n".join([*start_body(program, dims), *lines, *body.lines, "  (void)c;", "}"])


COPY_KINDS = ("copy", "download", "upload")  # on the device, to the host, and from it


def _copy_kind(op: rt.CopyOp) -> str:
    return "download" if rt.on_host(op.target) else "upload" if rt.on_host(op.source) else "copy"


def _map(buffer: int, each: kernel.TensorMap) -> str:
    """Return a tensor map as an ``mlc_cuda_map``."""
    extents, strides, box = (", ".join(map(c_dim, dims)) for dims in (each.extents, each.strides, each.box))
    return f"{{{buffer}, {each.itemsize}, {len(each.box)}, {each.span}, {{{extents}}}, {{{strides}}}, {{{box}}}}}"


@dataclass
class _Body(HostProgram):
    numbers: Mapping[str, int] = field(default_factory=dict)
    geometry: Mapping[str, Geometry] = field(default_factory=dict)
    counter, host_arena = "mlc_cuda_counter(c)", "host"

    def _phase(self, ops: Sequence[Operation], indent: str) -> None:
        """Print steps that have no edges between them in the graph. The host waits for copies to it before its own
        steps, and copies from it come after them."""
        if not ops:
            return
        copies = {way: [o for o in ops if isinstance(o, rt.CopyOp) and _copy_kind(o) == way] for way in COPY_KINDS}
        lines = [self._launch(op) for op in ops if isinstance(op, rt.LaunchOp)]
        lines += [self._copy(op) for way in ("copy", "download") for op in copies[way]]
        lines += ["mlc_cuda_wait(c);"] if copies["download"] else []
        conditions = [op for op in ops if isinstance(op, rt.LoopConditionOp)]
        if steps := [op for op in ops if isinstance(op, rt.HOST_STEPS) and op not in conditions]:
            lines += ["if (!mlc_failed(c)) {", *(f"  {self._host_step(op)}" for op in steps), "}"]
        lines += [*map(self._host_step, conditions), *map(self._copy, copies["upload"]), "mlc_cuda_barrier(c);"]
        self.lines += [indent + line for line in lines]
        self._sizes_of(ops, indent)

    def _copy(self, op: rt.CopyOp) -> str:
        target, source = self.pointers[op.target], self.pointers[op.source]
        return f"mlc_cuda_{_copy_kind(op)}(c, {target}, {source}, {c_dim(bytes_of(op.target))});"

    def _launch(self, op: rt.LaunchOp) -> str:
        name = op.callee.root_reference.data
        shape, symbol = self.geometry[name], self.symbols[name]
        pointers, dims = ", ".join(self.pointers[a] for a in op.args), ", ".join(d.data for d in op.dims or ())
        self.launches += 1
        numbers = f"{self.launches - 1}, {self.numbers[symbol]}, {c_dim(shape.grid)}, {shape.threads}"
        buffers = f"{len(op.args)}, (void *const[]){{{pointers or '0'}}}"
        sizes = f"{len(op.dims or ())}, (const int64_t[]){{{dims or '0'}}}"
        maps = [_map(number, each) for number, each in shape.maps]
        mapped = f"{len(maps)}, (const mlc_cuda_map[]){{{', '.join(maps)}}}" if maps else "0, 0"
        return f"mlc_cuda_launch(c, {numbers}, {buffers}, {sizes}, {mapped});"

    def _decide(self, op: rt.LoopConditionOp) -> str:
        """Return the statements that determine whether there is an iteration ``next``, or which branch runs. After a
        failure there is none."""
        name, iteration = op.symbol.data, c_dim(parse_dim(op.next.data))
        goes_on = " && ".join([*self._continues(op), "!mlc_failed(c)"])
        bound = "1" if op.most is None else f"{iteration} < {c_dim(parse_dim(op.most.data))}"
        text = f"at_{name} = {iteration}; next_{name} = {goes_on};"
        if op.strict is not None and op.most is not None:
            text += f" if (next_{name} && !({bound})) mlc_stop(c, {c_string(op.strict.data)});"
        return f"{text} next_{name} = next_{name} && {bound};{self._set_count(op)}"

    def _while(self, step: str, indent: str) -> str:
        self.lines.append(f"{indent}while (next_{step}) {{")
        return f"at_{step}"

    def _choice(self, name: str, indent: str) -> tuple[str, str]:
        return f"next_{name}", ""
