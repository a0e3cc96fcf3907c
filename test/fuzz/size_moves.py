"""Steps that move elements to where sizes say: slices, repetitions, borders and rows of computed extents."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx.numpy_helper import from_array
from sized import Misfit, Shape, Sized, resized

Extent = Callable[[int], int]


def _number(g: Sized, x: str, axis: int) -> tuple[str, Extent]:
    """A whole number that follows from an extent, [1] of i64, and its meaning: a part, a rest, a multiple, a bound."""
    n, k = g.extent(x, axis), g.random.randint(1, 4)
    c = g.constant([k])
    kinds = ["n", "half", "less", "more", "min", "max", "mod", "up", "scaled", "scaled"]
    match g.random.choice(kinds):
        case "n":
            return n, lambda d: d
        case "half":
            return g.whole("Div", [n, c]), lambda d: d // k
        case "less":
            return g.whole("Sub", [n, c]), lambda d: d - k
        case "more":
            return g.whole("Add", [g.whole("Mul", [n, g.constant([2])]), c]), lambda d: 2 * d + k
        case "min":
            return g.whole("Min", [n, g.constant([2 * k])]), lambda d: min(d, 2 * k)
        case "max":
            return g.whole("Max", [n, g.constant([2 * k])]), lambda d: max(d, 2 * k)
        case "mod":
            return g.whole("Mod", [n, c]), lambda d: d % k
        case "up":
            return g.whole("Mul", [g.whole("Div", [g.whole("Add", [n, c]), c]), c]), lambda d: (d + k) // k * k
    return _scaled(g, n)


def _scaled(g: Sized, n: str) -> tuple[str, Extent]:
    """A size times a factor, by floating point numbers, as exporters write interpolation and ratios."""
    factor, rounding = np.float32(g.random.choice([0.5, 1.5, 2, 1 / 3, 0.25])), g.random.choice(["Floor", "Ceil", ""])
    product = g.whole("Mul", [g.whole("Cast", [n], to=1), g.constant(factor)])
    whole = g.whole(rounding, [product]) if rounding else product
    cut = np.ceil if rounding == "Ceil" else np.floor
    return g.whole("Cast", [whole], to=7), lambda d: int(cut(np.float32(d) * factor))


def span(g: Sized) -> None:
    """From one computed element to another, backwards too."""
    x = g.one()
    axis, step = g.axis(x), g.random.choice([1, 1, 1, 2, -1, -1, -2])
    (start, a), (end, b) = _number(g, x, axis), _number(g, x, axis)
    names, ends = [start, end], [a, b]
    for k in (0, 1):
        if g.random.random() < 0.3:
            names[k], before = g.whole("Neg", [names[k]]), ends[k]
            ends[k] = lambda d, before=before: -before(d)
        elif g.random.random() < 0.4:
            value = g.random.choice([0, 1, -1, -2, 1 << 40, -(1 << 40)])
            names[k], ends[k] = g.constant([value]), lambda d, value=value: value

    def rule(s: Shape) -> Shape:
        a, b = (end(s[axis]) for end in ends)
        if step < 0 and a < -s[axis]:  # where Python has no element, and onnx the first one
            raise Misfit
        return resized(s, axis, len(range(s[axis])[a:b:step]))

    g.make("Slice", [x, *names, g.constant([axis]), g.constant([step])], rule)


def rolled(g: Sized) -> None:
    """The end before the beginning."""
    x = g.one()
    axis = g.axis(x)
    at, meaning = _number(g, x, axis)
    where, most = g.constant([axis]), g.constant([2**63 - 1])
    first = g.whole("Slice", [x, g.constant([0]), at, where])
    last = g.whole("Slice", [x, at, most, where])

    def rule(s: Shape) -> Shape:
        if meaning(s[axis]) < 0:
            raise Misfit
        return s

    g.make("Concat", [last, first], rule, of=[x], axis=axis)


def repeated(g: Sized) -> None:
    """As often as another extent, or a part of it, says."""
    x, y = g.one(), g.one()
    axis, other = g.axis(x), g.axis(y)
    times, meaning = _number(g, y, other)
    repeats = g.join(*(times if n == axis else 1 for n in range(len(g.shapes[x]))))
    g.make("Tile", [x, repeats], lambda s, t: resized(s, axis, s[axis] * meaning(t[other])), of=[x, y])


def broadcast(g: Sized) -> None:
    """A mean, or a row, expanded to the shape of a value, as ``Expand`` of torch has it: -1 keeps an extent."""
    x = g.one()
    rank, axis = len(g.shapes[x]), g.axis(x)
    row = g.make("ReduceMean", [x, g.constant([axis])], lambda s: resized(s, axis, 1))
    shape = g.whole("Shape", [x])
    if g.random.random() < 0.5:
        wanted = g.join(*(g.extent(x, axis) if n == axis else -1 for n in range(rank)))
        ones = g.whole("ConstantOfShape", [g.constant([rank])], value=from_array(np.int64([1])))
        kept = g.whole("Equal", [wanted, g.whole("Mul", [ones, g.constant([-1])])])
        shape = g.whole("Where", [kept, ones, wanted])
    g.make("Expand", [row, shape], lambda _, s: s, of=[row, x])


def fitted(g: Sized) -> None:
    """Padded at the end, or cropped, to the extent of another value, and added to it where that fits."""
    x, y = g.one(), g.one()
    rank, axis = len(g.shapes[x]), g.axis(x)
    if len(g.shapes[y]) != rank:
        raise Misfit
    wanted, n = g.extent(y, axis), g.extent(x, axis)
    if g.random.random() < 0.3:
        z = g.make("CenterCropPad", [x, wanted], lambda s, t: resized(s, axis, t[axis]), of=[x, y], axes=[axis])
    else:
        more = g.whole("Sub", [wanted, n])
        before = g.whole("Div", [more, g.constant([2])]) if g.random.random() < 0.5 else g.constant([0])
        after = g.whole("Sub", [more, before])
        pads = g.join(*(side if k == axis else 0 for side in (before, after) for k in range(rank)))
        z = g.make("Pad", [x, pads], lambda s, t: resized(s, axis, t[axis]), of=[x, y])
    if g.shapes[z] == g.shapes[y]:
        g.make("Add", [z, y], lambda a, b: tuple(np.broadcast_shapes(a, b)))


def count(g: Sized, x: str, axis: int) -> str:
    """0 to an extent, [n] of i64."""
    return g.whole("Range", [g.constant(0), g.whole("Squeeze", [g.extent(x, axis)]), g.constant(1)])


def picked(g: Sized) -> None:
    """Rows by their numbers: the first half backwards, every other one, the last."""
    x = g.one()
    axis = g.axis(x)
    last = g.whole("Sub", [g.whole("Squeeze", [g.extent(x, axis)]), g.constant(1)])
    if g.random.random() < 0.3:
        g.make("Gather", [x, last], lambda s: (*s[:axis], *s[axis + 1 :]), of=[x], axis=axis)
        return
    step = g.random.choice([1, 2, 3])
    rows = g.whole("Range", [last, g.constant(-1), g.constant(-step)])
    g.make("Gather", [x, rows], lambda s: resized(s, axis, -(-s[axis] // step)), of=[x], axis=axis)


def permuted(g: Sized) -> None:
    """Each element to or from the next row, by indices of every element."""
    x = g.one()
    rank, axis = len(g.shapes[x]), g.axis(x)
    n = g.extent(x, axis)
    rows = g.whole("Mod", [g.whole("Add", [count(g, x, axis), g.constant([1])]), n])
    column = g.whole("Reshape", [rows, g.constant([-1 if k == axis else 1 for k in range(rank)])])
    everywhere = g.whole("Expand", [column, g.whole("Shape", [x])])
    if g.random.random() < 0.5:
        g.make("GatherElements", [x, everywhere], lambda s: s, of=[x], axis=axis)
    else:
        g.make("ScatterElements", [x, everywhere, g.whole("Tanh", [x])], lambda s: s, of=[x], axis=axis)


def written(g: Sized) -> None:
    """The first half of the rows written over, or added to, the rows at some distance."""
    x = g.one()
    half = g.whole("Div", [g.extent(x, 0), g.constant([2])])
    rows = g.whole("Range", [g.constant(0), g.whole("Squeeze", [half]), g.constant(1)])
    if g.random.random() < 0.5:
        rows = g.whole("Add", [rows, half])
    index = g.whole("Unsqueeze", [rows, g.constant([1])])
    first = g.whole("Slice", [x, g.constant([0]), half, g.constant([0])])
    how = g.random.choice([{}, {"reduction": "add"}, {"reduction": "max"}])
    g.make("ScatterND", [x, index, g.whole("Neg", [first])], lambda s: s, of=[x], **how)


def pieces(g: Sized) -> None:
    """Into parts of unequal sizes that follow from the extent; the second and last are joined."""
    x = g.one()
    axis, k = g.axis(x), g.random.randint(1, 3)
    n = g.extent(x, axis)
    third = g.whole("Div", [n, g.constant([3])])
    first, a = g.random.choice([(g.constant([k]), lambda d: k), (third, lambda d: d // 3)])
    middle, b = (third, lambda d: d // 3) if g.random.random() < 0.7 else (g.constant([1]), lambda d: 1)
    last = g.whole("Sub", [g.whole("Sub", [n, first]), middle])

    def rule(s: Shape) -> Shape:
        if s[axis] < a(s[axis]) + b(s[axis]):
            raise Misfit
        return resized(s, axis, s[axis] - a(s[axis]))

    rule(g.shapes[x])
    g.whole("Split", [x, g.join(first, middle, last)], axis=axis)
    parts = [g.nodes[-1].output[0], *(f"{g.nodes[-1].output[0]}_{k}" for k in (1, 2))]
    g.nodes[-1].output.extend(parts[1:])
    g.make("Concat", parts[:0:-1], rule, of=[x], axis=axis)


MOVES: tuple[Callable[[Sized], None], ...] = (
    span, span, span, rolled, repeated, broadcast, fitted, fitted, picked, permuted, written, pieces,
)  # fmt: skip
