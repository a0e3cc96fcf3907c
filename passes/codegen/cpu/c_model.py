"""The host program as C: one function that launches kernels in order, and the functions that the runtime calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import StringAttr

from mlc.dialects import rt
from mlc.dialects.semantics.dims import DimLike, condition, dim_max, parse_dim
from mlc.dialects.semantics.strings import unescaped
from mlc.dialects.types import bytes_of, shape_of
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_program import decisions_of, declare, output_in
from mlc.passes.codegen.c_like.c_string import c_string
from mlc.passes.codegen.cpu.c_body import print_body
from mlc.passes.codegen.cpu.payload_layout import payload_layout, states_of
from mlc.passes.plan.program.arena import ALIGN, aligned, buffers_of, placement_order

_HEAD = """#include <string.h>
#include "mlc_runtime.h"

/* For 64-bit and 128-bit integers: sizes are computed in 128 bits, so that none overflows. */
#define mlc_floordiv_i64(a, b) ((b) ? (a) / (b) - ((a) % (b) < 0) : 0)
#define mlc_maximum_i64(a, b) ((a) > (b) ? (a) : (b))
#define mlc_minimum_i64(a, b) ((a) < (b) ? (a) : (b))
#define MLC_WORKSPACE_LIMIT ((__int128)1 << 60)
"""

BYTE_WORK = 4  # operations in the time of a byte: the unit of work of SHARED_WORK in mlc_team.c, for all artifacts


@dataclass(frozen=True)
class Weights:
    """The payload: its size in bytes, SHA-256 as hex, and the base name of its file (None: inside the library)."""

    payload: int
    sha256: str
    file: str | None


@dataclass(frozen=True)
class Host:
    """What depends on where launches run: C before the model's functions (headers, declarations), ``body`` and what it
    needs, further fields of ``mlc_program``, and further functions of the interface."""

    declarations: str
    body: str
    fields: Mapping[str, str]
    interface: str = ""


def print_model(
    program: rt.ProgramOp,
    prefix: str,
    symbols: Mapping[str, str],
    signature: Mapping[str, Any],
    weights: Weights,
    isa: Sequence[str],
) -> str:
    """``model.c`` for a CPU. ``symbols`` maps kernels to C functions."""
    declared = sorted(set(symbols.values()))
    kernels = (f"void {s}(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads);" for s in declared)
    host = Host("\n".join(kernels), print_body(program, dims_of(program), symbols), {})
    return print_host_program(program, prefix, signature, weights, isa, host)


def dims_of(program: rt.ProgramOp) -> list[str]:
    """The names of the symbolic dimensions."""
    return [d.data for d in program.dims]


def print_host_program(
    program: rt.ProgramOp,
    prefix: str,
    signature: Mapping[str, Any],
    weights: Weights,
    isa: Sequence[str],
    host: Host,
) -> str:
    """``model.c``: what every host program has, and what is the target's."""
    dims = dims_of(program)
    parts = [
        _HEAD,
        host.declarations,
        "extern const char mlc_embedded_weights[];" if weights.payload and not weights.file else "",
        f"static const char signature[] MLC_SIGNATURE =\n{_string(json.dumps(signature))};",
        _strings(program),
        _offsets(program, dims),
        _output_shape(program, dims),
        _empty(program, dims),
        _aliases(program, dims),
        _state(program),
        _violated(program, dims),
        _fence(program, dims),
        _work(program, dims),
        host.body,
        _program(program, prefix, signature, weights, isa, host.fields),
        host.interface,
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def _string(text: str) -> str:
    """A C string literal of several lines."""
    pieces = [text[n : n + 100] for n in range(0, len(text), 100)]
    return "\n".join('  "' + p.replace("\\", "\\\\").replace('"', '\\"') + '"' for p in pieces) or '""'


def _strings(program: rt.ProgramOp) -> str:
    """The table of the model's constant strings; empty for a model without strings."""
    if program.strings is None:
        return ""
    lines = ",\n".join(f"  {c_string(unescaped(string.data))}" for string in program.strings)
    table = "{strings, sizeof strings / sizeof *strings, mlc_strings_open, mlc_strings_error, mlc_strings_close}"
    known = f"static const char *const strings[] = {{\n{lines},\n}};"
    return f"{known}\nstatic const mlc_string_table string_table = {table};"


def _offsets(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """``workspace`` and, for symbolic dimensions, ``place``: the offsets of the buffers, and where their arena ends."""
    lines = [*declare(dims, "__int128", "dim"), "  __int128 end[2] = {0};"]
    buffers = buffers_of(program)
    for n in placement_order(buffers):
        op = buffers[n]
        size = c_dim(aligned(parse_dim(op.bytes.data)))
        lines.append(f"  __int128 o{n} = {op.offset.value.data if op.offset is not None else 0}, e{n};")
        for below in op.after or ():
            lines.append(f"  if (e{below.value.data} > o{n}) o{n} = e{below.value.data};")
        lines.append(f"  e{n} = o{n} + {size};")
        end = f"end[{int(rt.on_host(op.result))}]"
        lines.append(f"  if (e{n} > {end}) {end} = e{n};")
        lines.append(f"  if (offset) offset[{n}] = (int64_t)o{n};")
    lines.append("  return end[host] > MLC_WORKSPACE_LIMIT ? -1 : (int64_t)end[host];")
    head = "static int64_t place(const int64_t *dim, int64_t *offset, int host) {\n  (void)dim, (void)offset;"
    workspace = "static int64_t workspace(const int64_t *dim) { return place(dim, 0, 0); }"
    return "\n".join([head, *lines, "}", workspace])


def _output_shape(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    lines = ["static int output_shape(int i, const int64_t *dim, int64_t *shape) {", "  (void)dim, (void)shape;"]
    cases: dict[int, str] = {}
    for op in program.body.block.ops:
        if isinstance(op, rt.OutputOp):
            shape = op.largest_shape
            sets = "if (!shape) return -1; " if shape else ""
            sets += " ".join(f"shape[{n}] = {c_dim(d)};" for n, d in enumerate(shape))
            cases[op.index.value.data] = f"{sets} return {len(shape)};"
    return "\n".join([*lines, *declare(dims, "int64_t", "dim"), *_switch(cases), "  return -1;", "}"])


def _switch(cases: Mapping[int, str]) -> list[str]:
    """A switch over ``i``. Numbers of equal code share a case: gcc's time grows with the square of the cases."""
    numbers: dict[str, list[int]] = {}
    for n, code in cases.items():
        numbers.setdefault(code, []).append(n)
    lines = [f"  {' '.join(f'case {n}:' for n in same)} {code}" for code, same in numbers.items()]
    return ["  switch (i) {", *lines, "  }"]


def _sometimes_empty(program: rt.ProgramOp) -> dict[int, list[DimLike]]:
    """The extents that may be 0, of each input and output that has any; outputs count on from the inputs."""
    shapes: dict[int, Sequence[DimLike]] = {}
    for op in program.body.block.ops:
        if isinstance(op, rt.InputOp):
            shapes[op.index.value.data] = shape_of(op.result)
        elif isinstance(op, rt.OutputOp):
            shapes[len(program.inputs) + op.index.value.data] = op.largest_shape
    found = {n: [d for d in shape if not isinstance(d, int) or d == 0] for n, shape in sorted(shapes.items())}
    return {n: extents for n, extents in found.items() if extents}


def _empty(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """The function that says which tensors have no elements, and need no memory; none where all have some."""
    sometimes = _sometimes_empty(program)
    if not sometimes:
        return ""
    lines = ["static int empty(int i, const int64_t *dim) {", "  (void)dim;", *declare(dims, "int64_t", "dim")]
    cases = {n: f"return {' || '.join(f'{c_dim(d)} == 0' for d in extents)};" for n, extents in sometimes.items()}
    return "\n".join([*lines, *_switch(cases), "  return 0;", "}"])


def aliases_of(program: rt.ProgramOp) -> list[tuple[int, int, DimLike]]:
    """(input, output, bytes) of each input whose memory is an output."""
    inputs = [o for o in program.body.block.ops if isinstance(o, rt.InputOp)]
    numbers = [(o.index.value.data, output_in(o), bytes_of(o.result)) for o in inputs]
    return [(n, output, size) for n, output, size in numbers if output is not None]


def _aliases(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """The function that says which output is the memory of input ``i``, and its bytes; none where there is none."""
    found = aliases_of(program)
    if not found:
        return ""
    lines = ["static int alias(int i, const int64_t *dim, int64_t *bytes) {", "  (void)dim;"]
    cases = {n: f"*bytes = {c_dim(size)}; return {output};" for n, output, size in found}
    return "\n".join([*lines, *declare(dims, "int64_t", "dim"), *_switch(cases), "  return -1;", "}"])


def _state(program: rt.ProgramOp) -> str:
    """The table of the state: where each is in its memory, and the first values; empty for a model without state."""
    states = states_of(program)
    if not states:
        return ""
    known = payload_layout(program)
    named = [each for each in states if each[0].sym_name.data]
    lines = [f"  {{{c_string(s.sym_name.data)}, {at}, {size}}}," for s, at, size in named] or ["  {0, 0, 0},"]
    table = f"{{states, {len(named)}, {known.state_bytes}, {known.first_values}, {known.weights}}}"
    listed = "\n".join(["static const mlc_state_entry states[] = {", *lines, "};"])
    return f"{listed}\nstatic const mlc_state_table state_table = {table};"


def _violated(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """The function that returns the guard that the dimensions violate; empty for a model without guards."""
    if not program.guards:
        return ""
    lines = ["static const char *violated(const int64_t *dim) {", *declare(dims, "__int128", "dim")]
    for guard in program.guards:
        value = parse_dim(guard.data)
        lines.append(f'  if ({c_dim(value)} < 0) return "{condition(value)}";')
    return "\n".join([*lines, "  return 0;", "}"])


def _fenced(program: rt.ProgramOp) -> bool:
    return "redzones" in program.attributes and bool(buffers_of(program))


def _fence(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """The function that marks the redzones between buffers, where ``plan-memory`` has made any."""
    if not _fenced(program):
        return ""
    lines = ["static void fence(const int64_t *dim, char *arena, void (*mark)(const volatile void *, size_t)) {"]
    buffers = buffers_of(program)
    lines += [*declare(dims, "int64_t", "dim"), f"  int64_t offset[{len(buffers)}];", "  place(dim, offset, 0);"]
    for n, op in enumerate(buffers):
        used, size = parse_dim(op.bytes.data) - ALIGN, aligned(parse_dim(op.bytes.data))
        lines.append(f"  mark(arena + offset[{n}] + {c_dim(used)}, (size_t){c_dim(size - used)});")
    return "\n".join([*lines, "}"])


def _work(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """The function by which the runtime decides whether to wake the team: the operations a launch that threads can
    share, or its bytes as BYTE_WORK operations each, of which there are more (the roofline)."""
    launches = [o for o in rt.walk(program.body.block) if isinstance(o, rt.LaunchOp)]
    total = sum((_shared(o) for o in launches), 0)
    count = c_dim(sum((_count(o.iterations, 1) for o in launches), 0)) if launches else "1"
    lines = ["static double work(const int64_t *dim) {", "  (void)dim;", *declare(dims, "__int128", "dim")]
    return "\n".join([*lines, f"  return (double){c_dim(total)} / (double){count};", "}"])


def _shared(launch: rt.LaunchOp) -> DimLike:
    if launch.serial is not None:
        return 0
    moved = _count(launch.bytes, 0) * (1 if launch.resident is not None else BYTE_WORK)
    return dim_max(_count(launch.flops, 0), moved)


def _count(text: StringAttr | None, default: int) -> DimLike:
    return default if text is None else parse_dim(text.data)


def _program(
    program: rt.ProgramOp,
    prefix: str,
    signature: Mapping[str, Any],
    weights: Weights,
    isa: Sequence[str],
    fields: Mapping[str, str],
) -> str:
    launches = sum(isinstance(o, rt.LaunchOp) for o in rt.walk(program.body.block))
    embedded = weights.payload and not weights.file
    file = f'"{weights.file}"' if weights.payload and weights.file else "0"
    further = "".join(f"\n  .{name} = {value}," for name, value in fields.items())
    return f"""static const mlc_program {prefix}_program = {{
  .name = "{prefix}",
  .signature = signature,
  .inputs = {len(program.inputs)},
  .outputs = {len(program.outputs)},
  .dims = {len(program.dims)},
  .sizes = {len(program.bound_of)},
  .decisions = {len(decisions_of(program))},
  .launches = {launches},
  .workspace = workspace,
  .output_shape = output_shape,
  .empty = {"empty" if _sometimes_empty(program) else "0"},
  .alias = {"alias" if aliases_of(program) else "0"},
  .violated = {"violated" if program.guards else "0"},
  .fence = {"fence" if _fenced(program) else "0"},
  .body = body,
  .work = work,
  .weights_bytes = {weights.payload + ALIGN if weights.payload else 0},
  .state = {"&state_table" if states_of(program) else "0"},
  .strings = {"&string_table" if program.strings is not None else "0"},
  .weights_sha256 = "{weights.sha256}",
  .weights_file = {file},
  .embedded = {"mlc_embedded_weights" if embedded else "0"},
  .isa = "{" ".join(isa)}",{further}
}};

MLC_DEFINE_ABI({prefix}, {signature["interface"]});"""
