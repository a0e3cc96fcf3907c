"""Operators of the domain ai.onnx.ml on tensors of numbers. Maps and texts are refused."""

DOMAIN = "ai.onnx.ml"
