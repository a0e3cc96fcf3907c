"""The host program as C: one function that launches kernels in order, and what the runtime asks of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlc.dialects import rt
from mlc.dialects.dims import DimLike, condition, evaluate, parse_dim
from mlc.dialects.graph.sizes import upper
from mlc.dialects.texts import unescaped
from mlc.dialects.types import shape_of
from mlc.passes.codegen.c_body import buffers_of, decisions_of, declare, print_body
from mlc.passes.codegen.c_dims import c_dim
from mlc.passes.codegen.c_routine import c_string
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
        print_body(program, dims, symbols, kernel_dims),
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


def _offsets(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """``workspace`` and, where sizes are symbolic, ``place``: the offsets of the buffers."""
    lines = [*declare(dims, "__int128", "dim"), "  __int128 end = 0;"]
    buffers = buffers_of(program)
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
    lines += [*declare(dims, "int64_t", "dim"), "  switch (i) {"]
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
    lines = ["static const char *violated(const int64_t *dim) {", *declare(dims, "__int128", "dim")]
    for guard in program.guards:
        value = parse_dim(guard.data)
        lines.append(f'  if ({c_dim(value)} < 0) return "{condition(value)}";')
    return "\n".join([*lines, "  return 0;", "}"])


def _fenced(program: rt.ProgramOp) -> bool:
    return "apart" in program.attributes and bool(buffers_of(program))


def _fence(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """The function that marks what lies between the buffers, where ``plan-memory`` has left room there."""
    if not _fenced(program):
        return ""
    lines = ["static void fence(const int64_t *dim, char *arena, void (*mark)(const volatile void *, size_t)) {"]
    buffers = buffers_of(program)
    lines += [*declare(dims, "int64_t", "dim"), f"  int64_t offset[{len(buffers)}];", "  place(dim, offset);"]
    for n, op in enumerate(buffers):
        used, size = parse_dim(op.bytes.data) - ALIGN, aligned(parse_dim(op.bytes.data))
        lines.append(f"  mark(arena + offset[{n}] + {c_dim(used)}, (size_t){c_dim(size - used)});")
    return "\n".join([*lines, "}"])


def _work(signature: Mapping[str, Any], dims: Sequence[str]) -> str:
    """What the threads of the team are worth waking for: operations a launch, a byte counted as BYTE_WORK."""
    kernels = signature["kernels"]
    total = sum((parse_dim(k["flops"] or "0") + parse_dim(k["bytes"] or "0") * BYTE_WORK for k in kernels), 0)
    turns = sum((parse_dim(k.get("turns", "1")) for k in kernels), 0)
    lines = ["static double work(const int64_t *dim) {", "  (void)dim;", *declare(dims, "__int128", "dim")]
    launches = c_dim(turns) if kernels else "1"
    return "\n".join([*lines, f"  return (double){c_dim(total)} / (double){launches};", "}"])


def _program(program: rt.ProgramOp, prefix: str, weights: Weights, isa: Sequence[str]) -> str:
    launches = sum(isinstance(o, rt.LaunchOp) for o in rt.walk(program.body.block))
    embedded = weights.payload and not weights.file
    file = f'"{weights.file}"' if weights.payload and weights.file else "0"
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
    buffers = buffers_of(program)
    for n in _order(buffers):
        op = buffers[n]
        below = [ends[b.value.data] for b in op.after or ()]
        start = op.offset.value.data if op.offset is not None else max(below, default=0)
        size = evaluate(aligned(parse_dim(op.bytes.data)), dims)
        assert isinstance(size, int)
        ends[n] = start + size
    return max(ends.values(), default=0)
