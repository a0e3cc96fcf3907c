"""Operators of the domain com.microsoft, which onnxruntime's optimizer and its exporters make."""

DOMAIN = "com.microsoft"
