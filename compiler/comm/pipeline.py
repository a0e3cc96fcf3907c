"""``mlc.pipeline``: a chain of layers in stages, one on each rank, through which micro-batches go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from mlc import comm
from mlc.comm.mesh import Mesh
from mlc.comm.schedules import Schedule
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.collectives.functions import all_reduce_in

Carry = tuple[Array, Array, Any, Array]
"""Inputs of micro-batches and adjoints of their results, in rings; the gradients and the loss so far."""
IDLE, FORWARD, BACKWARD = range(3)
STAGE, DATA = "stage", "data"  # axes of meshes


class Pipeline:
    """Loss and gradients of a chain of layers, of which each rank has some; made by ``mlc.pipeline``."""

    def __init__(
        self,
        layer: Callable[..., Any],
        loss: Callable[..., Any],
        mesh: Mesh,
        microbatches: int,
        schedule: str,
        chunks: int,
    ) -> None:
        self.layer, self.loss, self.mesh, self.micro, self.chunks = layer, loss, mesh, microbatches, chunks
        self.stages, self.parts = mesh.axes[STAGE], mesh.ranks // mesh.axes[STAGE]
        self.schedule = Schedule.of(schedule, self.stages, microbatches, chunks)
        self.__name__ = f"pipeline of {getattr(layer, '__name__', type(layer).__name__)}"

    def plan(self) -> str:
        """The schedule as text, with its bubble and what a stage keeps."""
        return self.schedule.text()

    def __call__(self, part: Any, x: Any, *targets: Any) -> tuple[Array, Any]:
        """The mean loss of all micro-batches, on all ranks, and the gradients of the layers of this rank.

        Args:
            part: a tree of arrays [layers of this rank, …], the layers one after another, chunk by chunk.
            x: [rows, …], equal on all ranks, as the targets; a layer's result has the shape and type of what it reads.

        Raises:
            InputError: the job has other ranks than the mesh; rows that the micro-batches do not divide; layers that
                the chunks do not divide; a layer whose result has another shape.
        """
        part = trees.tree_map(self._in_chunks, part)
        xs, ts = self._divided(x), trees.tree_map(self._divided, targets)
        ring = lambda n: mnp.zeros((n, *xs.shape[1:]), dtype=xs.dtype)  # noqa: E731
        zeros = trees.tree_map(mnp.zeros_like, part)
        kept = self.chunks * self.schedule.kept + 1  # the last place is for what nobody reads
        begin = (ring(kept), ring(kept), zeros, mnp.zeros((), dtype=xs.dtype))
        tick = lambda t, carry: self._tick(t, carry, part, xs, ts)  # noqa: E731
        _, _, gradients, total = mlc.fori_loop(0, len(self.schedule.ticks), tick, begin)
        whole = trees.tree_map(lambda g: mnp.reshape(self._summed(g), (-1, *g.shape[2:])), gradients)
        return comm.all_reduce(total), whole

    def forward(self, part: Any, x: Any) -> Array:
        """The result of the whole chain for [rows, …], on all ranks."""
        part, ys = trees.tree_map(self._in_chunks, part), self._divided(x)
        for chunk in range(self.chunks):
            ys = self._forward(trees.tree_map(lambda w, chunk=chunk: w[chunk], part), ys)
        if self.parts > 1:
            ys = _set(mnp.zeros((self.parts, *ys.shape), dtype=ys.dtype), self._replica, ys)
            return mnp.reshape(comm.all_reduce(ys) / self.stages, (-1, *ys.shape[3:]))
        return mnp.reshape(ys, (-1, *ys.shape[2:]))

    def _forward(self, part: Any, xs: Array) -> Array:
        """The result of one chunk of all stages, of all micro-batches, on the ranks of a chain."""

        def tick(t: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
            given, ys = carry
            k = mnp.clip(t - self._here, 0, self.micro - 1)
            y = self._stage(part, mnp.where(self._here == 0, xs[k], given))
            last = (self._here == self.stages - 1) & (t >= self.stages - 1)
            ys = mlc.cond(last, lambda ys, y: _set(ys, k, y), lambda ys, y: ys, ys, y)
            return self._sent(y, 1), ys

        carry = (mnp.zeros_like(xs[0]), mnp.zeros_like(xs))
        _, ys = mlc.fori_loop(0, self.micro + self.stages - 1, tick, carry)
        return all_reduce_in(ys, self.mesh.attribute.group(STAGE))  # the other ranks have zeros

    @property
    def _here(self) -> Array:
        """The number of this rank's stage."""
        group = self.mesh.attribute.group(STAGE)
        return comm.rank() // group.stride % group.size

    @property
    def _replica(self) -> Array:
        """The number of this rank's part of the batch."""
        if DATA not in self.mesh.axes:
            return mnp.asarray(0)
        group = self.mesh.attribute.group(DATA)
        return comm.rank() // group.stride % group.size

    def _summed(self, gradient: Array) -> Array:
        """The gradient of all parts of the batch."""
        return all_reduce_in(gradient, self.mesh.attribute.group(DATA)) if self.parts > 1 else gradient

    def _in_chunks(self, w: Any) -> Array:
        """Layers as [chunks, layers of each, …]."""
        value = as_array(w)
        if not value.shape or value.shape[0] % self.chunks:
            what = f"Layers of shape {list(value.shape)} have no {self.chunks} equal chunks"
            raise InputError(what, hint="Give each rank layers of which each chunk has as many")
        return mnp.reshape(value, (self.chunks, value.shape[0] // self.chunks, *value.shape[1:]))

    def _divided(self, x: Any) -> Array:
        """Rows of this rank's part of the batch, as [micro-batches, rows of each, …]."""
        if comm.size() != self.mesh.ranks:
            hint = f"Start {self.mesh.ranks} ranks, or simulate them"
            raise InputError(f"A pipeline on {self.mesh} does not fit {comm.size()} ranks", hint=hint)
        value, count = as_array(x), self.parts * self.micro
        if not value.shape or value.shape[0] % count:
            what = f"A batch of shape {list(value.shape)} has no {count} equal micro-batches"
            raise InputError(what, hint="Give rows of which each micro-batch has as many")
        found = mnp.reshape(value, (self.parts, self.micro, value.shape[0] // count, *value.shape[1:]))
        return found[self._replica] if self.parts > 1 else found[0]

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
        here, kinds, numbers = (self._here, *map(mnp.asarray, self._table))
        kind, n = kinds[t, here], numbers[t, here]
        chunk, k = n // self.micro, n % self.micro
        inputs, adjoints, gradients, total = carry
        x = mnp.where((here == 0) & (chunk == 0), xs[k], inputs[self._place(n)])
        seed, target = adjoints[self._place(n)], trees.tree_map(lambda each: each[k], ts)
        is_last = (here == self.stages - 1) & (chunk == self.chunks - 1)
        layers = trees.tree_map(lambda w: w[chunk], part)

        def idle(gradients: Any, total: Array) -> Any:
            return mnp.zeros_like(x), mnp.zeros_like(x), gradients, total

        def forward(gradients: Any, total: Array) -> Any:
            return self._stage(layers, x), mnp.zeros_like(x), gradients, total

        def backward(gradients: Any, total: Array) -> Any:
            y, pull = mlc.vjp(self._stage, layers, x)
            value, bar = mlc.cond(is_last, lambda y: self._of_loss(y, target), lambda y: (total * 0, seed), y)
            of_part, of_x = pull(bar)
            summed = trees.tree_map(lambda all_, g: all_.at[chunk].add(g), gradients, of_part)
            return mnp.zeros_like(x), of_x, summed, total + value

        y, bar, gradients, total = mlc.switch(kind, [idle, forward, backward], gradients, total)
        before, after = (here - 1) % self.stages, (here + 1) % self.stages
        came = numbers[t, before] + mnp.where(here == 0, self.micro, 0)  # of the last stage, in the next chunk
        back = numbers[t, after] - mnp.where(here == self.stages - 1, self.micro, 0)
        inputs = self._kept(inputs, (kinds[t, before] == FORWARD), came, self._sent(y, 1))
        adjoints = self._kept(adjoints, (kinds[t, after] == BACKWARD), back, self._sent(bar, -1))
        return inputs, adjoints, gradients, total

    def _place(self, n: Array) -> Array:
        """The place in a ring of what comes for step ``n``."""
        kept = self.schedule.kept
        return n // self.micro * kept + n % self.micro % kept

    def _kept(self, ring: Array, comes: Array, n: Array, x: Array) -> Array:
        """A ring with what has come from another stage, if it has; else it goes to the last place."""
        fits = comes & (n >= 0) & (n < self.chunks * self.micro)
        return _set(ring, mnp.where(fits, self._place(mnp.maximum(n, 0)), ring.shape[0] - 1), x)

    def _of_loss(self, y: Array, target: Any) -> tuple[Array, Array]:
        """The part of a micro-batch in the mean loss, and its adjoint."""
        value, bar = mlc.value_and_grad(lambda y: self.loss(y, *target) / (self.micro * self.parts))(y)
        return mnp.astype(value, y.dtype), bar

    @property
    def _table(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """[ticks, stages]: the kind of each step, and its micro-batch."""
        steps = [[step or ("", 0) for step in tick] for tick in self.schedule.ticks]
        kinds = [[{"": IDLE, "F": FORWARD, "B": BACKWARD}[kind] for kind, _ in tick] for tick in steps]
        return np.array(kinds), np.array([[k for _, k in tick] for tick in steps])

    def _sent(self, x: Array, by: int) -> Array:
        """What the stage before (``by`` 1) or after sends; of several chunks the ends of the chain are neighbours."""
        group, pairs = self.mesh.attribute.group(STAGE), []
        for first in [n for n in range(group.world) if group.members(n)[0] == n]:
            chain = group.members(first)
            targets = {
                n: (n + by) % self.stages for n in range(self.stages) if self.chunks > 1 or 0 <= n + by < self.stages
            }
            pairs += [(chain[n], chain[to]) for n, to in targets.items() if n != to]
        moved: Array = comm.permute(x, pairs) if self.stages > 1 else x
        return moved


def pipeline(
    layer: Callable[..., Any],
    loss: Callable[..., Any],
    stages: int | Mesh,
    *,
    microbatches: int,
    schedule: str = "1f1b",
    chunks: int = 1,
) -> Pipeline:
    """A chain of layers in stages, one on each rank: ``layer(w, x)`` for each layer, then ``loss(y, *targets)``.

        pipe = mlc.pipeline(layer, loss, stages=4, microbatches=8)
        step = mlc.jit(pipe)                                        # on each rank, of the layers that it has
        value, gradients = step(part, x, labels)
        whole = mlc.shard_map(pipe, mlc.Mesh(pipe=4), (P("pipe"), P(), P()), (P(), P("pipe")))

    A batch is divided into micro-batches, whose gradients are summed; the loss is the mean of theirs. A stage keeps the
    inputs of micro-batches that are under way, and computes the rest anew for the derivative. ``schedule``: ``"1f1b"``
    keeps those of ``stages`` micro-batches at most, ``"gpipe"`` of all. ``"interleaved"``: each rank has ``chunks``
    chunks of layers, chunk c of all ranks before chunk c + 1, so that stages idle a ``chunks``-th of that time.
    ``pipe.plan()`` shows it, as does ``mlc plan``. ``stages`` may be a mesh of the axes ``stage`` and ``data``: each
    part of the batch goes through its own chain, and gradients are summed over ``data``.

    Raises:
        InputError: another schedule, numbers below 1, or a mesh of other axes; when called as ``Pipeline.__call__``
            says.
    """
    if isinstance(stages, int) and stages < 1:
        raise InputError(f"A pipeline cannot have {stages} stages", hint="Give 1 or more")
    mesh = stages if isinstance(stages, Mesh) else Mesh(**{STAGE: stages})
    if STAGE not in mesh.axes or set(mesh.axes) - {STAGE, DATA}:
        hint = "Give mlc.Mesh(data=2, stage=4)"
        raise InputError(f"{mesh} is no mesh of a pipeline, whose axes are '{STAGE}' and '{DATA}'", hint=hint)
    return Pipeline(layer, loss, mesh, microbatches, schedule, chunks)


def _set(xs: Array, at: Array, x: Array) -> Array:
    found: Array = xs.at[at].set(x)
    return found
