"""Shapes, places and paddings that are computed at run time: Reshape, Expand, Slice, Pad where these are numbers of
data's. What ONNX makes of such a number (0, -1, from the end, clamped) is written as an expression of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlc.dialects.dims import Dim, DimLike, floordiv, product
from mlc.dialects.graph.loop import steps_of
from mlc.dialects.types import Shape
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import at_least, larger
from mlc.frontends.onnx.node import Node, normalise_axis
from mlc.frontends.onnx.numbers import is_open, values_of
from mlc.frontends.onnx.tensors import Tensor

Number = DimLike | str


def any_open(numbers: Iterable[Number]) -> bool:
    """Whether one of the numbers is known only when the model runs."""
    return any(is_open(n) for n in numbers)


def reshaped(node: Node, x: Tensor, wanted: Sequence[DimLike], keep_zero: bool) -> Tensor:
    """``x`` under a shape of which some dimensions are open: ONNX's 0 and -1 are looked for when the model runs."""
    total, numbers = product(x.shape), node.build.numbers
    zero = [0 if keep_zero or n >= x.rank else x.shape[n] for n in range(len(wanted))]
    texts = [_unzeroed(d, z) for d, z in zip(wanted, zero, strict=True)]
    missing = [n for n, d in enumerate(texts) if d == -1 or is_open(d)]
    if len([d for d in texts if isinstance(d, int) and d == -1]) > 1:
        raise NotSupported(f"a shape with two unknown dimensions: {list(wanted)}")
    rest = product(d for d in texts if not isinstance(d, str) and d != -1 and not is_open(d))
    if len(missing) == 1 and at_least(rest, 1):  # there is no choice
        n, shape = missing[0], list(texts)
        shape[n] = floordiv(total, rest)
        agrees = f"({texts[n]} == -1) | ({texts[n]} == {shape[n]})"
        node.check(f"where({agrees}, 0, -1)", f"the shape does not have the {total} elements of {x}")
        return node.build.reshape(x, shape)  # type: ignore[arg-type]
    found = [numbers.number(f"{d}") if isinstance(d, str) else d for d in texts]
    others = numbers.number(f"abs({product(found)})")
    sizes: list[Number] = [d if n not in missing else _filled(d, total, others) for n, d in enumerate(found)]
    return node.build.reshape(x, [node.size(s, f"dimension {n} of the shape") for n, s in enumerate(sizes)])


def _unzeroed(d: DimLike, instead: DimLike) -> Number:
    """A dimension where 0 means that of the operand; ``instead`` is 0 where it means nothing else."""
    if not is_open(d) or instead == 0:
        return instead if d == 0 else d
    return f"where(({d}) == 0, {instead}, {d})"


def _filled(d: DimLike, total: DimLike, others: DimLike) -> Number:
    """A dimension where -1 means what is left; ``others``: the product of the others."""
    left = f"({total}) // max({others}, 1)"
    return left if d == -1 else d if at_least(d, 0) else f"where(({d}) == -1, {left}, {d})"


def expanded(node: Node, x: Tensor, wanted: Sequence[DimLike]) -> Tensor:
    """``x`` broadcast to a shape of which some dimensions are open: 1 there leaves a dimension as it is."""
    rank = max(x.rank, len(wanted))
    left, right = [(*[1] * (rank - len(s)), *s) for s in (x.shape, wanted)]
    shape = [_stretched(node, n, d, w) for n, (d, w) in enumerate(zip(left, right, strict=True))]
    reads = [_stretch(n, d, s) for n, (d, s) in enumerate(zip(left, shape, strict=True))]
    if not any(r.startswith("min") for r in reads):
        return node.build.broadcast(x, shape)
    return node.build.compute(f"x0[{', '.join(reads[rank - x.rank :])}]", [x], shape)


def _stretch(n: int, d: DimLike, common: DimLike) -> str:
    """Where dimension ``n`` is read, of extent ``d``; 1 or the common one, if only the run knows which."""
    return "0" if d == 1 else f"i{n}" if d == common else f"min(i{n}, ({d}) - 1)"


def _stretched(node: Node, n: int, d: DimLike, wanted: DimLike) -> DimLike:
    """The common extent of a dimension and a wanted one."""
    what = f"dimension {n} of the shape, beside {d},"
    if not is_open(wanted):
        return wanted if d == 1 else d
    if d == 1:
        return node.size(wanted, what)
    same = f"({wanted} == 1) | ({wanted} == {d})"
    if isinstance(d, int):
        node.check(f"where({same}, 0, -1)", f"{what} is neither 1 nor {d}")
        return d
    return node.size(f"where({same}, {d}, where(({d}) == 1, {wanted}, -1))", what)


def sliced(
    node: Node,
    x: Tensor,
    starts: Sequence[Number],
    ends: Sequence[Number],
    axes: Sequence[int],
    steps: Sequence[Number],
) -> Tensor:
    """Slices along ``axes`` of which some starts, ends or steps are open."""
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        x = _sliced(node, x, axis, start, end, step)
    return x


def _sliced(node: Node, x: Tensor, axis: int, start: Number, end: Number, step: Number) -> Tensor:
    build, d = node.build, x.shape[axis]
    if d == 0:
        return x
    length = end - start if isinstance(start, Dim) and isinstance(end, Dim) else None  # as of x[i:i+2]
    if step == 1 and isinstance(length, int) and length > 0 and at_least(d, length) is not False:
        return build.cut(x, axis, _first(node, d, start, length), length)  # type: ignore[arg-type]
    first = build.numbers.number(_clamped(d, start, step, "0"))
    last = build.numbers.number(_clamped(d, end, step, "-1"))
    count = f"max((where({step} < 0, {first - last}, {last - first}) + abs({step}) - 1) // max(abs({step}), 1), 0)"
    most = d - first if step == 1 and isinstance(first, int) else d
    size = node.size(f"where({step} == 0, -1, {count})" if is_open(step) else count, "the number of elements", most)
    if step == 1:
        return build.cut(x, axis, node.size(first, "the first element", d), size)
    reads = [f"{first} + i{n} * ({step})" if n == axis else f"i{n}" for n in range(x.rank)]
    return build.compute(f"x0[{', '.join(reads)}]", [x], [size if n == axis else e for n, e in enumerate(x.shape)])


def _first(node: Node, d: DimLike, start: DimLike, length: int) -> DimLike:
    """Where a slice of ``length`` elements begins; as x[i:i+1] is meant, it does not reach over an end."""
    if not values_of([start]) and _always(node.build, start, d - length):
        return start
    text = f"where(({start}) < 0, where(({start}) + {length} < 0, ({start}) + ({d}), -1), {start})"
    return node.size(text, f"the first of {length} elements", d - length)


def _always(build: Builder, number: DimLike, most: DimLike) -> bool:
    """Whether a number that goes up or down from turn to turn is 0 to ``most`` in the first and in the last turn."""
    for step in steps_of([number]):
        ends = (0, build.turns[step] - 1)
        return all(_always(build, number.evaluate({step: n}), most) for n in ends)  # type: ignore[union-attr]
    return bool(at_least(number, 0) and at_least(most, number))


def _clamped(d: DimLike, at: Number, step: Number, least: str) -> str:
    """A position, from the end where negative, kept inside; ``least`` where elements are taken backwards."""
    text = f"where(({at}) < 0, ({at}) + ({d}), {at})"
    forwards, backwards = f"min(max({text}, 0), {d})", f"min(max({text}, {least}), ({d}) - 1)"
    return f"where(({step}) < 0, {backwards}, {forwards})" if is_open(step) else backwards if step < 0 else forwards  # type: ignore[operator]


def chosen(axis: int, rank: int, axes: Sequence[DimLike], numbers: Sequence[DimLike], default: Number) -> Number:
    """What ``numbers`` say of a dimension, where ``axes`` say which dimensions they are about."""
    text = f"{default}"
    for a, number in zip(axes, numbers, strict=True):
        text = f"where(({a} == {axis}) | ({a} == {axis - rank}), {number}, {text})"
    return text


def around(node: Node, shape: Shape, axis: DimLike) -> tuple[DimLike, DimLike, DimLike]:
    """The elements before an axis, along it and behind it: whichever of the axes of ``shape`` a run takes."""
    rank = len(shape)
    if isinstance(axis, int):
        axis = normalise_axis(axis, rank)
        return product(shape[:axis]), shape[axis], product(shape[axis + 1 :])
    node.check(f"where(({axis} >= {-rank}) & ({axis} < {rank}), 0, -1)", f"no axis of {list(shape)}")
    parts = [around(node, shape, n) for n in range(rank)]
    texts = [chosen_of(axis, rank, each) for each in zip(*parts, strict=True)]
    before, along, behind = (node.size(t, "an extent") for t in texts)
    return before, along, behind


def chosen_of(place: DimLike, rank: int, numbers: Sequence[DimLike]) -> str:
    """The number that stands at a place, from the end where that is negative."""
    text = f"{numbers[-1]}"
    for n, number in enumerate(numbers[:-1]):
        text = f"where(({place} == {n}) | ({place} == {n - rank}), {number}, {text})"
    return text


def split_axes(node: Node, x: Tensor, axes: Sequence[DimLike]) -> tuple[Tensor, list[int], list[DimLike]]:
    """``x`` with two dimensions for each of its own, the second of which is the whole of it where it is one of ``axes``
    and else 1: so the axes to reduce are known. Also the shape of the first ones, which are the other way round."""
    kept: list[DimLike] = []
    split: list[DimLike] = []
    for n, d in enumerate(x.shape):
        here, most = _among(n, x.rank, axes), larger(d, 1)
        kept.append(1 if d == 1 else node.size(f"where({here}, 1, {d})", "an extent", most))
        split += [kept[-1], 1 if d == 1 else node.size(f"where({here}, {d}, 1)", "an extent", most)]
    return node.build.reshape(x, split), list(range(1, 2 * x.rank, 2)), kept


def dropped(node: Node, shape: Sequence[DimLike], axes: Sequence[DimLike]) -> list[DimLike]:
    """``shape`` without ``axes``, which are different ones."""
    rank, numbers = len(shape), node.build.numbers
    gone = [numbers.number(_among(n, rank, axes)) for n in range(rank)]
    before = [n - sum(gone[:n]) for n in range(rank)]  # of those that stay
    node.check(f"-abs({sum(gone)} - {len(axes)})", f"{len(axes)} axes are not different ones of rank {rank}")
    texts = ["0"] * (rank - len(axes))
    for k in range(len(texts)):
        for n, d in enumerate(shape):
            texts[k] = f"where(({gone[n]} == 0) & ({before[n]} == {k}), {d}, {texts[k]})"
    return [node.size(text, "an extent") for text in texts]


def inserted(node: Node, shape: Sequence[DimLike], axes: Sequence[DimLike]) -> list[DimLike]:
    """``shape`` with dimensions of 1 at ``axes`` of the result, which are different ones."""
    rank, numbers = len(shape) + len(axes), node.build.numbers
    new = [numbers.number(_among(n, rank, axes)) for n in range(rank)]
    node.check(f"-abs({sum(new)} - {len(axes)})", f"{len(axes)} axes are not different ones of rank {rank}")
    places = [chosen_of(n - sum(new[:n]), len(shape), shape) if shape else "1" for n in range(rank)]
    return [node.size(f"where({here} == 1, 1, {d})", "an extent") for here, d in zip(new, places, strict=True)]


def _among(n: int, rank: int, axes: Sequence[DimLike]) -> str:
    """Whether axis ``n`` is one of ``axes``."""
    return " | ".join(f"({a} == {n}) | ({a} == {n - rank})" for a in axes)


def padded_shape(node: Node, x: Tensor, low: Sequence[Number], high: Sequence[Number]) -> list[DimLike]:
    """The shape of ``x`` with so many more elements on each side."""
    each = zip(x.shape, low, high, strict=True)
    grown = [f"({d}) + {a} + {b}" if isinstance(a, str) or isinstance(b, str) else d + a + b for d, a, b in each]
    return [node.size(d, f"dimension {n} of the result") for n, d in enumerate(grown)]


def padded(node: Node, x: Tensor, low: Sequence[Number], high: Sequence[Number], value: Tensor) -> Tensor:
    """``x`` surrounded with ``value`` (a scalar); negative amounts crop."""
    shape = padded_shape(node, x, low, high)
    at = [f"i{n} - ({a})" for n, a in enumerate(low)]
    inside = " & ".join(f"({p} >= 0) & ({p} < {d})" for p, d in zip(at, x.shape, strict=True)) or "True"
    reads = ", ".join(f"max(min({p}, ({d}) - 1), 0)" for p, d in zip(at, x.shape, strict=True)) or "()"
    xs = [_with_spare(node.build, x, value), value]
    return node.build.compute(f"where({inside}, x0[{reads}], x1[()])", xs, shape)


def _with_spare(build: Builder, x: Tensor, value: Tensor) -> Tensor:
    """``x`` with one more element, ``value``, along axes that may have none: so there is one to read."""
    for axis, d in enumerate(x.shape):
        if not at_least(d, 1):
            spare = build.broadcast(value, [1 if n == axis else e for n, e in enumerate(x.shape)])
            x = build.concat([x, spare], axis)
    return x
