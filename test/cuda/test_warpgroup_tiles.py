"""What the rules choose for products of warpgroups of sm_90a, and that the kernels are what their schedules say."""

from __future__ import annotations

import pytest
from test_cuda_operators import model_of
from xdsl.dialects.builtin import ModuleOp

from mlc import target
from mlc.dialects.kernel import FuncOp, MmaOp
from mlc.dialects.poly import LoopNest, schedule_of
from mlc.driver.lower import run
from mlc.driver.onnx_source import OnnxSource
from mlc.options import Options

HOPPER = target.get("cuda:sm_90")
LEVELS = ("graph", "layout", "fuse", "kernel", "schedule", "tile", "loops")


def lowered(m: int, n: int, k: int) -> ModuleOp:
    text = f"(float16[{m},{k}] a, float16[{k},{n}] b) => (float16[{m},{n}] y) {{ y = MatMul (a, b) }}"
    imported = OnnxSource.of(model_of(text)).imported({})
    run(imported.module, imported.weights, Options(target=HOPPER), LEVELS)
    return imported.module


def chosen(module: ModuleOp) -> LoopNest:
    (fn,) = [o for o in module.ops if isinstance(o, FuncOp)]
    return schedule_of(fn)[0]


@pytest.mark.parametrize("size", [(8192, 8192, 8192), (4096, 4096, 1024), (512, 2304, 768)])
def test_so_many_steps_are_staged_as_the_schedule_says(size: tuple[int, int, int]) -> None:
    """Two operands of 256 and 128 halves in 64 steps are 48 KiB: all that a block may declare, but not all it may have."""
    module = lowered(*size)
    (product,) = [o for o in module.walk() if isinstance(o, MmaOp)]
    assert product.warpgroup is not None
    assert product.steps.value.data == chosen(module).inner[-1].size
