"""Steps on images and signals of open sizes: convolutions, pooling, resizing, there and back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from growing import NEAREST
from sized import Misfit, Sized

HUGE = (1_000_000_000, 2**31 - 1, 2**63 - 1)
WINDOW_PADS = ("NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def tame(g: Sized, x: str) -> str:
    return g.make("Tanh", [x], lambda s: s)


def spatial(g: Sized) -> tuple[str, int]:
    """An image or a signal whose channels are known, and how many extents a window has."""
    x = g.one(3, 4)
    if not g.is_fixed(x, 1):
        raise Misfit
    return x, len(g.shapes[x]) - 2


def _windows(g: Sized, rank: int, most: int = 4) -> dict[str, list[int] | str]:
    r = g.random
    kernel = [r.randint(1, most)] * rank if r.random() < 0.7 else [r.randint(1, most) for _ in range(rank)]
    auto = r.choice(WINDOW_PADS)
    pads = {"pads": [r.randint(0, min(2, k - 1)) for k in kernel * 2]} if auto == "NOTSET" else {"auto_pad": auto}
    stride = r.choice([1, 1, 2, 2, 3])
    if auto.startswith("SAME"):
        stride = min(stride, *kernel)  # onnxruntime makes negative pads of others
    return {"kernel_shape": kernel, "strides": [stride] * rank, **pads}


def _extents(how: dict[str, list[int]], dilation: int = 1, ceil: bool = False) -> Callable[..., list[int]]:
    """The extents of windows of an image."""
    kernel, strides, auto = how["kernel_shape"], how["strides"], how.get("auto_pad")
    rank = len(kernel)
    pads = how.get("pads", [0] * 2 * rank)

    def each(n: int, a: int) -> int:
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            return -(-n // strides[a])
        room = n + pads[a] + pads[a + rank] - dilation * (kernel[a] - 1) - 1
        if room < 0:
            raise Misfit
        count = (-(-room // strides[a]) if ceil else room // strides[a]) + 1
        return count - (ceil and (count - 1) * strides[a] >= n + pads[a])

    return lambda s: [each(n, a) for a, n in enumerate(s[2:])]


def conv(g: Sized) -> None:
    x, rank = spatial(g)
    how, dilation = _windows(g, rank), g.random.choice([1, 1, 2])
    if dilation > 1 and "auto_pad" in how:
        raise Misfit
    c, filters = g.shapes[x][1], g.random.randint(1, 4)
    group = g.random.choice([1, c])
    after = _extents(how, dilation)  # type: ignore[arg-type]
    inputs = [x, g.weight(filters * group, c // group, *how["kernel_shape"])]  # type: ignore[list-item]
    rule = lambda s: (s[0], filters * group, *after(s))  # noqa: E731
    tame(g, g.make("Conv", inputs, rule, group=group, dilations=[dilation] * rank, **how))


def transposed(g: Sized) -> None:
    """n becomes 2n, or about it."""
    x, rank = spatial(g)
    c, filters, stride, k = (
        g.shapes[x][1],
        g.random.randint(1, 3),
        g.random.choice([1, 2, 2, 3]),
        g.random.randint(2, 4),
    )
    pads, more = [g.random.randint(0, 1)] * 2 * rank, g.random.randint(0, stride - 1)
    inputs = [x, g.weight(c, filters, *[k] * rank)]
    rule = lambda s: (s[0], filters, *((n - 1) * stride + more + k - 2 * pads[0] for n in s[2:]))  # noqa: E731
    how = {"strides": [stride] * rank, "pads": pads, "output_padding": [more] * rank}
    tame(g, g.make("ConvTranspose", inputs, rule, kernel_shape=[k] * rank, **how))


def pool(g: Sized) -> None:
    x, rank = spatial(g)
    how, ceil = _windows(g, rank), g.random.random() < 0.3
    if ceil and "auto_pad" in how:
        raise Misfit
    after = _extents(how, 1, ceil)  # type: ignore[arg-type]
    op = g.random.choice(["MaxPool", "AveragePool"]) if not ceil else "MaxPool"
    g.make(op, [x], lambda s: (*s[:2], *after(s)), ceil_mode=int(ceil), **how)


def _how_resized(g: Sized, rank: int) -> dict[str, str]:
    modes = ["nearest", "linear", "linear", *["cubic"] * (rank == 2)]
    how = {"mode": g.random.choice(modes), "coordinate_transformation_mode":
           g.random.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])}  # fmt: skip
    return how | ({"nearest_mode": g.random.choice(NEAREST)} if how["mode"] == "nearest" else {})


def scaled(g: Sized) -> None:
    """By known factors, up and down."""
    x, rank = spatial(g)
    how = _how_resized(g, rank)
    factors = [g.random.choice([2, 2, 2, 3, 0.5, 1.5, 1 / 3, 1, 0.3])] * rank
    factors = [f if g.random.random() < 0.8 else 1 for f in factors]
    if how["coordinate_transformation_mode"] == "align_corners" and any(f != int(f) for f in factors):
        raise Misfit  # onnxruntime divides by the length that was rounded down, onnx by that before
    rule = lambda s: (*s[:2], *(np.floor(np.float32(n) * np.float32(f)) for n, f in zip(s[2:], factors, strict=True)))  # noqa: E731
    g.make("Resize", [x, "", g.constant(np.float32([1, 1, *factors]))], rule, **how)


def back(g: Sized) -> None:
    """Resized to the extents of another value, as decoders do, and added to it where the channels allow."""
    x, rank = spatial(g)
    ys = [y for y, s in g.sizes.items() if s[0] and len(s[0]) == rank + 2 and g.types[y] == "float32" and y != x]
    y = g.random.choice(ys) if ys else x
    shapes = [g.whole("Shape", [v]) for v in (x, y)]
    ends = [[0, 2], [2, g.random.choice([4, *HUGE])]]
    parts = [g.whole("Slice", [s, *(g.constant([v]) for v in e)]) for s, e in zip(shapes, ends, strict=True)]
    made = g.make(
        "Resize", [x, "", "", g.join(*parts)], lambda a, b: (*a[:2], *b[2:]), of=[x, y], **_how_resized(g, rank)
    )
    if g.shapes[made] == g.shapes[y] and g.random.random() < 0.7:
        g.make("Add", [made, y], lambda a, b: tuple(np.broadcast_shapes(a, b)))


def blocks(g: Sized) -> None:
    """Blocks of an image to channels and back, where these divide."""
    x, rank = spatial(g)
    if rank != 2:
        raise Misfit
    if g.random.random() < 0.6:
        if any(d % 2 for d in g.shapes[x][2:]):
            raise Misfit

        def rule(s: tuple[int, ...]) -> tuple[int, ...]:
            if any(d % 2 for d in s[2:]):
                raise Misfit
            return s[0], s[1] * 4, s[2] // 2, s[3] // 2

        g.make("SpaceToDepth", [x], rule, blocksize=2)
    elif g.shapes[x][1] % 4 == 0:
        rule = lambda s: (s[0], s[1] // 4, s[2] * 2, s[3] * 2)  # noqa: E731
        g.make("DepthToSpace", [x], rule, blocksize=2, mode=g.random.choice(["DCR", "CRD"]))


WINDOWS: tuple[Callable[[Sized], None], ...] = (
    conv, conv, transposed, pool, pool, scaled, scaled, back, back, blocks,
)  # fmt: skip
