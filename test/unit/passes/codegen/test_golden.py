"""The C text of a few kernels, frozen: a change of the printer shows here as a diff of what it prints.

``pytest test/unit/passes/codegen --update-golden`` writes the files anew; what they compute is tested elsewhere.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.universe import Universe

from mlc.dialects.kernel import FuncOp
from mlc.passes.codegen.cpu.c_kernel import print_kernel
from mlc.passes.context import MlcContext
from mlc.passes.kernel.lower_kernels import LowerKernels
from mlc.passes.loops.lower_tiles import LowerTiles
from mlc.passes.schedule.apply_schedules import ApplySchedules
from mlc.passes.tile.tile_kernels import TileKernels

GOLDEN = Path(__file__).parent / "golden"
KERNELS = sorted(path.stem for path in GOLDEN.glob("*.mlir"))
LANES = 8


def kernel_of(text: str) -> FuncOp:
    """The kernel of a text in the loops it becomes; the first line is its schedule."""
    context = MlcContext()
    for name, load in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, load)
    module = Parser(context, text).parse_module()
    schedule = text.splitlines()[0].removeprefix("// ")
    for each in (LowerKernels(), ApplySchedules(schedule), TileKernels(), LowerTiles()):
        each.apply(context, module)
    return _first(module)


def _first(module: ModuleOp) -> FuncOp:
    return next(o for o in module.ops if isinstance(o, FuncOp))


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(name: str, request: pytest.FixtureRequest) -> None:
    printed = print_kernel(kernel_of((GOLDEN / f"{name}.mlir").read_text()), name, LANES)
    golden = GOLDEN / f"{name}.c"
    if request.config.getoption("--update-golden", default=False):
        golden.write_text(printed)
    assert golden.exists() and printed == golden.read_text(), f"{golden}: see the diff, or --update-golden"


def test_there_are_some() -> None:
    assert KERNELS and sorted(path.stem for path in GOLDEN.glob("*.c")) == KERNELS
