"""Operators of the domain ai.onnx.ml. Maps are refused as inputs."""

DOMAIN = "ai.onnx.ml"
