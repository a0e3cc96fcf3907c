"""Other models of the table, quantized as people do it: `quantize_dynamic` and `quantize_static` of onnxruntime."""

from __future__ import annotations

import tempfile
from pathlib import Path

from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from benchmarks.real.inputs import Arrays, inputs
from benchmarks.real.table import Real

CALIBRATIONS = 4


class _Samples(CalibrationDataReader):
    """Random inputs of other seeds than those of the comparison."""

    def __init__(self, model: Real, file: Path) -> None:
        self._left = [inputs(file, model.inputs, model.sizes[0], seed) for seed in range(1000, 1000 + CALIBRATIONS)]

    def get_next(self) -> Arrays | None:
        return self._left.pop() if self._left else None


def quantize(model: Real, file: Path, to: Path, static: bool) -> None:
    """Weights as int8; activations as uint8 by observed ranges (static, QDQ nodes) or as they come (dynamic)."""
    if not static:
        quantize_dynamic(file, to, weight_type=QuantType.QInt8)
        return
    with tempfile.TemporaryDirectory() as name:
        prepared = Path(name) / "prepared.onnx"
        quant_pre_process(file, prepared, skip_symbolic_shape=True)
        quantize_static(prepared, to, _Samples(model, file), quant_format=QuantFormat.QDQ, per_channel=True)
