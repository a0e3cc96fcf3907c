"""``mlc.pipeline``: a chain of layers in stages, one on each rank, through which micro-batches go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from mlc import comm
from mlc.comm.schedules import Schedule
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array

Carry = tuple[Array, Array, Any, Array]
"""Inputs of micro-batches and adjoints of their results, in rings; the gradients and the loss so far."""
IDLE, FORWARD, BACKWARD = range(3)


class Pipeline:
    """Loss and gradients of a chain of layers, of which each rank has some; made by ``mlc.pipeline``."""

    def __init__(
        self, layer: Callable[..., Any], loss: Callable[..., Any], stages: int, microbatches: int, schedule: str
    ) -> None:
        self.layer, self.loss, self.stages, self.micro = layer, loss, stages, microbatches
        self.schedule = Schedule.of(schedule, stages, microbatches)
        self.__name__ = f"pipeline of {getattr(layer, '__name__', type(layer).__name__)}"

    def plan(self) -> str:
        """The schedule as text, with its bubble and what a stage keeps."""
        return self.schedule.text()

    def __call__(self, part: Any, x: Any, *targets: Any) -> tuple[Array, Any]:
        """The mean loss of all micro-batches, on all ranks, and the gradients of the layers of this rank.

        Args:
            part: a tree of arrays [layers of this rank, …], the layers one after another.
            x: [rows, …], equal on all ranks, as the targets; a layer's result has the shape and type of what it reads.

        Raises:
            InputError: the job has not one rank for each stage; rows that the micro-batches do not divide; a layer
                whose result has another shape.
        """
        xs, ts = self._divided(x), trees.tree_map(self._divided, targets)
        ring = lambda n: mnp.zeros((n, *xs.shape[1:]), dtype=xs.dtype)  # noqa: E731
        zeros = trees.tree_map(lambda w: mnp.zeros_like(as_array(w)), part)
        kept = self.schedule.kept + 1  # the last place is for what nobody reads
        begin = (ring(kept), ring(kept), zeros, mnp.zeros((), dtype=xs.dtype))
        tick = lambda t, carry: self._tick(t, carry, part, xs, ts)  # noqa: E731
        _, _, gradients, total = mlc.fori_loop(0, len(self.schedule.ticks), tick, begin)
        return comm.all_reduce(total), gradients

    def forward(self, part: Any, x: Any) -> Array:
        """The result of the whole chain for [rows, …], on all ranks."""
        xs = self._divided(x)

        def tick(t: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
            given, ys = carry
            k = mnp.clip(t - comm.rank(), 0, self.micro - 1)
            y = self._stage(part, mnp.where(comm.rank() == 0, xs[k], given))
            last = (comm.rank() == self.stages - 1) & (t >= self.stages - 1)
            ys = mlc.cond(last, lambda ys, y: _set(ys, k, y), lambda ys, y: ys, ys, y)
            return self._sent(y, 1), ys

        carry = (mnp.zeros_like(xs[0]), mnp.zeros_like(xs))
        _, ys = mlc.fori_loop(0, self.micro + self.stages - 1, tick, carry)
        return mnp.reshape(comm.all_reduce(ys), (-1, *xs.shape[2:]))  # the other ranks have zeros

    def _divided(self, x: Any) -> Array:
        """Rows as [micro-batches, rows of each, …]."""
        if comm.size() != self.stages:
            hint = f"Start {self.stages} ranks, or simulate them"
            raise InputError(f"A pipeline of {self.stages} stages does not fit {comm.size()} ranks", hint=hint)
        value = as_array(x)
        if not value.shape or value.shape[0] % self.micro:
            what = f"A batch of shape {list(value.shape)} has no {self.micro} equal micro-batches"
            raise InputError(what, hint="Give rows of which each micro-batch has as many")
        return mnp.reshape(value, (self.micro, value.shape[0] // self.micro, *value.shape[1:]))

    def _stage(self, part: Any, x: Array) -> Array:
        """The layers of this rank, one after another."""
        y, _ = mlc.scan(lambda x, w: (self._checked(w, x), None), x, part)
        found: Array = y
        return found

    def _checked(self, w: Any, x: Array) -> Array:
        y: Array = self.layer(w, x)
        if (y.shape, y.dtype) != (x.shape, x.dtype):
            shapes = f"{x.dtype}{list(x.shape)} to {y.dtype}{list(y.shape)}"
            what = f"A layer of a pipeline cannot change its operand from {shapes}"
            raise InputError(what, hint="Let all layers have one shape; put the others before it and into the loss")
        return y

    def _tick(self, t: Array, carry: Carry, part: Any, xs: Array, ts: Any) -> Carry:
        """One tick: this rank's step, then results go to the next stage and adjoints to the one before."""
        here, kinds, numbers = (comm.rank(), *map(mnp.asarray, self._table))
        kind, k = kinds[t, here], numbers[t, here]
        inputs, adjoints, gradients, total = carry
        x = mnp.where(here == 0, xs[k], inputs[k % self.schedule.kept])
        seed, target = adjoints[k % self.schedule.kept], trees.tree_map(lambda each: each[k], ts)
        is_last = here == self.stages - 1

        def idle(gradients: Any, total: Array) -> Any:
            return mnp.zeros_like(x), mnp.zeros_like(x), gradients, total

        def forward(gradients: Any, total: Array) -> Any:
            return self._stage(part, x), mnp.zeros_like(x), gradients, total

        def backward(gradients: Any, total: Array) -> Any:
            y, pull = mlc.vjp(self._stage, part, x)
            value, bar = mlc.cond(is_last, lambda y: self._of_loss(y, target), lambda y: (total * 0, seed), y)
            of_part, of_x = pull(bar)
            return mnp.zeros_like(x), of_x, trees.tree_map(mnp.add, gradients, of_part), total + value

        y, bar, gradients, total = mlc.switch(kind, [idle, forward, backward], gradients, total)
        before, after = mnp.clip(here - 1, 0, None), mnp.clip(here + 1, None, self.stages - 1)
        inputs = _kept(inputs, kinds[t, before] == FORWARD, numbers[t, before], self._sent(y, 1))
        adjoints = _kept(adjoints, kinds[t, after] == BACKWARD, numbers[t, after], self._sent(bar, -1))
        return inputs, adjoints, gradients, total

    def _of_loss(self, y: Array, target: Any) -> tuple[Array, Array]:
        """The part of a micro-batch in the mean loss, and its adjoint."""
        value, bar = mlc.value_and_grad(lambda y: self.loss(y, *target) / self.micro)(y)
        return mnp.astype(value, y.dtype), bar

    @property
    def _table(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """[ticks, stages]: the kind of each step, and its micro-batch."""
        steps = [[step or ("", 0) for step in tick] for tick in self.schedule.ticks]
        kinds = [[{"": IDLE, "F": FORWARD, "B": BACKWARD}[kind] for kind, _ in tick] for tick in steps]
        return np.array(kinds), np.array([[k for _, k in tick] for tick in steps])

    def _sent(self, x: Array, by: int) -> Array:
        pairs = [(n, n + by) for n in range(self.stages) if 0 <= n + by < self.stages]
        moved: Array = comm.permute(x, pairs)
        return moved


def pipeline(
    layer: Callable[..., Any],
    loss: Callable[..., Any],
    stages: int,
    *,
    microbatches: int,
    schedule: str = "1f1b",
) -> Pipeline:
    """A chain of layers in stages, one on each rank: ``layer(w, x)`` for each layer, then ``loss(y, *targets)``.

        pipe = mlc.pipeline(layer, loss, stages=4, microbatches=8)
        step = mlc.jit(pipe)                                        # on each rank, of the layers that it has
        value, gradients = step(part, x, labels)
        whole = mlc.shard_map(pipe, mlc.Mesh(pipe=4), (P("pipe"), P(), P()), (P(), P("pipe")))

    A batch is divided into micro-batches, whose gradients are summed; the loss is the mean of theirs. A stage keeps the
    inputs of micro-batches that are under way, and computes the rest anew for the derivative. ``schedule``: ``"1f1b"``
    keeps those of ``stages`` micro-batches at most, ``"gpipe"`` of all. ``pipe.plan()`` shows it, as does ``mlc plan``.

    Raises:
        InputError: another schedule, or numbers below 1; when called as ``Pipeline.__call__`` says.
    """
    return Pipeline(layer, loss, stages, microbatches, schedule)


def _set(xs: Array, at: Array, x: Array) -> Array:
    found: Array = xs.at[at].set(x)
    return found


def _kept(ring: Array, comes: Array, k: Array, x: Array) -> Array:
    """A ring with what has come from another stage, if it has; else it goes to the last place."""
    last = ring.shape[0] - 1
    return _set(ring, mnp.where(comes, k % last, last), x)
