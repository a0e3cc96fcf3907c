"""Fourier transforms of several dimensions. A length that is a symbol is transformed by a product with a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.array.fft import functions as fft
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.ops.signal.fourier import dft
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.dtypes import Complex
from mlc.frontends.torch.ops.arrays import by_arrays
from mlc.frontends.torch.ops.math.complex import formula, joined, parted
from mlc.frontends.torch.registry import Call

POWERS = (0.0, 0.5, 1.0)
"""By which power of 1 / n each of torch's norms scales the sum: none, 1 / sqrt(n), 1 / n."""


@formula("_fft_c2c")
def complex_transform(call: Call, x: Complex, dims: Sequence[int], norm: int, forward: bool) -> Complex:
    axes = [normalize_axis(d, x.re.rank) for d in dims]
    return _scaled(call, _along(call, x, axes, forward), [x.re.shape[a] for a in axes], norm)


@formula("_fft_r2c")
def real_transform(call: Call, x: Tensor, dims: Sequence[int], norm: int, onesided: bool) -> Complex:
    """``onesided``: of the last dimension the first half, whose conjugates are the rest."""
    *others, last = [normalize_axis(d, x.rank) for d in dims]
    x = call.tensor(x)
    if isinstance(x.shape[last], int):
        half = by_arrays(call.build, lambda a: (fft.rfft if onesided else fft.fft)(a, axis=last), x)
    else:
        half = parted(call.build, dft(call.build, _wide(call, [x]), last, onesided=onesided))
    return _scaled(call, _along(call, half, others, True), [x.shape[a] for a in (*others, last)], norm)


@formula("_fft_c2r")
def real_inverse(call: Call, x: Complex, dims: Sequence[int], norm: int, size: DimLike) -> Tensor:
    """``size``: of the last dimension, of which ``x`` has the first half."""
    *others, last = [normalize_axis(d, x.re.rank) for d in dims]
    x = _along(call, x, others, False)
    if isinstance(size, int):
        y = by_arrays(call.build, lambda a: fft.irfft(a, size, last, "forward"), x)
    else:
        whole = dft(call.build, joined(call.build, x), last, size, inverse=True, onesided=True)
        y = call.build.map(f"x0 * {x.re.element}({size})", call.build.reshape(whole, whole.shape[:-1]))
    return _scaled(call, y, [size, *(x.re.shape[a] for a in others)], norm)


def _along(call: Call, x: Complex, axes: Sequence[int], forward: bool) -> Complex:
    """The transforms along axes, without a scale."""
    for axis in axes:
        n = x.re.shape[axis]
        if isinstance(n, int):
            f = fft.fft if forward else fft.ifft
            norm = "backward" if forward else "forward"
            x = by_arrays(call.build, lambda a, f=f, axis=axis, norm=norm: f(a, axis=axis, norm=norm), x)
        else:
            y = parted(call.build, dft(call.build, joined(call.build, x), axis, inverse=not forward))
            x = y if forward else Complex(*(call.build.map(f"x0 * {p.element}({n})", p) for p in y))
    return x


def _wide(call: Call, parts: Sequence[Tensor]) -> Tensor:
    return call.build.concat([call.build.reshape(p, (*p.shape, 1)) for p in parts], -1)


def _scaled(call: Call, x: Any, extents: Sequence[DimLike], norm: int) -> Any:
    power, count = POWERS[norm], product(extents)
    if isinstance(x, Complex):
        return Complex(*(_scaled(call, part, extents, norm) for part in x))
    if not power:
        return x
    if isinstance(count, int):
        return call.build.map(f"x0 * {literal(float(count) ** -power)}", x)
    root = f"{x.element}({count})" if power == 1 else f"sqrt({x.element}({count}))"
    return call.build.map(f"x0 / {root}", x)
