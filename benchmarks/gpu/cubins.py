"""``python -m benchmarks.gpu.cubins``: what the CUDA compiler has decided about the kernels of each model.

No GPU is needed, but nvcc or NVRTC, and for counts of instructions cuobjdump (the wheel ``nvidia-cuda-cuobjdump``).
For each model and architecture: distinct kernels, the most registers of a thread, the kernels that have a stack, which
spilled registers are in, the most shared memory of a block, instructions of tensor cores and asynchronous copies, and
CPU seconds to lower the model and to compile its kernels.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import onnx
import typer

from benchmarks.models import FAMILIES, build, small
from mlc.api import make_options
from mlc.driver.compile import lower_source
from mlc.driver.sources import source_of
from mlc.driver.toolchain.c_compiler import allowed_cpus
from mlc.driver.toolchain.c_sources import runtime_sources
from mlc.driver.toolchain.cuda_compiler import find_cuda, toolkit
from mlc.passes.codegen.cuda.cuda_unit import unit
from mlc.passes.codegen.cuda.launch_geometry import geometry_of
from mlc.passes.codegen.emit_c import FILE_BYTES, functions_of, groups
from mlc.pipelines.backends import backend_of
from mlc.tools.cubin import resources
from mlc.tools.tables import console, table

Row = dict[str, Any]
NAMED = ("model", "size", "architecture")
TIMES = ("passes s", "compiler s")  # which differ from run to run
OPCODE = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9]*)", re.M)
TENSOR_CORES = ("HMMA", "IMMA", "DMMA", "QMMA", "HGMMA", "IGMMA", "QGMMA", "BMMA")
COPIES = ("LDGSTS", "UBLKCP", "UTMALDG")


def cubins_of(model: onnx.ModelProto, target: str, numerics: str = "default") -> Iterator[Row]:
    """A row for each architecture of a target."""
    start = time.process_time()
    options = make_options(target, numerics=numerics)
    module = lower_source(source_of(model), options, until="plan").module
    strings = backend_of(options.target).print_kernels(module).strings
    passes = time.process_time() - start
    shared = max((geometry_of(fn).shared for fn in functions_of(module).values()), default=0)
    headers = {name: text for name, text in runtime_sources().items() if name.startswith("mlc_cuda")}
    files = enumerate(groups(strings, FILE_BYTES))
    units = {f"kernels_{n}.cu": unit([strings[symbol] for symbol in each]) for n, each in files}
    for architecture in options.target.architectures:  # type: ignore[attr-defined]
        before = _cpu_seconds()
        images = compiled(units, headers, architecture)
        row = {"architecture": architecture, **facts(images), "shared": shared, **instructions(images)}
        yield {**row, "passes s": round(passes, 2), "compiler s": round(_cpu_seconds() - before, 2)}


def compiled(units: Mapping[str, str], headers: Mapping[str, Any], architecture: str) -> list[bytes]:
    compiler = find_cuda()
    with ThreadPoolExecutor(allowed_cpus()) as pool:
        return list(pool.map(lambda name: compiler.cubin(name, {name: units[name], **headers}, architecture), units))


def facts(images: Sequence[bytes]) -> Row:
    """Distinct kernels, the most registers, and the kernels with a stack and its bytes."""
    found = resources(images)
    stacks = {symbol: each.stack for symbol, each in found.items() if each.stack}
    registers = max((each.registers for each in found.values()), default=0)
    return {"kernels": len(found), "registers": registers, "with stack": len(stacks), "stack": sum(stacks.values())}


def instructions(images: Sequence[bytes]) -> Row:
    """How many instructions of tensor cores and asynchronous copies all kernels have; none without cuobjdump."""
    program = next(toolkit("cuobjdump"), None)
    if program is None:
        return {}
    counts = Counter[str]()
    for image in images:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(image)
            file.flush()
            done = subprocess.run([program, "-sass", file.name], capture_output=True, text=True, check=True)
        counts.update(OPCODE.findall(done.stdout))
    return {"instructions": counts.total(), "tensor cores": sum(counts[name] for name in TENSOR_CORES),
            "asynchronous copies": sum(counts[name] for name in COPIES)}  # fmt: skip


def _cpu_seconds() -> float:
    """The CPU time of this process and of those that it has waited for."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def differences(before: Sequence[Row], after: Sequence[Row]) -> list[str]:
    """What has changed of rows that both have, apart from times."""
    known = {tuple(row[name] for name in NAMED): row for row in before}
    lines = []
    for row in after:
        old = known.get(tuple(row[name] for name in NAMED), {})
        changed = [name for name in row if name in old and name not in TIMES and old[name] != row[name]]
        where = " ".join(str(row[name]) for name in NAMED)
        lines += [f"{where}: {name} {old[name]} -> {row[name]}" for name in changed]
    return lines


def show(rows: Sequence[Row]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    made = table("Kernels", *(name if name in NAMED else f">{name}" for name in names))
    for row in rows:
        made.add_row(*(str(row.get(name, "")) for name in names))
    console().print(made)


def main(
    models: Annotated[list[str] | None, typer.Argument(help="Families; default: all.")] = None,
    sizes: Annotated[str, typer.Option(help="real, small, or both with a comma between them.")] = "real,small",
    target: Annotated[str, typer.Option(help="What to compile for.")] = "cuda",
    numerics: Annotated[str, typer.Option(help="As of mlc compile.")] = "default",
    output: Annotated[Path | None, typer.Option("--json", help="Write the rows to this file.")] = None,
    compare: Annotated[Path | None, typer.Option(help="Rows of an earlier run: print what has changed.")] = None,
) -> None:
    """Compile the kernels of models for each architecture, and print what they use."""
    rows: list[Row] = []
    for name in models or FAMILIES:
        for size in sizes.split(","):
            model = build(name, **(small.OPTIONS[name] if size == "small" else {}))
            rows += [{"model": name, "size": size, **row} for row in cubins_of(model, target, numerics)]
            if output is not None:
                output.write_text("\n".join(["[", ",\n".join(map(json.dumps, rows)), "]"]) + "\n")
    show(rows)
    if compare is not None:
        print(*differences(json.loads(compare.read_text()), rows) or ["nothing has changed"], sep="\n")


if __name__ == "__main__":
    typer.run(main)
