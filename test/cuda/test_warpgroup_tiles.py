"""What the rules choose for products of warpgroups of sm_90a, and that the kernels are what their schedules say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_cuda_operators import model_of
from xdsl.dialects.builtin import ModuleOp

from mlc import target
from mlc.dialects.kernel import FuncOp, MmaOp
from mlc.dialects.poly import LoopNest, schedule_of
from mlc.driver.lower import run
from mlc.driver.onnx_source import OnnxSource
from mlc.options import Options
from mlc.target import Target

HOPPER = target.get("cuda:sm_90")
SLOW_L2 = replace(HOPPER, l2_read=16.0)  # type: ignore[type-var]
FAST_L2 = replace(HOPPER, l2_read=64.0)  # type: ignore[type-var]
LEVELS = ("graph", "layout", "fuse", "kernel", "schedule", "tile", "loops")


def lowered(m: int, n: int, k: int, chip: Target = HOPPER, levels: tuple[str, ...] = LEVELS) -> ModuleOp:
    text = f"(float16[{m},{k}] a, float16[{k},{n}] b) => (float16[{m},{n}] y) {{ y = MatMul (a, b) }}"
    imported = OnnxSource.of(model_of(text)).imported({})
    run(imported.module, imported.weights, Options(target=chip), levels)
    return imported.module


def chosen(module: ModuleOp) -> LoopNest:
    return schedule_of(next(o for o in module.ops if isinstance(o, FuncOp)))[0]  # the first of two: the parts of a sum


@pytest.mark.parametrize("size", [(8192, 8192, 8192), (4096, 4096, 1024), (512, 2304, 768)])
def test_so_many_steps_are_staged_as_the_schedule_says(size: tuple[int, int, int]) -> None:
    """Two operands of 256 and 128 halves in 64 steps are 48 KiB: all that a block may declare, not all it may have."""
    module = lowered(*size)
    (product,) = [o for o in module.walk() if isinstance(o, MmaOp)]
    assert product.warpgroup is not None
    assert product.steps.value.data == chosen(module).inner[-1].size


def test_large_products_share_operands_in_clusters() -> None:
    """Tiles of 128 x 256 need 48 bytes of L2 in a cycle of a multiprocessor, pairs in a column 32."""
    nest = chosen(lowered(8192, 8192, 8192, levels=LEVELS[:5]))
    assert [item.size for item in nest.band] == [128, 256]
    assert nest.block is not None and (nest.block.cluster, nest.block.raster, nest.block.persist) == ((2, 1), 8, True)


def test_rules_choose_clusters_where_l2_bounds_the_time_and_tiles_are_whole_clusters() -> None:
    size, levels = (8192, 8192, 8192), LEVELS[:5]
    blocks = [chosen(lowered(*size, chip, levels)).block for chip in (SLOW_L2, FAST_L2)]
    assert [block.cluster is None for block in blocks if block] == [False, True]
    odd = chosen(lowered(129, 257, 8192, SLOW_L2, levels))
    counts = [-(-extent // item.size) for extent, item in zip((129, 257), odd.band[-2:], strict=True)]
    cluster = odd.block.cluster if odd.block else None
    assert cluster is None or all(count % each == 0 for count, each in zip(counts, cluster, strict=True))


def test_a_gpu_of_one_multiprocessor_has_no_clusters() -> None:
    chip = replace(SLOW_L2, multiprocessors=1)  # type: ignore[type-var]
    nest = chosen(lowered(1024, 1024, 512, chip, LEVELS[:5]))
    assert nest.block is not None and nest.block.cluster is None
