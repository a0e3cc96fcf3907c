"""Gradients of functions on arrays: grad, value_and_grad. Source: JAX's functions of these names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.complex.pair import ComplexArray, real
from mlc.frontends.array.functions.creation import zeros_like
from mlc.frontends.array.functions.elementwise import FUNCTIONS
from mlc.frontends.array.public import publish
from mlc.frontends.array.transforms.captured import with_tables
from mlc.frontends.array.transforms.derivatives.variables import derivatives_of, differentiable, on_variables, shown


def value_and_grad(
    f: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., tuple[Any, Any]]:
    """A function that returns the value of ``f`` and its gradient by the arguments ``argnums`` (trees of arrays).

    ``f`` returns a float of rank 0; with ``has_aux`` a pair of it and of what else it computes, as then does the
    result: ``(value, aux), gradient``. By a complex argument ``x + iy`` the gradient is ``∂/∂x + i ∂/∂y``.

    ``holomorphic``: ``f`` maps complex arguments to a complex number and has a complex derivative, which is returned.
    ``allow_int``: the gradient by integers is 0, in arrays of their type.

    Raises:
        InputError: another result, a derivative by integers, or an operator without a derivative (with its line).
    """
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @functools.wraps(f)
    def both(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        leaves, tree = trees.flatten(tuple(chosen_arguments(args, chosen)))
        if not allow_int:
            leaves = [differentiable(x) for x in leaves]

        def of_chosen(*xs: Any) -> Any:
            given = list(args)
            for n, x in zip(chosen, xs, strict=True):
                given[n] = x
            return with_tables(f)(*given, **kwargs)

        by = trees.unflatten(tree, leaves)
        value, aux, variables, _ = on_variables(of_chosen, by, has_aux)
        loss = holomorphic_part(value, by) if holomorphic else as_loss(value)
        made = iter(derivatives_of(loss, [x for x in variables if x is not None]))
        slopes = [zeros_like(as_array(x)) if v is None else next(made) for x, v in zip(leaves, variables, strict=True)]
        found = trees.unflatten(tree, slopes)
        if holomorphic:
            found = trees.tree_map(FUNCTIONS["conj"], found, is_leaf=is_pair)
        return ((value, aux) if has_aux else value), (found[0] if isinstance(argnums, int) else found)

    return both


def is_pair(x: Any) -> bool:
    return isinstance(x, ComplexArray)


def holomorphic_part(value: Any, by: Any) -> Array:
    """The real part ``u`` of a complex result: ``f' = ∂u/∂x - i ∂u/∂y`` by the equations of Cauchy and Riemann.

    Raises:
        InputError: the result or an argument is real.
    """
    given = [value]
    trees.tree_map(given.append, by, is_leaf=is_pair)
    if not all(map(is_pair, given)):
        types = ", ".join(shown(x) for x in given)
        what = f"holomorphic=True needs complex arguments and a complex result; the result and arguments are {types}"
        raise InputError(what, hint="Leave out holomorphic, or convert the arguments by astype")
    return as_loss(real(given[0]))


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
    value = as_array(value) if isinstance(value, float | np.floating) else value
    if not isinstance(value, Array) or value.shape != () or dtypes.kind(value.element) != 2:
        other = "real, imag or abs make it real" if is_pair(value) else "vjp differentiates other results"
        more = aux if isinstance(value, tuple | list | dict) else other
        hint = f"Return a float of rank 0, such as a mean; {more}"
        raise InputError(f"There is no gradient of a function that returns {shown(value)}", hint=hint)
    return value


def grad(
    f: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that returns the gradient of ``f`` as ``value_and_grad`` does; with ``has_aux`` also what else ``f``
    computes."""
    both = value_and_grad(f, argnums, has_aux, holomorphic, allow_int)

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


publish(globals(), ("grad", "value_and_grad"), "mlc")
