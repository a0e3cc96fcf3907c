"""``python -m benchmarks.gpu.loops``: the instructions of a product's main loops, counted in the machine code.

No GPU is needed, but nvcc (or NVRTC) and cuobjdump (of the wheel ``nvidia-cuda-cuobjdump``, or that of Triton). Each
innermost loop that multiplies by tensor cores or copies to shared memory is a row. With ``--triton`` so is each of
Triton's kernel with the same tile, the product of its tutorial.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from ml_dtypes import bfloat16

from benchmarks.gpu.kernels import compiled_images
from benchmarks.gpu.measurements import KERNEL, product_model
from benchmarks.gpu.sass import functions, loops, mix
from mlc.api import make_options
from mlc.dialects.kernel import FuncOp
from mlc.driver.compile import lower_source
from mlc.driver.sources import source_of
from mlc.pipelines.backends import backend_of
from mlc.target import GpuTarget
from mlc.tools.cubin import resources
from mlc.tools.tables import show_rows

DTYPES: dict[str, Any] = {"float16": np.float16, "bfloat16": bfloat16, "float32": np.float32}
STAGES = 4  # of a ring of Triton's kernel, as many as the compiler's own has where there is room
Row = dict[str, Any]


def product(
    size: Sequence[int], target: str, element: str = "float16", tiles: str = "", numerics: str = "default"
) -> tuple[str, list[Row]]:
    """The schedule of a product of m × n × k, that of ``tiles`` or the rules' own, and a row for each loop."""
    m, n, k = size
    model = product_model(element, (m, n, k), np.zeros((k, n), DTYPES[element]))
    with tempfile.TemporaryDirectory() as folder:
        schedule = Path(folder) / "schedule"
        schedule.write_text(f"{KERNEL}: contraction: S0 S1 | {tiles}\n" if tiles else "")
        options = make_options(target, numerics=numerics, schedule=str(schedule))
        module = lower_source(source_of(model), options, until="plan").module
    assert isinstance(options.target, GpuTarget)
    images = compiled_images(backend_of(options.target).print_kernels(module).strings, options.target)
    schedules = [str(o.schedule) for o in module.ops if isinstance(o, FuncOp)]
    return "; ".join(schedules), [row for image in images for row in rows("mlc", image)]


def rows(whose: str, image: bytes) -> Iterator[Row]:
    used = resources([image])
    for name, code in functions(image).items():
        own = used[name]
        for body in loops(code):
            yield {"kernel": f"{whose} {name}", "at": f"{body[0].at:#x}", **mix(body),
                   "registers": own.registers, "stack": own.stack}  # fmt: skip


def of_triton(schedule: str, capability: int) -> Iterator[Row]:
    """Triton's kernel with the tile and the warps of a schedule."""
    from benchmarks.gpu.triton_product import cubin  # noqa: PLC0415 (Triton may not be installed)

    tile = tuple(int(re.findall(rf"\b{axis}/(\d+)", schedule)[0]) for axis in "mnk")
    warps = [int(n) for n in re.findall(r"warps=(\d+)(?:x(\d+))?", schedule)[0] if n]
    yield from rows("triton", cubin(tile, int(np.prod(warps)), STAGES, capability))  # type: ignore[arg-type]


def main(
    size: Annotated[str, typer.Argument(help="Rows, columns and terms.")] = "8192x8192x8192",
    target: Annotated[str, typer.Option(help="cuda:sm_80 or cuda:sm_90.")] = "cuda:sm_90",
    element: Annotated[str, typer.Option(help="float16, bfloat16 or float32.")] = "float16",
    tiles: Annotated[str, typer.Option(help="'m/128p n/128vp | k/64 | warps=8x1'; the rules' own else.")] = "",
    numerics: Annotated[str, typer.Option(help="As of mlc compile.")] = "default",
    triton: Annotated[bool, typer.Option(help="Triton's kernel with the same tile, too.")] = False,
) -> None:
    """Print the instructions of each main loop."""
    schedule, found = product([int(n) for n in size.split("x")], target, element, tiles, numerics)
    if triton:
        found += of_triton(schedule, int(target.rpartition("_")[2]))
    print(schedule)
    show_rows(f"{size} of {element}, {target}", found)


if __name__ == "__main__":
    typer.run(main)
