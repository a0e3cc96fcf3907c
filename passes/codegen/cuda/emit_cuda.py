"""Code generation for a GPU: kernels as CUDA units, the host program as C, and the signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from mlc.dialects import rt
from mlc.passes.codegen.cpu.c_model import Weights
from mlc.passes.codegen.cuda.cuda_model import print_model
from mlc.passes.codegen.cuda.cuda_unit import unit
from mlc.passes.codegen.cuda.launch_geometry import Geometry, geometry_of
from mlc.passes.codegen.emit_c import Code, Kernels, functions_of, groups, program_of, routine_families, signature_of

FAMILY = "cuda"  # of the C runtime


def emit_cuda(
    module: ModuleOp, prefix: str, kernels: Kernels, weights: Weights, about: dict[str, Any], file_bytes: int
) -> Code:
    """Return the sources of a planned module for a GPU: ``kernels_0.cu``, …, ``model.c``. ``about`` is added to the
    signature."""
    program, functions = program_of(module), functions_of(module)
    geometry = {name: geometry_of(fn) for name, fn in functions.items()}
    signature = signature_of(program, functions, kernels.symbols, prefix, weights) | about
    signature["kernels"] = _with_geometry(program, signature["kernels"], geometry)
    units = groups(kernels.strings, file_bytes)
    sources = {f"kernels_{n}.cu": unit([kernels.strings[symbol] for symbol in each]) for n, each in enumerate(units)}
    sources["model.c"] = print_model(program, prefix, kernels.symbols, units, geometry, signature, weights)
    return Code(sources, signature, (FAMILY, *routine_families(program)))


def _with_geometry(
    program: rt.ProgramOp, entries: Sequence[dict[str, Any]], geometry: Mapping[str, Geometry]
) -> list[dict[str, Any]]:
    """Return the launches of the signature with their blocks (an expression), threads of a block, and bytes of shared
    memory."""
    launches = [o for o in rt.walk(program.body.block) if isinstance(o, rt.LaunchOp)]
    shapes = [geometry[o.callee.root_reference.data] for o in launches]
    return [
        {**entry, "grid": str(shape.grid), "threads": shape.threads, "shared": shape.shared}
        for entry, shape in zip(entries, shapes, strict=True)
    ]
