"""``python -m benchmarks.gpu.kernels MODEL…``: each kernel of a model on a GPU, as far as it can be known without one.

Blocks and threads of a launch; registers, stack (spilled registers) and shared memory from the CUDA compiler; bytes
read and written by all blocks beside the least (each argument once); sectors of 32 bytes of a warp's access beside the
least.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from xdsl.dialects.builtin import ModuleOp, StringAttr

from benchmarks.gpu.accesses import Access, accesses
from benchmarks.models import build
from mlc import target as targets
from mlc.dialects import kernel, rt
from mlc.dialects.poly import SCHEDULE, ScheduleAttr
from mlc.dialects.semantics.dims import evaluate, parse_dim, symbols_of
from mlc.dialects.types import bytes_of
from mlc.driver.lower import run
from mlc.driver.onnx_source import OnnxSource
from mlc.driver.toolchain.c_sources import runtime_sources
from mlc.driver.toolchain.cuda_compiler import find_cuda
from mlc.options import Options
from mlc.passes.assumed_extents import SCHEDULED
from mlc.passes.codegen.cuda.cuda_unit import unit
from mlc.passes.codegen.cuda.launch_geometry import geometry_of
from mlc.target import GpuTarget
from mlc.tools.cubin import Resources, resources
from mlc.tools.tables import console, table

STAGES = ("graph", "layout", "fuse", "kernel", "schedule", "tile", "loops", "plan")


def main(
    models: Annotated[list[str], typer.Argument(help="Families of benchmarks.models, or ONNX files.")],
    target: Annotated[str, typer.Option(help="What to compile for.")] = "cuda:sm_80",
    numerics: Annotated[str, typer.Option(help="strict, default or relaxed.")] = "relaxed",
    compiled: Annotated[bool, typer.Option(help="Compile the kernels: registers and stack.")] = True,
) -> None:
    """Print a table of each model's kernels."""
    for model in models:
        show(model, rows(model, target, numerics, compiled))


def rows(model: str, name: str, numerics: str, compiled: bool) -> list[dict[str, Any]]:
    """The kernels of a model, in order."""
    source = OnnxSource.of(model if model.endswith(".onnx") else build(model))
    target = targets.get(name)
    assert isinstance(target, GpuTarget)
    imported, options = source.imported({}), Options(target=target, numerics=numerics)
    run(imported.module, imported.weights, options, STAGES)
    kernels = target.print_kernels(imported.module)
    used = _resources(kernels.strings, target) if compiled else {}
    functions = [o for o in imported.module.ops if isinstance(o, kernel.FuncOp)]
    launches = _launches(imported.module)
    return [row(fn, used.get(kernels.symbols[fn.sym_name.data]), launches[fn.sym_name.data]) for fn in functions]


def _resources(strings: dict[str, str], target: GpuTarget) -> dict[str, Resources]:
    headers = {name: text for name, text in runtime_sources().items() if name.startswith("mlc_cuda")}
    sources = {"kernels.cu": unit(list(strings.values())), **headers}
    return resources([find_cuda().cubin("kernels.cu", sources, target.architectures[0])])


def _launches(module: ModuleOp) -> dict[str, int]:
    """How often the host program launches each kernel, an iteration of a loop once."""
    names = [o.callee.root_reference.data for o in module.walk() if isinstance(o, rt.LaunchOp)]
    return {name: names.count(name) for name in names}


def row(fn: kernel.FuncOp, used: Resources | None, launches: int) -> dict[str, Any]:
    shape, found = geometry_of(fn), list(accesses(fn))
    schedule = fn.attributes.get(SCHEDULE)
    moved, least = sum(a.trips * a.bytes for a in found), sum(_number(bytes_of(arg)) for arg in fn.block.args)
    return {
        "kernel": fn.sym_name.data,
        "schedule": schedule.text.partition(";")[0] if isinstance(schedule, ScheduleAttr) else "",
        "launches": launches,
        "blocks": _number(shape.grid),
        "threads": shape.threads,
        "shared": shape.shared,
        "registers": used.registers if used else "",
        "stack": used.stack if used else "",
        "MFLOP": round(_flops(fn) / 1e6, 1),
        "MB": round(moved / 1e6, 2),
        "of least": round(moved / max(least, 1), 1) if found else "",
        "sectors read": _sectors([a for a in found if not a.writes]),
        "written": _sectors([a for a in found if a.writes]),
        "mma": any(isinstance(o, kernel.MmaOp) for o in fn.walk()),
    }


def _flops(fn: kernel.FuncOp) -> float:
    text = fn.attributes.get("kernel.flops")
    return _number(parse_dim(text.data)) if isinstance(text, StringAttr) else 0


def _number(dim: Any) -> int:
    """A dimension, with 256 for symbols."""
    return int(evaluate(dim, dict.fromkeys(symbols_of([dim]), SCHEDULED)))  # type: ignore[arg-type]


def _sectors(found: Sequence[Access]) -> str:
    """The mean sectors of an access of a warp, by bytes, and how many times the least that is."""
    known = [a for a in found if a.sectors is not None]
    weight = sum(a.trips * a.bytes for a in known)
    if not weight:
        return ""
    sectors, least = (sum(getattr(a, n) * a.trips * a.bytes for a in known) / weight for n in ("sectors", "least"))
    return f"{sectors:.1f} ({sectors / least:.1f}x)"


def show(title: str, found: Sequence[dict[str, Any]]) -> None:
    made = table(title, *found[0])
    for each in found:
        made.add_row(*map(str, each.values()))
    console().print(made)


if __name__ == "__main__":
    typer.run(main)
