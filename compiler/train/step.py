"""One training step as one program: forward, backward and update of the whole state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.random.threefry import fold_in, key
from mlc.frontends.array.transforms.gradients import as_loss, value_and_grad
from mlc.nn.module import combine, partition, recorded
from mlc.optim.mixed_precision import cast, loss_scale
from mlc.optim.transform import GradientTransformation, apply_updates, count
from mlc.optim.wrappers import global_norm, where_finite
from mlc.train.checks import check_model, check_optimizer
from mlc.train.parallel import Shards

Loss = Callable[..., Any]
MORE = "leave out other results, which the model keeps as buffers or a call of it computes"
Trainable = Callable[[str], bool] | None


class TrainState(NamedTuple):
    """All that a run changes: the number of the step, parameters, other arrays of the model, the optimizer's state, and
    the random key."""

    step: Array
    parameters: Any
    rest: Any
    optimizer: Any
    key: Array


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
    return TrainState(count(), as_arrays(parameters), as_arrays(rest), state, key(seed))


def training_step(
    loss: Loss,
    optimizer: GradientTransformation,
    precision: str | None = None,
    trainable: Trainable = None,
    finite: bool = False,
    shards: Shards | None = None,
) -> Callable[[TrainState, tuple[Any, ...]], tuple[TrainState, dict[str, Array]]]:
    """(state, batch) → (state, metrics): the loss and the norm of its gradient.

    ``precision``: the type in which the loss is computed, such as ``"bfloat16"``; parameters stay in theirs, and the
    gradients have it. With ``finite``, the whole state stays as it is where the loss or the gradient is not finite
    (optax: ``apply_if_finite``). ``shards``: loss, gradient and buffers that the model changes are averaged over them.
    """

    def step(state: TrainState, batch: tuple[Any, ...]) -> tuple[TrainState, dict[str, Array]]:
        scale = loss_scale(state.optimizer)

        def objective(parameters: Any, rest: Any, batch: Any, draws: Array) -> tuple[Array, tuple[Array, Any]]:
            given, inputs = (parameters, batch) if precision is None else cast((parameters, batch), precision)
            value, model = recorded(lambda m: loss(m, *inputs), combine(given, rest), draws)
            value = as_loss(value if isinstance(value, tuple | list | dict) else as_array(value), MORE)
            value = mnp.astype(value, mnp.float32) if precision else value
            after = trees.tree_map(lambda new, old: mnp.astype(new, old.dtype), partition(model, trainable)[1], rest)
            return (value if scale is None else value * scale), (value, after)

        def of_shard(given: tuple[Any, Any], batch: Any, draws: Array) -> tuple[Any, Array, dict[int, Array]]:
            parameters, rest = given
            found = value_and_grad(lambda p: objective(p, rest, batch, draws), has_aux=True)(parameters)
            (_, (value, after)), gradients = found
            return gradients, value, _changed(after, rest)

        draws, given = fold_in(state.key, state.step), (state.parameters, state.rest)
        found = of_shard(given, batch, draws) if shards is None else shards.mean(of_shard, given, batch, draws)
        gradients, value, rest = found[0], found[1], _with_changed(state.rest, found[2])
        updates, after = optimizer.update(gradients, state.optimizer, state.parameters)
        parameters = apply_updates(state.parameters, updates)
        norm = global_norm(gradients) if scale is None else global_norm(gradients) / scale
        new = TrainState(state.step + 1, parameters, rest, after, state.key)
        return (where_finite((value, norm), new, state) if finite else new), {"loss": value, "gradient_norm": norm}

    return step


def _changed(new: Any, old: Any) -> dict[int, Array]:
    """The arrays that a call of the model computes anew, by their number among the leaves."""
    pairs = enumerate(zip(trees.leaves(new), trees.leaves(old), strict=True))
    return {n: x for n, (x, before) in pairs if x.record is not before.record}


def _with_changed(old: Any, changed: dict[int, Array]) -> Any:
    leaves, tree = trees.flatten(old)
    return trees.unflatten(tree, [changed.get(n, x) for n, x in enumerate(leaves)])
