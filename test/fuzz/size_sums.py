"""Steps that compute with sizes, and branches on these."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx import NodeProto, helper
from sized import Misfit, Shape, Sized, resized


def half(g: Sized) -> None:
    """The first or second half, or all but as many as a number."""
    x = g.one()
    axis = g.axis(x)
    n, k = g.extent(x, axis), g.random.choice([2, 2, 3])
    middle = g.whole(
        "Div", [g.whole("Add", [n, g.constant([k - 1])]) if (up := g.random.random() < 0.5) else n, g.constant([k])]
    )
    at = lambda d: -(-d // k) if up else d // k  # noqa: E731
    first = g.random.random() < 0.5
    ends = [g.constant([0]), middle] if first else [middle, g.random.choice([n, g.constant([2**63 - 1])])]
    rule = lambda s: resized(s, axis, at(s[axis]) if first else s[axis] - at(s[axis]))  # noqa: E731
    g.make("Slice", [x, *ends, g.constant([axis])], rule)


def positions(g: Sized) -> None:
    """Numbers 0 to n added along an axis; rows of a table, as many as there are."""
    x = g.one(2)
    axis = g.axis(x)
    n, rank = g.extent(x, axis), len(g.shapes[x])
    if g.random.random() < 0.5:
        scalar = g.whole("Squeeze", [n])
        count = g.whole("Range", [g.constant(0), scalar, g.constant(1)])
        numbers = g.whole("Cast", [count], to=1)
        numbers = g.whole("Mul", [numbers, g.constant(np.float32(0.1))])
    else:
        table = g.weight(32, 1)
        rows = g.whole("Slice", [table, g.constant([0]), n])
        numbers = g.whole("Squeeze", [rows, g.constant([1])])
    one = g.whole("Reshape", [numbers, g.constant([-1 if k == axis else 1 for k in range(rank)])])
    g.make("Add", [x, one], lambda s: s)


def expanded(g: Sized) -> None:
    """A constant, or zeros, of the shape of a value."""
    x = g.one()
    shape = g.whole("Shape", [x])
    how = [("Expand", [g.weight(1), shape]), ("ConstantOfShape", [shape])]
    y = g.whole(*g.random.choice(how))
    if g.random.random() < 0.5:
        g.make("Add", [x, y], lambda s: s)
    else:
        axis = g.random.randrange(len(g.shapes[x]))
        g.make("Concat", [x, y], lambda s: resized(s, axis, 2 * s[axis]), axis=axis)


def windows(g: Sized) -> None:
    """Reshaped by computed sizes into windows of k, padded to a multiple before or not, and back."""
    x = g.one(2, 4)
    axis, rank, k = g.axis(x), len(g.shapes[x]), g.random.choice([2, 3, 4])
    padded = g.random.random() < 0.6
    n = g.extent(x, axis)
    y = x
    if padded:
        rest = g.whole("Mod", [n, g.constant([k])])
        more = g.whole("Mod", [g.whole("Sub", [g.constant([k]), rest]), g.constant([k])])
        pads = g.join(*(0 for _ in range(rank)), *(more if a == axis else 0 for a in range(rank)))
        y = g.make("Pad", [x, pads], lambda s: resized(s, axis, -(-s[axis] // k) * k))
    extents: list[str | int] = [g.extent(y, a) for a in range(rank)]
    count = g.whole("Div", [str(extents[axis]), g.constant([k])])

    def rule(s: Shape) -> Shape:
        if s[axis] % k:
            raise Misfit
        return (*s[:axis], s[axis] // k, k, *s[axis + 1 :])

    inner = g.make("Reshape", [y, g.join(*extents[:axis], count, k, *extents[axis + 1 :])], rule)
    order = list(range(rank + 1))
    if g.random.random() < 0.5:
        order[axis], order[axis + 1] = axis + 1, axis
        inner = g.make("Transpose", [inner], lambda s: [s[o] for o in order], perm=order)
        inner = g.make("Transpose", [inner], lambda s: [s[o] for o in order], perm=order)
    extents[axis] = g.random.choice([-1, str(extents[axis])])
    joined = g.make("Reshape", [inner, g.join(*extents)], lambda s: (*s[:axis], s[axis] * k, *s[axis + 2 :]))
    if padded:
        ends = [g.constant([0]), n, g.constant([axis])]
        z = g.make("Slice", [joined, *ends], lambda s, _: s, of=[x, joined])
        g.make("Add", [z, x], lambda s, _: s)


def reshaped(g: Sized) -> None:
    """Two neighbours as one, by sizes, of which one may be -1."""
    x = g.one(2)
    rank = len(g.shapes[x])
    axis = g.random.randrange(rank - 1)
    n = [g.extent(x, a) for a in range(rank)]
    both = g.constant([-1]) if g.random.random() < 0.5 else g.whole("Mul", [n[axis], n[axis + 1]])
    shape = g.join(*n[:axis], both, *n[axis + 2 :])
    y = g.make("Reshape", [x, shape], lambda s: (*s[:axis], s[axis] * s[axis + 1], *s[axis + 2 :]))
    if g.random.random() < 0.5:
        g.make("Reshape", [y, g.join(*n)], lambda _, s: s, of=[y, x])


# -- branches


def _node(op: str, inputs: Sequence[str], output: str = "y", **how: object) -> NodeProto:
    return helper.make_node(op, list(inputs), [output], **how)


def _condition(g: Sized, x: str, axis: int) -> tuple[str, Callable[[Shape], bool]]:
    """A condition on a size, as exporters write it, and its meaning."""
    k, n = g.random.choice([1, 2, 5, 10, 16, g.shapes[x][axis]]), g.extent(x, axis)
    if g.random.random() < 0.5:
        n = g.whole("Squeeze", [n])
    tests: list[tuple[str, Callable[[int], bool]]] = [
        ("Equal", lambda d: d == k), ("Greater", lambda d: d > k), ("Less", lambda d: d < k),
        ("GreaterOrEqual", lambda d: d >= k), ("odd", lambda d: d % 2 == 1),
    ]  # fmt: skip
    op, test = g.random.choice(tests)
    if op == "odd":
        found = g.whole("Equal", [g.whole("Mod", [n, g.constant(2)]), g.constant(1)])
    else:
        found = g.whole(op, [n, g.constant(k)])
    if g.random.random() < 0.2:
        found = g.whole("Not", [found])
        return found, lambda s: not test(s[axis])
    if g.random.random() < 0.2:
        other = g.whole("Less", [g.whole("Size", [x]), g.constant(100)])
        op = g.random.choice(["And", "Or"])
        if op == "And":
            return g.whole(op, [found, other]), lambda s: test(s[axis]) and int(np.prod(s)) < 100
        return g.whole(op, [found, other]), lambda s: test(s[axis]) or int(np.prod(s)) < 100
    return found, lambda s: test(s[axis])


def squeezed(g: Sized) -> None:
    """What TorchScript makes of ``x.squeeze(axis)``: an If on the size."""
    x = g.one(2)
    axis = g.random.randrange(len(g.shapes[x]))
    if g.is_fixed(x, axis) and g.shapes[x][axis] != 1:
        raise Misfit  # onnxruntime refuses the branch that is never taken
    one = g.whole("Equal", [g.extent(x, axis), g.constant([1])])
    then, other = [_node("Squeeze", [x, g.constant([axis])])], [_node("Identity", [x])]
    y = g.branch(one, then, other, lambda s: [d for n, d in enumerate(s) if n != axis or d != 1], x)
    if len(g.shapes[y]) < len(g.shapes[x]) and g.random.random() < 0.5:
        g.make("Unsqueeze", [y, g.constant([axis])], lambda s: (*s[:axis], 1, *s[axis:]))


def chosen(g: Sized) -> None:
    """Branches on a size, of one extent or of other ones."""
    x = g.one()
    axis = g.axis(x)
    condition, holds = _condition(g, x, axis)
    rank, k = len(g.shapes[x]), g.random.randint(1, 3)
    pads = g.constant([0] * rank + [k * (n == axis) for n in range(rank)])
    start, end, along = g.constant([k]), g.constant([2**31 - 1]), g.constant([axis])
    sides: list[tuple[list[NodeProto], Callable[[int], int]]] = [
        ([_node("Identity", [x])], lambda d: d),
        ([_node("Tanh", [x])], lambda d: d),
        ([_node("Neg", [x], "t"), _node("Concat", ["t", x], axis=axis)], lambda d: 2 * d),
        ([_node("Pad", [x, pads])], lambda d: d + k),
        ([_node("Slice", [x, start, end, along])], lambda d: d - k),
    ]
    (then, a), (other, b) = g.random.choice(sides), g.random.choice(sides)
    g.branch(condition, then, other, lambda s: resized(s, axis, a(s[axis]) if holds(s) else b(s[axis])), x)


def even(g: Sized) -> None:
    """One more element where there is an odd number of them; then halves."""
    x = g.one()
    axis, rank = g.axis(x), len(g.shapes[x])
    n = g.extent(x, axis)
    odd = g.whole("Cast", [g.whole("Mod", [n, g.constant([2])])], to=9)
    pads = g.constant([0] * rank + [int(a == axis) for a in range(rank)])
    y = g.branch(
        odd, [_node("Pad", [x, pads])], [_node("Identity", [x])], lambda s: resized(s, axis, s[axis] + s[axis] % 2), x
    )
    halves = g.constant([0 if a < axis else -1 if a == axis else 2 for a in range(axis + 2)])
    if axis == rank - 1 and g.random.random() < 0.7:
        g.make("Reshape", [y, halves], lambda s: (*s[:axis], s[axis] // 2, 2))


SUMS: tuple[Callable[[Sized], None], ...] = (half, half, positions, expanded, windows, windows, reshaped)
BRANCHES: tuple[Callable[[Sized], None], ...] = (squeezed, squeezed, chosen, chosen, even)
