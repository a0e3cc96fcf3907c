"""Operators of every schedule rule on the CUDA target, emulated on the CPU, against onnxruntime."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import onnxruntime as ort
import pytest
from emulator import needed
from launcher import Program
from ml_dtypes import float8_e4m3fn, float8_e5m2

import mlc
from mlc import target
from mlc.dialects.poly import schedule_of

pytestmark = needed

CASES = {
    "elementwise": "(float[3,37,50] x, float[50] b) => (float[3,37,50] y) { e = Exp (x)  y = Add (e, b) }",
    "symbolic": "(float[n,m] x, float[m] b) => (float[n,m] y) { e = Tanh (x)  y = Mul (e, b) }",
    "product": "(float[70,45] a, float[45,100] b) => (float[70,100] y) { c = MatMul (a, b)  y = Relu (c) }",
    "transposed product": "(float[33,45] a, float[100,45] b) => (float[33,100] y) { y = Gemm <transB = 1> (a, b) }",
    "one row": "(float[1,45] a, float[100,45] b) => (float[1,100] y) { y = Gemm <transB = 1> (a, b) }",
    "batches": "(float[2,3,20,16] a, float[2,3,16,28] b) => (float[2,3,20,28] y) { y = MatMul (a, b) }",
    "symbolic rows": "(float[n,45] a, float[45,100] b) => (float[n,100] y) { y = MatMul (a, b) }",
    "short rows": "(float[5,300] x) => (float[5,300] y) { y = Softmax (x) }",
    "long rows": "(float[3,3000] x) => (float[3,3000] y) { y = Softmax (x) }",
    "symbolic width": "(float[n,m] x) => (float[n,m] y) { y = Softmax (x) }",
    "normalization": "(float[7,200] x, float[200] g) => (float[7,200] y) { y = LayerNormalization (x, g) }",
    "convolution": "(float[2,5,17,19] x, float[12,5,3,3] w) => (float[2,12,9,10] y) "
    "{ c = Conv <pads = [1,1,1,1], strides = [2,2]> (x, w)  y = Sigmoid (c) }",
    "depthwise": "(float[2,6,9,11] x, float[6,1,3,3] w) => (float[2,6,9,11] y) "
    "{ y = Conv <pads = [1,1,1,1], group = 6> (x, w) }",
    "transposed convolution": "(float[1,4,7,8] x, float[4,6,3,3] w) => (float[1,6,15,17] y) "
    "{ y = ConvTranspose <strides = [2,2]> (x, w) }",
    "window": "(float[2,6,13,11] x) => (float[2,6,7,6] y) "
    "{ y = MaxPool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]> (x) }",
    "mean": "(float[2,6,13,11] x) => (float[2,6,1,1] y) { y = GlobalAveragePool (x) }",
    "columns": "(float[200,40] x) => (float[1,40] y) { a = Constant <value_ints = [0]> ()  y = ReduceSum (x, a) }",
    "total": "(float[200,40] x) => (float[1,1] y) { y = ReduceMax (x) }",
    "argument": "(float[33,50] x) => (int64[33,1] y) { y = ArgMax <axis = 1> (x) }",
    "transposition": "(float[20,40,33] x) => (float[33,20,40] y) { y = Transpose <perm = [2,0,1]> (x) }",
    "concatenation": "(float[20,40] a, float[20,7] b) => (float[20,47] y) "
    "{ c = Concat <axis = 1> (a, b)  y = Neg (c) }",
    "padding": "(float[20,40] x) => (float[25,47] y) "
    '{ p = Constant <value_ints = [2,3,3,4]> ()  y = Pad <mode = "reflect"> (x, p) }',
    "order": "(float[5,77] x) => (float[5,9] y, int64[5,9] i) "
    "{ k = Constant <value_ints = [9]> ()  y, i = TopK (x, k) }",
    "order of a long row": "(float[1,20000] x) => (float[1,20] y, int64[1,20] i) "
    "{ k = Constant <value_ints = [20]> ()  y, i = TopK (x, k) }",
    "running sums": "(float[5,77] x) => (float[5,77] y) { a = Constant <value_int = 1> ()  y = CumSum (x, a) }",
    "unsigned": "(float[33,50] x) => (uint8[33,50] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear (x) }",
    "recurrent": "(float[6,3,10] x, float[1,64,10] w, float[1,64,16] r) => (float[6,1,3,16] y) "
    "{ y = LSTM <hidden_size = 16> (x, w, r) }",
    "run-time size": "(float[9,14] x) => (int64[2,k] y) { p = Relu (x)  y = NonZero (p) }",
    "double": "(double[9,300] x) => (double[9,300] y) { y = LogSoftmax (x) }",
    "integers": "(int32[9,30] x, int32[9,30] z) => (int32[9,30] y) { y = Div (x, z) }",
    "bytes": "(bool[9,30] x, bool[9,30] z) => (bool[9,30] y) { y = Xor (x, z) }",
}


def model_of(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g {text}')


def feed_of(model: onnx.ModelProto, **sizes: int) -> dict[str, Any]:
    """Random inputs; no integer is 0."""
    random, feed = np.random.default_rng(), {}
    for value in model.graph.input:
        shape = [d.dim_value or sizes[d.dim_param] for d in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        whole = random.integers(1, 9, shape) * random.choice([-1, 1], shape)
        data = whole if dtype.kind == "i" else random.integers(0, 2, shape) if dtype.kind == "b" else None
        feed[value.name] = (random.standard_normal(shape) if data is None else data).astype(dtype)
    return feed


def compare(model: onnx.ModelProto, units: Path, feed: dict[str, Any], **options: Any) -> None:
    actual = Program.of(model, units, **options).run(feed)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for output, wanted in zip(session.get_outputs(), session.run(None, feed), strict=True):
        assert actual[output.name].dtype == wanted.dtype and actual[output.name].shape == wanted.shape
        tolerance = 2e-5 * np.abs(wanted).max() if wanted.dtype.kind == "f" else 0
        np.testing.assert_allclose(actual[output.name], wanted, rtol=0, atol=tolerance, err_msg=output.name)


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str, units: Path) -> None:
    model = model_of(CASES[name])
    compare(model, units, feed_of(model, n=29, m=1300))


@pytest.mark.parametrize("n, m", [(1, 1), (3, 31), (17, 2050)])
def test_extents_beside_those_of_tiles(n: int, m: int, units: Path) -> None:
    for name in ("symbolic", "symbolic rows", "symbolic width"):
        model = model_of(CASES[name])
        compare(model, units, feed_of(model, n=n, m=m))


def scheduled(model: onnx.ModelProto, units: Path, band: str) -> str:
    """A line of a schedule file for a product of rows m, columns n and terms k; ``band`` may add more after '|'."""
    made = Program.of(model, units)
    (name, fn), *_ = made.functions.items()
    rule, statements, *tiles = re.split(r": | \| ", str(schedule_of(fn)[0]))
    m, n, k = (re.match(r"\w+", item)[0] for part in tiles[:2] for item in part.split())  # type: ignore[index]
    tiles = band.format(m=m, n=n, k=k)
    return f"{name}: {rule}: {statements} | {tiles if ' | ' in tiles else f'{tiles} | {k}'}\n"


@pytest.mark.parametrize(
    "band",
    [
        "{m}/16*4+6*1 {n}/32v",
        "{n}/8v {m}/7*10",
        "{m}/64p {n}/64vp",
        "{m}/9p {n}/41vp",
        "{m}/64p {n}/64vp | {k}/8 | warps=2x4",
        "{m}/32p {n}/64vp | {k}/20 | warps=16",
        "{m}/32p {n}/16vp | {k} | warps=1",
    ],
)
def test_a_schedule_of_the_user(band: str, units: Path) -> None:
    model = model_of(CASES["product"])
    compare(model, units, feed_of(model), schedule=scheduled(model, units, band))


def tf32(x: np.ndarray) -> np.ndarray:
    """Floats with 10 bits after the point, which the tensor cores take as they are."""
    return ((x.view(np.uint32) + 0x1000) & ~np.uint32(0x1FFF)).view(np.float32)


@pytest.mark.parametrize(
    "band, words",
    [
        ("{m}/64p {n}/64vp | {k} | warps=64", "'warps=64': a block has at most 32 warps on 'cuda'"),
        ("{m}/64p {n}/64vp | {k}/48 | warps=2", "48 steps need"),
    ],
)
def test_thread_blocks_that_do_not_fit(band: str, words: str, units: Path) -> None:
    model = model_of("(float[700,450] a, float[450,900] b) => (float[700,900] y) { y = MatMul (a, b) }")
    with pytest.raises(mlc.InputError, match=words):
        compare(model, units, {}, schedule=scheduled(model, units, band.replace("/64", "/512")))


def test_padded_vectors_are_refused_on_cpus(units: Path) -> None:
    model = model_of(CASES["product"])
    with pytest.raises(mlc.InputError, match="padded tiles of vectors \\(vp\\) are for GPUs, not for 'x86-64'"):
        mlc.compile(model, target="x86-64", schedule=_file(units, scheduled(model, units, "{m}/64p {n}/64vp")))
    with pytest.raises(mlc.InputError, match="a fourth section is for GPUs, not for 'x86-64'; leave it out"):
        line = scheduled(model, units, "{m}/7*10 {n} | {k}/8 | warps=8")
        mlc.compile(model, target="x86-64", schedule=_file(units, line))


def _file(folder: Path, text: str) -> str:
    (folder / "schedules").write_text(text)
    return str(folder / "schedules")


@pytest.mark.parametrize("element", ["float8e4m3fn", "float8e5m2"])
@pytest.mark.parametrize("name", ["cuda:sm_80", "cuda:sm_90"])
def test_casts_of_floats_of_8_bits(name: str, element: str, units: Path) -> None:
    """Every value from 8 bits, and rounded ones to them, as ml_dtypes has them."""
    dtype, number = {"float8e4m3fn": (float8_e4m3fn, 17), "float8e5m2": (float8_e5m2, 19)}[element]
    text = f"y = Cast <to = 1> (a)  z = Cast <to = {number}> (x)"
    model = model_of(f"({element}[256] a, float[5,77] x) => (float[256] y, {element}[5,77] z) {{ {text} }}")
    model.opset_import[0].version = 19
    a = np.arange(256, dtype=np.uint8).view(dtype)
    x = (30 * np.random.default_rng().standard_normal((5, 77))).astype(np.float32)
    results = Program.of(model, units, target=target.get(name)).run({"a": a, "x": x})
    np.testing.assert_array_equal(results["y"], a.astype(np.float32))
    np.testing.assert_array_equal(results["z"].view(np.uint8), x.astype(dtype).view(np.uint8))
