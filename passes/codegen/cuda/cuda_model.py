"""The host program of a CUDA model as C: the body, the table of its kernels, and the bytes of its tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlc.dialects import rt
from mlc.dialects.types import ITEMSIZE, element_of, shape_of
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_program import declare
from mlc.passes.codegen.cpu.c_model import Host, Weights, dims_of, print_host_program
from mlc.passes.codegen.cuda.cuda_body import print_body
from mlc.passes.codegen.cuda.launch_geometry import Geometry

IMAGES = "mlc_cubins"
"""The array of cubins that the artifact writer adds, in the format of ``mlc_cuda_images.h``."""


def print_model(
    program: rt.ProgramOp,
    prefix: str,
    symbols: Mapping[str, str],
    units: Sequence[Sequence[str]],
    geometry: Mapping[str, Geometry],
    signature: Mapping[str, Any],
    weights: Weights,
) -> str:
    """Return ``model.c``. ``symbols`` maps kernels to symbols; each unit of ``units`` has some of these."""
    dims = dims_of(program)
    listed = [symbol for unit in units for symbol in unit]
    numbers = {symbol: n for n, symbol in enumerate(listed)}
    aligned = any(shape.aligned for shape in geometry.values())
    dynamic = {symbols[name]: shape.dynamic for name, shape in geometry.items()}
    of_units = [n for n, unit in enumerate(units) for _ in unit]
    body = [
        _bytes(program, dims),
        "static int64_t host_bytes(const int64_t *dim) { return place(dim, 0, 1); }",
        print_body(program, dims, symbols, numbers, geometry),
        _code(program, listed, of_units, [dynamic[s] for s in listed], aligned),
    ]
    head = f'#include "mlc_cuda.h"\n\nextern const unsigned char {IMAGES}[];'
    host = Host(head, "\n\n".join(body), {"device": "&device"}, f"MLC_DEFINE_DEVICE_ABI({prefix});")
    return print_host_program(program, prefix, signature, weights, (), host)


def _bytes(program: rt.ProgramOp, dims: Sequence[str]) -> str:
    """Return the function that gives the bytes on the device of an input or, numbered after the inputs, an output."""
    lines = ["static int64_t bytes(int i, const int64_t *dim) {", "  (void)dim;", *declare(dims, "__int128", "dim")]
    lines += ["  __int128 n = 0;", "  switch (i) {"]
    for op in program.body.block.ops:
        if isinstance(op, rt.InputOp | rt.OutputOp):
            index = op.index.value.data + (len(program.inputs) if isinstance(op, rt.OutputOp) else 0)
            lines.append(f"  case {index}: n = {_size(op)}; break;")
    return "\n".join([*lines, "  }", "  return n > MLC_WORKSPACE_LIMIT ? -1 : (int64_t)n;", "}"])


def _size(op: rt.InputOp | rt.OutputOp) -> str:
    shape = op.largest_shape if isinstance(op, rt.OutputOp) else shape_of(op.result)
    return " * ".join([str(ITEMSIZE[element_of(op.result)]), *(f"(__int128){c_dim(d)}" for d in shape)])


def _code(
    program: rt.ProgramOp, symbols: Sequence[str], units: Sequence[int], dynamic: Sequence[int], aligned: bool
) -> str:
    counts = any(isinstance(op, rt.RunCounterOp) for op in rt.walk(program.body.block))
    names = ", ".join(f'"{symbol}"' for symbol in symbols) or "0"
    return f"""static const char *const kernel_symbols[] = {{{names}}};
static const int kernel_units[] = {{{", ".join(map(str, units)) or "0"}}};
static const int kernel_dynamic[] = {{{", ".join(map(str, dynamic)) or "0"}}};
static const mlc_cuda_code code = {{
  .images = {IMAGES},
  .kernels = {len(symbols)},
  .symbols = kernel_symbols,
  .units = kernel_units,
  .dynamic = kernel_dynamic,
  .counts_runs = {int(counts)},
  .takes_aligned = {int(aligned)},
  .bytes = bytes,
  .host_bytes = host_bytes,
}};
static const mlc_device_code device = MLC_CUDA_DEVICE(&code);"""
