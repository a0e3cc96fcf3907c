"""The interface of a host program: names of inputs, outputs, state and dimensions, taken from the main function.

    func @main(%x: tensor<?x8xf32, batch> {graph.name = "x"}) -> (… {graph.name = "y"})
      →   inputs x, outputs y, dims batch
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Block, SSAValue

from mlc.dialects.graph.base import optional_axes
from mlc.dialects.graph.loop import size_bounds, size_made
from mlc.dialects.graph.sizes import room_of
from mlc.dialects.semantics.dims import DimLike, symbols_of
from mlc.dialects.types import shape_of
from mlc.passes.fuse.grouping.aliases import Alias, aliases_of, states_of


@dataclass(frozen=True)
class Interface:
    main: func.FuncOp

    @property
    def block(self) -> Block:
        return self.main.body.block

    @cached_property
    def returned(self) -> list[SSAValue]:
        return list(self.block.last_op.operands) if self.block.last_op else []

    @cached_property
    def arguments(self) -> list[str]:
        """The names of all arguments, including those of state."""
        return _names_of(self.main.arg_attrs, len(self.block.args), "input")

    @cached_property
    def inputs(self) -> list[str]:
        return [name for n, name in enumerate(self.arguments) if n not in states_of(self.main)]

    @cached_property
    def aliases(self) -> dict[int, Alias]:
        """The results that take over the memory of an argument, by their position."""
        return {each.result: each for each in aliases_of(self.main)}

    @cached_property
    def optional(self) -> list[tuple[int, ...]]:
        """For each result, the axes of extent 1 that a caller's tensor may lack."""
        return [*map(optional_axes, self.main.res_attrs)] if self.main.res_attrs else [()] * len(self.returned)

    @cached_property
    def updates(self) -> set[int]:
        """The positions of results that are new values of state, and therefore not outputs."""
        return {n for n, each in self.aliases.items() if each.argument in states_of(self.main)}

    @cached_property
    def outputs(self) -> list[str]:
        """The names of the results that are not state, then those of the run-time dimensions that a caller sees."""
        names = _names_of(self.main.res_attrs, len(self.returned), "output")
        results = [name for n, name in enumerate(names) if n not in self.updates]
        return results + _fresh(self.visible, results)

    # -- dimensions ----------------------------------------------------------------------------------------------------

    @cached_property
    def bounds(self) -> dict[str, DimLike]:
        """The upper bound of each run-time dimension."""
        return size_bounds(self.block.walk())

    @cached_property
    def dims(self) -> list[str]:
        """The symbolic dimensions of the arguments, then those that occur only in upper bounds."""
        sizes = self.bounds.items()
        rooms = [room for size, bound in sizes if (room := room_of(size)) in symbols_of([bound])]
        return [*sorted(symbols_of(d for a in self.block.args for d in shape_of(a))), *rooms]

    @cached_property
    def inner(self) -> list[str]:
        """The run-time dimensions of values that are only within regions."""
        outer = {size_made(op) for op in self.block.ops}
        return [size for size in self.bounds if size not in outer and room_of(size) not in self.dims]

    @cached_property
    def visible(self) -> list[str]:
        return [size for size in self.bounds if size not in self.inner]

    @cached_property
    def guards(self) -> list[str]:
        """The guards on dimensions that the frontend found (``Builder.require``)."""
        guards = self.main.attributes.get("graph.guards")
        return [g.data for g in guards if isinstance(g, StringAttr)] if isinstance(guards, ArrayAttr) else []


def _names_of(attrs: ArrayAttr[DictionaryAttr] | None, count: int, prefix: str) -> list[str]:
    """Return the ``graph.name`` of each argument or result of the main function."""
    data = attrs.data if attrs is not None else [DictionaryAttr({})] * count
    names = [d.data.get("graph.name") for d in data]
    return [n.data if isinstance(n, StringAttr) else f"{prefix}{k}" for k, n in enumerate(names)]


def _fresh(names: list[str], taken: list[str]) -> list[str]:
    """Return ``names``, with underscores appended to those that an output has already."""
    return [name + "_" * (1 + max(map(len, taken))) if name in taken else name for name in names]
