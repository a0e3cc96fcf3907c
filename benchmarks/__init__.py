"""Benchmarks of mlc: a generator of ONNX models, a correctness table and a comparison with other engines."""
