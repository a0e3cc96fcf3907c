"""ZeRO: the state of the optimizer is divided among the ranks, each of which updates its part of the parameters.

Stage 1: gradients are reduced and scattered, parameters are gathered after the update: together the bytes of an
all-reduce. Stage 2: each gradient is scattered as soon as it is computed, and not kept. Stage 3: parameters are in
parts too, gathered before they are read, forward and backward: 3/2 of these bytes.

Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc import comm
from mlc.comm.process import gathered
from mlc.comm.shard_map import part_of
from mlc.errors import InputError, MlcError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.optim.mixed_precision import LossScaleState, wrapped
from mlc.optim.transform import GradientTransformation, apply_updates
from mlc.optim.wrappers import FiniteState, sums_over_ranks
from mlc.runtime.communicators import Communicator

Axes = tuple[int | None, ...]
"""For each leaf of a tree the dimension that is divided; None: each rank has the leaf whole."""
SMALL = 3  # elements of a dimension of a stand-in


@dataclass(frozen=True)
class Divided:
    """Which dimensions of parameters and of the optimizer's state are divided among ``ranks``, in a stage of ZeRO."""

    stage: int
    ranks: int
    parameters: Axes
    state: Axes

    @staticmethod
    def of(stage: int, optimizer: GradientTransformation, parameters: Any, state: Any, ranks: int) -> Divided:
        """The first dimension of each parameter that the ranks divide evenly.

        Raises:
            InputError: the optimizer computes with whole tensors, such as their norms, or with all gradients.
        """
        if any(isinstance(each, LossScaleState | FiniteState) for each in wrapped(state)):
            what = f"zero={stage} divides gradients, and this optimizer asks whether all of them are finite"
            raise InputError(what, hint="Leave out loss scaling and apply_if_finite, or zero")
        shapes = [as_array(x).shape for x in trees.leaves(parameters)]
        axes = tuple(next((n for n, d in enumerate(s) if d and d % ranks == 0), None) for s in shapes)
        blocks = _mapped(lambda x, axis: _block(np.asarray(x), axis, 0, ranks), parameters, axes)
        pairs = zip(trees.leaves(optimizer.init(blocks)), trees.leaves(state), strict=True)
        found = Divided(stage, ranks, axes, tuple(_axis(as_array(a).shape, as_array(b).shape) for a, b in pairs))
        found._check(optimizer, parameters)
        return found

    def part(self, parameters: Any) -> Any:
        """The part of this rank of the parameters that a step has: whole ones, but in stage 3."""
        if self.stage == 3:
            return parameters
        return _mapped(lambda x, axis: x if axis is None else part_of(x, axis, self.ranks), parameters, self.parameters)

    def whole(self, parts: Any) -> Any:
        """The parameters that a step leaves, of the parts of all ranks: whole ones, but in stage 3."""
        return parts if self.stage == 3 else self._gathered(parts, ahead=False)

    def used(self, parameters: Any) -> Any:
        """The whole parameters that the loss reads; their derivative is that of the parts."""
        return self._gathered(parameters, ahead=True) if self.stage == 3 else parameters

    def _gathered(self, parts: Any, ahead: bool) -> Any:
        gather = lambda x, axis: x if axis is None else comm.all_gather(x, axis, self.ranks, ahead)  # noqa: E731
        return _mapped(gather, parts, self.parameters)

    @contextmanager
    def norms(self) -> Iterator[None]:
        """Within it, global norms are those of all ranks' parts."""
        with sums_over_ranks(self._over_ranks):
            yield

    def _over_ranks(self, sums: Sequence[Array]) -> list[Array]:
        pairs = zip(sums, self.parameters, strict=True)
        return [x if axis is None else comm.all_reduce(x) for x, axis in pairs]

    def held(self, parameters: Any, state: Any, rank: int) -> tuple[Any, Any]:
        """The parts of a rank of whole parameters and of the optimizer's whole state."""
        part = lambda x, axis: as_array(_block(np.asarray(x), axis, rank, self.ranks))  # noqa: E731
        own = _mapped(part, parameters, self.parameters) if self.stage == 3 else parameters
        return own, _mapped(part, state, self.state)

    def gathered(self, parameters: Any, state: Any, ranks: Communicator) -> tuple[Any, Any]:
        """Whole parameters and state of the parts of all ranks, which call this together."""

        def whole(x: Any, axis: int | None) -> Any:
            if axis is None or ranks.table is None:
                return x
            return as_array(np.concatenate(gathered(ranks.table, np.asarray(x), "the state of the trainer"), axis))

        all_of = _mapped(whole, parameters, self.parameters) if self.stage == 3 else parameters
        return all_of, _mapped(whole, state, self.state)

    def _check(self, optimizer: GradientTransformation, parameters: Any) -> None:
        """Compare two updates of small tensors, whole and in parts. InputError where they differ."""
        draw = np.random.default_rng(0)

        def small(x: Any, axis: int | None) -> Any:
            return draw.normal(size=_small(as_array(x).shape, axis, self.ranks)).astype(np.asarray(x).dtype)

        given = _mapped(small, parameters, self.parameters), _mapped(small, parameters, self.parameters)
        stacked = _mapped(lambda x, a: np.stack([_block(x, a, n, self.ranks) for n in range(self.ranks)]),
                          given, self.parameters * 2)  # fmt: skip

        def parts(p: Any, g: Any) -> Any:
            with self.norms():
                return _updated(optimizer, p, g)

        try:
            found = comm.simulate(parts, self.ranks)(*stacked)
        except (MlcError, ValueError, IndexError) as error:
            raise self._refused("cannot update a part of a tensor") from error
        wanted = _updated(optimizer, *trees.tree_map(as_array, given))
        for x, y, axis in zip(trees.leaves(found), trees.leaves(wanted), self.parameters, strict=True):
            blocks = np.asarray(x)
            whole = blocks[0] if axis is None else np.concatenate(list(blocks), axis)
            if not np.allclose(whole, np.asarray(y), rtol=1e-4, atol=1e-5):
                raise self._refused("updates a part of a tensor otherwise than the whole")

    def _refused(self, why: str) -> InputError:
        hint = "Use one that treats each element alone, such as adamw, or leave out zero"
        return InputError(
            f"zero={self.stage} cannot be used: it divides the state of the optimizer, which {why}", hint=hint
        )


def _updated(optimizer: GradientTransformation, parameters: Any, gradients: Any) -> Any:
    state = optimizer.init(parameters)
    for _ in range(2):
        updates, state = optimizer.update(gradients, state, parameters)
        parameters = apply_updates(parameters, updates)
    return parameters


def _mapped(f: Callable[[Any, int | None], Any], tree: Any, axes: Axes) -> Any:
    leaves, structure = trees.flatten(tree)
    return trees.unflatten(structure, [f(x, axis) for x, axis in zip(leaves, axes, strict=True)])


def _block(x: np.ndarray[Any, Any], axis: int | None, rank: int, ranks: int) -> np.ndarray[Any, Any]:
    return x if axis is None else np.split(x, ranks, axis)[rank]


def _axis(part: Sequence[Any], whole: Sequence[Any]) -> int | None:
    """The dimension in which a part differs from the whole."""
    return next((n for n, (a, b) in enumerate(zip(part, whole, strict=True)) if a != b), None)


def _small(shape: Sequence[Any], axis: int | None, ranks: int) -> list[int]:
    """The shape of a stand-in for a parameter."""
    return [2 * ranks if n == axis else min(int(d), SMALL) for n, d in enumerate(shape)]
