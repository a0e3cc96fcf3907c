"""Second-order methods: limited-memory BFGS, and Gauss–Newton steps by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.control import fori_loop
from mlc.frontends.array.transforms.derivatives.linear_maps import hvp, jvp, vjp
from mlc.optim.transform import GradientTransformation, Rate, Tree, count, rate_at

TINY = 1e-30


def ravel(tree: Tree) -> Array:
    """All elements of a tree as one vector."""
    return mnp.concat([mnp.reshape(as_array(x), (-1,)) for x in trees.leaves(tree)])


def unravel(vector: Array, like: Tree) -> Tree:
    """The tree of the shapes of ``like`` whose elements are those of a vector."""
    leaves, structure = trees.flatten(like)
    made, start = [], 0
    for leaf in map(as_array, leaves):
        if not isinstance(leaf.size, int):
            what = f"Parameters of the open shape {leaf.shape} cannot be a vector: their number is not known"
            raise InputError(what, hint="Fix the shape")
        made.append(mnp.reshape(vector[start : start + leaf.size], leaf.shape))
        start += leaf.size
    return trees.unflatten(structure, made)


class LbfgsState(NamedTuple):
    """The number of steps, the gradient and step before, the last steps and changes of gradients, 1 / (s·y) of each,
    and the scale of the inverse Hessian."""

    step: Array
    gradient: Array
    move: Array
    moves: Array
    changes: Array
    inverses: Array
    diagonal: Array


def lbfgs(lr: Rate = 1.0, history_size: int = 10) -> GradientTransformation:
    """Limited-memory BFGS, one iteration a step, for gradients without noise.

    Source: Nocedal, 1980; torch.optim.LBFGS with ``max_iter=1`` and without a line search.
    """

    def init(parameters: Tree) -> LbfgsState:
        zero = mnp.zeros_like(ravel(parameters))
        memory = mnp.zeros((history_size, zero.size), dtype=zero.dtype)
        return LbfgsState(count(), zero, zero, memory, memory, memory[:, 0], zero[0] + 1)

    def update(gradients: Tree, state: LbfgsState, parameters: Tree = None) -> tuple[Tree, LbfgsState]:
        gradient = ravel(gradients)
        state = _remembered(state, gradient)
        direction = -_inverse_product(state, gradient)
        rate = rate_at(lr, state.step)
        first = rate * mnp.minimum(1.0, 1 / mnp.sum(mnp.abs(gradient)))
        move = direction * mnp.where(state.step == 0, first, rate)
        after = state._replace(step=state.step + 1, gradient=gradient, move=move)
        return unravel(move, gradients), after

    return GradientTransformation(init, update)


def _remembered(state: LbfgsState, gradient: Array) -> LbfgsState:
    """The state with the last step and its change of the gradient, unless they are of negative curvature."""
    change = gradient - state.gradient
    product = mnp.sum(change * state.move)
    is_kept = mnp.logical_and(product > 1e-10, state.step > 0)
    pushed = [
        mnp.where(is_kept, mnp.concat([old[1:], new[None]]), old)
        for old, new in (
            (state.moves, state.move),
            (state.changes, change),
            (state.inverses, 1 / mnp.where(is_kept, product, 1.0)),
        )
    ]
    diagonal = mnp.where(is_kept, product / mnp.maximum(mnp.sum(change * change), TINY), state.diagonal)
    return state._replace(moves=pushed[0], changes=pushed[1], inverses=pushed[2], diagonal=diagonal)


def _inverse_product(state: LbfgsState, gradient: Array) -> Array:
    """The inverse Hessian times the gradient, by the two loops over the history; what is not yet filled is zero."""
    size = state.inverses.shape[0]
    q, factors = gradient, {}
    for n in reversed(range(size)):  # type: ignore[arg-type]
        factors[n] = state.inverses[n] * mnp.sum(state.moves[n] * q)
        q = q - factors[n] * state.changes[n]
    r = state.diagonal * q
    for n in range(size):  # type: ignore[arg-type]
        r = r + state.moves[n] * (factors[n] - state.inverses[n] * mnp.sum(state.changes[n] * r))
    return r


def conjugate_gradients(product: Callable[[Array], Array], b: Array, iterations: int) -> Array:
    """x such that ``product(x)`` is about ``b``, for a linear, symmetric, positive ``product``.

    Source: Hestenes and Stiefel, 1952.
    """

    def body(_: Any, state: tuple[Array, ...]) -> tuple[Array, ...]:
        x, residual, direction, square = state
        image = product(direction)
        length = square / mnp.maximum(mnp.sum(direction * image), TINY)
        residual = residual - length * image
        after = mnp.sum(residual * residual)
        ratio = after / mnp.maximum(square, TINY)
        return x + length * direction, residual, residual + ratio * direction, after

    found: tuple[Array, ...] = fori_loop(0, iterations, body, (mnp.zeros_like(b), b, b, mnp.sum(b * b)))
    return found[0]


def gauss_newton(
    predict: Callable[..., Any],
    loss: Callable[[Any, Any], Any],
    damping: float = 1e-3,
    iterations: int = 20,
    lr: float = 1.0,
) -> GradientTransformation:
    """Steps -(Jᵀ H J + damping)⁻¹ g, by conjugate gradients on products alone.

    J is the Jacobian of ``predict(parameters, x)``, and H the Hessian of ``loss(prediction, target)``. The batch is
    given as well: ``update(gradients, state, parameters, (x, target))``. Source: Schraudolph, 2002; Martens, 2010.

    Raises:
        InputError: no batch.
    """

    def update(gradients: Tree, state: Tree, parameters: Tree = None, batch: Any = None) -> tuple[Tree, Tree]:
        if batch is None:
            way_out = "in a step of your own: train.Trainer gives an optimizer no batch"
            raise InputError(
                "A Gauss–Newton step needs a batch", hint=f"Call update(g, state, parameters, (x, target)) {way_out}"
            )
        x, target = batch

        def product(vector: Array) -> Array:
            f = lambda p: predict(p, x)  # noqa: E731
            y, tangent = jvp(f, (parameters,), (unravel(vector, parameters),))
            curved = hvp(lambda y: loss(y, target), (y,), (tangent,))
            (image,) = vjp(f, parameters)[1](curved)
            return ravel(image) + damping * vector

        found = conjugate_gradients(product, -lr * ravel(gradients), iterations)
        return unravel(found, gradients), state

    return GradientTransformation(lambda _: (), update)
