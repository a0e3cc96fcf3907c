"""What mlc writes is no farther from f32 than what onnxruntime.quantization makes of the same calibration data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto
from quantizable import Array, by_onnxruntime, convolutions, products, samples, sqnr

import mlc

WITHIN = 1.5  # decibels: both draw other numbers when they round
LEFT_OUT = {"static": ["transposed"], "dynamic": ["mix"]}
"""Layers that onnxruntime does not quantize: transposed convolutions with groups and a bias, constant left factors."""


class Reader:
    """Calibration data, one batch after the other."""

    def __init__(self, data: dict[str, Array]) -> None:
        self.left = iter([{"x": data["x"][n : n + 16]} for n in range(0, len(data["x"]), 16)])

    def get_next(self) -> dict[str, Array] | None:
        return next(self.left, None)


def static(model: Path, data: dict[str, Array], out: Path) -> None:
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    quantize_static(
        model, out, Reader(data), quant_format=QuantFormat.QDQ, per_channel=True,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, nodes_to_exclude=["transposed"],
    )  # fmt: skip


def dynamic(model: Path, data: dict[str, Array], out: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(model, out, per_channel=True, weight_type=QuantType.QInt8)


PEERS = {"static": static, "dynamic": dynamic}


@pytest.mark.parametrize("mode", PEERS)
@pytest.mark.parametrize("make", [convolutions, products])
def test_no_farther_from_floats(make: Any, mode: str, tmp_path: Path) -> None:
    random = np.random.default_rng()
    model: ModelProto = make(random)
    data, inputs = samples(random, model, 64), samples(random, model, 64)
    onnx.save(model, tmp_path / "net.onnx")
    PEERS[mode](tmp_path / "net.onnx", data, tmp_path / "peer.onnx")
    plain = by_onnxruntime(model, inputs)[0]
    theirs = sqnr(plain, by_onnxruntime(onnx.load(tmp_path / "peer.onnx"), inputs)[0])
    left_out = [node.name for node in model.graph.node if node.name in LEFT_OUT[mode]]
    ours = sqnr(plain, by_onnxruntime(mlc.quantize(model, data, mode=mode, exclude=left_out).model, inputs)[0])
    assert ours > theirs - WITHIN


@pytest.mark.parametrize("batch", ["batch", 4])
@pytest.mark.parametrize("mode", ["static", "dynamic"])
@pytest.mark.parametrize("make", [convolutions, products])
def test_onnxruntime_multiplies_bytes(make: Any, mode: str, batch: Any, tmp_path: Path) -> None:
    """Of what its optimizer leaves, no layer that it has a kernel of bytes for multiplies floats; also where shapes are
    known, so that it makes one Gemm of MatMul and Add."""
    random = np.random.default_rng()
    model = make(random)
    if batch != "batch":
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = batch
    made = mlc.quantize(model, samples(random, model, 8), mode=mode, exclude=["mix"] if make is products else [])
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(made.model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    kinds = [node.op_type for node in onnx.load(tmp_path / "optimized.onnx").graph.node if "mix" not in node.name]
    floats = {"Conv", "Gemm", "MatMul", "FusedConv", "FusedGemm", "FusedMatMul"}
    assert sum(kind in floats for kind in kinds) == 0, kinds
