"""Operators of one's own: ``compute`` and ``reduce``. Source: TVM's te.compute and te.reduce_axis.

    y = mlc.compute((n, m), lambda i, j: x[i, j] * mlc.numpy.exp(w[j]))
    y = mlc.compute((n,), lambda i: mlc.reduce("add", m, lambda k: x[i, k] * w[k]))

The function is traced once on iterators, which are integers of rank 0. What it returns becomes the scalar expression
of one statement, with the semantics, fusion, derivatives and schedules of built-in operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.statement import MONOIDS
from mlc.errors import InputError
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions.shapes import Extents, sizes
from mlc.frontends.array.public import publish
from mlc.frontends.array.record import Record, Unique, record
from mlc.frontends.array.statements.expressions import Expressions
from mlc.frontends.array.transforms.captured import with_tables
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor


def computed(
    build: Builder,
    operands: Sequence[Tensor],
    expr: str,
    shape: tuple[DimLike, ...],
    reduced: tuple[DimLike, ...],
    monoid: str | None,
) -> Tensor:
    return build.compute(expr, operands, shape, reduced, monoid)


def iterator(build: Builder, operands: Sequence[Tensor], unique: Unique) -> Tensor:
    """An iterator, of which ``compute`` makes indices."""
    raise NotSupported("an iterator outside of compute; write mlc.compute(shape, lambda i: mlc.reduce(...))")


def reduction(build: Builder, operands: Sequence[Tensor], extents: tuple[DimLike, ...], monoid: str) -> Tensor:
    """A reduction over iterators, the other operands, of which ``compute`` makes a statement."""
    raise NotSupported("reduce outside of compute")


def compute(shape: Extents, f: Callable[..., Any]) -> Array:
    """The array whose element ``i, j, …`` is ``f(i, j, …)``.

    ``f`` takes an iterator for each dimension, reads elements ``x[i + 1, j]`` of arrays, and combines them by
    operators, by the elementwise functions of ``mlc.numpy`` and by ``reduce``. An index that depends on data, or that
    names an iterator twice, is clamped into its dimension.

    Raises:
        InputError: it reads outside of an array, or does what no scalar expression is (with the user's line).
    """
    wanted = sizes(shape)
    iterators = _iterators(wanted)
    value = as_array(with_tables(f)(*map(Array, iterators)))
    names = {each: f"i{n}" for n, each in enumerate(iterators)}
    return _statement(value.operand(), names, wanted)


def reduce(monoid: str, over: Extents, f: Callable[..., Any]) -> Array:
    """Inside ``compute``: ``f(k, …)`` combined over all ``k`` below ``over`` by ``add``, ``mul``, ``max`` or ``min``.

    The result is one element: with what surrounds it, ``f`` reads the iterators of ``compute`` too.
    """
    if monoid not in MONOIDS:
        raise InputError(f"reduce cannot combine by '{monoid}'", hint=f"Use one of {', '.join(MONOIDS)}")
    wanted = sizes(over)
    iterators = _iterators(wanted)
    value = as_array(with_tables(f)(*map(Array, iterators)))
    made = record(reduction, [value.operand(), *iterators], (wanted, monoid), value.element, ())
    return Array(made)


def _iterators(wanted: Sequence[DimLike]) -> list[Record]:
    made = [Record(iterator, (), (Unique(),), "i64", ()) for _ in wanted]
    for each in made:
        each.traced = True
    return made


def _statement(
    root: Record,
    names: dict[Record, str],
    shape: Sequence[DimLike],
    reduced: Sequence[DimLike] = (),
    monoid: str | None = None,
) -> Array:
    """The statement of ``root`` over iterators; reductions inside of it become statements of their own."""
    if root.emit is reduction and monoid is None:
        return _reduced(root, names, shape)
    bounds = dict(zip(names, (*shape, *reduced), strict=True))
    made = Expressions(names, bounds, lambda each: _reduced(each, names, (*shape, *reduced)), reduction)
    expr = made.of(root)
    params = (str(expr), tuple(shape), tuple(reduced), monoid)
    return apply(computed, made.operands, params, root.element, tuple(shape))


def _reduced(root: Record, names: dict[Record, str], shape: Sequence[DimLike]) -> Array:
    body, *iterators = root.operands
    over, monoid = root.params
    outer = {each: f"i{n}" for n, each in enumerate(names)}
    inner = {each: f"r{n}" for n, each in enumerate(iterators)}
    return _statement(body, outer | inner, shape, over, monoid)


publish(globals(), ("compute", "reduce"), "mlc")
