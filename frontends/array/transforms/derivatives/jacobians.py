"""Jacobians and Hessians: derivatives along all directions, batched. Source: JAX's functions of these names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.complex.pair import ComplexArray
from mlc.frontends.array.functions.creation import eye, zeros_like
from mlc.frontends.array.functions.shaping import moveaxis, reshape
from mlc.frontends.array.public import publish
from mlc.frontends.array.transforms.batching import vmap
from mlc.frontends.array.transforms.captured import with_tables
from mlc.frontends.array.transforms.derivatives.gradients import chosen_arguments, is_pair
from mlc.frontends.array.transforms.derivatives.linear_maps import linearize, vjp
from mlc.frontends.array.transforms.derivatives.variables import differentiable

Argnums = int | tuple[int, ...]


def jacfwd(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that returns the Jacobian of ``f``, in forward mode: a pass for each element of the arguments.

    For each array of the result (of shape Y) a tree like the argument, with arrays [*Y, *X]; for several ``argnums`` a
    tuple of trees. With ``has_aux`` the function returns a pair, and so does the Jacobian: with what else it computes.
    ``holomorphic``: arguments and results are complex, and so are the derivatives.

    Raises:
        InputError: a derivative by integers; complex arrays without ``holomorphic``, or real ones with it.
    """

    def columns(f: Callable[..., Any], xs: Sequence[Any]) -> tuple[trees.Tree, list[list[Array]], Any]:
        value, along, aux = linearize(f, *xs, has_aux=True)
        made = [trees.leaves(vmap(each)(_basis(x))) for x, each in _one_at_a_time(along, xs)]
        found = [[_last(column, x) for column in row] for row, x in zip(made, xs, strict=True)]
        return trees.flatten(value)[1], [list(row) for row in zip(*found, strict=True)], aux

    return _jacobian(f, argnums, has_aux, holomorphic, columns)


def jacrev(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """The Jacobian as ``jacfwd`` gives it, in reverse mode: a pass for each element of the results."""

    def rows(f: Callable[..., Any], xs: Sequence[Any]) -> tuple[trees.Tree, list[list[Array]], Any]:
        value, pullback, aux = vjp(f, *xs, has_aux=True)
        leaves, tree = trees.flatten(value)
        ys = [as_array(y) for y in leaves]
        pairs = _one_at_a_time(lambda *bars: pullback(trees.unflatten(tree, bars)), ys)
        made = [vmap(each)(_basis(y)) for y, each in pairs]
        return tree, [[_first(row, y) for row in each] for each, y in zip(made, ys, strict=True)], aux

    return _jacobian(f, argnums, has_aux, holomorphic, rows)


def hessian(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that returns the second derivatives of ``f`` by ``argnums``: of an array X to an array Y, arrays
    [*Y, *X, *X]; forward over reverse mode.
    """
    return jacfwd(jacrev(f, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)


Blocks = Callable[[Callable[..., Any], Sequence[Any]], tuple[trees.Tree, list[list[Array]], Any]]
"""(f, arrays) to the structure of the result, for each of its arrays the Jacobian by each argument, and what else f
computes."""


def _complex(rows: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """``∂u/∂x + i ∂v/∂x`` of the derivatives of each ``u``, then of ``v``, by each ``x``, then by ``y``."""
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return [[ComplexArray(a, b) for a, b in zip(u[::2], v[::2], strict=True)] for u, v in pairs]


def _check_complex(tree: trees.Tree, out: trees.Tree, holomorphic: bool) -> None:
    parts = [side.num_leaves - trees.above(side, is_pair).num_leaves for side in (tree, out)]  # one a complex array
    if holomorphic and [2 * n for n in parts] != [tree.num_leaves, out.num_leaves]:
        what = "holomorphic=True needs complex arguments and complex results, and some are real"
        raise InputError(what, hint="Leave out holomorphic, or convert them by astype")
    if not holomorphic and any(parts):
        what = "There is no Jacobian of complex arguments or results whose derivative may not be complex"
        raise InputError(what, hint="Give holomorphic=True, or return real and imag")


def _jacobian(
    f: Callable[..., Any], argnums: Argnums, has_aux: bool, holomorphic: bool, blocks: Blocks
) -> Callable[..., Any]:
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @functools.wraps(f)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = trees.flatten(chosen_arguments(args, chosen))

        def of_leaves(*xs: Any) -> Any:
            given = dict(zip((n % len(args) for n in chosen), trees.unflatten(tree, xs), strict=True))
            result = with_tables(f)(*(given.get(n, x) for n, x in enumerate(args)), **kwargs)
            return result if has_aux else (result, None)

        out, found, aux = blocks(of_leaves, [differentiable(x) for x in leaves])
        _check_complex(tree, out, holomorphic)
        if holomorphic:
            found, out, tree = _complex(found), trees.above(out, is_pair), trees.above(tree, is_pair)
        parts = [trees.unflatten(tree, each) for each in found]
        made = trees.unflatten(out, [each[0] if isinstance(argnums, int) else tuple(each) for each in parts])
        return (made, aux) if has_aux else made

    return jacobian


def _one_at_a_time(f: Callable[..., Any], xs: Sequence[Array]) -> list[tuple[Array, Callable[[Any], Any]]]:
    """For each array, the function restricted to it, with 0 for the other arrays."""

    def alone(n: int) -> Callable[[Any], Any]:
        return lambda x: f(*(x if k == n else zeros_like(other) for k, other in enumerate(xs)))

    return [(x, alone(n)) for n, x in enumerate(xs)]


def _basis(x: Array) -> Array:
    """The unit vectors of an array's space: [elements, *X]."""
    return reshape(eye(x.size, dtype=x.dtype), (x.size, *x.shape))


def _last(columns: Array, x: Array) -> Array:
    """[elements of X, *Y] as [*Y, *X]."""
    moved = moveaxis(columns, 0, -1)
    return reshape(moved, (*moved.shape[:-1], *x.shape))


def _first(rows: Array, y: Array) -> Array:
    """[elements of Y, *X] as [*Y, *X]."""
    return reshape(rows, (*y.shape, *rows.shape[1:]))


publish(globals(), ("hessian", "jacfwd", "jacrev"), "mlc")
