"""Steps whose elements say how many there are, or that count: chosen rows, the largest ones, masks, whole numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx.numpy_helper import from_array
from size_moves import count
from size_windows import tame
from sized import Misfit, Sized, resized


def _exact(g: Sized) -> str:
    """An input, whose numbers are the same in all implementations: a comparison with these has one result."""
    names = [n for n in g.inputs if g.types[n] == "float32" and g.shapes[n]]
    return g.random.choice(names)


def _column(g: Sized, x: str, vector: str, axis: int) -> str:
    """A vector along an axis of a value."""
    return g.whole("Reshape", [vector, g.constant([-1 if n == axis else 1 for n in range(len(g.shapes[x]))])])


def masked(g: Sized) -> None:
    """All after an element hidden, by the number of each: what attention does to the padding."""
    x = g.one()
    axis = g.axis(x)
    numbers, half = count(g, x, axis), g.whole("Div", [g.extent(x, axis), g.constant([2])])
    op, bound = g.random.choice([("LessOrEqual", half), ("Greater", g.constant([1])), ("Less", g.constant([3]))])
    seen = _column(g, x, g.whole(op, [numbers, bound]), axis)
    hidden = g.constant(np.float32(g.random.choice([0.0, -1e4])))
    y = g.make("Where", [seen, x, hidden], lambda s: s, of=[x])
    g.make("Softmax", [y], lambda s: s, axis=axis)


def triangle(g: Sized) -> None:
    """Scores of a value with itself, of which a triangle is seen."""
    x = g.one(2, 4)
    rank = len(g.shapes[x])
    order = [*range(rank - 2), rank - 1, rank - 2]
    y = g.make("Transpose", [x], lambda s: [s[n] for n in order], perm=order)
    scores = g.make("MatMul", [x, y], lambda a, b: (*a[:-1], b[-1]))
    n = g.extent(x, rank - 2)
    if g.random.random() < 0.5:
        ones = g.whole("ConstantOfShape", [g.join(n, n)], value=from_array(np.float32([1])))
        low = g.whole("Trilu", [ones, g.constant(g.random.choice([0, 1]))], upper=g.random.randint(0, 1))
    else:
        rows = count(g, x, rank - 2)
        columns = g.whole("Unsqueeze", [rows, g.constant([1])])
        low = g.whole("Cast", [g.whole(g.random.choice(["LessOrEqual", "Greater"]), [rows, columns])], to=1)
    tame(g, g.make("Mul", [scores, low], lambda s: s, of=[scores]))


def largest(g: Sized) -> None:
    """The largest or smallest elements, as many as follow from the extent."""
    x = g.one()
    axis, k = g.axis(x), g.random.randint(2, 5)
    n = g.extent(x, axis)
    kinds = [(n, lambda d: d), (g.whole("Min", [n, g.constant([k])]), lambda d: min(d, k)),
             (g.whole("Div", [g.whole("Add", [n, g.constant([1])]), g.constant([2])]), lambda d: -(-d // 2)),
             (g.constant([k]), lambda d: k)]  # fmt: skip
    wanted, meaning = g.random.choice(kinds)

    def rule(s: tuple[int, ...]) -> list[int]:
        if meaning(s[axis]) > s[axis]:
            raise Misfit
        return resized(s, axis, meaning(s[axis]))

    g.make("TopK", [x, wanted], rule, of=[x], axis=axis, largest=g.random.randint(0, 1), sorted=1)
    g.nodes[-1].output.append(f"{g.nodes[-1].output[0]}_at")


def kept(g: Sized) -> None:
    """The rows that begin with a positive number; their sum."""
    x = _exact(g)
    axis = g.axis(x)
    others = g.constant([n for n in range(len(g.shapes[x])) if n != axis])
    sums = g.whole("ReduceMax", [x, others], keepdims=0) if len(g.shapes[x]) > 1 else x
    rows = g.whole("Compress", [x, g.whole("Greater", [sums, g.constant(np.float32(1.5))])], axis=axis)
    if g.random.random() < 0.5:
        rows = g.whole("Tanh", [rows])
    tame(g, g.make("ReduceSum", [rows, g.constant([axis])], lambda s: resized(s, axis, 1), of=[x]))


def positive(g: Sized) -> None:
    """The positive elements one below the other: written back, or through a product to their sum."""
    x = _exact(g)
    found = g.whole("NonZero", [g.whole("Greater", [x, g.constant(np.float32(0.3))])])
    index = g.whole("Transpose", [found], perm=[1, 0])
    values = g.whole("GatherND", [x, index])
    if g.random.random() < 0.5:
        zeros = g.whole("ConstantOfShape", [g.whole("Shape", [x])])
        g.make("ScatterND", [zeros, index, g.whole("Tanh", [values])], lambda s: s, of=[x])
        return
    k = g.random.randint(1, 4)
    rows = g.whole("MatMul", [g.whole("Reshape", [values, g.constant([-1, 1])]), g.weight(1, k)])
    tame(g, g.make("ReduceSum", [rows, g.constant([0])], lambda s: (1, k), of=[x], kind="float32"))


def different(g: Sized) -> None:
    """Rounded numbers, each once, and back by their positions."""
    x = _exact(g)
    g.whole("Unique", [g.whole("Reshape", [g.whole("Round", [x]), g.constant([-1])])])
    unique = g.nodes[-1].output[0]
    g.nodes[-1].output.extend(["", f"{unique}_back"])
    flat = g.whole("Gather", [unique, f"{unique}_back"])
    g.make("Reshape", [flat, g.whole("Shape", [x])], lambda s: s, of=[x], kind="float32")


def words(g: Sized) -> None:
    """Rows of a table at whole numbers of an input; those that are 0 hidden."""
    names = [n for n in g.inputs if g.types[n] == "int64"]
    if not names:
        raise Misfit
    x, k = g.random.choice(names), g.random.randint(1, 5)
    y = g.make("Gather", [g.weight(10, k), x], lambda s: (*s, k), of=[x], kind="float32")
    if g.random.random() < 0.6:
        seen = g.whole("Cast", [g.whole("Greater", [x, g.constant(0)])], to=1)
        seen = g.whole("Unsqueeze", [seen, g.constant([-1])])
        total = g.make("ReduceSum", [g.whole("Mul", [y, seen]), g.constant([-2])], lambda s: (*s[:-2], s[-1]), of=[y],
                       keepdims=0, kind="float32")  # fmt: skip
        tame(g, total)


def counted(g: Sized) -> None:
    """Whole numbers of an input summed up one after the other, as positions."""
    names = [n for n in g.inputs if g.types[n] == "int64"]
    if not names:
        raise Misfit
    x = g.random.choice(names)
    seen = g.whole("Cast", [g.whole("Equal", [x, g.constant(g.random.choice([0, 1]))])], to=7)
    sums = g.whole("CumSum", [seen, g.constant(len(g.shapes[x]) - 1)])
    g.make("Mul", [g.whole("Cast", [sums], to=1), g.constant(np.float32(0.1))], lambda s: s, of=[x], kind="float32")


def chosen(g: Sized) -> None:
    """Elements of one of two values, by an input of truth values or a comparison."""
    x = g.one()
    names = [n for n in g.inputs if g.types[n] == "bool"]
    if names and g.random.random() < 0.7:
        b = g.random.choice(names)
        g.make("Where", [b, x, g.constant(np.float32(0))], lambda s, t: tuple(np.broadcast_shapes(s, t)), of=[x, b],
               kind="float32")  # fmt: skip
        return
    y = _exact(g)
    test = g.whole("Less", [y, g.constant(np.float32(0.3))])
    g.make("Where", [test, x, y], lambda s, t: tuple(np.broadcast_shapes(s, t)), of=[x, y], kind="float32")


def hot(g: Sized) -> None:
    """Each number as a row with a single 1, as long as there are numbers; the diagonal."""
    x = g.one(2, 4)
    rank = len(g.shapes[x])
    n = g.extent(x, rank - 2)
    if g.random.random() < 0.5:
        unit = g.whole("OneHot", [count(g, x, rank - 2), n, g.constant(np.float32([0, 1]))], axis=-1)
    else:
        zeros = g.whole("ConstantOfShape", [g.join(n, n)])
        unit = g.whole("EyeLike", [zeros], k=g.random.choice([0, 1, -1]))
    g.make("MatMul", [unit, x], lambda s: s, of=[x], kind="float32")


VALUES: tuple[Callable[[Sized], None], ...] = (
    masked, triangle, largest, kept, positive, different, words, words, counted, chosen, hot,
)  # fmt: skip
