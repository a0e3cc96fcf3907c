"""A function that the ranks of a mesh compute together: ``mlc.jit(f, mesh=…, shardings=…)``."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from mlc.comm.mesh import Mesh, P, specs_of
from mlc.comm.partitioned import Leaf, Partitioned
from mlc.comm.sharded import Sharded, traced_on
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array
from mlc.options import Options
from mlc.planning.applied import searched_of, with_plan
from mlc.planning.search import Search
from mlc.planning.settings import Auto, Plan, how_of
from mlc.planning.traced import updates_of
from mlc.runtime import TensorSpec
from mlc.target import GpuTarget
from mlc.tracing.jit import Jitted, elements, opened

Specs = Mapping[str, Any]
AUTO = "auto"
How = TypeVar("How", bound=Auto | Plan | None)


class Distributed:
    """A function of whole arrays, partitioned by the compiler; made by ``mlc.jit(f, mesh=…)``.

    Each rank of the job calls it with the same arrays, whole or ``Sharded``.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        mesh: Mesh,
        shardings: Any,
        results: Any,
        options: Options,
        shapes: Mapping[str, Sequence[Any]] = MappingProxyType({}),
    ) -> None:
        if not isinstance(mesh, Mesh):
            raise InputError(f"jit: mesh is a {type(mesh).__name__}", hint="Give a mesh, such as mlc.Mesh(data=2)")
        if isinstance(options.target, GpuTarget):
            what = f"jit: '{options.target.name}' does not run on {mesh}"
            raise InputError(what, hint="Collectives run on CPUs; name a CPU")
        self.jitted = Jitted(f, (), {}, True, (), options)
        self.how = how_of(shardings)
        shardings = self.how.fixed if isinstance(self.how, Auto) else {} if self.how is not None else shardings
        if results == AUTO and self.how is None:
            raise InputError("jit: results are 'auto' without shardings='auto'", hint="Give results as P, or both")
        functools.update_wrapper(self, f)
        unknown = (set(shardings) | set(shapes)) - set(self.jitted.signature.parameters)
        if unknown:
            raise InputError(f"jit: shardings or shapes of {', '.join(sorted(unknown))}, which are no parameters",
                             hint=f"The parameters are {', '.join(self.jitted.signature.parameters)}")  # fmt: skip
        self.mesh, self.shardings, self.results = mesh, dict(shardings), results
        self.shapes = dict(shapes)
        self._made: dict[Any, Partitioned] = {}
        self._lock = threading.Lock()  # ranks that are threads have one program: its ranks join once

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results on this rank: whole, or ``Sharded`` where ``results`` divides them.

        Raises:
            InputError: the job has another number of ranks than the mesh.
        """
        found, leaves = self._of(args, kwargs)
        return found.call(leaves)

    def simulate(self, *args: Any, **kwargs: Any) -> Any:
        """The results, computed in this process: every rank's program in the reference interpreter, in NumPy.

        Raises:
            RunError: results that should be equal on all ranks differ.
        """
        found, leaves = self._of(args, kwargs)
        return found.simulate(leaves)

    def plan(self, *args: Any, **kwargs: Any) -> str:
        """The plan as text: what each operator's states are, what is moved and why; arguments or ``TensorSpec``s. One
        that was searched is a text that ``planning.Plan`` takes."""
        found = self._of(args, kwargs)[0]
        return found.given if isinstance(self.how, Auto) else found.plan

    def search(self, *args: Any, **kwargs: Any) -> Search:
        """The search for a plan with its costs; of a function with ``shardings="auto"``."""
        if not isinstance(self.how, Auto):
            raise InputError("This function has shardings or a plan", hint='Give jit(..., shardings="auto")')
        types, given, _ = self._bound(args, kwargs)
        return searched_of(*self._unplanned(types, given, self.how))

    def ir(self, stage: str, *args: Any, **kwargs: Any) -> str:
        """The text of a rank's module after a stage; that of stage ``graph`` is partitioned."""
        return self._of(args, kwargs)[0].ir(stage)

    def save(self, path: str | Path, *args: Any, **kwargs: Any) -> None:
        """Compile for arguments or ``TensorSpec``s and write ``path``, the program of all ranks, for C."""
        self._of(args, kwargs)[0].save(Path(path))

    def _of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Partitioned, list[Any]]:
        types, given, leaves = self._bound(args, kwargs)
        key = tuple(types), trees.flatten(tuple(types.values()))[1], tuple(given)
        with self._lock:
            if key not in self._made:
                self._made[key] = self._partitioned(types, given)
            return self._made[key], leaves

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], list[Leaf], list[Any]]:
        """The types of the parameters, those of all arrays with their shardings, and the arrays."""
        bound = self.jitted.signature.bind(*args, **kwargs).arguments
        leaves, tree = trees.flatten(tuple(bound.values()))
        specs = [spec for name, value in bound.items() for spec in self._specs(name, value)]
        wanted = [self.shapes.get(name) for name, value in bound.items() for _ in trees.leaves(value)]
        given = [Leaf(_spec_of(x, each), spec) for x, each, spec in zip(leaves, wanted, specs, strict=True)]
        for x, leaf in zip(leaves, given, strict=True):
            if leaf.spec is not None:
                leaf.spec.check_shape(leaf.type.shape, self.mesh)
            if isinstance(x, Sharded) and x.spec != (leaf.spec or P()):
                what = f"An argument is {x}, and its sharding here is {leaf.spec or P()}"
                raise InputError(what, hint="Name its sharding in jit(..., shardings=...), or give x.whole()")
        types = trees.unflatten(tree, [leaf.type for leaf in given])
        return dict(zip(bound, types, strict=True)), given, leaves

    def _updates(self, types: Mapping[str, Any], results: Any) -> dict[int, int]:
        named = self.how.updates if isinstance(self.how, Auto) else ()
        return updates_of(types, results, named) if self.results == AUTO else {}

    def _specs(self, name: str, value: Any) -> list[P | None]:
        if name not in self.shardings:
            return [x.spec if isinstance(x, Sharded) else None for x in trees.leaves(value)]
        return list(specs_of(value, self.shardings[name]))

    def _partitioned(self, types: Mapping[str, Any], given: list[Leaf]) -> Partitioned:
        found, how, updates = self._unplanned(types, given, self.how)
        return found if how is None else with_plan(found, how, updates, self.results == AUTO)

    def _unplanned(
        self, types: Mapping[str, Any], given: list[Leaf], how: How
    ) -> tuple[Partitioned, How, dict[int, int]]:
        """The program without a plan, and the results that replace arguments."""
        from mlc.frontends.array.collectives.functions import traced_for

        with traced_for(self.mesh.ranks), traced_on(self.mesh):
            traced = self.jitted.lower(**types)
        results = trees.unflatten(traced.tree, [Array(each) for each in traced.outputs])
        free = self.results is None or self.results == AUTO
        specs = [P()] * len(traced.outputs) if free else specs_of(results, self.results)
        for each, spec in zip(traced.outputs, specs, strict=True):
            spec.check_shape(tuple(each.shape), self.mesh)
        made = [Leaf(TensorSpec(np.dtype(object), tuple(d if isinstance(d, int) else str(d) for d in each.shape)), s)
                for each, s in zip(traced.outputs, specs, strict=True)]  # fmt: skip
        found = Partitioned(replace(traced, wait=True), self.mesh, tuple(given), tuple(made))
        return found, how, self._updates(types, results)


def _spec_of(x: Any, wanted: Sequence[Any] | None) -> TensorSpec:
    """The type of a whole array; ``wanted``: names of the dimensions that are open."""
    if isinstance(x, TensorSpec):
        return x
    value = x if isinstance(x, Sharded) else elements(x)
    if wanted is None:
        return TensorSpec(value.dtype, tuple(value.shape))
    opened("of a mesh", tuple(value.shape), wanted)
    return TensorSpec(value.dtype, tuple(n if w is None else w for n, w in zip(value.shape, wanted, strict=True)))
