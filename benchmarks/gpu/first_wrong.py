"""``python -m benchmarks.gpu.first_wrong ROW``: the first launch of a smoke row whose results on the GPU are wrong.

Each launch of the host program runs twice on the same memory: emulated on this machine's CPU (``test/cuda/emulation``,
which also reports races), and by the compiled kernel on the device. Needs g++ beside the CUDA compiler.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.gpu import smoke
from benchmarks.gpu.advance import Given, given
from benchmarks.gpu.checks import target_of
from benchmarks.gpu.kernels import compiled_images
from benchmarks.gpu.launching import Kernels, root
from mlc import target as targets
from mlc.dialects import rt
from mlc.dialects.types import bytes_of, element_of, numpy_dtype
from mlc.target import GpuTarget
from mlc.tools.cuda_device import Device

sys.path.append(str(Path(__file__).parents[2] / "test/cuda"))

Array = np.ndarray[Any, Any]
LIMIT = {2: 4e-3, 4: 1e-4, 8: 1e-8}  # of the largest value, by the bytes of a float


class Wrong(Exception):
    """A launch has other results on the device."""


def first_wrong(row: Given, inputs: Mapping[str, Array], device: Device, folder: Path) -> str:
    """What differs at the first launch that does; or that none does."""
    from launcher import Program, Run  # noqa: PLC0415 (of the tests)

    target = targets.get(row.target)
    assert isinstance(target, GpuTarget)
    program = Program.of(row.model, folder, target=target, schedule=row.schedule, numerics=row.numerics)
    kernels = Kernels(device, compiled_images(program.kernels.strings, target))

    class Beside(Run):  # type: ignore[misc]
        def launch(self, op: rt.LaunchOp) -> None:
            buffers = [self.memory[each] for each in op.args]
            before = {id(each): each.copy() for each in map(root, buffers)}
            super().launch(op)
            after = kernels.run(self, op, buffers, before)
            for n, (arg, ours) in enumerate(zip(op.args, after, strict=True)):
                _compare(op, n, arg, ours, self.memory[arg], self.value(bytes_of(arg)))

    try:
        Beside(program, inputs).outputs()
    except Wrong as why:
        return str(why)
    finally:
        kernels.close()
    return "no launch alone: all have the emulation's results, so look at the graph of launches"


def _compare(op: rt.LaunchOp, n: int, arg: Any, found: Array, wanted: Array, size: int) -> None:
    dtype = numpy_dtype(element_of(arg))
    ours, theirs = (each[:size].view(dtype) for each in (found, wanted))
    if np.array_equal(found[:size], wanted[:size]):
        return
    bits = dtype.kind in "biu"
    a, b = (each.astype(np.float64) for each in (ours, theirs))
    largest = 1.0 if bits else max(float(np.abs(b[np.isfinite(b)]).max(initial=0)), 1e-30)
    off = np.where(np.isnan(a) & np.isnan(b), 0, np.abs(a - b))
    bad = np.flatnonzero(~(off <= (0 if bits else LIMIT[dtype.itemsize] * largest)))
    if bad.size:
        name, at = op.callee.root_reference.data, int(bad[0])
        raise Wrong(f"launch of {name}: argument {n} differs in {bad.size} of {off.size} elements, first at {at}: "
                    f"{a[at]:g}, emulated {b[at]:g}")  # fmt: skip


def main(
    name: Annotated[str, typer.Argument(help="A smoke row.")],
    target: Annotated[str | None, typer.Option(help="What to compile for; default: the device's.")] = None,
) -> None:
    """Print the first launch that is wrong, as JSON."""
    device = Device()
    target = target or target_of(device.architecture)
    rows: Sequence[Any] = [measure for what, measure in smoke.measured(device, target) if what == name]
    with tempfile.TemporaryDirectory() as folder:
        found = [first_wrong(*given(measure), device, Path(folder)) for measure in rows]
    print(json.dumps({"first wrong": found[0] if found else f"there is no row {name}"}), flush=True)


if __name__ == "__main__":
    typer.run(main)
