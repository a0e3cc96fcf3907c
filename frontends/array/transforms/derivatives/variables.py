"""Variables of derivatives, and the records of derivatives by them.

A function is traced on variables, copies of its arguments. A derivative is one record whose operands are the results
and the variables; when the trace is lowered, the graph operators between them are differentiated (dialects/autodiff).
So derivatives have derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions.creation import zeros_like
from mlc.frontends.array.functions.elementwise import astype
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


def variable_of(x: Any) -> Array:
    given = differentiable(x)
    unique = Unique()
    made = Record(variable, (given.operand(),), (unique,), given.element, given.shape)
    made.variables |= {unique}
    return Array(made)


def close(variables: Sequence[Array]) -> None:
    """Close the variables after the function has returned: from here on only recorded operations are differentiated."""
    for each in variables:
        each.record.params[0].closed = True


def _by(xs: Sequence[Array]) -> Variables:
    return Variables(x.record.params[0] for x in xs)


def derivatives_of(y: Array, xs: Sequence[Array]) -> list[Array]:
    operands = [y.record, *(x.record for x in xs)]  # of arrays that have been printed too, whose trace is needed here
    made = Array(record(derivatives, operands, (_by(xs),), y.element, ()))
    return [apply(item, [made], (n,), x.element, x.shape) for n, x in enumerate(xs)]


def cotangents_of(ys: Sequence[Record], bars: Sequence[Array], xs: Sequence[Array]) -> list[Array]:
    pairs = [(y, astype(bar, Array(y).dtype)) for y, bar in zip(ys, bars, strict=True) if dtypes.kind(y.element) >= 2]
    if not pairs:
        return [zeros_like(x) for x in xs]
    operands = [*(y for y, _ in pairs), *(bar.operand() for _, bar in pairs), *(x.record for x in xs)]
    made = Array(record(cotangents, operands, (_by(xs),), "", ()))
    return [apply(item, [made], (n,), x.element, x.shape) for n, x in enumerate(xs)]


def tangents_along(ys: Sequence[Array], xs: Sequence[Array], along: Sequence[Array]) -> list[Array]:
    floats = [y for y in ys if dtypes.kind(y.element) >= 2]
    casted = [astype(t, x.dtype) for t, x in zip(along, xs, strict=True)]
    operands = [*(x.record for x in (*floats, *xs)), *(t.operand() for t in casted)]
    made = Array(record(tangents, operands, (_by(xs),), "", ()))
    found = iter([apply(item, [made], (n,), y.element, y.shape) for n, y in enumerate(floats)])
    return [next(found) if dtypes.kind(y.element) >= 2 else zeros_like(y) for y in ys]


def on_variables(
    f: Callable[..., Any], primals: Sequence[Any], has_aux: bool
) -> tuple[Any, Any, list[Array | None], trees.Tree]:
    """The value of ``f`` and what else it computes, a variable for each float among the arguments, and their tree."""
    leaves, tree = trees.flatten(tuple(primals))
    variables = [variable_of(x) if dtypes.kind(as_array(x).element) >= 2 else None for x in leaves]
    given = [x if v is None else v.same() for x, v in zip(leaves, variables, strict=True)]
    result = with_tables(f)(*trees.unflatten(tree, given))
    close([x for x in variables if x is not None])
    value, aux = pair_of(result) if has_aux else (result, None)
    return value, aux, variables, tree


def shown(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, Array) else f"a {type(value).__name__}"


def pair_of(result: Any) -> tuple[Any, Any]:
    if isinstance(result, tuple | list) and len(result) == 2:
        return result[0], result[1]
    what = f"{len(result)} results" if isinstance(result, tuple | list) else shown(result)
    hint = "Return a pair: the value, and what else is computed, as one tuple or dictionary"
    raise InputError(f"With has_aux a function returns a pair, and this one returns {what}", hint=hint)
