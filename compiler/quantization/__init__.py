"""Quantization, pruning and low-rank factorization of ONNX models.

made = mlc.quantize("model.onnx", {"x": x}, mode="static")
made.save("model.int8.onnx")
print(made.report.json())
"""

from mlc.quantization.quantize import Quantized, quantize
from mlc.quantization.report import Errors, LayerReport, Report
from mlc.quantization.settings import Settings

__all__ = ["Errors", "LayerReport", "Quantized", "Report", "Settings", "quantize"]
