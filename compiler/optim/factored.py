"""Adafactor: second moments of matrices as the product of a row and a column. Source: Shazeer and Stern, 2018."""

from __future__ import annotations

from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.optim.scaling import by_leaf, tree_map
from mlc.optim.transform import GradientTransformation, Rate, Tree, Where, add_decayed_weights, chain, count, rate_at


class FactoredState(NamedTuple):
    """The number of steps; running means of squares over rows [..., R, 1] and columns [..., 1, C], or of the elements
    of parameters of one dimension, whose columns are a zero."""

    step: Array
    rows: Tree
    columns: Tree


def adafactor(
    lr: Rate = 1e-2,
    beta2_decay: float = -0.8,
    eps: tuple[float | None, float] = (None, 1e-3),
    d: float = 1.0,
    weight_decay: float = 0.0,
    decays: Where | None = None,
) -> GradientTransformation:
    """Adafactor: steps relative to each parameter's root mean square, at least ``eps[1]``; memory for a matrix [R, C]
    of R + C numbers. Updates are clipped to a root mean square of ``d``.

    ``lr``: the most of a step; steps get shorter as 1/√step. ``beta2_decay``: the weight of new squares is
    step ** beta2_decay. ``eps[0]``: the least root of a second moment, by default the rounding of the type. Formula and
    defaults: torch.optim.Adafactor.

    Raises:
        InputError: an exponent above 0, or a clipping that is not above 0.
    """
    if beta2_decay > 0 or not d > 0:
        what = f"adafactor has beta2_decay={beta2_decay} and d={d}"
        raise InputError(what, hint="Give beta2_decay of 0 or below, and d above 0")

    def update(gradients: Tree, state: FactoredState, parameters: Tree = None) -> tuple[Tree, FactoredState]:
        step = mnp.astype(state.step + 1, mnp.float32)
        weight, rate = step**beta2_decay, mnp.minimum(rate_at(lr, state.step), 1 / mnp.sqrt(step))

        def leaf(g: Array, rows: Array, columns: Array, p: Array) -> tuple[Array, ...]:
            least = float(mnp.finfo(g.dtype).eps) if eps[0] is None else eps[0]
            squares, rows, columns = _second_moment(g, rows, columns, weight, least)
            move = g / mnp.sqrt(mnp.maximum(squares, least * least))
            clipped = mnp.maximum(1.0, _root_mean_square(move) / d)
            size = mnp.maximum(eps[1], _root_mean_square(as_array(p))) * rate
            return -(size / clipped) * move, rows, columns

        updates, rows, columns = by_leaf(leaf, 3, gradients, state.rows, state.columns, parameters)
        return updates, FactoredState(state.step + 1, rows, columns)

    factored = GradientTransformation(_init, update)
    return factored if not weight_decay else chain(factored, _decayed(lr, weight_decay, decays))


def _decayed(lr: Rate, decay: float, decays: Where | None) -> GradientTransformation:
    """Updates minus rate times decay times the parameters."""
    if not callable(lr):
        return add_decayed_weights(-lr * decay, decays)

    def update(updates: Tree, step: Array, parameters: Tree = None) -> tuple[Tree, Array]:
        inner = add_decayed_weights(-rate_at(lr, step) * decay, decays)
        return inner.update(updates, inner.init(parameters), parameters)[0], step + 1

    return GradientTransformation(lambda _: count(), update)


def _init(parameters: Tree) -> FactoredState:
    def first(p: Any, axis: int) -> Array:
        x = mnp.zeros_like(p)
        if x.ndim < 2:
            return x if axis == -1 else mnp.zeros((), dtype=x.dtype)
        return mnp.sum(x, axis=axis, keepdims=True)

    return FactoredState(count(), *(tree_map(lambda p, a=axis: first(p, a), parameters) for axis in (-1, -2)))


def _second_moment(g: Array, rows: Array, columns: Array, weight: Array, least: float) -> tuple[Array, Array, Array]:
    """The estimate of the mean square of each element, and the running means with this gradient."""
    square = g * g
    if g.ndim < 2:
        rows = rows + weight * (square - rows)
        return rows, rows, columns
    rows = rows + weight * (mnp.mean(square, axis=-1, keepdims=True) - rows)
    columns = columns + weight * (mnp.mean(square, axis=-2, keepdims=True) - columns)
    return rows * columns / mnp.maximum(mnp.mean(rows, axis=-2, keepdims=True), least), rows, columns


def _root_mean_square(x: Array) -> Array:
    return mnp.sqrt(mnp.mean(mnp.square(x)))
