"""Steps whose shapes, offsets, counts and axes are chosen at run time. Extents that follow from these are None."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from chosen import picked, rows
from growing import MOST, NEAREST, Graph
from onnx import numpy_helper
from unsized_steps import MOVED, UNSIZED, made, unsized

SUMS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
        "ReduceLogSumExp")  # fmt: skip


def _known(g: Graph, rank: int, kinds: Sequence[str] = MOVED) -> str:
    """A value whose extents are known."""
    return g.value(rank, kinds) or g.new(g.shape(g.random.randint(max(rank, 1), 4)), g.random.choice(kinds))


def _any(g: Graph, rank: int, kinds: Sequence[str] = MOVED) -> str:
    return (g.random.random() < 0.5 and unsized(g, rank, kinds)) or _known(g, rank, kinds)


def _maybe(g: Graph, choices: Sequence[object], kind: str = "int64") -> str:
    """One of some rows, or the first of them as a constant."""
    return picked(g, choices, kind) if g.random.random() < 0.7 else g.constant(np.array(choices[0], kind))


def _axes(g: Graph, rank: int, count: int) -> list[int]:
    """Different axes, of either sign."""
    return [n - g.random.choice([0, rank]) for n in g.random.sample(range(rank), count)]


def counted(g: Graph) -> None:
    kind, whole = g.random.choice([("int64", 1), ("int32", 1), ("float32", 0.75), ("float64", 0.75)])
    sign = g.random.choice([1, -1])
    limits = [(0, 3, -2), (sign * 9, sign * 4, 20), (sign * whole, sign * 2 * whole, sign * 3 * whole)]
    g.add("Range", [_maybe(g, n, kind) for n in limits], (None,), kind, last=True)  # type: ignore[arg-type]


def filled(g: Graph) -> None:
    rank = g.random.randint(1, 4)
    value = np.array([g.random.randint(1, 5)], g.random.choice(MOVED))
    shape = picked(g, rows(g, lambda: g.shape(rank)))
    how = {"value": numpy_helper.from_array(value)}
    made(g, "ConstantOfShape", [shape], (None,) * rank, value.dtype.name, **how)


def cut(g: Graph) -> None:
    """From and to any place, by any step, along axes that a run may choose as well."""
    x = _any(g, 1)
    shape, kind = g.shapes[x], g.random.choice(["int64", "int32"])
    count, free = g.random.randint(1, min(len(shape), 2)), g.random.random() < 0.3
    axes = _axes(g, len(shape), count)
    ends = [range(-9, 10), range(-9, 10), [1, 1, 2, -1, -3]]
    starts, stops, steps = (_maybe(g, rows(g, lambda f=f: g.random.choices(f, k=count)), kind) for f in ends)
    along = picked(g, rows(g, lambda: _axes(g, len(shape), count)), kind) if free else g.constant(np.array(axes, kind))
    result = [None if free or n in axes or n - len(shape) in axes else d for n, d in enumerate(shape)]
    made(g, "Slice", [x, starts, stops, along, steps], tuple(result))


def window(g: Graph) -> None:
    """So many elements from a place on: their number is known."""
    x = _known(g, 1)
    shape = g.shapes[x]
    axis = g.random.randrange(len(shape))
    count = g.random.randint(1, shape[axis])
    start = picked(g, [[n] for n in range(shape[axis] - count + 1)])
    end = g.add("Add", [start, g.constant([count])], (1,), last=True)
    g.add("Slice", [x, start, end, g.constant([axis])], (*shape[:axis], count, *shape[axis + 1 :]))


def reshape(g: Graph) -> None:
    x = _known(g, 1)
    rank = g.random.randint(1, 4)
    made(g, "Reshape", [x, picked(g, rows(g, lambda: _shaped(g, g.shapes[x], rank)))], (None,) * rank)


def _shaped(g: Graph, shape: Sequence[int], rank: int) -> list[int]:
    """A shape of as many elements: one of its extents may be -1, others 0 where they stay."""
    left, result = math.prod(shape), []
    for _ in range(rank - 1):
        result.append(g.random.choice([d for d in range(1, min(left, 12) + 1) if left % d == 0]))
        left //= result[-1]
    result.append(left)
    if g.random.random() < 0.5:
        result = [0 if n < len(shape) and d == shape[n] else d for n, d in enumerate(result)]
    if g.random.random() < 0.5:
        result[g.random.randrange(rank)] = -1
    return result


def expand(g: Graph) -> None:
    x = _known(g, 1)
    shape = g.shapes[x]
    more = g.random.randint(0, 4 - len(shape)) if len(shape) < 4 else 0

    def wider() -> list[int]:
        stretched = [g.random.choice([1, d]) if d > 1 else g.random.randint(1, 4) for d in shape]
        return [g.random.randint(1, 3) for _ in range(more)] + stretched

    choices = rows(g, wider)
    if 4 ** (more + shape.count(1)) * math.prod(shape) <= MOST:
        made(g, "Expand", [x, picked(g, choices)], (*[None] * more, *(d if d > 1 else None for d in shape)))


def pad(g: Graph) -> None:
    """By a value, which crops as well, or by elements of each axis or of some."""
    x = _known(g, 1)
    shape, mode = g.shapes[x], g.random.choice(["constant", "constant", "edge", "reflect", "wrap"])
    mode = "edge" if mode == "wrap" and g.opset < 19 else mode
    axes = _axes(g, len(shape), g.random.randint(1, len(shape)))
    free = g.random.random() < 0.3
    extents = [min(shape) if free else shape[n] for n in axes]
    limits = [(-1, 2) if mode == "constant" and d > 2 else (0, min(d - (mode == "reflect"), 2)) for d in extents * 2]
    inputs = [x, _maybe(g, rows(g, lambda: [g.random.randint(*each) for each in limits]))]
    value = [g.constant(np.array(3, g.types[x]))] if mode == "constant" and g.random.random() < 0.5 else [""]
    along = picked(g, rows(g, lambda: g.random.sample(axes, len(axes)))) if free else g.constant(axes)
    if math.prod(d + 4 for d in shape) <= MOST:
        made(g, "Pad", [*inputs, *value, along], (None,) * len(shape), mode=mode)


def resize(g: Graph) -> None:
    """The last two dimensions of four, to some size or by some scale."""
    shape = g.shape(4)
    how = {"mode": g.random.choice(["nearest", "linear", "cubic"]), "coordinate_transformation_mode":
           g.random.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])}  # fmt: skip
    if how["mode"] == "nearest":
        how["nearest_mode"] = g.random.choice(NEAREST)
    scaled = g.random.random() < 0.4
    kind, ends = ("float32", [0.5, 1, 1.5, 2, 3]) if scaled else ("int64", range(1, 13))
    outer = [] if (axes := g.random.random() < 0.5) else [1, 1] if scaled else shape[:2]
    if scaled and 1 in shape[2:]:
        return  # half of one is none
    wanted = picked(g, rows(g, lambda: [*outer, *g.random.choices(ends, k=2)]), kind)
    inputs = [g.new(shape), "", wanted] if scaled else [g.new(shape), "", "", wanted]
    made(g, "Resize", inputs, (*shape[:2], None, None), **how, **({"axes": [2, 3]} if axes else {}))


def tile(g: Graph) -> None:
    x = _known(g, 1)
    rank = len(g.shapes[x])
    if 3**rank * math.prod(g.shapes[x]) <= MOST:
        times = rows(g, lambda: [g.random.choice([0, 1, 1, 2, 2, 3, 3]) for _ in range(rank)])
        made(g, "Tile", [x, picked(g, times)], (None,) * rank)


def top_k(g: Graph) -> None:
    """Of inputs, which are rarely equal."""
    shape = g.shape(g.random.randint(1, 3))
    axis = g.random.randrange(len(shape))
    k = picked(g, rows(g, lambda: [g.random.randint(1, shape[axis])]))
    result = (*shape[:axis], None, *shape[axis + 1 :])
    made(g, "TopK", [g.new(shape), k], result, axis=axis, largest=g.random.randint(0, 1))
    g.more(result, "int64", last=True)  # type: ignore[arg-type]


def split(g: Graph) -> None:
    """Two pieces; the second has what the first leaves."""
    x = _known(g, 1)
    shape = g.shapes[x]
    axis = g.random.randrange(len(shape))
    first = picked(g, rows(g, lambda: [g.random.randint(0, shape[axis])]))
    rest = g.add("Sub", [g.constant([shape[axis]]), first], (1,), "int64", last=True)
    sizes = g.add("Concat", [first, rest], (2,), "int64", axis=0, last=True)
    part = (*shape[:axis], None, *shape[axis + 1 :])
    made(g, "Split", [x, sizes], part, axis=axis)
    g.more(part, g.types[x], last=True)  # type: ignore[arg-type]


def one_hot(g: Graph) -> None:
    shape = g.shape(g.random.randint(1, 2))
    axis = g.random.randint(0, len(shape))
    depth = picked(g, rows(g, lambda: g.random.randint(1, 7)))
    inputs = [g.new(shape, "int64"), depth, g.constant(np.float32([0, 2]))]
    made(g, "OneHot", inputs, (*shape[:axis], None, *shape[axis:]), "float32", axis=axis)


def reduce(g: Graph) -> None:
    x = _any(g, 1, ("float32",))
    rank, keep = len(g.shapes[x]), g.random.randint(0, 1)
    count = g.random.randint(1, rank)
    axes = picked(g, rows(g, lambda: _axes(g, rank, count)))
    result = (None,) * rank if keep else (None,) * (rank - count)
    y = made(g, g.random.choice(SUMS), [x, axes], result, keepdims=keep)
    made(g, "Softsign", [y], result)


def squeeze(g: Graph) -> None:
    """Without one of the dimensions of 1, or with some more of these."""
    if g.random.random() < 0.5:
        x = g.new((1, *g.shape(2), 1), g.random.choice(MOVED))
        choices, result = [[n] for n, d in enumerate(g.shapes[x]) if d == 1], (None,) * 3
        made(g, "Squeeze", [x, picked(g, choices)], result)
    else:
        x = _any(g, 1)
        rank, more = len(g.shapes[x]), g.random.randint(1, 2)
        axes = picked(g, rows(g, lambda: _axes(g, rank + more, more)))
        if rank + more < 6:
            made(g, "Unsqueeze", [x, axes], (None,) * (rank + more))


def running(g: Graph) -> None:
    x = _any(g, 1, ("float32",))
    shape = g.shapes[x]
    axis = picked(g, range(-len(shape), len(shape)), g.random.choice(["int64", "int32"]))
    how = {"exclusive": g.random.randint(0, 1), "reverse": g.random.randint(0, 1)}
    made(g, "Softsign", [made(g, "CumSum", [x, axis], shape, **how)], shape)


def fourier(g: Graph) -> None:
    """Along an axis, of a length."""
    parts, inverse = g.random.randint(1, 2), g.random.randint(0, 1)
    shape = (*g.shape(g.random.randint(2, 3)), parts)
    length, free = picked(g, rows(g, lambda: g.random.randint(1, 12))), g.opset >= 20
    choices = [n - g.random.choice([0, len(shape)]) for n in range(len(shape) - 1)]
    inputs = [g.new(shape), g.random.choice(["", length]), *([picked(g, choices)] if free else [])]
    how = {"inverse": inverse, "onesided": 0 if inverse or parts == 2 else g.random.randint(0, 1)} | (
        {} if free else {"axis": 1}
    )
    y = made(g, "DFT", inputs, (*(None,) * (len(shape) - 1), 2), **how)
    made(g, "Softsign", [y], g.shapes[y])


def framed(g: Graph) -> None:
    """The spectra of frames; windows for such."""
    if g.random.random() < 0.5:
        size, how = picked(g, rows(g, lambda: g.random.randint(2, 20))), {"periodic": g.random.randint(0, 1)}
        g.add(f"{g.random.choice(['Hann', 'Hamming', 'Blackman'])}Window", [size], (None,), "float32", last=True, **how)  # type: ignore[arg-type]
        return
    batch, length, side = g.random.randint(1, 3), g.random.randint(8, 20), g.random.randint(0, 1)
    step, size = (picked(g, rows(g, lambda n=n: g.random.randint(1, n))) for n in (4, 8))
    y = made(g, "STFT", [g.new((batch, length, 1)), step, "", size], (batch, None, None, 2), onesided=side)
    made(g, "Softsign", [y], g.shapes[y])


def centred(g: Graph) -> None:
    """Cropped or padded around the middle, along some axes."""
    x = _any(g, 1, ("float32", "int32", "float64"))
    rank = len(g.shapes[x])
    axes = _axes(g, rank, g.random.randint(1, rank))
    sizes = picked(g, rows(g, lambda: [g.random.randint(1, 9) for _ in axes]))
    made(g, "CenterCropPad", [x, sizes], (None,) * rank, axes=axes)


def triangle(g: Graph) -> None:
    x = _any(g, 2)
    made(g, "Trilu", [x, picked(g, range(-3, 4))], g.shapes[x], upper=g.random.randint(0, 1))


RUN_TIME: tuple[Callable[[Graph], None], ...] = (
    counted, filled, cut, cut, cut, window, reshape, reshape, expand, pad, pad, resize, tile, top_k, split, one_hot,
    reduce, reduce, squeeze, squeeze, running, fourier, framed, centred, triangle, *UNSIZED,
)  # fmt: skip
