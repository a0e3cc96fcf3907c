"""Ranges (arange) of integers or floats, whose ends may be run-time scalars. Source: ONNX Range 11."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mlc.dialects.semantics.dims import Dim, DimLike, ceildiv
from mlc.dialects.types import numpy_dtype
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import larger
from mlc.frontends.build.folding.fold import KNOWN_LIMIT
from mlc.frontends.build.runtime_scalars import Scalar, is_traced
from mlc.frontends.build.tensors import Tensor


def arange(build: Builder, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    """[n] in the element of ``start``: start, start + delta, … before ``limit``. All three hold one element."""
    ends = [start, limit, delta]
    if any(x.known is None for x in ends):
        return _runtime_range(build, [build.reshape(x, ()) for x in ends])
    element = start.element
    first, last, step = (x.known.reshape(()).item() for x in ends)  # type: ignore[union-attr]
    if isinstance(step, Dim):
        raise NotSupported("a symbolic step")
    if step == 0 or not all(isinstance(v, int | Dim) or math.isfinite(v) for v in (first, last, step)):
        raise NotSupported(f"a range from {first} to {last} in steps of {step}; give numbers, and a delta but 0")
    whole = isinstance(step, int)
    length = larger(ceildiv(last - first, step), 0) if whole else max(0, int(np.ceil((last - first) / step)))
    if isinstance(length, int) and length <= KNOWN_LIMIT and not isinstance(first, Dim):
        return Tensor.from_known((first + np.arange(length) * step).astype(numpy_dtype(element)), element)
    return build.compute(f"{element}({first}) + {element}(i0) * {step}", [], (length,))


def _runtime_range(build: Builder, ends: Sequence[Tensor]) -> Tensor:
    start, limit, delta = ends
    element, traced = start.element, all(is_traced(x) for x in ends)
    why = f"Node '{build.node}': the delta of a range is 0"
    if traced:
        first, last, step = (build.scalars.of(x).item() for x in ends)
        length: Scalar = f"where(abs({step}) < 1, -1, {_count(last - first, step)})"
    else:
        steps = "f64(x0 - x1) / where(x2 == 0, f64(1), f64(x2))"
        number = f"min(max(ceil({steps}), 0), {float(1 << 62)})"
        count = build.map(f"i64(where(x2 == 0, f64(-1), {number}))", limit, start, delta)
        length = build.scalars.of(count).item()
    elements = build.compute(f"{element}(i0)", [], (build.scalars.dim(length, why),))
    if traced:
        return build.compute(f"{element}({first}) + {element}(i0) * {element}({step})", [], elements.shape)
    return build.map("x0 + x1 * x2", start, elements, delta)


def _count(distance: DimLike, delta: DimLike) -> Scalar:
    """The number of steps of ``delta`` that begin within ``distance``."""
    if isinstance(delta, int) and delta > 0:
        return larger(ceildiv(distance, delta), 0)
    away = f"where({delta} < 0, -({distance}), {distance})"
    return f"max(({away} + abs({delta}) - 1) // max(abs({delta}), 1), 0)"
