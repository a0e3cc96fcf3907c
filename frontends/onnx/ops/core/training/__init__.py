"""Operators of ai.onnx.preview.training."""
