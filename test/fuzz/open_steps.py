"""Steps that leave the first dimension of values open: what they choose does not depend on its size.

What may be large is squashed before others read it.
"""

from __future__ import annotations

from collections.abc import Callable

from growing import Graph

UNARY = ("Tanh", "Sigmoid", "Relu", "Erf", "Neg", "Abs", "Softplus", "HardSwish")
INNER = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp")


def _open(g: Graph, rank: int = 1) -> str | None:
    """A value whose first dimension is open."""
    names = [n for n, s in g.shapes.items() if n in g.open and len(s) >= rank]
    return g.random.choice(names[-3:]) if names else None


def _made(g: Graph, op: str, inputs: list[str], shape: tuple[int, ...], **how: object) -> str:
    y = g.add(op, inputs, shape, **how)  # type: ignore[arg-type]
    g.open.add(y)
    return y


def unary(g: Graph) -> None:
    if name := _open(g):
        _made(g, g.random.choice(UNARY), [name], g.shapes[name])


def inner(g: Graph) -> None:
    """With a value of the other dimensions, or of all of them."""
    if name := _open(g):
        shape = g.shapes[name]
        same = [n for n in g.open if g.shapes[n] == shape]
        other = g.random.choice(sorted(same)) if g.random.random() < 0.5 else g.fixed(shape[1:])
        y = g.add(g.random.choice(["Add", "Mul", "Sub", "Max"]), [name, other], shape)
        _made(g, "Softsign", [y], shape)


def matmul(g: Graph) -> None:
    if name := _open(g, 2):
        *outer, k = g.shapes[name]
        n = g.random.randint(1, 40)
        y = g.add("MatMul", [name, g.fixed((k, n))], (*outer, n))
        _made(g, "Tanh", [y], (*outer, n))


def against(g: Graph) -> None:
    """Products over the open dimension, and with it on both sides."""
    if (name := _open(g, 2)) and len(g.shapes[name]) == 2:
        n, k = g.shapes[name]
        turned = g.add("Transpose", [name], (k, n), perm=[1, 0])
        if g.random.random() < 0.5:
            g.add("Tanh", [g.add("MatMul", [turned, name], (k, k))], (k, k), last=True)
        else:
            y = g.add("MatMul", [name, turned], (n, n))
            y = g.add("Softmax", [y], (n, n), axis=-1)
            _made(g, "MatMul", [y, name], (n, k))


def window(g: Graph) -> None:
    if (name := _open(g, 4)) is None:
        return
    n, c, h, w = g.shapes[name]
    if g.random.random() < 0.5:
        filters = g.random.randint(1, 20)
        y = g.add("Conv", [name, g.fixed((filters, c, 3, 3))], (n, filters, h, w), pads=[1, 1, 1, 1])
        _made(g, "Tanh", [y], (n, filters, h, w))
    else:
        how = {"kernel_shape": [2, 2], "pads": [0, 0, 1, 1]}
        _made(g, g.random.choice(["MaxPool", "AveragePool"]), [name], (n, c, h, w), **how)


def reduce(g: Graph) -> None:
    """Of an inner dimension; of the open one."""
    if (name := _open(g, 2)) is None:
        return
    shape, op = g.shapes[name], g.random.choice(INNER)
    if g.random.random() < 0.7:
        _made(g, op, [name, g.constant([len(shape) - 1])], shape[:-1], keepdims=0)
    else:
        y = g.add(op, [name, g.constant([0])], shape[1:], keepdims=0)
        g.add("Softsign", [y], shape[1:], last=True)


def rows(g: Graph) -> None:
    """Rows of which each is changed as a whole, or all of them along the open dimension."""
    if name := _open(g, 2):
        shape = g.shapes[name]
        op, axis = g.random.choice([("Softmax", -1), ("LayerNormalization", -1), ("Softmax", 0), ("CumSum", 0)])
        if op == "CumSum":
            y = g.add(op, [name, g.constant(axis)], shape)
            _made(g, "Softsign", [y], shape)
        elif op == "Softmax":
            _made(g, op, [name], shape, axis=axis)
        else:
            _made(g, op, [name, g.fixed(shape[-1:])], shape, axis=axis, epsilon=0.1)


def moved(g: Graph) -> None:
    """Joined, cut, reshaped and transposed, there and back."""
    if (name := _open(g, 2)) is None:
        return
    shape = g.shapes[name]
    how = g.random.choice(["join", "cut", "flatten", "turn", "double"])
    if how == "join":
        _made(g, "Concat", [name, name], (*shape[:-1], 2 * shape[-1]), axis=len(shape) - 1)
    elif how == "cut":
        part = g.random.randint(1, shape[-1])
        limits = [g.constant([v]) for v in (0, part, len(shape) - 1)]
        _made(g, "Slice", [name, *limits], (*shape[:-1], part))
    elif how == "flatten":
        size = 1
        for d in shape[1:]:
            size *= d
        _made(g, "Reshape", [name, g.constant([0, -1])], (shape[0], size))
    elif how == "turn":
        order = [*range(1, len(shape)), 0]
        y = g.add("Transpose", [name], tuple(shape[n] for n in order), perm=order)
        g.add("Sigmoid", [y], g.shapes[y], last=True)
    else:
        y = g.add("Concat", [name, name], (2 * shape[0], *shape[1:]), axis=0)
        g.add("Sigmoid", [y], g.shapes[y], last=True)


OPEN: tuple[Callable[[Graph], None], ...] = (
    unary, inner, inner, matmul, matmul, against, window, reduce, rows, rows, moved,
)  # fmt: skip
