"""The source of a model for the ranks of a mesh: whole arrays go in and come out on each rank, weights are in parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr, UnitAttr

from mlc import target as targets
from mlc.comm.mesh import Mesh, P
from mlc.comm.plan import planned
from mlc.dialects.comm.world import simulated
from mlc.dialects.dist import DIVIDES, MESH, PLAN, SHARDING
from mlc.dialects.semantics.interpreter import interpret, main_of
from mlc.divided.named import constrain
from mlc.driver.cache.digest import of_bytes
from mlc.driver.onnx_source import OnnxSource
from mlc.driver.source import ModelSource
from mlc.driver.sources import source_of
from mlc.errors import InputError, RunError
from mlc.frontends.imported import Imported
from mlc.options import Options
from mlc.planning.search import Search
from mlc.planning.settings import Auto, Plan, how_of

Data = np.ndarray[Any, Any]
LIMIT = 60.0  # seconds that a simulated rank waits for another


@dataclass(frozen=True)
class DividedSource:
    """A model with its mesh. ``shardings``: of tensors by name; ``how``: a search for a plan, or a plan."""

    source: ModelSource
    mesh: Mesh
    shardings: Mapping[str, P]
    how: Auto | Plan | None = None

    @property
    def kind(self) -> str:
        return f"{self.source.kind} on a mesh"

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def digest(self) -> str:
        said = [f"{name}={spec}" for name, spec in sorted(self.shardings.items())]
        return of_bytes(f"{self.source.digest}{self.mesh}{said}{self.how}".encode())

    @property
    def folder(self) -> Path:
        return self.source.folder

    def code(self) -> Mapping[str, str]:
        return self.source.code()

    def external_files(self) -> tuple[str, ...]:
        return self.source.external_files()

    def imported(self, dims: Mapping[str, int]) -> Imported:
        """The module of the whole model, with its mesh and shardings. InputError as ``of``."""
        found = self._constrained(dims)
        if isinstance(self.how, Auto):
            from mlc.planning.written import written

            found.module.attributes[PLAN] = StringAttr(written(self.search(dims, self.how)))
        elif self.how is not None:
            found.module.attributes[PLAN] = StringAttr(self.how.text)
        return found

    def _constrained(self, dims: Mapping[str, int]) -> Imported:
        found = self.source.imported(dims)
        constrain(found, self.mesh, self.shardings)
        main = main_of(found.module)
        found.module.attributes |= {MESH: self.mesh.attribute, DIVIDES: UnitAttr()}
        main.arg_attrs = _whole(main.arg_attrs, len(main.args))
        main.res_attrs = _whole(main.res_attrs, len(main.function_type.outputs))
        return found

    def search(self, dims: Mapping[str, int], auto: Auto) -> Search:
        """Search a plan. InputError: an input has a dimension that is known at run time only."""
        from mlc.planning.imported import check_fixed, search_imported

        found = self._constrained(dims)
        check_fixed(main_of(found.module), f"the model '{self.name}'")
        return search_imported(found, _default(), auto, {}, divided_weights=True)

    def plan(self, options: Options) -> str:
        """The states of each operator along each axis, what moves, what a rank holds, and why."""
        return planned(self.imported(options.dims), options, self.mesh)

    def simulate(self, inputs: Mapping[str, Data], options: Options | None = None) -> dict[str, Data]:
        """The results by name, computed in this process: every rank's program in the reference interpreter.

        Raises:
            RunError: results differ on two ranks.
        """
        from mlc.driver.lower import run

        options = options or _default()
        found = self.imported(options.dims)
        run(found.module, found.weights, options, ["graph"])
        results: list[dict[str, Data]] = [{}] * self.mesh.ranks

        def one(rank: int) -> None:
            results[rank] = interpret(found.module, found.weights, inputs)

        simulated(self.mesh.ranks, one, LIMIT)
        for rank, each in enumerate(results):
            for name, x in each.items():
                if not np.array_equal(x, results[0][name], equal_nan=x.dtype.kind in "fc"):
                    raise RunError(f"Result '{name}' differs on ranks 0 and {rank}",
                                   hint="This is a fault of the partitioner: please report it")  # fmt: skip
        return results[0]


def of(model: Any, mesh: Mesh, shardings: Any = None, cache: int = 0) -> DividedSource:
    """The source of a model on a mesh. ``shardings``: P by the names of tensors, "auto", ``planning.Auto`` or ``Plan``;
    what an ONNX model says of itself is added.

    Raises:
        InputError: a mesh or shardings of another type, or those of the model contradict the given ones.
    """
    if not isinstance(mesh, Mesh):
        raise InputError(f"compile: mesh is a {type(mesh).__name__}", hint="Give a mesh, such as mlc.Mesh(model=2)")
    how = how_of({} if shardings is None else shardings)
    given = dict(how.fixed if isinstance(how, Auto) else {} if how is not None else shardings or {})
    wrong = next((name for name, spec in given.items() if not isinstance(spec, P)), None)
    if wrong is not None:
        raise InputError(f"compile: the sharding of '{wrong}' is {given[wrong]!r}", hint='Give mlc.P(None, "model")')
    source = source_of(model, cache)
    return DividedSource(source, mesh, given | _own(source, mesh, given), how)


def _default() -> Options:
    return Options(target=targets.get("cpu"))


def _own(source: ModelSource, mesh: Mesh, given: Mapping[str, P]) -> dict[str, P]:
    """The shardings that an ONNX model has itself."""
    if not isinstance(source, OnnxSource):
        return {}
    from mlc.frontends.onnx.device_configurations import shardings_of

    found = {}
    for name, axes in shardings_of(source.model, mesh.axes).items():
        found[name] = P(*(None if not each else each[0] if len(each) == 1 else each for each in axes))
        if name in given and given[name].attribute != found[name].attribute:
            what = f"Tensor '{name}' is divided as {given[name]}, and the model says {found[name]}"
            raise InputError(what, hint="Leave the sharding out, or delete the node's device_configurations")
    return found


def _whole(attributes: ArrayAttr[DictionaryAttr] | None, count: int) -> ArrayAttr[DictionaryAttr]:
    given = attributes.data if attributes is not None else [DictionaryAttr({})] * count
    return ArrayAttr(DictionaryAttr({**each.data, SHARDING: P().attribute}) for each in given)
