"""One training step as one program: augmentation, forward, backward and update of the whole state."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.random.threefry import fold_in, key
from mlc.frontends.array.transforms.gradients import value_and_grad
from mlc.nn.module import combine, observed, partition
from mlc.optim.mixed_precision import cast, loss_scale
from mlc.optim.transform import GradientTransformation, apply_updates, count
from mlc.optim.wrappers import global_norm, where_finite
from mlc.train.augmentation import Augment, augmented
from mlc.train.checks import check_model, check_optimizer
from mlc.train.losses import Loss, loss_and_more
from mlc.train.parallel import Shards
from mlc.train.zero import Divided

Trainable = Callable[[str], bool] | None


class TrainState(NamedTuple):
    """All that a run changes: the number of the step, parameters, other arrays of the model, the optimizer's state, the
    random key, and the factor of all updates, which is 1 until a callback reduces it."""

    step: Array
    parameters: Any
    rest: Any
    optimizer: Any
    key: Array
    factor: Array


def first_state(model: Any, optimizer: GradientTransformation, seed: int, trainable: Trainable) -> TrainState:
    """The state before the first step.

    Raises:
        InputError: nothing is trained; the model is no tree of arrays, or the optimizer none of ``mlc.optim``; loss
            scaling within a chain.
    """
    check_model(model)
    check_optimizer(optimizer)
    parameters, rest = partition(model, trainable)
    if not trees.leaves(parameters):
        raise InputError(
            f"{type(model).__name__} has no parameters that are trained",
            hint="Give a model with parameters, or another trainable",
        )
    as_arrays = lambda tree: trees.tree_map(as_array, tree)  # noqa: E731
    state = as_arrays(optimizer.init(parameters))
    loss_scale(state)
    return TrainState(count(), as_arrays(parameters), as_arrays(rest), state, key(seed), mnp.ones((), mnp.float32))


def training_step(
    loss: Loss,
    optimizer: GradientTransformation,
    precision: str | None = None,
    trainable: Trainable = None,
    finite: bool = False,
    shards: Shards | None = None,
    augment: Augment | None = None,
    zero: Divided | None = None,
) -> Callable[..., Any]:
    """(state, batch) → (state, metrics): the loss, the norm of its gradient, and what the loss gives beside it.

    A third argument that is not None asks for a third result: what the model gave, when the loss called it last, or
    None where there are shards, or the loss called layers of it alone.

    ``precision``: the type in which the loss is computed, such as ``"bfloat16"``; parameters stay in theirs, and the
    gradients have it. With ``finite``, the whole state stays as it is where the loss or the gradient is not finite
    (optax: ``apply_if_finite``). ``shards``: loss, gradient and buffers that the model changes are averaged over them.
    ``augment``: of a batch another one, by random numbers of ``nn.next_key``. ``zero``: each rank updates its part.
    """

    def updated(gradients: Any, state: TrainState) -> tuple[Any, Any, Array]:
        """New parameters, the new state of the optimizer, and the norm of the gradient."""
        held = state.parameters if zero is None else zero.part(state.parameters)
        with nullcontext() if zero is None else zero.norms():
            updates, after = optimizer.update(gradients, state.optimizer, held)
            norm = global_norm(gradients)
        parameters = apply_updates(held, trees.tree_map(lambda u: u * state.factor, updates))
        return (parameters if zero is None else zero.whole(parameters)), after, norm

    def step(state: TrainState, batch: tuple[Any, ...], wanted: Any = None) -> tuple[Any, ...]:
        scale = loss_scale(state.optimizer)

        def objective(parameters: Any, rest: Any, batch: Any, draws: Array) -> tuple[Array, tuple[Any, ...]]:
            given, inputs = (parameters, batch) if precision is None else cast((parameters, batch), precision)
            called = lambda m: (m, loss(m, *augmented(augment, inputs)))  # noqa: E731
            (copy, found), model, outputs = observed(called, combine(given, rest), draws)
            value, more = loss_and_more(found)
            after = trees.tree_map(lambda new, old: mnp.astype(new, old.dtype), partition(model, trainable)[1], rest)
            output = None if wanted is None or shards is not None else outputs.get(id(copy))
            return (value if scale is None else value * scale), (value, more, after, output)

        def of_shard(given: tuple[Any, Any], batch: Any, draws: Array) -> tuple[Any, ...]:
            parameters, rest = given
            found = value_and_grad(lambda p: objective(p, rest, batch, draws), has_aux=True)(parameters)
            (_, (value, more, after, output)), gradients = found
            return gradients, value, more, _changed(after, rest), output

        draws, given = fold_in(state.key, state.step), (state.parameters, state.rest)
        found = of_shard(given, batch, draws) if shards is None else shards.mean(of_shard, given, batch, draws)
        gradients, value, more, changed, output = found
        parameters, after, norm = updated(gradients, state)
        rest = _with_changed(state.rest, changed)
        norm = norm if scale is None else norm / scale
        new = TrainState(state.step + 1, parameters, rest, after, state.key, state.factor)
        kept = where_finite((value, norm), new, state) if finite else new
        metrics = {"loss": value, "gradient_norm": norm, **more}
        return (kept, metrics) if wanted is None else (kept, metrics, output)

    return step


def _changed(new: Any, old: Any) -> dict[int, Array]:
    """The arrays that a call of the model computes anew, by their number among the leaves."""
    pairs = enumerate(zip(trees.leaves(new), trees.leaves(old), strict=True))
    return {n: x for n, (x, before) in pairs if x.record is not before.record}


def _with_changed(old: Any, changed: dict[int, Array]) -> Any:
    leaves, tree = trees.flatten(old)
    return trees.unflatten(tree, [changed.get(n, x) for n, x in enumerate(leaves)])
