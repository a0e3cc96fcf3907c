"""Products of floats of 8 bits on emulated tensor cores, against float64; their cubins.

The values come from ml_dtypes, and so do the codes that QuantizeLinear makes.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from emulator import needed
from launcher import Program
from ml_dtypes import float8_e4m3fn, float8_e4m3fnuz, float8_e5m2
from onnx.reference import ReferenceEvaluator
from test_cubins import HMMA
from test_cuda_operators import model_of
from test_tensor_cores import made
from test_warpgroups import compiled

import mlc
from benchmarks.gpu.float8 import SCALES, product_model
from mlc import target
from mlc.dialects.types import element_of

pytestmark = needed

TYPES = {"float8e4m3fn": float8_e4m3fn, "float8e5m2": float8_e5m2, "float8e4m3fnuz": float8_e4m3fnuz}
NAMES = {"float8e4m3fn": "e4m3", "float8e5m2": "e5m2"}
NAMES_OF_ELEMENTS = {"float8e4m3fn": "f8e4m3fn", "float8e5m2": "f8e5m2"}
E4M3, E5M2 = NAMES
PAIRS = [(E4M3, E4M3), (E5M2, E5M2), (E4M3, E5M2), (E5M2, E4M3)]
HOPPER: dict[str, Any] = {"target": target.get("cuda:sm_90")}
RELAXED: dict[str, Any] = {"numerics": "relaxed", **HOPPER}
PLAIN = """(LEFT[70,77] a, RIGHT[77,100] b) => (float[70,100] y) {
  c = Cast <to = 1> (a)  d = Cast <to = 1> (b)  p = MatMul (c, d)  y = Relu (p) }"""
TRANSPOSED = """(LEFT[M,K] a, RIGHT[N,K] b) => (float[M,N] y) {
  c = Cast <to = 1> (a)  d = Cast <to = 1> (b)  y = Gemm <transB = 1> (c, d) }"""
TILES = [
    "{m}/64p {n}/64vp | {k}/32 | warps=2x4",
    "{m}/32p {n}/64vp | {k}/64 | warps=1x8",
    "{m}/16p {n}/32vp | {k}/32 | warps=1x2 mma=m16n8k32",
]


def of(text: str, left: str, right: str, m: int = 70, n: int = 100, k: int = 77) -> Any:
    for old, new in {"LEFT": left, "RIGHT": right, "M,": f"{m},", "[N": f"[{n}", "N]": f"{n}]", "K]": f"{k}]"}.items():
        text = text.replace(old, new)
    return model_of(text)


def codes(kind: str, *shape: int) -> np.ndarray:
    """Finite values, subnormals among them."""
    random = np.random.default_rng()
    return (random.standard_normal(shape) * 2.0 ** random.integers(-8, 3, shape)).astype(TYPES[kind])


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(float) @ b.astype(float)


def close(actual: np.ndarray, wanted: np.ndarray, error: float) -> None:
    np.testing.assert_allclose(actual.astype(float), wanted, rtol=0, atol=error * np.abs(wanted).max())


@pytest.mark.parametrize("band, left, right", [(TILES[n % 3], *pair) for n, pair in enumerate(PAIRS)])
def test_sums_are_those_of_f32(band: str, left: str, right: str, units: Path) -> None:
    program, text = made(of(PLAIN, left, right), units, band)
    name = "_".join(dict.fromkeys((NAMES[left], NAMES[right])))
    assert f"mlc_mma_{name}(" in text and "mlc_ldmatrix_x4(" in text
    a, b = codes(left, 70, 77), codes(right, 77, 100)
    close(program.run({"a": a, "b": b})["y"], np.maximum(product(a, b), 0), 1e-6)


WARPGROUPS = [
    "{m}/64p {n}/64vp | {k}/32 | warps=4 mma=m64n64k32",
    "{m}/128p {n}/128vp | {k}/128 | warps=8",
    "{m}/64p {n}/128vp | {k}/128 | warps=4x2 copy=tma depth=2",
    "{m}/128p {n}/128vp | {k}/128 | warps=8 copy=tma depth=3 raster=2 persist",
]


@pytest.mark.parametrize("band, left, right", [(WARPGROUPS[n], *pair) for n, pair in enumerate(PAIRS)])
def test_warpgroups_add_in_fewer_bits(band: str, left: str, right: str, units: Path) -> None:
    """An error of 2^-13 of a part of 128 steps, of which four instructions lose up to one each."""
    program, text = made(of(TRANSPOSED, left, right, 200, 152, 272), units, band, **RELAXED)
    assert f"MLC_{NAMES[left].upper()}, MLC_{NAMES[right].upper()}, " in text and ", false>(" in text
    assert ("mlc_bulk_copy(" in text) == ("tma" in band)
    a, b = codes(left, 200, 272), codes(right, 152, 272)
    close(program.run({"a": a, "b": b})["y"], product(a, b.T), 4 * 2.0**-13)


def test_parts_of_128_steps_are_added_in_f32(units: Path) -> None:
    """Of terms of one sign each instruction cuts off a part of its sum: without promotion more than twice as much."""
    chip = replace(target.get("cuda:sm_90"), multiprocessors=1)  # type: ignore[type-var]
    program = Program.of(of(TRANSPOSED, E4M3, E4M3, 64, 64, 2048), units, target=chip, numerics="relaxed")
    assert "mlc_wgmma<64, MLC_E4M3, MLC_E4M3, 128, false, false, false>(" in printed(program)
    a, b = (np.abs(codes(E4M3, 64, 2048).astype(np.float32)).astype(float8_e4m3fn) for _ in range(2))
    actual, wanted = program.run({"a": a, "b": b})["y"], product(a, b.T)
    assert 1e-5 < (np.abs(actual - wanted) / wanted).max() < 4 * 2.0**-13


def printed(program: Program) -> str:
    return "\n".join(program.kernels.strings.values())


QUANTIZED = {
    "one scale each": """(float[70,96] x) => (float[70,40] y) <KIND[96,40] w = WEIGHT> {
      s = Constant <value = float {0.03}> ()  t = Constant <value = float {0.02}> ()
      z = Constant <value = KIND {0}> ()  q = QuantizeLinear (x, s, z)
      c = DequantizeLinear (q, s, z)  d = DequantizeLinear (w, t, z)  y = MatMul (c, d) }""",
    "one a column": """(float[70,96] x, float[40] t, float[40] b) => (float[70,40] y) <KIND[96,40] w = WEIGHT> {
      s = Constant <value = float {0.03}> ()  z = Constant <value = KIND {0}> ()
      q = QuantizeLinear (x, s, z)  c = DequantizeLinear (q, s)  d = DequantizeLinear <axis = 1> (w, t)
      y = Gemm (c, d, b) }""",
    "one a row and one a column": """(KIND[70,96] x, float[70] s, float[40] t) => (float[70,40] y)
      <KIND[40,96] w = WEIGHT> {
      c = DequantizeLinear <axis = 0> (x, s)  d = DequantizeLinear <axis = 0> (w, t)
      y = Gemm <transB = 1> (c, d) }""",
    "a result of 8 bits": """(KIND[70,96] x, float s, float t) => (KIND[70,40] y) <KIND[96,40] w = WEIGHT> {
      c = DequantizeLinear (x, s)  d = DequantizeLinear (w, t)  p = MatMul (c, d)  r = Relu (p)
      z = Constant <value = KIND {0}> ()  u = Constant <value = float {0.5}> ()  y = QuantizeLinear (r, u, z) }""",
    "halves between": """(KIND[70,96] x) => (float16[70,40] y) <KIND[96,40] w = WEIGHT> {
      c = Cast <to = 10> (x)  d = Cast <to = 10> (w)  y = MatMul (c, d) }""",
    "one a filter": """(float[2,12,9,11] x, float[40] t) => (float[2,40,9,11] y) <KIND[40,12,3,3] w = WEIGHT> {
      s = Constant <value = float {0.03}> ()  z = Constant <value = KIND {0}> ()
      q = QuantizeLinear (x, s, z)  c = DequantizeLinear (q, s)  d = DequantizeLinear <axis = 0> (w, t)
      y = Conv <pads = [1, 1, 1, 1]> (c, d) }""",
    "decoding": """(KIND[1,96] x, float s, float t) => (float[1,40] y) <KIND[40,96] w = WEIGHT> {
      c = DequantizeLinear (x, s)  d = DequantizeLinear (w, t)  y = Gemm <transB = 1> (c, d) }""",
}
"""Models as quantizers write them."""


def quantized(text: str, kind: str) -> onnx.ModelProto:
    shape = re.search(r"\[([\d,]+)\] w = WEIGHT", text)
    assert shape
    weight = np.random.default_rng().integers(0, 77, np.prod(list(map(int, shape[1].split(",")))))
    weight |= np.random.default_rng().integers(0, 2, weight.size) << 7  # finite values of both signs
    model = model_of(text.replace("KIND", kind).replace("WEIGHT", f"{{{', '.join(map(str, weight))}}}"))
    model.ir_version, model.opset_import[0].version = 10, 21
    return model


def feed_of(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    feed, random = {}, np.random.default_rng()
    for value in model.graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        data = random.standard_normal(shape) if value.name == "x" else random.uniform(0.01, 0.1, shape)
        feed[value.name] = data.astype(np.float32).astype(kind)
    return feed


@pytest.mark.parametrize("numerics, kind", [("default", E4M3), ("default", E5M2), ("strict", E4M3)])
@pytest.mark.parametrize("name", QUANTIZED)
def test_models_of_quantizers(name: str, kind: str, numerics: str, units: Path) -> None:
    """Against the onnx package's reference in NumPy. By default no kernel reads or writes a widened factor."""
    model = quantized(QUANTIZED[name], kind)
    feed = feed_of(model)
    (wanted,) = ReferenceEvaluator(model).run(None, feed)
    program = Program.of(model, units, numerics=numerics)
    close(program.run(feed)["y"], wanted.astype(float), {np.float32: 1e-6, np.float16: 2e-3}.get(wanted.dtype.type, 0))
    tensor_cores = numerics == "default" and name != "decoding"
    assert ("mlc_mma_" in printed(program)) == tensor_cores
    if numerics == "default":
        product = list(program.functions.values())[-1]
        assert [element_of(v) for v in product.block.args][:2] == 2 * [NAMES_OF_ELEMENTS[kind]]


@pytest.mark.parametrize("options", [{}, RELAXED])
def test_the_product_that_is_measured(options: dict[str, Any], units: Path) -> None:
    a, b = codes(E4M3, 48, 64), codes(E4M3, 80, 64)
    program = Program.of(product_model((48, 80, 64), b), units, **options)
    (kernel,) = program.kernels.strings.values()
    assert "mlc_mma_e4m3(" in kernel or "mlc_wgmma<" in kernel
    close(program.run({"a": a})["y"], SCALES[0] * SCALES[1] * product(a, b.T), 4e-3)


def test_other_formats_are_widened_before(units: Path) -> None:
    """GPUs have no products of formats without a negative zero (FNUZ)."""
    program = Program.of(of(PLAIN, "float8e4m3fnuz", "float8e4m3fnuz"), units)
    assert "mlc_mma_" not in printed(program)
    a, b = codes("float8e4m3fnuz", 70, 77), codes("float8e4m3fnuz", 77, 100)
    close(program.run({"a": a, "b": b})["y"], np.maximum(product(a, b), 0), 1e-6)


def test_a_scale_that_varies_along_the_sum_stays_in_it(units: Path) -> None:
    text = """(KIND[70,96] x, float[96] t) => (float[70,40] y) <KIND[96,40] w = WEIGHT> {
      c = Cast <to = 1> (x)  d = DequantizeLinear <axis = 0> (w, t)  y = MatMul (c, d) }"""
    model = quantized(text, E4M3)
    feed = feed_of(model)
    program = Program.of(model, units)
    assert "mlc_mma_" not in printed(program)
    (wanted,) = ReferenceEvaluator(model).run(None, feed)
    close(program.run(feed)["y"], wanted, 1e-6)


REFUSED = [
    (HOPPER, "{m}/64p {n}/64vp | {k}/128 | warps=4 mma=m64n64k32", "add products of f8e4m3fn in about 14 bits"),
    (RELAXED, "{m}/64p {n}/256vp | {k}/128 | warps=4 mma=m64n256k32", "would have 128 sums, more than 64"),
    ({"numerics": "strict"}, "{m}/64p {n}/64vp | {k}/32 | mma=m16n8k32", "strict numerics multiply and add floats"),
    ({}, "{m}/64p {n}/64vp | {k}/32 | mma=m16n8k16", "factors of f8e4m3fn have m16n8k32"),
]


@pytest.mark.parametrize("options, band, words", REFUSED)
def test_what_tensor_cores_do_not_multiply(options: dict[str, Any], band: str, words: str, units: Path) -> None:
    with pytest.raises(mlc.InputError, match=words):
        made(of(TRANSPOSED, E4M3, E4M3, 200, 300, 272), units, band, **options)


def test_rules_choose_warpgroups_in_relaxed_numerics_alone(units: Path) -> None:
    model = of(TRANSPOSED, E4M3, E5M2, 2048, 2048, 4096)
    relaxed = printed(Program.of(model, units, **RELAXED))
    assert "mlc_wgmma<128, MLC_E4M3, MLC_E5M2, 128, false, false, false>(" in relaxed and "mlc_bulk_copy(" in relaxed
    assert "mlc_mma_e4m3_e5m2(" in printed(Program.of(model, units, **HOPPER))


QGMMA, F2FP = 0x9F3, 0x23E  # SASS: products of warpgroups, and the conversion of floats of 8 bits to halves


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_cubins_of_warpgroups(units: Path, tmp_path: Path) -> None:
    sources = [printed(Program.of(of(TRANSPOSED, *pair, 4096, 4096, 2048), units, **RELAXED)) for pair in PAIRS]
    band = "{m}/128p {n}/128vp | {k}/128 | warps=8 depth=4"
    sources += [made(of(TRANSPOSED, E4M3, E4M3, 4096, 4096, 2048), units, band, **RELAXED)[1]]
    weight = codes(E4M3, 4096, 2048)
    model = product_model((4096, 4096, 2048), np.ascontiguousarray(weight.T), across=True)
    sources += [printed(Program.of(model, units, **RELAXED))]
    found, log, codes_ = compiled(sources, tmp_path)
    assert len(found) == 6 and not any(stack or spills for stack, spills, _ in found)
    assert "serialized" not in log and QGMMA in codes_ and HMMA not in codes_


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_cubins_of_warps_multiply_halves(arch: str, units: Path, tmp_path: Path) -> None:
    sources = [printed(Program.of(of(text, *PAIRS[2], 4096, 4096, 2048), units)) for text in (TRANSPOSED, PLAIN)]
    found, _, codes = compiled(sources, tmp_path, arch)
    assert len(found) == 2 and not any(stack or spills for stack, spills, _ in found)
    assert HMMA in codes and (F2FP in codes) == (arch == "sm_90a")


def test_weights_across_the_sum_reach_warpgroups(units: Path) -> None:
    """They are transposed when the model is compiled: products are QGMMA with relaxed numerics, HMMA by default."""
    text = QUANTIZED["one scale each"].replace("70,", "200,").replace("96", "272").replace("40", "152")
    model = quantized(text, E4M3)
    feed = feed_of(model)
    (wanted,) = ReferenceEvaluator(model).run(None, feed)
    relaxed, default = (Program.of(model, units, **options) for options in (RELAXED, HOPPER))
    assert "mlc_wgmma<" in printed(relaxed) and "mlc_mma_" not in printed(relaxed)
    assert "mlc_mma_e4m3(" in printed(default) and "mlc_wgmma<" not in printed(default)
    close(relaxed.run(feed)["y"], wanted.astype(float), 4 * 2.0**-13)
