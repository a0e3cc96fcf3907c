"""Steps on open sizes: pieces, joins, and what makes n of them 2n, n+1, ⌈n/2⌉ or n again.

Each fits the sizes of the first run; no step reads sizes from these, other than it must.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from size_windows import HUGE, tame
from sized import Misfit, Sized, applied

UNARY = ("Tanh", "Sigmoid", "Relu", "Neg", "Abs")


def pad(g: Sized) -> None:
    """By known numbers, which may crop."""
    x = g.one(2)
    rank, mode = len(g.shapes[x]), g.random.choice(["constant", "constant", "edge", "reflect"])
    axis, low = g.random.randrange(rank), -2 if mode == "constant" else 0
    before, after = g.random.randint(low, 3), g.random.randint(low, 3)
    pads = [0] * 2 * rank
    pads[axis], pads[axis + rank] = before, after

    def rule(s: tuple[int, ...]) -> list[int]:
        if mode == "reflect" and max(before, after) >= s[axis]:
            raise Misfit
        return [d + (before + after) * (n == axis) for n, d in enumerate(s)]

    g.make("Pad", [x, g.constant(pads)], rule, mode=mode)


def cut(g: Sized) -> None:
    """From some element to another, the last, or one far beyond it; backwards too."""
    x = g.one()
    axis, huge, r = g.random.randrange(len(g.shapes[x])), g.random.choice(HUGE), g.random
    a, b = r.randint(1, 3), r.randint(1, 3)
    ends = [(0, huge, 1), (a, huge, 1), (a, -b, 1), (0, -b, 1), (-a, huge, 1), (0, huge, 2), (a, huge, 2), (0, -b, 2),
            (0, r.randint(1, 9), 1), (-1, -huge, -1), (huge, -huge, -1), (-a, -huge, -2)]  # fmt: skip
    start, end, step = r.choice(ends)
    rule = lambda s: [len(range(d)[start:end:step]) if n == axis else d for n, d in enumerate(s)]  # noqa: E731
    along = axis - r.choice([0, len(g.shapes[x])])
    g.make("Slice", [x, *(g.constant([v]) for v in (start, end, along, step))], rule)


def concat(g: Sized) -> None:
    """With itself, with a value of other extent along the axis, or with a column: n becomes 2n, n + m or n + 1."""
    x = g.one()
    axis, rank = g.random.randrange(len(g.shapes[x])), len(g.shapes[x])
    others = [y for y, s in g.sizes.items() if s[0] and len(s[0]) == rank and g.types[y] == "float32"]
    base = g.shapes[x][:axis] + g.shapes[x][axis + 1 :]
    fit = [y for y in others if g.shapes[y][:axis] + g.shapes[y][axis + 1 :] == base]
    fit = [y for y in fit if sum(_same_but(g, x, y, axis)) > 1 or g.random.random() < 0.1]
    if g.random.random() < 0.3 and all(g.is_fixed(x, n) for n in range(rank) if n != axis):
        count = g.random.randint(1, 3)
        column = g.weight(*(count if n == axis else d for n, d in enumerate(g.shapes[x])))
        inputs = [x, column] if g.random.random() < 0.5 else [column, x]
        g.make("Concat", inputs, lambda s: [d + count * (n == axis) for n, d in enumerate(s)], axis=axis)
        return

    def rule(*shapes: tuple[int, ...]) -> list[int]:
        if len({(*s[:axis], *s[axis + 1 :]) for s in shapes}) > 1:
            raise Misfit
        return [sum(s[axis] for s in shapes) if n == axis else d for n, d in enumerate(shapes[0])]

    g.make("Concat", [x, g.random.choice(fit)], rule, axis=axis)


def _same_but(g: Sized, x: str, y: str, axis: int) -> list[bool]:
    pairs = zip(g.sizes[x], g.sizes[y], strict=True)
    return [bool(a and b and a[:axis] + a[axis + 1 :] == b[:axis] + b[axis + 1 :]) for a, b in pairs]


def skip(g: Sized) -> None:
    """Two values of one shape in the first run, mostly in others too."""
    x = g.one()
    same = [y for y in g.sizes if y != x and g.shapes[y] == g.shapes[x] and g.types[y] == "float32"]
    same = [y for y in same if g.alike(x, y) > 1 or g.random.random() < 0.15]
    if not same:
        raise Misfit

    def rule(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(d) for d in np.broadcast_shapes(a, b))

    g.make(g.random.choice(["Add", "Mul", "Max", "Sub"]), [x, g.random.choice(same)], rule)


def flat(g: Sized) -> None:
    """Reshaped to what is left: some extents by 0, one by -1, others known."""
    x = g.one(2)
    shape = g.shapes[x]
    kept = g.random.randint(0, len(shape) - 1)
    left = prod(shape[kept:])
    k = g.random.choice([d for d in (1, 2, 3, 4, 5, 6, 8) if left % d == 0])
    tail = g.random.choice([[-1], [-1], [-1, k], [k, -1]])

    def rule(s: tuple[int, ...]) -> list[int]:
        known = -prod(tail)
        if prod(s[kept:]) % known:
            raise Misfit
        return [*s[:kept], *(prod(s[kept:]) // known if d < 0 else d for d in tail)]

    g.make("Reshape", [x, g.constant([0] * kept + tail)], rule)


def split(g: Sized) -> None:
    """Into a few, of which the last may be smaller; into halves of computed sizes."""
    x = g.one()
    axis = g.random.randrange(len(g.shapes[x]))
    extent = g.shapes[x][axis]
    if extent < 3:
        raise Misfit
    if g.random.random() < 0.5:
        count = g.random.randint(2, 3)

        def piece(s: tuple[int, ...], k: int) -> list[int]:
            size = -(-s[axis] // count)
            return [(size if k < count - 1 else d - size * (count - 1)) if n == axis else d for n, d in enumerate(s)]

        g.make("Split", [x], lambda s: piece(s, 0), axis=axis, num_outputs=count)
        _pieces(g, x, count, piece)
        return
    n = g.extent(x, axis)
    half = g.whole("Div", [n, g.constant([2])])
    sizes = g.join(half, g.whole("Sub", [n, half]))
    halves = lambda s, k: [(d // 2 if k == 0 else d - d // 2) if n == axis else d for n, d in enumerate(s)]  # noqa: E731
    g.make("Split", [x, sizes], lambda s: halves(s, 0), axis=axis)
    _pieces(g, x, 2, halves)


def _pieces(g: Sized, x: str, count: int, piece: Callable[..., list[int]]) -> None:
    """The other results of the last node."""
    for k in range(1, count):
        sizes = [applied(lambda s, k=k: piece(s, k), [s]) for s in g.sizes[x]]
        name = g.more(sizes[0] or (), "float32", last=sizes[0] is None)
        if sizes[0] is not None:
            g.sizes[name] = sizes


def moved(g: Sized) -> None:
    x = g.one(2)
    rank = len(g.shapes[x])
    how = g.random.choice(["turn", "reduce", "unsqueeze", "tile", "last", "unary", "softmax", "cumsum"])
    axis = g.random.randrange(rank)
    if how == "turn":
        order = g.random.sample(range(rank), rank)
        g.make("Transpose", [x], lambda s: [s[n] for n in order], perm=order)
    elif how == "reduce":
        keep = g.random.randint(0, 1)
        rule = lambda s: [1 if n == axis else d for n, d in enumerate(s) if keep or n != axis]  # noqa: E731
        op = g.random.choice(["ReduceMean", "ReduceMax", "ReduceL2"])
        tame(g, g.make(op, [x, g.constant([axis])], rule, keepdims=keep))
    elif how == "unsqueeze":
        g.make("Unsqueeze", [x, g.constant([axis])], lambda s: (*s[:axis], 1, *s[axis:]))
    elif how == "tile":
        times = [g.random.choice([1, 2]) for _ in range(rank)]
        g.make("Tile", [x, g.constant(times)], lambda s: [a * b for a, b in zip(s, times, strict=True)])
    elif how == "last":
        g.make("Gather", [x, g.constant(-1)], lambda s: [d for n, d in enumerate(s) if n != axis], axis=axis)
    elif how == "softmax":
        g.make("Softmax", [x], lambda s: s, axis=axis)
    elif how == "cumsum":
        tame(g, g.make("CumSum", [x, g.constant(axis)], lambda s: s))
    else:
        g.make(g.random.choice(UNARY), [x], lambda s: s)


def product(g: Sized) -> None:
    """Attention of a value to itself; a product with a weight."""
    x = g.one(2, 4)
    rank = len(g.shapes[x])
    if g.random.random() < 0.5:
        order = [*range(rank - 2), rank - 1, rank - 2]
        y = g.make("Transpose", [x], lambda s: [s[n] for n in order], perm=order)
        scores = g.make("MatMul", [x, y], lambda a, b: (*a[:-1], b[-1]))
        g.make("MatMul", [g.make("Softmax", [scores], lambda s: s), x], lambda a, b: (*a[:-1], b[-1]))
    elif g.is_fixed(x, rank - 1):
        k = g.random.randint(1, 5)
        tame(g, g.make("MatMul", [x, g.weight(g.shapes[x][-1], k)], lambda s: (*s[:-1], k)))


STEPS: tuple[Callable[[Sized], None], ...] = (
    pad, cut, cut, cut, concat, concat, skip, skip, skip, flat, flat, split, split, moved, moved, moved, product,
)  # fmt: skip
