"""Collectives on arrays and trees of them. On each rank the arrays have equal shapes and types.

Those whose result has another shape are for a number of ranks: that of the job, unless ``ranks`` says another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mlc.dialects.comm import Group
from mlc.dialects.comm.world import current
from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.collectives import emits
from mlc.frontends.array.functions.elementwise import convert
from mlc.frontends.array.functions.shaping import moveaxis

MONOIDS = {"sum": "add", "mean": "add", "prod": "mul", "max": "max", "min": "min"}
HALVES = ("f16", "bf16")
_traced_for: list[int] = []  # the number of ranks, where that is not the job's


def size() -> int:
    """The number of ranks, known while a function is traced: a part of the program, as shapes are."""
    return _traced_for[-1] if _traced_for else current().ranks


def rank() -> Array:
    """The number of this rank, an integer of rank 0 that is known when the program runs."""
    return apply(emits.rank, [], (), "i64", ())


def world() -> Array:
    """The number of ranks, known when the program runs: one program serves any number."""
    return apply(emits.world, [], (), "i64", ())


def all_reduce(x: Any, op: str = "sum") -> Any:
    """The sum, mean, prod, max or min of ``x`` over all ranks, on each.

    Halves are summed in float32. The order is a fixed tree over the ranks, so the bits are equal on all ranks.

    Raises:
        InputError: another operation, or one that the elements do not have.
    """
    return _each(lambda each: _all_reduce(each, op), x)


def _all_reduce(x: Array, op: str) -> Array:
    if op == "mean":
        return _mean(x, _all_reduce)
    return _combined(x, op, lambda given, fn: apply(emits.all_reduce, [given], (fn,), given.element, given.shape))


def all_reduce_in(x: Array, group: Group) -> Array:
    """The sum of ``x`` over the ranks of each group, on each of them. It has no derivative."""
    numbers = group.size, group.stride, group.world
    return _combined(
        x, "sum", lambda given, fn: apply(emits.all_reduce, [given], (fn, numbers), given.element, given.shape)
    )


def reduce_scatter(x: Any, op: str = "sum", axis: int = 0, ranks: int | None = None, ahead: bool = False) -> Any:
    """The sum, mean, prod, max or min of ``x`` over all ranks, split along ``axis``: rank r gets part r.

    ``ahead``: as soon as ``x`` is computed, and one of such collectives at a time, so that ``x`` is not kept.

    Raises:
        InputError: the extent does not divide; another operation.
    """
    return _each(lambda each: _reduce_scatter(each, op, axis, ranks or size(), ahead), x)


def _reduce_scatter(x: Array, op: str, axis: int, ranks: int, ahead: bool) -> Array:
    if op == "mean":
        return _mean(x, lambda each, fn: _reduce_scatter(each, fn, axis, ranks, ahead))
    given = moveaxis(x, axis, 0)
    part = (_divided(given, "reduce_scatter", ranks), *given.shape[1:])

    def emit(each: Array, fn: str) -> Array:
        return apply(emits.reduce_scatter, [each], (fn, ranks, _number(ahead)), each.element, part)

    return moveaxis(_combined(given, op, emit), 0, axis)


def all_gather(x: Any, axis: int = 0, ranks: int | None = None, ahead: bool = False) -> Any:
    """The arrays of all ranks, one after another along ``axis``.

    ``ahead``: just before the result is read, while what comes before is computed, and anew where it is read again
    after other such gathers, as in a derivative: so it is not kept in between.
    """
    return _each(lambda each: _all_gather(each, axis, ranks or size(), ahead), x)


def _number(ahead: bool) -> int | None:
    return 1 if ahead else None


def _all_gather(x: Array, axis: int, ranks: int, ahead: bool) -> Array:
    given = moveaxis(_with_axes(x, "all_gather"), axis, 0)
    shape = (given.shape[0] * ranks, *given.shape[1:])
    return moveaxis(apply(emits.all_gather, [given], (ranks, _number(ahead)), given.element, shape), 0, axis)


def all_to_all(x: Any, axis: int = 0, ranks: int | None = None, lists: bool = False) -> Any:
    """Part s along ``axis`` goes to rank s; the parts for this rank, in the order of the ranks they are from.

    ``lists``: ``x`` is lists of rows, [lists, rows, …]; rows of zeros at the end of a list are not sent, so the bytes
    follow from data.

    Raises:
        InputError: the extent does not divide; lists along another axis than 0, or of rank below 2.
    """
    return _each(lambda each: _all_to_all(each, axis, ranks or size(), lists), x)


def _all_to_all(x: Array, axis: int, ranks: int, lists: bool) -> Array:
    if lists and (axis or x.ndim < 2):
        what = f"all_to_all of lists divides an array of shape {list(x.shape)} along axis {axis}"
        raise InputError(what, hint="Give [lists, rows, …] and axis 0")
    given = moveaxis(_with_axes(x, "all_to_all"), axis, 0)
    _divided(given, "all_to_all", ranks)
    return moveaxis(apply(emits.all_to_all, [given], (ranks, lists), given.element, given.shape), 0, axis)


def broadcast(x: Any, root: int = 0) -> Any:
    """``x`` of rank ``root``, on all ranks."""
    if root < 0:
        raise InputError(f"broadcast from rank {root}", hint="Give a rank, from 0")
    return _each(lambda each: _moved(emits.broadcast, each, root), x)


def permute(x: Any, pairs: Sequence[tuple[int, int]]) -> Any:
    """``x`` of rank ``from`` on rank ``to`` for each of the pairs (from, to); zeros on a rank that gets none.

    Raises:
        InputError: a rank is below 0, or sends or receives twice.
    """
    moves = tuple((int(source), int(to)) for source, to in pairs)
    for side, ranks in (("sends", [m[0] for m in moves]), ("receives", [m[1] for m in moves])):
        if len(set(ranks)) < len(ranks) or any(n < 0 for n in ranks):
            raise InputError(
                f"permute by {list(moves)}: a rank {side} twice, or is below 0", hint="Give each rank once"
            )
    return _each(lambda each: _moved(emits.permute, each, moves), x)


def send(x: Any, source: int, target: int) -> Any:
    """``x`` of rank ``source`` on rank ``target``, zeros on all others: a send and its receive."""
    return permute(x, [(source, target)])


def barrier(x: Any) -> Any:
    """``x``, as soon as all ranks have reached this point."""
    return _each(lambda each: _moved(emits.barrier, each), x)


def _each(f: Callable[[Array], Array], x: Any) -> Any:
    """``f`` applied to an array, or to each leaf of a tree. A complex array is a tree of its two parts."""
    return f(x) if isinstance(x, Array) else trees.tree_map(lambda each: f(as_array(each)), x)


def _moved(emit: Any, x: Array, *params: Any) -> Array:
    return apply(emit, [x], params, x.element, x.shape)


def _mean(x: Array, total: Callable[[Array, str], Array]) -> Array:
    if dtypes.kind(x.element) < 2:
        raise InputError(f"A mean over ranks of {x.dtype}", hint="Cast to a float first")
    wide = convert(x, "f32") if x.element in HALVES else x
    whole = total(wide, "sum")
    return convert(whole / convert(world(), dtypes.PART.get(wide.element, wide.element)), x.element)


def _combined(x: Array, op: str, emit: Callable[[Array, str], Array]) -> Array:
    """A record of ``emit`` that combines elements: halves as float32, bools as integers."""
    fn = MONOIDS.get(op)
    if fn is None:
        raise InputError(f"'{op}' over ranks", hint=f"Give one of {', '.join(MONOIDS)}")
    if x.element in dtypes.PART and fn != "add":
        raise InputError(f"{op} over ranks of complex numbers", hint="Sums and means are defined")
    if x.element == "i1":
        return convert(emit(convert(x, "ui8"), fn), "i1") if fn in ("max", "min") else emit(convert(x, "i64"), fn)
    if x.element in HALVES:
        return convert(emit(convert(x, "f32"), fn), x.element)
    return emit(x, fn)


def _with_axes(x: Array, what: str) -> Array:
    if not x.shape:
        raise InputError(f"{what} of an array of rank 0", hint="Give it an axis: x[None]")
    return x


def _divided(x: Array, what: str, ranks: int) -> Any:
    """The part along axis 0 that a rank keeps."""
    extent = _with_axes(x, what).shape[0]
    if extent % ranks != 0:
        hint = "Pad the array, or choose another axis"
        raise InputError(f"{what} of {extent} elements, which {ranks} ranks do not divide evenly", hint=hint)
    return extent // ranks


@contextmanager
def traced_for(ranks: int) -> Iterator[None]:
    """A context in which functions are traced for a number of ranks other than the job's."""
    _traced_for.append(ranks)
    try:
        yield
    finally:
        _traced_for.pop()
