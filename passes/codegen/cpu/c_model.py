"""The host program as C: a function that launches kernels in order, and the functions that the runtime calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlc.dialects import rt
from mlc.dialects.semantics.strings import unescaped
from mlc.passes.codegen.c_like import c_collective
from mlc.passes.codegen.c_like.c_program import decisions_of
from mlc.passes.codegen.c_like.c_string import c_string
from mlc.passes.codegen.cpu import c_dim_functions
from mlc.passes.codegen.cpu.c_body import print_body
from mlc.passes.codegen.cpu.payload_layout import payload_layout, states_of
from mlc.passes.plan.program.arena import ALIGN

_HEAD = """#include <string.h>
#include "mlc_runtime.h"

/* For 64-bit and 128-bit integers: sizes are computed in 128 bits, so that none overflows. */
#define mlc_floordiv_i64(a, b) ((b) ? (a) / (b) - ((a) % (b) < 0) : 0)
#define mlc_maximum_i64(a, b) ((a) > (b) ? (a) : (b))
#define mlc_minimum_i64(a, b) ((a) < (b) ? (a) : (b))
"""


@dataclass(frozen=True)
class Weights:
    """The payload: its size in bytes, its SHA-256 as hex, and the base name of its file (None: it is inside the
    library)."""

    payload: int
    sha256: str
    file: str | None
    of_ranks: tuple[str, ...] = ()
    """Where each rank has a file of its own: the SHA-256 of each; ``sha256`` is that of their list."""


@dataclass(frozen=True)
class Host:
    """The parts of ``model.c`` that depend on where launches run: C before the model's functions (headers,
    declarations), ``body`` and the code that it needs, further fields of ``mlc_program``, and further functions of the
    interface."""

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
    """Return ``model.c`` for a CPU. ``symbols`` maps kernels to C functions."""
    declared = sorted(set(symbols.values()))
    kernels = (f"void {s}(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads);" for s in declared)
    host = Host("\n".join(kernels), print_body(program, dims_of(program), symbols), {})
    return print_host_program(program, prefix, signature, weights, isa, host)


def dims_of(program: rt.ProgramOp) -> list[str]:
    """Return the names of the symbolic dimensions."""
    return [d.data for d in program.dims]


def print_host_program(
    program: rt.ProgramOp,
    prefix: str,
    signature: Mapping[str, Any],
    weights: Weights,
    isa: Sequence[str],
    host: Host,
) -> str:
    """Return ``model.c``: the parts that every host program has, and those of the target."""
    dims = dims_of(program)
    parts = [
        _HEAD,
        host.declarations,
        "extern const char mlc_embedded_weights[];" if weights.payload and not weights.file else "",
        f"static const char signature[] MLC_SIGNATURE =\n{_string(json.dumps(signature))};",
        _strings(program),
        c_dim_functions.offsets(program, dims),
        c_dim_functions.output_shape(program, dims),
        c_dim_functions.empty(program, dims),
        c_dim_functions.aliases(program, dims),
        _state(program),
        c_dim_functions.violated(program, dims),
        c_dim_functions.fence(program, dims),
        c_dim_functions.work(program, dims),
        c_collective.table(program, signature.get("collectives", {}).get("digest", "")),
        host.body,
        _program(program, prefix, signature, weights, isa, {**host.fields, **_collectives(signature)}),
        host.interface,
        f"MLC_DEFINE_JOIN({prefix});" if "collectives" in signature else "",
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def _string(text: str) -> str:
    """Return a C string literal of several lines."""
    pieces = [text[n : n + 100] for n in range(0, len(text), 100)]
    return "\n".join('  "' + p.replace("\\", "\\\\").replace('"', '\\"') + '"' for p in pieces) or '""'


def _strings(program: rt.ProgramOp) -> str:
    """Return the table of the model's constant strings; "" for a model without strings."""
    if program.strings is None:
        return ""
    lines = ",\n".join(f"  {c_string(unescaped(string.data))}" for string in program.strings)
    table = "{strings, sizeof strings / sizeof *strings, mlc_strings_open, mlc_strings_error, mlc_strings_close}"
    known = f"static const char *const strings[] = {{\n{lines},\n}};"
    return f"{known}\nstatic const mlc_string_table string_table = {table};"


def _state(program: rt.ProgramOp) -> str:
    """Return the table of the state: the offset of each one in its memory, and the first values; "" for a model without
    state."""
    states = states_of(program)
    if not states:
        return ""
    known = payload_layout(program)
    named = [each for each in states if each[0].sym_name.data]
    lines = [f"  {{{c_string(s.sym_name.data)}, {at}, {size}}}," for s, at, size in named] or ["  {0, 0, 0},"]
    table = f"{{states, {len(named)}, {known.state_bytes}, {known.first_values}, {known.weights}}}"
    listed = "\n".join(["static const mlc_state_entry states[] = {", *lines, "};"])
    return f"{listed}\nstatic const mlc_state_table state_table = {table};"


def _collectives(signature: Mapping[str, Any]) -> dict[str, str]:
    """The field of ``mlc_program`` that only a model with collectives has."""
    return {"collectives": "&collectives"} if "collectives" in signature else {}


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
  .empty = {"empty" if c_dim_functions.sometimes_empty(program) else "0"},
  .alias = {"alias" if c_dim_functions.aliases_of(program) else "0"},
  .violated = {"violated" if program.guards else "0"},
  .fence = {"fence" if c_dim_functions.fenced(program) else "0"},
  .body = body,
  .work = work,
  .weights_bytes = {weights.payload + ALIGN if weights.payload else 0},
  .state = {"&state_table" if states_of(program) else "0"},
  .strings = {"&string_table" if program.strings is not None else "0"},
  .weights_sha256 = "{"".join(weights.of_ranks) or weights.sha256}",
  .weights_ranks = {len(weights.of_ranks)},
  .weights_file = {file},
  .embedded = {"mlc_embedded_weights" if embedded else "0"},
  .isa = "{" ".join(isa)}",{further}
}};

MLC_DEFINE_ABI({prefix}, {signature["interface"]});"""
