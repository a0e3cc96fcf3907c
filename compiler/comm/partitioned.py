"""A traced function with its mesh: the partitioned program, its calls on ranks, and its simulation."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr

from mlc.comm.mesh import Mesh, P
from mlc.comm.plan import planned
from mlc.comm.sharded import Sharded, assembled
from mlc.dialects.comm.world import simulated
from mlc.dialects.dist import EXTENT, INFERRED, MESH, PLAN, SHARDING, ShardingAttr
from mlc.dialects.semantics.dims import Dim
from mlc.dialects.semantics.interpreter import main_of
from mlc.dialects.semantics.prepared import interpreted
from mlc.driver.compile import lower_source
from mlc.errors import RunError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array
from mlc.frontends.imported import Imported
from mlc.runtime import Model, TensorSpec
from mlc.runtime.communicators import Communicator, current
from mlc.tracing.jit import elements
from mlc.tracing.source import TraceSource, compiled, save_compiled
from mlc.tracing.traced import Traced

Data = np.ndarray[Any, Any]
LIMIT = 60.0  # seconds that a simulated rank waits for another


@dataclass(frozen=True)
class Leaf:
    """An argument or result: the type of the whole, and how it is divided (None: as the compiler likes)."""

    type: TensorSpec
    spec: P | None


@dataclass(frozen=True)
class Partitioned:
    """A traced function for arguments of some types on a mesh."""

    traced: Traced
    mesh: Mesh
    arguments: tuple[Leaf, ...]
    results: tuple[Leaf, ...]
    given: str = ""
    """A plan as text, which the partitioner follows."""
    models: dict[Communicator, Model] = field(default_factory=dict, compare=False)

    @functools.cached_property
    def source(self) -> TraceSource:
        shardings = [leaf.spec for leaf in (*self.arguments, *self.results)]
        text = f"{self.traced.source.text}{self.mesh}{shardings}{self.given}"
        return TraceSource(self.traced.source.name, text, self.imported)

    def imported(self) -> Imported:
        """A new graph module of the whole program, with its mesh and shardings."""
        found = self.traced.imported()
        main = main_of(found.module)
        found.module.attributes[MESH] = self.mesh.attribute
        if self.given:
            found.module.attributes[PLAN] = StringAttr(self.given)
        main.arg_attrs = _with_shardings(main.arg_attrs, self.arguments)
        main.res_attrs = _with_shardings(main.res_attrs, self.results)
        return found

    def model(self, communicator: Communicator) -> Model:
        """The compiled program as a rank runs it: ranks that are threads have one each."""
        if communicator not in self.models:
            self.models[communicator] = compiled(self.source, self.traced.options)
        return self.models[communicator]

    @functools.cached_property
    def plan(self) -> str:
        return planned(self.imported(), self.traced.options, self.mesh)

    def ir(self, stage: str) -> str:
        return str(lower_source(self.source, self.traced.options, until=stage).module)

    def save(self, path: Path) -> None:
        save_compiled(self.source, self.traced.options, path)

    def call(self, leaves: Sequence[Any]) -> Any:
        """The results of this rank."""
        communicator = current()
        self.mesh.check_ranks(communicator.ranks)
        sizes = self._sizes(leaves)
        parts = [self._part(n, x, communicator.rank) for n, x in enumerate(leaves)]
        found = self.model(communicator)(*parts, *self._given(sizes, communicator.rank))
        arrays = found if isinstance(found, tuple) else (found,)
        made = [self._result(leaf, x, sizes) for leaf, x in zip(self.results, arrays, strict=False)]
        return trees.unflatten(self.traced.tree, made)

    def _part(self, n: int, x: Any, rank: int) -> Data:
        if isinstance(x, Sharded):
            return x.part
        value = elements(x)
        return np.asarray(value[self.specs[n].box(value.shape, self.mesh, rank)], order="C")

    def _sizes(self, leaves: Sequence[Any]) -> dict[str, int]:
        """The extents that are known at run time only, of whole arrays."""
        types = [each.shape for each in self.traced.inputs.values()]
        shapes = [x.shape if isinstance(x, Sharded) else elements(x).shape for x in leaves]
        pairs = [pair for each in zip(types, shapes, strict=True) for pair in zip(*each, strict=True)]
        return {str(d): n for d, n in pairs if isinstance(d, Dim)}

    def _given(self, sizes: Mapping[str, int], rank: int) -> list[Data]:
        """The arguments of a rank that have no elements, and give an extent of whole arrays by their shape."""
        shapes = [(TensorSpec(np.dtype(np.int8), (extent, 0)).of(sizes), spec) for extent, spec in self.extents]
        return [np.empty(shape, np.int8)[spec.box(shape, self.mesh, rank)] for shape, spec in shapes]

    def _result(self, leaf: Leaf, x: Data, sizes: Mapping[str, int]) -> Any:
        spec = leaf.spec or P()
        if not any(spec.axes):
            return Array.of(x)
        return Sharded(x, leaf.type.of(sizes), spec, self.mesh)

    @functools.cached_property
    def specs(self) -> tuple[P, ...]:
        """How each argument is divided, also those that the compiler has divided."""
        if all(leaf.spec is not None for leaf in self.arguments):
            return tuple(leaf.spec or P() for leaf in self.arguments)
        given = main_of(self._lowered[0]).arg_attrs or ()
        return tuple(leaf.spec or _inferred(a) for leaf, a in zip(self.arguments, given, strict=False))

    @functools.cached_property
    def extents(self) -> list[tuple[str, P]]:
        """The extents of whole arrays that a rank's program is given, and how many axes have divided each."""
        several = any(len(axes) > 1 for leaf in self.arguments for axes in (leaf.spec or P()).axes)
        if not several and all(isinstance(d, int) for leaf in self.arguments for d in leaf.type.shape):
            return []
        given = [a.data for a in main_of(self._lowered[0]).arg_attrs or () if EXTENT in a.data]
        return [(str(a[EXTENT].data), _inferred(DictionaryAttr(a))) for a in given]  # type: ignore[attr-defined]

    def simulate(self, leaves: Sequence[Any]) -> Any:
        """The results of all ranks, put together."""
        lowered, weights = self._lowered
        values, sizes = [elements(x) for x in leaves], self._sizes(leaves)
        found: list[list[Data]] = [[] for _ in range(self.mesh.ranks)]

        def one(rank: int) -> None:
            parts = [np.asarray(x[self.specs[n].box(x.shape, self.mesh, rank)], order="C")
                     for n, x in enumerate(values)]  # fmt: skip
            found[rank] = list(interpreted(lowered, weights)([*parts, *self._given(sizes, rank)]))

        simulated(self.mesh.ranks, one, LIMIT)
        whole = [self._assembled(n, [each[n] for each in found], sizes) for n in range(len(self.results))]
        return trees.unflatten(self.traced.tree, [Array.of(x) for x in whole])

    @functools.cached_property
    def _lowered(self) -> tuple[Any, Any]:
        from mlc.driver.lower import run

        found = self.imported()
        run(found.module, found.weights, self.traced.options, ["graph"])
        return found.module, found.weights

    def _assembled(self, n: int, parts: list[Data], sizes: Mapping[str, int]) -> Data:
        leaf = self.results[n]
        shape = leaf.type.of(sizes)
        for rank, part in enumerate(parts):
            box = (leaf.spec or P()).box(shape, self.mesh, rank)
            for other in range(rank):
                same = (leaf.spec or P()).box(shape, self.mesh, other) == box
                if same and not np.array_equal(part, parts[other], equal_nan=part.dtype.kind in "fc"):
                    raise RunError(f"Result {n} differs on ranks {other} and {rank}, which should have the same part",
                                   hint="This is a fault of the partitioner: please report it")  # fmt: skip
        return assembled(parts, shape, leaf.spec or P(), self.mesh)


def _inferred(attributes: DictionaryAttr) -> P:
    found = attributes.data.get(INFERRED)
    return P(*found.axes) if isinstance(found, ShardingAttr) else P()


def _with_shardings(attributes: ArrayAttr[DictionaryAttr] | None, leaves: Sequence[Leaf]) -> ArrayAttr[DictionaryAttr]:
    given = attributes.data if attributes is not None else [DictionaryAttr({})] * len(leaves)
    return ArrayAttr(
        DictionaryAttr({**a.data, **({} if leaf.spec is None else {SHARDING: leaf.spec.attribute})})
        for a, leaf in zip(given, leaves, strict=True)
    )
