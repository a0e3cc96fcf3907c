"""Conversions of strings to numbers and back."""

from __future__ import annotations

from mlc.dialects.types import STRING, is_float, is_narrow
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


def from_string(build: Builder, x: Tensor, element: str) -> Tensor:
    """Strings as numbers; the run fails where one is not a number."""
    if element == STRING:
        return x
    real = is_float(element) or is_narrow(element) or element == "i1"
    return build.cast(build.string_routine("to_f64" if real else "to_i64", x), element)


def to_string(build: Builder, x: Tensor) -> Tensor:
    """Numbers as strings: integers in full, f32 with 8 digits as in onnxruntime, f64 with 17, which identify it."""
    wide = x.element if x.element in ("f64", "ui64") else "f32" if x.element[0] in "fb" else "i64"
    return build.string_routine(f"of_{wide}", build.cast(x, wide), element=STRING)
