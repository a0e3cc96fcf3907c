"""Which tests have their kernels compiled without optimization, in half of the time.

They compare numbers of small models, or look at what is around a kernel. Tests of vector code, of speed, of bits that
depend on contracted products, of long runs and of the compiler's own flags keep the flags of users.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
UNOPTIMIZED = [HERE / name for name in (
    *("conformance", "cuda", "programs", "unit/dialects"),
    *(f"unit/compiler/{name}" for name in ("distributions", "generation", "nn", "optim", "quantization", "scipy")),
    *(f"unit/compiler/{name}" for name in ("attribution", "privacy", "robust")),
    *(f"unit/compiler/{name}" for name in ("torch_backend", "tracing", "train")),
    *(f"unit/frontends/{name}" for name in ("array", "build", "onnx/ops", "onnx/reading", "torch_frontend")),
    *(f"e2e/test_{name}.py" for name in (
        *("absent_attributes", "any_dimension_name", "branches", "choices", "data_sizes", "empty_extents"),
        *("large_outputs", "loops", "null_arguments", "open_axes", "open_resize", "open_shapes", "random_operators"),
        *("registered_operators", "size_guards", "squeezes", "views"),
    )),
)]  # fmt: skip
"""Folders and files."""
OPTIMIZED = [HERE / "unit/frontends/onnx/ops/core/test_single_operators.py"]
"""GCC 12 ends in an internal error on Shrink of integers without optimization."""


def unoptimized(path: Path) -> bool:
    """Whether the tests of a file are such."""
    return path not in OPTIMIZED and any(path.is_relative_to(each) for each in UNOPTIMIZED)
