"""Products of halves, bytes and floats on emulated tensor cores, against float64 and exact sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from emulator import needed
from launcher import Program
from ml_dtypes import bfloat16
from test_cuda_operators import model_of, scheduled, tf32

import mlc
from benchmarks.exact_sessions import exact_options

pytestmark = needed

TILES = [
    "{m}/64p {n}/64vp | {k}/32 | warps=2x4",
    "{m}/32p {n}/64vp | {k}/64 | warps=1x8",
    "{m}/16p {n}/32vp | {k}/32 | warps=1x2",
    "{m}/64p {n}/8vp | {k}/32 | warps=4",
]
PLAIN = "(TYPE[70,77] a, TYPE[77,100] b) => (TYPE[70,100] y) { c = MatMul (a, b)  y = Relu (c) }"
TRANSPOSED = "(TYPE[70,77] a, TYPE[100,77] b) => (TYPE[70,100] y) { y = Gemm <transB = 1> (a, b) }"
LEFT = "(TYPE[77,70] a, TYPE[77,100] b) => (TYPE[70,100] y) { y = Gemm <transA = 1> (a, b) }"


def made(model: onnx.ModelProto, units: Path, band: str, **options: Any) -> tuple[Program, str]:
    """A program with a schedule for its product, and the text of that kernel."""
    program = Program.of(model, units, schedule=scheduled(model, units, band), **options)
    return program, "\n".join(program.kernels.strings.values())


def reals(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng().standard_normal(shape).astype(dtype)


def within_a_rounding(actual: np.ndarray, wanted: np.ndarray, dtype: Any) -> bool:
    """Whether sums are those of f32, rounded once to a narrower type."""
    step = np.abs(np.spacing(np.abs(wanted).astype(dtype))).astype(float)
    return bool((np.abs(actual.astype(float) - wanted) <= 0.51 * step + 1e-5).all())


@pytest.mark.parametrize("band", TILES)
@pytest.mark.parametrize("element, dtype", [("float16", np.float16), ("bfloat16", bfloat16)])
def test_halves(element: str, dtype: Any, band: str, units: Path) -> None:
    program, text = made(model_of(PLAIN.replace("TYPE", element)), units, band)
    assert f"mlc_mma_{element.replace('loat', '')}(" in text and "mlc_ldmatrix_x4(" in text and "_trans(" in text
    a, b = reals(70, 77, dtype=dtype), reals(77, 100, dtype=dtype)
    wanted = np.maximum(a.astype(float) @ b.astype(float), 0)
    assert within_a_rounding(program.run({"a": a, "b": b})["y"], wanted, dtype)


@pytest.mark.parametrize("target", ["cuda:sm_80", "cuda:sm_90"])
@pytest.mark.parametrize("element", ["float16", "int8"])
def test_products_without_a_sum_are_not_on_tensor_cores(target: str, element: str, units: Path) -> None:
    """A column times a row: no iterator is reduced."""
    operator, result = ("MatMul", element) if element == "float16" else ("MatMulInteger", "int32")
    model = model_of(f"({element}[70,1] a, {element}[1,100] b) => ({result}[70,100] y) {{ y = {operator} (a, b) }}")
    program = Program.of(model, units, target=mlc.target.get(target))
    assert "mlc_mma_" not in "".join(program.kernels.strings.values())
    a, b = (np.random.default_rng().integers(-9, 10, shape).astype(element) for shape in ((70, 1), (1, 100)))
    np.testing.assert_array_equal(program.run({"a": a, "b": b})["y"], a.astype(result) @ b.astype(result))


@pytest.mark.parametrize("text, transposed", [(TRANSPOSED, "none"), (LEFT, "all")])
def test_operands_with_neighbours_along_the_sum_and_across(text: str, transposed: str, units: Path) -> None:
    """ldmatrix transposes the operands that have no neighbours along the sum."""
    program, printed = made(model_of(text.replace("TYPE", "float16")), units, TILES[0])
    loads = [line for line in printed.splitlines() if "mlc_ldmatrix_" in line]
    assert len([line for line in loads if "_trans(" in line]) == (len(loads) if transposed == "all" else 0) and loads
    a, b = (
        reals(*shape, dtype=np.float16) for shape in (((77, 70), (77, 100)) if text == LEFT else ((70, 77), (100, 77)))
    )
    wanted = a.astype(float).T @ b.astype(float) if text == LEFT else a.astype(float) @ b.astype(float).T
    actual = program.run({"a": a, "b": b})["y"].astype(float)
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-3 * np.abs(wanted).max())


@pytest.mark.parametrize("left, right", [("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8"), ("int8", "uint8")])
@pytest.mark.parametrize("band", TILES[:3])
def test_bytes_are_exact(band: str, left: str, right: str, units: Path) -> None:
    model = model_of(f"({left}[70,77] a, {right}[77,100] b) => (int32[70,100] y) {{ y = MatMulInteger (a, b) }}")
    program, text = made(model, units, band, numerics="strict")
    assert "mlc_mma_" in text and "mlc_ldmatrix_x4(" in text
    random = np.random.default_rng()
    ranges = {"uint8": (0, 256), "int8": (-128, 128)}
    a, b = (random.integers(*ranges[t], shape).astype(t) for t, shape in ((left, (70, 77)), (right, (77, 100))))
    np.testing.assert_array_equal(program.run({"a": a, "b": b})["y"], a.astype(np.int32) @ b.astype(np.int32))


FLOATS = PLAIN.replace("TYPE", "float")


@pytest.mark.parametrize("band", [*TILES[:2], "{m}/64p {n}/64vp", "{m}/128p {n}/32vp | {k}/8 | warps=4x1"])
def test_factors_of_tf32_are_exact(band: str, units: Path) -> None:
    """With factors that TF32 holds, products of staged steps and of those that are left agree as those of f32 do."""
    program, text = made(model_of(FLOATS), units, band, numerics="relaxed")
    assert "mlc_mma_tf32(" in text
    a, b = tf32(reals(70, 77)), tf32(reals(77, 100))
    wanted = np.maximum(a.astype(float) @ b.astype(float), 0)
    np.testing.assert_allclose(program.run({"a": a, "b": b})["y"], wanted, rtol=0, atol=2e-6 * wanted.max())


def test_floats_as_sums_of_two(units: Path) -> None:
    """3xTF32, for which a schedule asks with default numerics, is as near to float64 as f32 is; TF32 is not."""
    error = {}
    for numerics in ("default", "relaxed"):
        program, text = made(model_of(FLOATS), units, TILES[0] + " mma=m16n8k8", numerics=numerics)
        assert ("mlc_mma_tf32x3(" in text) == (numerics == "default")
        a, b = reals(70, 77), reals(77, 100)
        wanted = np.maximum(a.astype(float) @ b.astype(float), 0)
        error[numerics] = np.abs(program.run({"a": a, "b": b})["y"] - wanted).max() / wanted.max()
    assert error["default"] < 1e-6 < 1e-5 < error["relaxed"] < 1e-3


def test_floats_are_multiplied_by_tensor_cores_in_relaxed_numerics_only(units: Path) -> None:
    for numerics in ("default", "strict"):
        assert "mlc_mma_" not in made(model_of(FLOATS), units, TILES[0], numerics=numerics)[1]
        halves = made(model_of(PLAIN.replace("TYPE", "float16")), units, TILES[0], numerics=numerics)[1]
        assert ("mlc_mma_" in halves) == (numerics == "default")


@pytest.mark.parametrize(
    "element, band, words, numerics",
    [
        ("float16", "{m}/64p {n}/64vp | {k}/32 | mma=m16n8k8", "factors of f16 have m16n8k16", "default"),
        ("float16", "{m}/64p {n}/64vp | {k}/32 | mma=m16n8k16", "strict numerics multiply and add floats", "strict"),
        ("float16", "{m}/64p {n}/64vp | {k}/8 | mma=m16n8k16", "in steps of 8 is not whole fragments", "default"),
        ("float16", "{m}/48p {n}/64vp | {k}/32 | mma=m16n8k16", "a tile of 48 x 64", "default"),
        ("float16", "{m}/16p {n}/32vp | {k}/32 | warps=2x4 mma=m16n8k16", "for each warp", "default"),
        ("double", "{m}/64p {n}/64vp | {k}/32 | mma=m16n8k8", "no sum of products whose operands", "default"),
    ],
)
def test_products_that_tensor_cores_cannot_make(
    element: str, band: str, words: str, numerics: str, units: Path
) -> None:
    with pytest.raises(mlc.InputError, match=words):
        made(model_of(PLAIN.replace("TYPE", element)), units, band, numerics=numerics)


CHOSEN = {
    "small extents": "(float16[19,77] a, float16[77,10] b) => (float16[19,10] y) { y = MatMul (a, b) }",
    "symbolic rows": "(float16[n,40] a, float16[40,33] b) => (float16[n,33] y) { y = MatMul (a, b) }",
    "batches": "(float16[3,40,64] a, float16[3,64,24] b) => (float16[3,40,24] y) { y = MatMul (a, b) }",
    "a convolution": "(float16[1,8,9,11] a, float16[20,8,3,3] b) => (float16[1,20,9,11] y) "
    "{ y = Conv <pads = [1,1,1,1]> (a, b) }",
    "bytes with zero points": "(uint8[40,96] a) => (int32[40,24] y) <int8[96,24] b = WEIGHT> "
    "{ p = Constant <value = uint8 {7}> ()  q = Constant <value = int8 {-3}> ()  y = MatMulInteger (a, b, p, q) }",
    "a quantized product": "(uint8[40,96] a) => (uint8[40,24] y) <int8[96,24] b = WEIGHT> "
    "{ s = Constant <value = float {0.1}> ()  t = Constant <value = float {0.02}> () "
    "r = Constant <value = float {3.0}> ()  p = Constant <value = uint8 {7}> () "
    "q = Constant <value = int8 {0}> ()  z = Constant <value = uint8 {120}> () "
    "y = QLinearMatMul (a, s, p, b, t, q, r, z) }",
    "dynamic quantization": "(float[40,96] a) => (float[40,24] y) <int8[96,24] b = WEIGHT> "
    "{ x, s, p = DynamicQuantizeLinear (a)  i = MatMulInteger (x, b, p)  f = Cast <to = 1> (i)  y = Mul (f, s) }",
}
"""Products whose schedules mlc chooses."""


@pytest.mark.parametrize("name", CHOSEN)
def test_schedules_that_are_chosen(name: str, units: Path) -> None:
    """Against onnxruntime: bytes to the last bit (a quantized result to one step), halves to their rounding."""
    random = np.random.default_rng()
    weight = ", ".join(map(str, random.integers(-128, 128, 96 * 24)))
    model = model_of(CHOSEN[name].replace("WEIGHT", f"{{{weight}}}"))
    feed = {}
    for value in model.graph.input:
        shape = [d.dim_value or 50 for d in value.type.tensor_type.shape.dim]
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        feed[value.name] = (random.integers(0, 256, shape) if kind == np.uint8 else reals(*shape)).astype(kind)
    program = Program.of(model, units)
    assert any("mlc_mma_" in text for text in program.kernels.strings.values())
    (wanted,) = onnxruntime.InferenceSession(model.SerializeToString(), exact_options(model)).run(None, feed)
    actual = program.run(feed)["y"]
    tolerance = {"f": 2e-3 if wanted.dtype == np.float16 else 1e-6, "i": 0, "u": 0}[wanted.dtype.kind]
    exact = wanted.astype(float)
    allowed = 1 if name == "a quantized product" else tolerance * np.abs(exact).max()
    np.testing.assert_allclose(actual.astype(float), exact, rtol=0, atol=allowed)
