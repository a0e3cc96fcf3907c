"""Attention of halves on tensor cores in one kernel, emulated on the CPU, against NumPy in float64."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from emulator import DEVICE, needed
from launcher import Program
from onnx import TensorProto
from test_cubins import HMMA, LDGSTS, USED, kernels, opcodes
from test_cuda_operators import model_of

import mlc
from benchmarks.attention import Shape, arguments, model
from benchmarks.attention import reference as exact
from mlc import nn, target
from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of
from mlc.dialects.types import numpy_dtype
from mlc.passes.codegen.cuda.cuda_unit import unit

pytestmark = needed

ATTENTION = """(T[{b},{h},{m},{k}] q, T[{b},{h},{n},{k}] k, T[{b},{h},{n},{v}] v, T[{m},{n}] mask)
    => (T[{b},{h},{m},{v}] y) {{ products = Einsum <equation = "bhmk,bhnk->bhmn"> (q, k)
    scores = Add (products, mask)  weights = Softmax <axis = -1> (scores)  y = MatMul (weights, v) }}"""
LDSM, MUFU = 0x83B, 0x308  # SASS: ldmatrix, and functions of one instruction
BUSY = 1024  # multiprocessors, for which no tile is small enough: blocks have 16 rows
SIZES = [  # element, batch, heads, queries, keys, elements of a key and of a value, multiprocessors
    ("float16", (1, 2, 64, 128, 32, 32), BUSY),  # whole blocks
    ("float16", (1, 2, 33, 197, 48, 20), BUSY),  # odd extents: fragments that are partly beyond them
    ("bfloat16", (2, 1, 100, 100, 72, 80), 1),
    ("float16", (1, 4, 64, 128, 32, 4), BUSY),  # values of half the columns of a fragment
    ("float16", (1, 2, 128, 64, 64, 64), 1),  # 32 rows a warp, and one block of keys
    ("bfloat16", (1, 2, 128, 130, 128, 96), 1),  # eight warps
]


def text(element: str, sizes: tuple[int, ...]) -> str:
    return ATTENTION.format(**dict(zip("bhmnkv", sizes, strict=True))).replace("T[", f"{element}[")


def feed_of(model: onnx.ModelProto, element: str) -> dict[str, Any]:
    """Normal numbers, and a mask of which some keys are -inf: whole blocks of them for some rows."""
    rng, dtype = np.random.default_rng(), numpy_dtype({"float16": "f16", "bfloat16": "bf16"}[element])
    feed = {}
    for each in model.graph.input:
        shape = [d.dim_value for d in each.type.tensor_type.shape.dim]
        feed[each.name] = rng.standard_normal(shape).astype(np.float32)
    feed["q"] /= np.sqrt(feed["q"].shape[-1])
    mask = feed["mask"]
    mask[rng.random(mask.shape) < 0.2] = -np.inf
    mask[3, :-4] = mask[5, 4:] = -np.inf
    mask[:, [1, -1]] = 0
    return {name: array.astype(dtype) for name, array in feed.items()}


def reference(feed: dict[str, Any]) -> Any:
    q, k, v, mask = (feed[name].astype(np.float64) for name in ("q", "k", "v", "mask"))
    scores = q @ k.swapaxes(-1, -2) + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def program(element: str, sizes: tuple[int, ...], multiprocessors: int, units: Path) -> tuple[Program, Any]:
    model = model_of(text(element, sizes))
    gpu = replace(target.get("cuda"), multiprocessors=multiprocessors)
    return Program.of(model, units, target=gpu), feed_of(model, element)


@pytest.mark.parametrize(("element", "sizes", "multiprocessors"), SIZES, ids=str)
def test_one_kernel_of_fragments(element: str, sizes: tuple[int, ...], multiprocessors: int, units: Path) -> None:
    made, feed = program(element, sizes, multiprocessors, units)
    (function,) = made.functions.values()
    nests = schedule_of(function)
    assert nests[0].block and nests[0].block.mma == "m16n8k16" and nests[0].streamed
    products = [o for o in function.walk() if isinstance(o, kernel.MmaOp)]
    assert {p.held for p in products} == {False, True}
    floats = [o for o in function.walk() if isinstance(o, kernel.LocalOp) and "f32" in str(o.result.type)]
    assert not floats  # scores and running results are in registers
    actual, expected = made.run(feed)["y"].astype(np.float64), reference(feed)
    rounding = 2.0**-10 if element == "float16" else 2.0**-7  # of scores, weights and results
    np.testing.assert_allclose(actual, expected, rtol=0, atol=4 * rounding * np.abs(expected).max())


def test_grouped_heads_and_transposed_keys_are_not_copied(units: Path) -> None:
    """Four heads of queries read two of keys, which a Transpose stores the other way: one kernel."""
    shape = Shape(4, 2, 48, 100, 32, 32)
    made = Program.of(model(shape, TensorProto.FLOAT16), units)
    (function,) = made.functions.values()
    assert schedule_of(function)[0].streamed
    feed = dict(zip("qkv", (each.astype(np.float16) for each in arguments(shape)), strict=True))
    expected = exact(shape, *feed.values())
    np.testing.assert_allclose(made.run(feed)["y"], expected, rtol=0, atol=2.0**-8 * np.abs(expected).max())


@pytest.mark.parametrize("sizes", [(1, 12, 1009, 1009, 80, 80), (1, 32, 1000, 777, 128, 128)], ids=str)
def test_smaller_last_blocks_fit_in_shared_memory(sizes: tuple[int, ...]) -> None:
    """They have local arrays of their own, so that blocks are smaller where extents are not multiples."""
    (made,) = kernels(text("float16", sizes)).values()
    assert "mlc_mma_f16" in made


@pytest.mark.parametrize("causal", [False, True])
def test_traced_attention_of_halves_is_one_kernel(causal: bool) -> None:
    spec = mlc.TensorSpec("float16", (1, 2, 32, 16))
    attend = mlc.jit(lambda q, k, v: nn.dot_product_attention(q, k, v, causal=causal), target="cuda")
    assert attend.ir("schedule", spec, spec, spec).count("mma=m16n8k16") == 1


def test_strict_numerics_have_no_fragments(units: Path) -> None:
    model = model_of(text(*SIZES[0][:2]))
    made = Program.of(model, units, numerics="strict")
    assert not any(isinstance(o, kernel.MmaOp) for fn in made.functions.values() for o in fn.walk())


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("size", [64, 128])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_machine_code_spills_nothing(arch: str, size: int, tmp_path: Path) -> None:
    """A thread has up to 255 registers, for its rows of scores and results."""
    (made,) = kernels(text("float16", (1, 32, 512, 512, size, size))).values()
    (tmp_path / "k.cu").write_text(unit([made]))
    command = ["nvcc", "-cubin", f"-arch={arch}", f"-I{DEVICE}", "-Xptxas", "-v", tmp_path / "k.cu"]
    done = subprocess.run([*command, "-o", tmp_path / "k.cubin"], capture_output=True, text=True, check=True)
    assert {(int(stack), int(spills)) for _, stack, spills, _ in USED.findall(done.stderr)} == {(0, 0)}
    assert {LDGSTS, HMMA, LDSM, MUFU} <= opcodes((tmp_path / "k.cubin").read_bytes())
