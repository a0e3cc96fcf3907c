"""The host program as C: one function that launches kernels in order, and what the runtime asks of a model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, SSAValue

from mlc.dialects import rt
from mlc.dialects.dims import DimLike, condition, evaluate, parse_dim
from mlc.dialects.graph.sizes import upper
from mlc.dialects.texts import unescaped
from mlc.dialects.types import bytes_of, elements_in, shape_of
from mlc.passes.codegen.c_dims import c_dim
from mlc.passes.codegen.c_routine import c_string, routine_call
from mlc.passes.plan.plan_memory import ALIGN, aligned

_HEAD = """#include <string.h>
#include "mlc_runtime.h"

/* On plain and on 128-bit integers alike: sizes are computed wide, so that none wraps around. */
#define mlc_floordiv_i64(a, b) ((a) / (b) - ((a) % (b) < 0))
#define mlc_maximum_i64(a, b) ((a) > (b) ? (a) : (b))
#define mlc_minimum_i64(a, b) ((a) < (b) ? (a) : (b))
#define MLC_WORKSPACE_LIMIT ((__int128)1 << 60)
"""

BYTE_WORK = 4  # operations in the time that a byte takes


@dataclass(frozen=True)
class Weights:
    """The payload: its size in bytes, SHA-256 as hex, and the base name of its file (None: inside the library)."""

    payload: int
    sha256: str
    file: str | None


def print_model(
    program: rt.ProgramOp,
    prefix: str,
    symbols: Mapping[str, str],
    kernel_dims: Mapping[str, Sequence[str]],
    signature: Mapping[str, Any],
    weights: Weights,
    isa: Sequence[str],
) -> str:
    """``model.c``. ``symbols`` maps kernels to C functions, ``kernel_dims`` to the symbolic dimensions they take."""
    dims = [d.data for d in program.dims]
    declared = sorted(set(symbols.values()))
    parts = [
        _HEAD,
        "\n".join(f"void {s}(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads);" for s in declared),
        "extern const char mlc_embedded_weights[];" if weights.payload and not weights.file else "",
        f"static const char signature[] =\n{_string(json.dumps(signature))};",
        _texts(program),
        _offsets(program, dims),
        _output_shape(program, dims),
        _violated(program, dims),
        _fence(program, dims),
        _work(signature, dims),
        _body(program, dims, symbols, kernel_dims),
        _program(program, prefix, weights, isa),
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def _string(text: str) -> str:
    """A C string literal of several lines."""
    pieces = [text[n : n + 100] for n in range(0, len(text), 100)]
    return "\n".join('  "' + p.replace("\\", "\\\\").replace('"', '\\"') + '"' for p in pieces) or '""'


def _texts(program: rt.ProgramOp) -> str:
    """The table of the texts that the model knows; none where it has no texts."""
    if program.texts is None:
        return ""
    lines = ",\n".join(f"  {c_string(unescaped(text.data))}" for text in program.texts)
    table = "{texts, sizeof texts / sizeof *texts, mlc_texts_open, mlc_texts_error, mlc_texts_close}"
    return f"static const char *const texts[] = {{\n{lines},\n}};\nstatic const mlc_text_table text_table = {table};"


def _declare(dims: Sequence[str], type_: str, source: str) -> list[str]:
    return [f"  const {type_} {d} = {source}[{n}]; (void){d};" for n, d in enumerate(dims)]


def _buffers(program: rt.ProgramOp) -> list[rt.BufferOp]:
    return [o for o in program.body.block.ops if isinstance(o, rt.BufferOp)]


def _offsets(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """``workspace`` and, where sizes are symbolic, ``place``: the offsets of the buffers."""
    lines = [*_declare(dims, "__int128", "dim"), "  __int128 end = 0;"]
    buffers = _buffers(program)
    for n in _order(buffers):
        op = buffers[n]
        size = c_dim(aligned(parse_dim(op.bytes.data)))
        lines.append(f"  __int128 o{n} = {op.offset.value.data if op.offset is not None else 0}, e{n};")
        for below in op.after or ():
            lines.append(f"  if (e{below.value.data} > o{n}) o{n} = e{below.value.data};")
        lines.append(f"  e{n} = o{n} + {size};")
        lines.append(f"  if (e{n} > end) end = e{n};")
        lines.append(f"  if (offset) offset[{n}] = (int64_t)o{n};")
    lines.append("  return end > MLC_WORKSPACE_LIMIT ? -1 : (int64_t)end;")
    head = "static int64_t place(const int64_t *dim, int64_t *offset) {\n  (void)dim, (void)offset;"
    workspace = "static int64_t workspace(const int64_t *dim) { return place(dim, 0); }"
    return "\n".join([head, *lines, "}", workspace])


def _order(buffers: Sequence[rt.BufferOp]) -> list[int]:
    """Buffers such that each comes after those it stands behind."""
    after = {n: [b.value.data for b in op.after or ()] for n, op in enumerate(buffers)}
    order: list[int] = []
    placed: set[int] = set()
    waiting = list(after)
    while waiting:
        ready = [n for n in waiting if all(b in placed for b in after[n])]
        order += ready
        placed |= set(ready)
        waiting = [n for n in waiting if n not in placed]
    return order


def _output_shape(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    lines = ["static int output_shape(int i, const int64_t *dim, int64_t *shape) {", "  (void)dim, (void)shape;"]
    lines += [*_declare(dims, "int64_t", "dim"), "  switch (i) {"]
    for op in program.body.block.ops:
        if isinstance(op, rt.OutputOp):
            shape = shape_of(op.result)
            most = [upper(d, program.bound_of) for d in shape]
            sets = " ".join(f"shape[{n}] = {c_dim(d)};" for n, d in enumerate(most))
            lines.append(f"  case {op.index.value.data}: {sets} return {len(shape)};")
    return "\n".join([*lines, "  }", "  return -1;", "}"])


def _violated(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """The function that says which condition the dimensions break; none where there are no conditions."""
    if not program.guards:
        return ""
    lines = ["static const char *violated(const int64_t *dim) {", *_declare(dims, "__int128", "dim")]
    for guard in program.guards:
        value = parse_dim(guard.data)
        lines.append(f'  if ({c_dim(value)} < 0) return "{condition(value)}";')
    return "\n".join([*lines, "  return 0;", "}"])


def _fenced(program: rt.ProgramOp) -> bool:
    return "apart" in program.attributes and bool(_buffers(program))


def _fence(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """The function that marks what lies between the buffers, where ``plan-memory`` has left room there."""
    if not _fenced(program):
        return ""
    lines = ["static void fence(const int64_t *dim, char *arena, void (*mark)(const volatile void *, size_t)) {"]
    buffers = _buffers(program)
    lines += [*_declare(dims, "int64_t", "dim"), f"  int64_t offset[{len(buffers)}];", "  place(dim, offset);"]
    for n, op in enumerate(buffers):
        used, size = parse_dim(op.bytes.data) - ALIGN, aligned(parse_dim(op.bytes.data))
        lines.append(f"  mark(arena + offset[{n}] + {c_dim(used)}, (size_t){c_dim(size - used)});")
    return "\n".join([*lines, "}"])


def _work(signature: Mapping[str, Any], dims: Sequence[str]) -> str:
    """What the threads of the team are worth waking for: operations a launch, a byte counted as BYTE_WORK."""
    kernels = signature["kernels"]
    total = sum((parse_dim(k["flops"] or "0") + parse_dim(k["bytes"] or "0") * BYTE_WORK for k in kernels), 0)
    lines = ["static double work(const int64_t *dim) {", "  (void)dim;", *_declare(dims, "__int128", "dim")]
    return "\n".join([*lines, f"  return (double){c_dim(total)} / {max(len(kernels), 1)};", "}"])


def _body(
    program: rt.ProgramOp, dims: Sequence[str], symbols: Mapping[str, str], kernel_dims: Mapping[str, Sequence[str]]
) -> str:
    lines = ["static void body(mlc_call *c) {", *_declare(dims, "int64_t", "c->dim")]
    symbolic = any(b.offset is None for b in _buffers(program))
    if symbolic:
        lines += [f"  int64_t offset[{len(_buffers(program))}];", "  place(c->dim, offset);"]
    places: dict[SSAValue, str] = {}
    launches, known, declared = 0, list[str](), 0  # sizes known so far, and those that are variables
    for phase in _phases(program):
        steps = []
        for op in phase:
            if isinstance(op, rt.LaunchOp):
                name = op.callee.root_reference.data
                args = ", ".join(places[a] for a in op.args)
                values = ", ".join(kernel_dims[name]) or "0"
                steps.append(f"{symbols[name]}((void *[]){{{args}}}, (int64_t[]){{{values}}}, part, c->parts);")
                steps.append(f"mlc_mark(c, {launches});")
                launches += 1
            elif isinstance(op, rt.CopyOp):
                size = c_dim(bytes_of(op.target))
                steps.append(f"if (part == 0) memcpy({places[op.target]}, {places[op.source]}, (size_t){size});")
            elif isinstance(op, rt.PositionsOp):
                steps.append(_positions(op, places, len(known)))
                known.append(op.symbol.data)
            elif isinstance(op, rt.RoutineOp):
                steps.append(f"if (part == 0) {routine_call(op, [places[a] for a in op.args])}")
            else:
                places[op.results[0]] = _place(op, places, program)
        lines += _phase(steps, launches - 1) if steps else []
        for n in range(declared, len(known)):
            lines.append(f"  const int64_t {known[n]} = mlc_size(c, {n}); (void){known[n]};")
        declared = len(known)
    return "\n".join([*lines, "  (void)c;", "}"])


def _positions(op: rt.PositionsOp, places: Mapping[SSAValue, str], number: int) -> str:
    count = c_dim(elements_in(op.mask))
    return (
        f"if (part == 0) mlc_positions(c, {number}, {places[op.mask]}, {count}, {places[op.where]}, {places[op.size]});"
    )


def _phases(program: rt.ProgramOp) -> Iterator[list[Operation]]:
    """What stands between two barriers."""
    phase: list[Operation] = []
    for op in program.body.block.ops:
        if isinstance(op, rt.BarrierOp):
            yield phase
            phase = []
        else:
            phase.append(op)
    yield phase


def _phase(steps: Sequence[str], launch: int) -> list[str]:
    """A thread takes parts while there are any, and waits for the others'; the last launch's time is with the wait."""
    loop = ["  for (int part; (part = mlc_claim(c)) >= 0;) {", *(f"    {step}" for step in steps), "  }"]
    return [*loop, "  mlc_join(c);", *([f"  mlc_mark(c, {launch});"] if launch >= 0 else [])]


def _place(op: Operation, places: Mapping[SSAValue, str], program: rt.ProgramOp) -> str:
    match op:
        case rt.InputOp():
            return f"(void *)c->in[{op.index.value.data}]"
        case rt.OutputOp():
            return f"c->out[{op.index.value.data}]"
        case rt.WeightOp():
            return f"(void *)(c->weights + {op.offset.value.data if op.offset is not None else 0})"
        case rt.ViewOp():
            start = "" if op.start == 0 else f" + {c_dim(op.start)}"
            return f"(char *){places[op.source]}{start}" if start else places[op.source]
    assert isinstance(op, rt.BufferOp)
    if op.offset is not None:
        return f"c->arena + {op.offset.value.data}"
    return f"c->arena + offset[{_buffers(program).index(op)}]"


def _program(program: rt.ProgramOp, prefix: str, weights: Weights, isa: Sequence[str]) -> str:
    launches = sum(isinstance(o, rt.LaunchOp) for o in program.body.block.ops)
    embedded = weights.payload and not weights.file
    file = f'"{weights.file}"' if weights.payload and weights.file else "0"
    return f"""static const mlc_program {prefix}_program = {{
  .name = "{prefix}",
  .signature = signature,
  .inputs = {len(program.inputs)},
  .outputs = {len(program.outputs)},
  .dims = {len(program.dims)},
  .sizes = {len(program.bound_of)},
  .launches = {launches},
  .workspace = workspace,
  .output_shape = output_shape,
  .violated = {"violated" if program.guards else "0"},
  .fence = {"fence" if _fenced(program) else "0"},
  .body = body,
  .work = work,
  .weights_bytes = {weights.payload + ALIGN if weights.payload else 0},
  .texts = {"&text_table" if program.texts is not None else "0"},
  .weights_sha256 = "{weights.sha256}",
  .weights_file = {file},
  .embedded = {"mlc_embedded_weights" if embedded else "0"},
  .isa = "{" ".join(isa)}",
}};

MLC_DEFINE_ABI({prefix});"""


def arena_bytes(program: rt.ProgramOp, dims: Mapping[str, DimLike]) -> int:
    """The arena's size for given values of the symbolic dimensions (the C function ``workspace`` computes the same)."""
    ends: dict[int, int] = {}
    buffers = _buffers(program)
    for n in _order(buffers):
        op = buffers[n]
        below = [ends[b.value.data] for b in op.after or ()]
        start = op.offset.value.data if op.offset is not None else max(below, default=0)
        size = evaluate(aligned(parse_dim(op.bytes.data)), dims)
        assert isinstance(size, int)
        ends[n] = start + size
    return max(ends.values(), default=0)
