"""Grid sampling: interpolation of images at the positions of a grid (Jaderberg et al., 2015). ONNX GridSample 22."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import with_extent

CUBIC = -0.75  # Keys' coefficient a


def grid_sample(build: Builder, x: Tensor, grid: Tensor, mode: str, padding: str, align_corners: bool) -> Tensor:
    """y[n, c, o…] = sum over taps of x[n, c, tap] * weight, around the position that grid[n, o…] names.

    ``x`` [N, C, D…], ``grid`` [N, O…, dimensions of D] from -1 to 1, the last dimension of ``x`` first. ``mode`` is
    nearest, linear or cubic; ``padding`` zeros, border or reflection. ``align_corners``: -1 and 1 are the centres of
    the outer elements, else their outer edges.
    """
    rank = x.rank - 2
    grid = with_extent(build, grid, 0, x.shape[0])
    taps = {"nearest": 1, "linear": 2, "cubic": 4}[mode]
    element = "f64" if "f64" in (x.element, grid.element) else "f32"
    wide, grid = build.cast(x, element), build.cast(grid, element)
    names = [f"i{n}" for n in range(grid.rank - 1)]
    positions = [
        _position(build, grid, rank - 1 - d, x.shape[2 + d], align_corners, padding, mode) for d in range(rank)
    ]
    out = (x.shape[0], x.shape[1], *grid.shape[1:-1])
    here = ", ".join(["i0", *[f"i{n + 1}" for n in range(1, len(names))]])
    reads, weights = [], []
    for d in range(rank):
        at = f"x{d + 1}[{here}]"
        tap, weight = _tap(at, f"r{d}", mode, element)
        inside, weight = _inside(tap, weight, f"{element}({x.shape[2 + d]})", padding, align_corners)
        reads.append(f"i64({inside})")
        weights.append(weight)
    text = f"x0[i0, i1, {', '.join(reads)}] * " + " * ".join(f"({w})" for w in weights)
    y = build.compute(text, [wide, *positions], out, [taps] * rank, "add")
    return build.cast(y, x.element)


def _position(build: Builder, grid: Tensor, n: int, extent: DimLike, corners: bool, padding: str, mode: str) -> Tensor:
    """Coordinate ``n`` of the grid, mapped from [-1, 1] to elements, and reflected or clamped where ``padding`` says
    so.
    """
    part = build.reshape(build.cut(grid, -1, n, 1), grid.shape[:-1])
    size = f"{grid.element}({extent})"
    at = build.map(f"(x0 + 1) * 0.5 * ({size} - 1)" if corners else f"((x0 + 1) * {size} - 1) * 0.5", part)
    if mode == "nearest":
        at = build.map("round(x0)", at)
    if mode == "cubic" or padding == "zeros":
        return at
    if padding == "reflection":
        at = build.map(_reflected("x0", size, corners), at)
    return build.map(f"min(max(x0, 0), {size} - 1)", at)


def _reflected(at: str, size: str, corners: bool) -> str:
    """``at`` mirrored at the outer elements (corners) or at their outer edges until it is inside."""
    low, span = ("0", f"max({size} - 1, 1)") if corners else ("-0.5", size)
    return f"{low} + {span} - abs(({at} - ({low})) % (2 * {span}) - {span})"


def _tap(at: str, r: str, mode: str, element: str) -> tuple[str, str]:
    """(position, weight) of tap ``r`` of an interpolation at ``at``."""
    if mode == "nearest":
        return at, f"{element}(1)"
    tap = f"(floor({at}) + {element}({r}{' - 1' if mode == 'cubic' else ''}))"
    distance = f"abs({at} - {tap})"
    if mode == "linear":
        return tap, f"1 - {distance}"
    a = CUBIC
    near = f"(({a + 2} * {distance} - {a + 3}) * {distance} * {distance} + 1)"
    far = f"((({a} * {distance} - {5 * a}) * {distance} + {8 * a}) * {distance} - {4 * a})"
    return tap, f"where({distance} <= 1, {near}, {far})"


def _inside(tap: str, weight: str, size: str, padding: str, corners: bool) -> tuple[str, str]:
    """The tap with its position clamped to the image. With zero padding a tap outside weighs 0."""
    last = f"{size} - 1"
    if padding == "zeros":
        return f"min(max({tap}, 0), {last})", f"where(({tap} >= 0) & ({tap} <= {last}), {weight}, 0)"
    if padding == "reflection":
        tap = _reflected(tap, size, corners)
    return f"min(max({tap}, 0), {last})", weight
