"""Functions without free variables: what they read from around them becomes arguments. Source: ``jax.closure_convert``.

A rule for a derivative (``custom_jvp``, ``custom_vjp``) has cotangents for arguments alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.record import Body, Unique
from mlc.frontends.array.transforms.bodies import results_like, traced
from mlc.frontends.array.transforms.regions import inside
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


def closed(f: Callable[..., Any], *examples: Any) -> tuple[Callable[..., Any], list[Array]]:
    """``g, arrays`` with ``g(arrays, *args) == f(*args)``: the variables of derivatives that ``f`` reads, as arguments.

    ``examples``: arguments of the shapes and types with which ``g`` is called. What else ``f`` reads stays inside.
    """
    body, out = traced(f, examples)
    varied = [each for each in body.captured if Array(each).is_varied()]
    if not varied:
        return lambda arrays, *args: f(*args), []
    whole = Body([*body.arguments, *varied], body.outputs)

    def with_arguments(arrays: Sequence[Array], *args: Any) -> Any:
        given = [*map(as_array, trees.leaves(args)), *arrays]
        return trees.unflatten(out, results_like(called, given, (whole,), whole.outputs))

    return with_arguments, [Array(each) for each in varied]


def called(build: Builder, operands: Sequence[Tensor], body: Body, unique: Unique) -> list[Tensor]:
    """The operators of a body where the Builder is."""
    count = len(body.arguments)
    return inside(build, body, operands[:count], operands[count:])
