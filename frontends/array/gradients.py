"""Differentiation of functions on arrays: grad, value_and_grad, vjp, jvp, hvp.

A function is traced on variables, copies of its arguments. A derivative is one record whose operands are the result
and the variables; when the trace is lowered, the graph operators between them are differentiated (dialects/autodiff).
So derivatives have derivatives. Forward mode is the derivative of the pullback, which is linear in its cotangent.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions.creation import zeros_like
from mlc.frontends.array.functions.elementwise import FUNCTIONS
from mlc.frontends.array.functions.reductions import sum
from mlc.frontends.array.record import Record, Unique, item, record
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.training.gradient import gradients_of, leaf
from mlc.frontends.build.tensors import Tensor


def variable(build: Builder, operands: Sequence[Tensor], unique: Unique) -> Tensor:
    return leaf(build, operands[0])


def derivatives(build: Builder, operands: Sequence[Tensor]) -> list[Tensor]:
    """The derivatives of the first operand by each of the others."""
    y, *xs = operands
    return gradients_of(build, y, xs)


def _variable(x: Any) -> Array:
    given = as_array(x)
    if dtypes.kind(given.element) < 2:
        raise InputError(f"A derivative by an array of type {given.dtype}", hint="Convert it to floats by astype")
    unique = Unique()
    made = Record(variable, (given.operand(),), (unique,), given.element, given.shape)
    made.variables |= {unique}
    return Array(made)


def _close(variables: Sequence[Array]) -> None:
    """The function has returned: what it made is differentiated by its records alone."""
    for each in variables:
        each.record.params[0].closed = True


def _derivatives(y: Array, xs: Sequence[Array]) -> list[Array]:
    operands = [y.record, *(x.record for x in xs)]  # of arrays that have been printed too, whose trace is needed here
    made = Array(record(derivatives, operands, (), y.element, ()))
    return [apply(item, [made], (n,), x.element, x.shape) for n, x in enumerate(xs)]


def value_and_grad(
    f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """A function that returns the value of ``f`` and its gradient by the arguments ``argnums`` (trees of arrays).

    ``f`` returns a float of rank 0; with ``has_aux`` a pair of it and of what else it computes, as then does the
    result: ``(value, aux), gradient``.

    Raises:
        InputError: another result, a derivative by integers, or an operator without a derivative (with its line).
    """
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @functools.wraps(f)
    def both(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        given = list(args)
        leaves, tree = trees.flatten([given[n] for n in chosen])
        variables = [_variable(x) for x in leaves]
        for n, each in zip(chosen, trees.unflatten(tree, variables), strict=True):
            given[n] = each
        result = f(*given, **kwargs)
        _close(variables)
        value = result[0] if has_aux else result
        found = trees.unflatten(tree, _derivatives(_scalar(value), variables))
        return (result if has_aux else value), (found[0] if isinstance(argnums, int) else tuple(found))

    return both


def _scalar(value: Any) -> Array:
    if not isinstance(value, Array) or value.shape != () or dtypes.kind(value.element) < 2:
        what = f"{value.dtype}{list(value.shape)}" if isinstance(value, Array) else type(value).__name__
        hint = "Return a float of rank 0, such as a mean; vjp differentiates other results"
        raise InputError(f"The gradient of a function that returns {what}", hint=hint)
    return value


def grad(f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of ``f`` by the arguments ``argnums``; with ``has_aux`` also that."""
    both = value_and_grad(f, argnums, has_aux)

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value of ``f`` and its pullback: cotangents of the results become those of ``primals``."""
    leaves, tree = trees.flatten(primals)
    variables = [_variable(x) for x in leaves]
    value = f(*trees.unflatten(tree, variables))
    results = [as_array(y).record for y in trees.leaves(value)]
    _close(variables)

    def pullback(cotangents: Any) -> tuple[Any, ...]:
        total = _inner([Array(y) for y in results], trees.leaves(cotangents))
        return trees.unflatten(tree, _derivatives(total, variables))

    return value, pullback


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The value of ``f`` and its derivative along ``tangents``, both as ``f`` returns them."""
    value, pullback = vjp(f, *primals)
    results, tree = trees.flatten(value)
    cotangents = [_variable(zeros_like(y)) for y in results]
    back = trees.leaves(pullback(trees.unflatten(tree, cotangents)))
    total = _inner(back, trees.leaves(tuple(tangents)))
    return value, trees.unflatten(tree, _derivatives(total, cotangents))


def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The Hessian of ``f`` (a float of rank 0) by its first argument, times a tangent."""
    return jvp(grad(f), primals, tangents)[1]


def _inner(left: Sequence[Any], right: Sequence[Any]) -> Array:
    """The sum of all products of two trees' leaves."""
    if len(left) != len(right) or any(
        as_array(a).shape != as_array(b).shape for a, b in zip(left, right, strict=False)
    ):
        shapes = [[as_array(x).shape for x in side] for side in (left, right)]
        raise InputError(f"Tangents or cotangents of shapes {shapes[1]} for values of shapes {shapes[0]}")
    products = [sum(FUNCTIONS["multiply"](a, b)) for a, b in zip(left, right, strict=True)]
    return functools.reduce(FUNCTIONS["add"], products)
