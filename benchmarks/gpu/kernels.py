"""``python -m benchmarks.gpu.kernels MODEL…``: each kernel of a model on a GPU, as far as it can be known without one.

Blocks (also over the GPU's multiprocessors: waves) and threads of a launch; registers, stack (spilled registers) and
shared memory from the CUDA compiler; bytes read and written by all blocks beside the least (each argument once);
sectors of 32 bytes of a warp's access beside the least. ``tail``: where blocks have unequal numbers of iterations, the
time until the last one ends over the mean of all multiprocessors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any

import typer
from onnx import TensorProto
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.rewriter import Rewriter

from benchmarks.attention import model as attention_model
from benchmarks.gpu import gradients, residual_step
from benchmarks.gpu.accesses import Access, accesses
from benchmarks.gpu.attention import CASES
from benchmarks.gpu.block_order import lengths, tail
from benchmarks.models import build
from benchmarks.models.halves import halved
from mlc import target as targets
from mlc.dialects import kernel, rt
from mlc.dialects.semantics.dims import evaluate, parse_dim, symbols_of
from mlc.dialects.types import bytes_of, element_of, memref, shape_of
from mlc.driver.lower import run
from mlc.driver.onnx_source import OnnxSource
from mlc.driver.toolchain.c_sources import runtime_sources
from mlc.driver.toolchain.cuda_compiler import find_cuda
from mlc.options import Options
from mlc.passes.assumed_extents import SCHEDULED
from mlc.passes.codegen.cuda.cuda_unit import unit
from mlc.passes.codegen.cuda.launch_geometry import geometry_of
from mlc.passes.device.set_launch_geometry import resident_blocks
from mlc.pipelines.backends import backend_of
from mlc.target import GpuTarget
from mlc.tools.cubin import Resources, resources
from mlc.tools.tables import console, table
from mlc.tracing.traced import Traced

STAGES = ("graph", "layout", "fuse", "kernel", "schedule", "tile", "loops", "plan")


def main(
    models: Annotated[
        list[str],
        typer.Argument(
            help="Families of benchmarks.models, cases of gpu/attention.py or gradients.py, residual_step, files."
        ),
    ],
    target: Annotated[str, typer.Option(help="What to compile for.")] = "cuda:sm_80",
    numerics: Annotated[str, typer.Option(help="strict, default or relaxed.")] = "relaxed",
    compiled: Annotated[bool, typer.Option(help="Compile the kernels: registers and stack.")] = True,
    batch: Annotated[int, typer.Option(min=1, help="Images of a family of image models.")] = 1,
    halves: Annotated[bool, typer.Option(help="Models of a family, or derivatives, in f16.")] = False,
    sizes: Annotated[list[str] | None, typer.Option(help="Symbolic dimensions, as keys=2048; others are 256.")] = None,
) -> None:
    """Print a table of each model's kernels, and what all launches of convolutions and products read."""
    known = {name: int(size) for name, _, size in (each.partition("=") for each in sizes or ())}
    for model in models:
        found = rows(model, target, numerics, compiled, batch, halves, known)
        show(model, found)
        print(total(found))


def rows(
    model: str, name: str, numerics: str, compiled: bool, batch: int = 1, halves: bool = False,
    sizes: Mapping[str, int] = MappingProxyType({}),
) -> list[dict[str, Any]]:  # fmt: skip
    """The kernels of a model, in order; ``sizes``: of symbolic dimensions, SCHEDULED for others."""
    source = _source(model, name, batch, halves)
    target = targets.get(name)
    assert isinstance(target, GpuTarget)
    imported = source.imported() if isinstance(source, Traced) else source.imported({})
    options = Options(target=target, numerics=numerics)
    run(imported.module, imported.weights, options, STAGES)
    kernels = backend_of(target).print_kernels(imported.module)
    used = compiled_resources(kernels.strings, target) if compiled else {}
    functions = [o for o in imported.module.ops if isinstance(o, kernel.FuncOp)]
    launches = _launches(imported.module)
    for fn in functions:
        set_sizes(fn, sizes)
    return [
        row(fn, used.get(kernels.symbols[fn.sym_name.data]), launches[fn.sym_name.data], target) for fn in functions
    ]


def set_sizes(fn: kernel.FuncOp, sizes: Mapping[str, int]) -> None:
    """Give the symbols of a kernel their sizes: in what it computes, in its grid and in the types of its arguments."""
    dims = [*map(parse_dim, fn.symbols), *(d for arg in fn.block.args for d in shape_of(arg))]
    known = {name: _size(name, sizes) for name in symbols_of(dims)}
    for op in [o for o in fn.walk() if isinstance(o, kernel.SymbolOp)]:
        size = evaluate(parse_dim(op.dim.data), known)
        constant = arith.ConstantOp(IntegerAttr(int(size), IndexType()))  # type: ignore[arg-type]
        Rewriter.replace_op(op, constant)
    for arg in fn.block.args:
        shape = [evaluate(d, known) for d in shape_of(arg)]
        Rewriter.replace_value_with_new_type(arg, memref(element_of(arg), shape))
    if fn.launch.grid is not None:
        fn.launch = replace(fn.launch, grid=evaluate(fn.launch.grid, known))
    if fn.work.flops is not None:
        fn.work = replace(fn.work, flops=evaluate(fn.work.flops, known))


def _size(symbol: str, sizes: Mapping[str, int]) -> int:
    """The size of a symbol, which has an underscore at its end where an iterator has its name."""
    return sizes.get(symbol, sizes.get(symbol.removesuffix("_"), SCHEDULED))


def _source(model: str, target: str, batch: int, halves: bool) -> OnnxSource | Traced:
    """A file, a case of attention in f16, one of its gradients, those of two residual blocks, or a family of models."""
    if model in gradients.CASES:
        return gradients.traced(gradients.CASES[model], "float16" if halves else "float32", target)
    if model == residual_step.NAME:
        return residual_step.traced(batch, "float16" if halves else "float32", target)
    if model in CASES:
        return OnnxSource.of(attention_model(CASES[model], TensorProto.FLOAT16))
    if model.endswith(".onnx"):
        return OnnxSource.of(model)
    made = build(model, **({"batch": batch} if batch > 1 else {}))
    return OnnxSource.of(halved(made) if halves else made)


def compiled_resources(strings: dict[str, str], target: GpuTarget) -> dict[str, Resources]:
    return resources(compiled_images(strings, target))


def compiled_images(strings: dict[str, str], target: GpuTarget) -> list[bytes]:
    """Cubins of kernels for the first architecture of a target."""
    headers = {name: text for name, text in runtime_sources().items() if name.startswith("mlc_cuda")}
    sources = {"kernels.cu": unit(list(strings.values())), **headers}
    return [find_cuda().cubin("kernels.cu", sources, target.architectures[0])]


def _launches(module: ModuleOp) -> dict[str, int]:
    """How often the host program launches each kernel, an iteration of a loop once."""
    names = [o.callee.root_reference.data for o in module.walk() if isinstance(o, rt.LaunchOp)]
    return {name: names.count(name) for name in names}


def row(fn: kernel.FuncOp, used: Resources | None, launches: int, target: GpuTarget) -> dict[str, Any]:
    shape, found = geometry_of(fn), list(accesses(fn))
    blocks, slots = lengths(fn), target.multiprocessors * resident_blocks(fn, target)
    moved, least = sum(a.trips * a.bytes for a in found), sum(_number(bytes_of(arg)) for arg in fn.block.args)
    return {
        "kernel": fn.sym_name.data,
        "schedule": fn.schedule.text.partition(";")[0] if fn.schedule is not None else "",
        "launches": launches,
        "blocks": _number(shape.grid),
        "waves": round(_number(shape.grid) / target.multiprocessors, 1),
        "tail": round(tail(blocks, slots), 2) if blocks else "",
        "threads": shape.threads,
        "shared": shape.shared,
        "registers": used.registers if used else "",
        "stack": used.stack if used else "",
        "MFLOP": round(_flops(fn) / 1e6, 1),
        "MB": round(moved / 1e6, 2),
        "of least": round(moved / max(least, 1), 1) if found else "",
        "sectors read": _sectors([a for a in found if not a.writes]),
        "written": _sectors([a for a in found if a.writes]),
        "excess": sum(a.trips * a.bytes * (a.sectors / a.least - 1) for a in found if a.sectors and not a.writes),
        "read": sum(a.trips * a.bytes for a in found if a.sectors and not a.writes),
        "mma": any(isinstance(o, kernel.MmaOp) for o in fn.walk()),
    }


def _flops(fn: kernel.FuncOp) -> float:
    return 0 if fn.work.flops is None else _number(fn.work.flops)


def _number(dim: Any) -> int:
    """A dimension, whose symbols have sizes (``set_sizes``)."""
    return int(evaluate(dim, {}))  # type: ignore[arg-type]


def _sectors(found: Sequence[Access]) -> str:
    """The mean sectors of an access of a warp, by bytes, and how many times the least that is."""
    known = [a for a in found if a.sectors is not None]
    weight = sum(a.trips * a.bytes for a in known)
    if not weight:
        return ""
    sectors, least = (sum(getattr(a, n) * a.trips * a.bytes for a in known) / weight for n in ("sectors", "least"))
    return f"{sectors:.1f} ({sectors / least:.1f}x)"


def show(title: str, found: Sequence[dict[str, Any]]) -> None:
    names = [name for name in found[0] if name not in ("excess", "read")]
    made = table(title, *names)
    for each in found:
        made.add_row(*(str(each[name]) for name in names))
    console().print(made)


def total(found: Sequence[dict[str, Any]]) -> str:
    """All launches: their number, bytes, spills, and sectors read over the least."""
    moved, read, excess = (sum(r[name] * r["launches"] for r in found) for name in ("MB", "read", "excess"))
    spilled = sum(bool(r["stack"]) for r in found)
    counts = f"{sum(r['launches'] for r in found)} launches of {len(found)} kernels, {spilled} with spilled registers"
    return f"{counts}, {moved:.0f} MB, {1 + excess / max(read, 1):.2f} times the fewest sectors read"


if __name__ == "__main__":
    typer.run(main)
