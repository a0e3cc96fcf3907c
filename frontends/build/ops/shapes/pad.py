"""Padding modes: by a constant, by edge elements, periodic (wrap), mirrored (reflect). Source: NumPy, ONNX Pad 25."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.runtime_scalars import Scalar, any_runtime
from mlc.frontends.build.tensors import Tensor

MODES = ("edge", "wrap", "reflect")  # which pad with elements


def pad_constant(
    build: Builder, x: Tensor, low: Sequence[Scalar], high: Sequence[Scalar], value: Tensor | float
) -> Tensor:
    """``x`` with ``value`` around it; negative amounts crop. Amounts may be run-time scalars, the value a tensor."""
    if any_runtime((*low, *high)) or isinstance(value, Tensor):
        fill = build.reshape(value, ()) if isinstance(value, Tensor) else build.constant(value, x.element)
        return _runtime_pad(build, x, low, high, fill)
    return build.pad(x, low, high, literal(value))  # type: ignore[arg-type]


def _runtime_pad(build: Builder, x: Tensor, low: Sequence[Scalar], high: Sequence[Scalar], value: Tensor) -> Tensor:
    shape = _padded_shape(build, x, low, high)
    at = [f"i{n} - ({a})" for n, a in enumerate(low)]
    inside = " & ".join(f"({p} >= 0) & ({p} < {d})" for p, d in zip(at, x.shape, strict=True)) or "True"
    reads = ", ".join(f"max(min({p}, ({d}) - 1), 0)" for p, d in zip(at, x.shape, strict=True)) or "()"
    xs = [with_spare(build, x, value, [n for n, d in enumerate(x.shape) if not at_least(d, 1)]), value]
    return build.compute(f"where({inside}, x0[{reads}], x1[()])", xs, shape)


def _padded_shape(build: Builder, x: Tensor, low: Sequence[Scalar], high: Sequence[Scalar]) -> list[DimLike]:
    """The shape of ``x`` after padding by these amounts."""
    each = zip(x.shape, low, high, strict=True)
    grown = [f"({d}) + {a} + {b}" if isinstance(a, str) or isinstance(b, str) else d + a + b for d, a, b in each]
    return [build.dim(d, f"dimension {n} of the result") for n, d in enumerate(grown)]


def with_spare(build: Builder, x: Tensor, value: Tensor, axes: Sequence[int]) -> Tensor:
    """Return ``x`` with one more element, ``value``, along axes that may be empty, such that there is one to read."""
    for axis in axes:
        spare = build.broadcast(value, [1 if n == axis else e for n, e in enumerate(x.shape)])
        x = build.concat([x, spare], axis)
    return x


def resize_axis(build: Builder, x: Tensor, axis: int, length: DimLike) -> Tensor:
    """``x`` with ``length`` elements along an axis: cropped at the end, or with zeros after it."""
    more = length - x.shape[axis]
    low, high = [0] * x.rank, [more if n == axis else 0 for n in range(x.rank)]
    if isinstance(more, int):
        return build.pad(x, low, high)
    return _runtime_pad(build, x, low, high, build.constant(0, x.element))


def pad_with_elements(build: Builder, x: Tensor, low: Sequence[Scalar], high: Sequence[Scalar], mode: str) -> Tensor:
    """``x`` padded with elements of its own; ``mode`` is edge, wrap or reflect.

    Along an axis that surely has enough elements these are slices, which are copied; else each is read at an index.
    """
    if mode not in MODES:
        raise NotSupported(f"padding mode '{mode}'; it is constant, {', '.join(MODES)}")
    rest: list[tuple[Scalar, Scalar]] = []
    for axis, (a, b) in enumerate(zip(low, high, strict=True)):
        if a == 0 and b == 0:  # no element of this axis is needed: it may be empty
            rest.append((0, 0))
            continue
        near = isinstance(a, int) and isinstance(b, int) and min(a, b) >= 0 and _has(x.shape[axis], max(a, b), mode)
        x = build.concat(_borders(build, x, axis, mode, a, b), axis) if near else x  # type: ignore[arg-type]
        rest.append((0, 0) if near else (a, b))
    if all(p == (0, 0) for p in rest):
        return x
    return _by_index(build, x, [a for a, _ in rest], [b for _, b in rest], mode)


def _has(extent: DimLike, amount: int, mode: str) -> bool:
    """Whether an axis always has enough elements to pad one side by this amount."""
    return bool(at_least(extent, {"edge": 1, "wrap": max(amount, 1), "reflect": amount + 1}[mode]))


def _borders(build: Builder, x: Tensor, axis: int, mode: str, low: int, high: int) -> list[Tensor]:
    """The padding before ``x`` along an axis, ``x``, and the padding after it."""
    d = x.shape[axis]
    if mode == "wrap":
        return [build.cut(x, axis, d - low, low), x, build.cut(x, axis, 0, high)]
    if mode == "edge":
        first, last = (build.cut(x, axis, at, 1) for at in (0, d - 1))
        return [_repeated(build, first, axis, low), x, _repeated(build, last, axis, high)]
    return [_reversed(build, x, axis, low, low), x, _reversed(build, x, axis, d - 2, high)]


def _repeated(build: Builder, x: Tensor, axis: int, times: int) -> Tensor:
    """``x``, which has one element along an axis, repeated this many times."""
    return build.broadcast(x, [times if n == axis else d for n, d in enumerate(x.shape)])


def _reversed(build: Builder, x: Tensor, axis: int, start: DimLike, size: int) -> Tensor:
    """``size`` elements of an axis in reverse order, from ``start`` down."""
    along = [n == axis for n in range(x.rank)]
    sizes = [size if a else d for a, d in zip(along, x.shape, strict=True)]
    return build.slice(x, [start if a else 0 for a in along], sizes, [-1 if a else 1 for a in along])


def _by_index(build: Builder, x: Tensor, low: Sequence[Scalar], high: Sequence[Scalar], mode: str) -> Tensor:
    """Pad by one operation that reads each dimension at an index that ``mode`` maps into it."""
    reads = []
    for n, (d, p) in enumerate(zip(x.shape, low, strict=True)):
        at = f"(i{n} - ({p}))"
        period = f"max(2*({d}) - 2, 1)"
        mapped = {
            "edge": f"min(max({at}, 0), ({d}) - 1)",
            "wrap": f"{at} % ({d})",
            "reflect": f"({d}) - 1 - abs(({d}) - 1 - {at} % {period})",
        }[mode]
        reads.append(f"i{n}" if low[n] == 0 and high[n] == 0 else mapped)
    return build.compute(f"x0[{', '.join(reads)}]", [x], _padded_shape(build, x, low, high))
