"""The generated models in 8 bits, as onnxruntime.quantization and `mlc.quantize` make them, and in 4."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

import mlc
from benchmarks import models
from benchmarks.models.cache import cached
from benchmarks.models.inputs import random_inputs

SAMPLES = 4  # inputs of which static quantization takes the ranges
TRANSFORMER = ["MatMul", "Gemm"]  # what of a transformer is quantized; of a network of convolutions all that can be
BLOCK = 32  # columns of a 4-bit weight that share a scale


def path(name: str, form: str) -> Path:
    """The file of a family's model in a form of `FORMS`."""
    return cached(f"{name}_{form}", (name, form), lambda: FORMS[form](models.path(name)))


def static(file: Path) -> onnx.ModelProto:
    """QuantizeLinear and DequantizeLinear round operator (QDQ): u8 activations, s8 weights with scales by channel."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    def write(out: Path) -> None:
        quantize_static(
            file, out, _Samples(file), quant_format=QuantFormat.QDQ, op_types_to_quantize=_kinds(file),
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=True,
            extra_options={"MatMulConstBOnly": True},
        )  # fmt: skip

    return _written(write)


def dynamic(file: Path) -> onnx.ModelProto:
    """DynamicQuantizeLinear and MatMulInteger: activations by their own range, s8 weights."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    return _written(lambda out: quantize_dynamic(file, out, per_channel=True, weight_type=QuantType.QInt8))


def int4(file: Path) -> onnx.ModelProto:
    """MatMulNBits in the place of MatMul: 4-bit weights with a scale a block, activations in f32."""
    model = onnx.load(file)
    weights = {t.name: t for t in model.graph.initializer}
    for node in [n for n in model.graph.node if n.op_type == "MatMul" and n.input[1] in weights]:
        k, n = weights[node.input[1]].dims
        values, scales = _by_blocks(numpy_helper.to_array(weights.pop(node.input[1])))
        names = [f"{node.input[1]}_Q4", f"{node.input[1]}_scales"]
        weights |= {a: numpy_helper.from_array(v, a) for a, v in zip(names, (values, scales), strict=True)}
        attributes = {"K": k, "N": n, "bits": 4, "block_size": BLOCK}
        inputs = [node.input[0], *names]
        new = helper.make_node("MatMulNBits", inputs, node.output, node.name, domain="com.microsoft", **attributes)
        node.CopyFrom(new)
    del model.graph.initializer[:]
    model.graph.initializer.extend(weights.values())
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def _by_blocks(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A weight [K, N] as MatMulNBits stores it: numbers in pairs [N, K/BLOCK, BLOCK/2], scales [N, K/BLOCK]."""
    k, n = w.shape
    blocks = np.pad(w.T, ((0, 0), (0, -k % BLOCK))).reshape(n, -1, BLOCK)
    scales = np.abs(blocks).max(-1, keepdims=True) / 7 + 1e-12
    numbers = (np.clip(np.rint(blocks / scales), -8, 7) + 8).astype(np.uint8)
    return numbers[..., ::2] | numbers[..., 1::2] << 4, scales[..., 0].astype(w.dtype)


def ourstatic(file: Path) -> onnx.ModelProto:
    """`static` as `mlc.quantize` makes it, of the same inputs."""
    return mlc.quantize(file, _drawn(file), mode="static").model


def ourdynamic(file: Path) -> onnx.ModelProto:
    """`dynamic` as `mlc.quantize` makes it."""
    return mlc.quantize(file, mode="dynamic").model


FORMS: dict[str, Callable[[Path], onnx.ModelProto]] = {
    f.__name__: f for f in (static, dynamic, int4, ourstatic, ourdynamic)
}


def _written(write: Callable[[Path], None]) -> onnx.ModelProto:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "model.onnx")
        return onnx.load(Path(folder) / "model.onnx")


def _kinds(file: Path) -> list[str] | None:
    kinds = {node.op_type for node in onnx.load(file, load_external_data=False).graph.node}
    return None if "Conv" in kinds else TRANSFORMER


def _drawn(file: Path) -> list[dict[str, np.ndarray]]:
    model, random = onnx.load(file), np.random.default_rng(0)
    return [random_inputs(model, random) for _ in range(SAMPLES)]


class _Samples:
    """Random inputs, as a calibration reader of onnxruntime gives them."""

    def __init__(self, file: Path) -> None:
        self._left: Iterator[dict[str, np.ndarray]] = iter(_drawn(file))

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self._left, None)
