"""Operators of the domain ai.onnx.ml."""

DOMAIN = "ai.onnx.ml"
