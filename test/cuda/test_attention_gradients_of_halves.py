"""Gradients of attention in halves on a GPU, whose kernels compute scores again on tensor cores: emulated on the CPU
against NumPy in float64, and their machine code."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from fake_gpu import Gpu, needed
from test_attention_cubins import compiled
from test_cubins import HMMA, LDGSTS
from test_cuda_attention_gradients import Array, assert_near, exact, gradients, operands

import mlc
from benchmarks.gpu import gradients as cases
from mlc import target as targets
from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of
from mlc.dialects.types import element_of, numpy_dtype, shape_of
from mlc.driver.lower import run
from mlc.options import Options
from mlc.pipelines.backends import backend_of
from mlc.tracing.traced import Traced

pytestmark = needed

TARGET = "cuda:sm_90:l2_bytes=1K"
LARGE = f"{TARGET},multiprocessors=1"  # blocks are as large as those of long rows
SMALL = f"{TARGET},shared_optin=4K"  # no fragments: its products are by FMA
ERROR = {"f16": 4e-3, "bf16": 3e-2}  # of the largest value: four roundings
STAGES = ("graph", "layout", "fuse", "kernel", "schedule", "tile", "loops", "plan")
ELEMENTS = {"f16": "float16", "bf16": "bfloat16"}


def halves(element: str, *sizes: int) -> list[Array]:
    """Queries, keys, values and a factor of the loss, of two examples."""
    return [each.astype(numpy_dtype(element)) for each in operands(*sizes)]


def functions(made: Traced, name: str) -> list[kernel.FuncOp]:
    """The kernels of a program for a GPU."""
    imported = made.imported()
    run(imported.module, imported.weights, Options(target=targets.get(name)), STAGES)
    return [o for o in imported.module.ops if isinstance(o, kernel.FuncOp)]


def of_sizes(element: str, *sizes: int, name: str = TARGET, causal: bool = False) -> list[kernel.FuncOp]:
    specs = [mlc.TensorSpec(ELEMENTS[element], each.shape) for each in operands(*sizes)]
    return functions(gradients(causal, target=name).lower(*specs), name)


def streams(found: list[kernel.FuncOp]) -> list[kernel.FuncOp]:
    return [fn for fn in found if any(nest.streamed for nest in schedule_of(fn))]


CASES = [
    ("f16", (2, 64, 64, 16, 16), TARGET, False),
    ("f16", (1, 101, 75, 24, 20), TARGET, True),
    ("bf16", (1, 45, 91, 20, 24), TARGET, False),
    ("bf16", (1, 128, 130, 40, 48), LARGE, False),
    ("f16", (1, 45, 50, 16, 16), SMALL, True),
]


@pytest.mark.parametrize("element, sizes, name, causal", CASES)
def test_gradients(element: str, sizes: tuple[int, ...], name: str, causal: bool, gpu: Gpu) -> None:
    """By queries, keys and values; extents beside those of blocks."""
    args = halves(element, *sizes)
    mask = np.tri(*sizes[1:3], dtype=bool) if causal else np.ones(sizes[1:3], bool)
    assert_near(gradients(causal, target=name)(*args), exact(*args, mask), ERROR[element])


def test_windows(gpu: Gpu) -> None:
    """Blocks of keys before the window, and after a query, are not executed: what is not a number there stays there."""
    args = halves("f16", 1, 150, 150, 16, 24)
    distance = np.arange(150)[:, None] - np.arange(150)
    mask = (distance >= 0) & (distance < 20)
    made = gradients(mask=mask, target=TARGET)
    assert_near(made(*args), exact(*args, mask), ERROR["f16"])
    args[1][:, :, 100:] = np.nan
    assert np.isfinite(np.asarray(made(*args)[0])[:, :, :50].astype(np.float64)).all()


STREAMED = [("f16", (2, 96, 80, 16, 16), False), ("bf16", (1, 101, 75, 24, 20), True)]


@pytest.mark.parametrize("element, sizes, causal", STREAMED)
def test_scores_are_registers(element: str, sizes: tuple[int, ...], causal: bool) -> None:
    """Three kernels are streams, with all products on tensor cores. Shared memory has operands alone, which they alone
    read, and no argument has as many queries as keys."""
    found = streams(of_sizes(element, *sizes, causal=causal))
    assert len(found) == 3
    for fn in found:
        assert not any(shape_of(arg)[-2:] == sizes[1:3] for arg in fn.block.args)
        locals_ = [o.result for o in fn.walk() if isinstance(o, kernel.LocalOp)]
        assert {element_of(local) for local in locals_} == {element}
        assert not any(isinstance(use.operation, kernel.ReadOp) for local in locals_ for use in local.uses)
        held = [bool(o.held) for o in fn.walk() if isinstance(o, kernel.MmaOp)]
        assert any(held) and not all(held)


def test_more_elements_than_fragments_store_scores() -> None:
    """A value, or a key, has up to 128 elements."""
    assert len(streams(of_sizes("f16", 1, 256, 256, 128, 128))) == 3
    assert not streams(of_sizes("f16", 1, 256, 256, 136, 16)[3:])
    assert not streams(of_sizes("f16", 1, 256, 256, 16, 136))


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize(
    ("case", "name"), [("gradient_causal_2048x12x64", "cuda:sm_80"), ("gradient_2048x32x128", "cuda:sm_90")]
)
def test_machine_code(case: str, name: str, tmp_path: Path) -> None:
    """No kernel spills registers; those of the streams have HMMA and asynchronous copies."""
    made = functions(cases.traced(cases.CASES[case], "float16", name), name)
    assert len(streams(made)) == 3
    strings = backend_of(targets.get(name)).print_kernels(streams(made)[0].parent_op())  # type: ignore[attr-defined]
    found = compiled([*strings.strings.values()], name, tmp_path)
    assert HMMA in found and LDGSTS in found
