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
from mlc.frontends.array.transforms.derivatives.gradients import value_and_grad
from mlc.nn.module import combine, hear_reads, observed, partition
from mlc.nn.naming import named
from mlc.optim.mixed_precision import cast, loss_scale
from mlc.optim.transform import GradientTransformation, apply_updates, count
from mlc.optim.wrappers import global_norm, where_finite
from mlc.train.augmentation import Augment, augmented
from mlc.train.checks import check_model, check_optimizer
from mlc.train.losses import Loss, loss_and_more
from mlc.train.parallel import Shards
from mlc.train.sparse import Reads, Sparse, check_tables, layers_of, tables_of, without
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

    A third argument that is not None asks for a third result: what the model gave, when the loss called it last, and
    the last argument of the loss where it is augmented; or None where there are shards, or the loss called layers of it
    alone.

    ``precision``: the type in which the loss is computed, such as ``"bfloat16"``; parameters stay in theirs, and the
    gradients have it. With ``finite``, the whole state stays as it is where the loss or the gradient is not finite
    (optax: ``apply_if_finite``). ``shards``: loss, gradient and buffers that the model changes are averaged over them.
    ``augment``: of a batch another one, by random numbers of ``nn.next_key``. ``zero``: each rank updates its part.
    """

    in_parts = zero is not None and (shards is None or shards.stage == 3)

    def updated(gradients: Any, state: TrainState) -> tuple[Any, Any, Array]:
        """New parameters, the part of this rank where ``zero`` divides them; the new state of the optimizer, and the
        norm of the gradient."""
        held = state.parameters if zero is None else zero.part(state.parameters)
        with nullcontext() if zero is None else zero.norms():
            updates, after = optimizer.update(gradients, state.optimizer, held)
            norm = global_norm(gradients)
        parameters = apply_updates(held, trees.tree_map(lambda u: u * state.factor, updates))
        return parameters, after, norm

    def finished(metrics: tuple[Array, Array], new: TrainState, before: TrainState) -> TrainState:
        """The new state; with ``finite`` the old one where a number is not finite. Parts are gathered after that."""
        if zero is None:
            return where_finite(metrics, new, before) if finite else new
        held = before._replace(parameters=zero.part(before.parameters))
        kept = where_finite(metrics, new, held) if finite else new
        return kept._replace(parameters=zero.whole(kept.parameters))

    def step(state: TrainState, batch: tuple[Any, ...], wanted: Any = None) -> tuple[Any, ...]:
        scale, names = loss_scale(state.optimizer), tables_of(combine(state.parameters, state.rest), state.parameters)
        check_tables(names, state.optimizer, shards)

        def called(parameters: Any, zeros: Any, tables: Any, rest: Any, batch: Any, draws: Array) -> Any:
            """The loss of a copy of the model, the copy, what it recorded, what sparse layers read, and the target."""
            given, inputs = (parameters, batch) if precision is None else cast((parameters, batch), precision)

            def call(copy: Any) -> Any:
                reads = Reads(layers_of(copy, names), zeros)
                hear_reads(reads)
                changed = augmented(augment, inputs)
                return copy, loss(copy, *changed), reads.indices, changed[-1] if augment else None

            return observed(call, combine(trees.merged(given, tables), rest), draws)

        def zeros_of_rows(parameters: Any, tables: Any, rest: Any, batch: Any, draws: Array) -> dict[str, list[Array]]:
            """A zero for each row that is read; the loss is recorded once more to know how many there are."""
            if not names:
                return {}
            (_, _, indices, _), _, _ = called(parameters, None, tables, rest, batch, draws)
            found = {name: as_array(x) for name, x, _ in named(tables)}
            make = lambda name, x: mnp.zeros((*x.shape, found[name].shape[1]), dtype=found[name].dtype)  # noqa: E731
            return {name: [make(name, x) for x in reads] for name, reads in indices.items()}

        def objective(trained: Any, tables: Any, rest: Any, batch: Any, draws: Array) -> tuple[Array, tuple[Any, ...]]:
            parameters, zeros = trained if precision is None else cast(trained, precision)
            (copy, found, indices, target), model, outputs = called(parameters, zeros, tables, rest, batch, draws)
            value, more = loss_and_more(found)
            after = trees.tree_map(lambda new, old: mnp.astype(new, old.dtype), partition(model, trainable)[1], rest)
            found = outputs.get(id(copy))
            output = None if wanted is None or shards is not None or found is None else (found, target)
            return (value if scale is None else value * scale), (value, more, after, output, indices)

        def of_shard(given: tuple[Any, Any], batch: Any, draws: Array) -> tuple[Any, ...]:
            (parameters, tables), rest = without(names, given[0]), given[1]
            used = zero.used if zero is not None and in_parts else lambda p: p
            zeros = zeros_of_rows(parameters, tables, rest, batch, draws)
            of_trained = lambda p: objective((used(p[0]), p[1]), tables, rest, batch, draws)  # noqa: E731
            found = value_and_grad(of_trained, has_aux=True)((parameters, zeros))
            (_, (value, more, after, output, indices)), gradients = found
            return gradients, value, more, _changed(after, rest), output, indices

        of_shards = state.parameters if zero is None or in_parts else zero.used(state.parameters)
        draws, given = fold_in(state.key, state.step), (of_shards, state.rest)
        found = of_shard(given, batch, draws) if shards is None else shards.mean(of_shard, given, batch, draws)
        (gradients, of_rows), value, more, changed, output, indices = found
        sparse = Sparse.of(optimizer, state, names, indices, of_rows)
        before = sparse.rows_of(state)
        parameters, after, norm = updated(sparse.gradients(gradients, state.parameters), before)
        rest = _with_changed(state.rest, changed)
        norm = norm if scale is None else norm / scale
        new = TrainState(state.step + 1, parameters, rest, after, state.key, state.factor)
        kept = sparse.written(state, finished((value, norm), new, before))
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
