"""Derivatives as linear maps: vjp, linearize, jvp, hvp. Source: JAX's functions of these names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.public import publish
from mlc.frontends.array.transforms.derivatives.gradients import grad
from mlc.frontends.array.transforms.derivatives.variables import cotangents_of, on_variables, tangents_along


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of ``f`` and its pullback: cotangents of the results become those of ``primals``, None of ints;
    with ``has_aux`` of the first of two results, and the second one comes third."""
    value, aux, variables, tree = on_variables(f, primals, has_aux)
    results = [as_array(y).record for y in trees.leaves(value)]

    def pullback(bars: Any) -> tuple[Any, ...]:
        given = [as_array(bar) for bar in trees.leaves(bars)]
        _check_like([Array(y) for y in results], given)
        found = iter(cotangents_of(results, given, [x for x in variables if x is not None]))
        return trees.unflatten(tree, [None if x is None else next(found) for x in variables])

    return (value, pullback, aux) if has_aux else (value, pullback)


def linearize(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of ``f``, and its derivative as a function of tangents: many directions, one trace. Those of ints
    are passed over, and may be None. With ``has_aux`` what else ``f`` computes comes third."""
    value, aux, every, _ = on_variables(f, primals, has_aux)
    variables = [x for x in every if x is not None]
    results, out = trees.flatten(value)
    ys = [Array(as_array(y).record) for y in results]

    def pushforward(*tangents: Any) -> Any:
        along = trees.leaves(tangents)
        if len(along) == len(every):
            along = [t for t, x in zip(along, every, strict=True) if x is not None]
        given = [as_array(t, x.element) for t, x in zip(along, variables, strict=False)]
        _check_like(variables, given)
        return trees.unflatten(out, tangents_along(ys, variables, given))

    return (value, pushforward, aux) if has_aux else (value, pushforward)


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """The value of ``f`` and its derivative along ``tangents``, both as ``f`` returns them; with ``has_aux`` what else
    it computes comes third."""
    value, pushforward, *aux = linearize(f, *primals, has_aux=has_aux)
    return value, pushforward(*tangents), *aux


def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The Hessian of ``f`` (a float of rank 0) by its first argument, times a tangent."""
    return jvp(grad(f), primals, tangents)[1]


def _check_like(values: Sequence[Any], given: Sequence[Any]) -> None:
    shapes = [[as_array(x).shape for x in side] for side in (values, given)]
    if shapes[0] != shapes[1]:
        what = f"Tangents or cotangents of shapes {shapes[1]} do not fit values of shapes {shapes[0]}"
        raise InputError(what, hint="Give one of the shape of each value")


publish(globals(), ("hvp", "jvp", "linearize", "vjp"), "mlc")
