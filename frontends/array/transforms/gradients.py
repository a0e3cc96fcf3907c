"""Differentiation of functions on arrays: grad, value_and_grad, vjp, linearize, jvp, hvp.

A function is traced on variables, copies of its arguments. A derivative is one record whose operands are the results
and the variables; when the trace is lowered, the graph operators between them are differentiated (dialects/autodiff).
So derivatives have derivatives.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions.creation import zeros_like
from mlc.frontends.array.functions.elementwise import astype
from mlc.frontends.array.public import publish
from mlc.frontends.array.record import Record, Unique, Variables, item, record
from mlc.frontends.array.transforms.captured import with_tables
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.training.gradient import gradients_of, leaf, pulled_back, tangents_of
from mlc.frontends.build.tensors import Tensor


def variable(build: Builder, operands: Sequence[Tensor], unique: Unique) -> Tensor:
    return leaf(build, operands[0])


def derivatives(build: Builder, operands: Sequence[Tensor], by: Variables) -> list[Tensor]:
    """The derivatives of the first operand by each of the others."""
    y, *xs = operands
    return gradients_of(build, y, xs)


def cotangents(build: Builder, operands: Sequence[Tensor], by: Variables) -> list[Tensor]:
    """The cotangents of variables, the last operands, from those of results: results, their cotangents, variables. The
    cotangents are constants here, whatever they depend on."""
    count = (len(operands) - len(by)) // 2
    return pulled_back(build, operands[:count], operands[2 * count :], operands[count : 2 * count])


def tangents(build: Builder, operands: Sequence[Tensor], by: Variables) -> list[Tensor]:
    """The derivatives of results along tangents of variables, which are the last operands."""
    count = len(by)
    ys, xs, along = operands[: -2 * count], operands[-2 * count : -count], operands[-count:]
    return tangents_of(build, ys, xs, along)


def differentiable(x: Any) -> Array:
    """``x`` as an array of floats. InputError where it is none."""
    given = as_array(x)
    if dtypes.kind(given.element) < 2:
        what = f"There is no derivative by an array of type {given.dtype}"
        raise InputError(what, hint="Convert it to floats by astype")
    return given


def _variable(x: Any) -> Array:
    given = differentiable(x)
    unique = Unique()
    made = Record(variable, (given.operand(),), (unique,), given.element, given.shape)
    made.variables |= {unique}
    return Array(made)


def _close(variables: Sequence[Array]) -> None:
    """Close the variables after the function has returned: from here on only recorded operations are differentiated."""
    for each in variables:
        each.record.params[0].closed = True


def _by(xs: Sequence[Array]) -> Variables:
    return Variables(x.record.params[0] for x in xs)


def _derivatives(y: Array, xs: Sequence[Array]) -> list[Array]:
    operands = [y.record, *(x.record for x in xs)]  # of arrays that have been printed too, whose trace is needed here
    made = Array(record(derivatives, operands, (_by(xs),), y.element, ()))
    return [apply(item, [made], (n,), x.element, x.shape) for n, x in enumerate(xs)]


def _pulled_back(ys: Sequence[Record], bars: Sequence[Array], xs: Sequence[Array]) -> list[Array]:
    pairs = [(y, astype(bar, Array(y).dtype)) for y, bar in zip(ys, bars, strict=True) if dtypes.kind(y.element) >= 2]
    if not pairs:
        return [zeros_like(x) for x in xs]
    operands = [*(y for y, _ in pairs), *(bar.operand() for _, bar in pairs), *(x.record for x in xs)]
    made = Array(record(cotangents, operands, (_by(xs),), "", ()))
    return [apply(item, [made], (n,), x.element, x.shape) for n, x in enumerate(xs)]


def _tangents(ys: Sequence[Array], xs: Sequence[Array], along: Sequence[Array]) -> list[Array]:
    floats = [y for y in ys if dtypes.kind(y.element) >= 2]
    casted = [astype(t, x.dtype) for t, x in zip(along, xs, strict=True)]
    operands = [*(x.record for x in (*floats, *xs)), *(t.operand() for t in casted)]
    made = Array(record(tangents, operands, (_by(xs),), "", ()))
    found = iter([apply(item, [made], (n,), y.element, y.shape) for n, y in enumerate(floats)])
    return [next(found) if dtypes.kind(y.element) >= 2 else zeros_like(y) for y in ys]


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
        leaves, tree = trees.flatten(chosen_arguments(args, chosen))
        variables = [_variable(x) for x in leaves]
        for n, each in zip(chosen, trees.unflatten(tree, [x.same() for x in variables]), strict=True):
            given[n] = each
        result = with_tables(f)(*given, **kwargs)
        _close(variables)
        value = _pair(result)[0] if has_aux else result
        found = trees.unflatten(tree, _derivatives(as_loss(value), variables))
        return (result if has_aux else value), (found[0] if isinstance(argnums, int) else tuple(found))

    return both


def chosen_arguments(args: Sequence[Any], argnums: Sequence[int]) -> list[Any]:
    """The positional arguments to differentiate by.

    Raises:
        InputError: there are fewer.
    """
    missing = next((n for n in argnums if not -len(args) <= n < len(args)), None)
    if missing is not None:
        message = f"There is no derivative by argument {missing} of a call with {len(args)} positional arguments"
        raise InputError(message, hint="argnums counts from 0; give what it names by position")
    return [args[n] for n in argnums]


AUX = "with has_aux=True the function returns a pair of it and of other results"


def as_loss(value: Any, aux: str = AUX) -> Array:
    """A result that has a gradient; ``aux`` says what to do with more results.

    Raises:
        InputError: it is no float of rank 0.
    """
    if not isinstance(value, Array) or value.shape != () or dtypes.kind(value.element) < 2:
        more = aux if isinstance(value, tuple | list | dict) else "vjp differentiates other results"
        hint = f"Return a float of rank 0, such as a mean; {more}"
        raise InputError(f"There is no gradient of a function that returns {_shown(value)}", hint=hint)
    return value


def _shown(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, Array) else f"a {type(value).__name__}"


def _pair(result: Any) -> tuple[Any, Any]:
    if isinstance(result, tuple | list) and len(result) == 2:
        return result[0], result[1]
    what = f"{len(result)} results" if isinstance(result, tuple | list) else _shown(result)
    hint = "Return a pair: the value, and what else is computed, as one tuple or dictionary"
    raise InputError(f"With has_aux a function returns a pair, and this one returns {what}", hint=hint)


def grad(f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of ``f`` by the arguments ``argnums``; with ``has_aux`` also that."""
    both = value_and_grad(f, argnums, has_aux)

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of ``f`` and its pullback: cotangents of the results become those of ``primals``, None of ints;
    with ``has_aux`` of the first of two results, and the second one comes third."""
    value, aux, variables, tree = _on_variables(f, primals, has_aux)
    results = [as_array(y).record for y in trees.leaves(value)]

    def pullback(bars: Any) -> tuple[Any, ...]:
        given = [as_array(bar) for bar in trees.leaves(bars)]
        _check_like([Array(y) for y in results], given)
        found = iter(_pulled_back(results, given, [x for x in variables if x is not None]))
        return trees.unflatten(tree, [None if x is None else next(found) for x in variables])

    return (value, pullback, aux) if has_aux else (value, pullback)


def linearize(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of ``f``, and its derivative as a function of tangents: many directions, one trace. Those of ints
    are passed over, and may be None. With ``has_aux`` what else ``f`` computes comes third."""
    value, aux, every, _ = _on_variables(f, primals, has_aux)
    variables = [x for x in every if x is not None]
    results, out = trees.flatten(value)
    ys = [Array(as_array(y).record) for y in results]

    def pushforward(*tangents: Any) -> Any:
        along = trees.leaves(tangents)
        if len(along) == len(every):
            along = [t for t, x in zip(along, every, strict=True) if x is not None]
        given = [as_array(t, x.element) for t, x in zip(along, variables, strict=False)]
        _check_like(variables, given)
        return trees.unflatten(out, _tangents(ys, variables, given))

    return (value, pushforward, aux) if has_aux else (value, pushforward)


def _on_variables(
    f: Callable[..., Any], primals: Sequence[Any], has_aux: bool
) -> tuple[Any, Any, list[Array | None], trees.Tree]:
    """The value of ``f`` and what else it computes, a variable for each float among the arguments, and their tree."""
    leaves, tree = trees.flatten(tuple(primals))
    variables = [_variable(x) if dtypes.kind(as_array(x).element) >= 2 else None for x in leaves]
    given = [x if v is None else v.same() for x, v in zip(leaves, variables, strict=True)]
    result = with_tables(f)(*trees.unflatten(tree, given))
    _close([x for x in variables if x is not None])
    value, aux = _pair(result) if has_aux else (result, None)
    return value, aux, variables, tree


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


publish(globals(), ("grad", "hvp", "jvp", "linearize", "value_and_grad", "vjp"), "mlc")
