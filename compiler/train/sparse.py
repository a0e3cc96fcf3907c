"""Sparse embeddings: only the rows of a table that a batch reads have gradients, updates and moments that change.

The gradient of a table [V, D] is not made: a zero is added to each row that is read, and the gradient of that zero is
the row's. The optimizer sees, in place of the table and of each part of its state that is like it, the rows that are
read, [K, D] for K indices in a batch; equal indices are one row, whose gradients are summed. Source:
torch.nn.Embedding(sparse=True), torch.optim.SparseAdam.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.nn.layers.basic import Embedding
from mlc.nn.module import modules, partition
from mlc.nn.naming import named
from mlc.optim.mixed_precision import wrapped
from mlc.optim.transform import GradientTransformation
from mlc.optim.wrappers import AccumulationState, EmaState

Tree = Any


@dataclass(frozen=True)
class Rows:
    """The rows of a table that a batch reads, each once, by number [K], -1 where there are fewer, and the sums of their
    gradients [K, D]."""

    numbers: Array
    gradients: Array

    @staticmethod
    def of(indices: list[Array], gradients: list[Array], table: Array) -> Rows:
        """Those at indices, which may be equal, and which are passed over where they are outside."""
        extent = table.shape[0]
        if not indices:
            return Rows(mnp.full((1,), -1, dtype=mnp.int64), mnp.zeros((1, *table.shape[1:]), dtype=table.dtype))
        at = mnp.concatenate([mnp.astype(mnp.reshape(x, (-1,)), mnp.int64) for x in indices])
        each = mnp.concatenate([mnp.reshape(g, (-1, g.shape[-1])) for g in gradients])
        at = mnp.where(mnp.logical_and(at >= -extent, at < extent), mnp.where(at < 0, at + extent, at), -1)
        order = mnp.argsort(at)
        at, each = mnp.take(at, order), mnp.take(each, order, axis=0)
        begins = mnp.concatenate([mnp.asarray([True]), at[1:] != at[:-1]])
        group = mnp.cumsum(mnp.astype(begins, mnp.int64)) - 1
        numbers = mnp.full(at.shape, -1, dtype=mnp.int64).at[group].set(at)
        kept = mnp.zeros_like(each).at[group].add(each)
        return Rows(numbers, mnp.where((numbers >= 0)[:, None], kept, 0.0))

    def read(self, table: Array) -> Array:
        """The rows; zeros where there are fewer."""
        found = mnp.take(table, mnp.maximum(self.numbers, 0), axis=0)
        return mnp.where((self.numbers >= 0)[:, None], found, mnp.zeros((), dtype=table.dtype))

    def write(self, table: Array, rows: Array) -> Array:
        """The table with these rows."""
        extent = table.shape[0]
        return table.at[mnp.where(self.numbers < 0, extent, self.numbers)].set(rows)


class Reads:
    """What the sparse layers of a model read while a loss is called, by the name of their table.

    ``zeros`` are added to the rows, one array for each read, in order; without them it is found how many there are.
    """

    def __init__(self, tables: Mapping[int, str], zeros: Mapping[str, list[Array]] | None) -> None:
        self.tables, self.zeros = tables, zeros
        self.indices: dict[str, list[Array]] = {name: [] for name in tables.values()}

    def __call__(self, layer: Any, indices: Array, found: Array) -> Array:
        """The rows that a layer gives, whose gradient goes to the zeros."""
        name = self.tables.get(id(layer))
        if name is None:
            return found
        number = len(self.indices[name])
        padding = layer.padding_idx
        read = indices if padding is None else mnp.where(indices == padding, layer.weight.shape[0], indices)
        self.indices[name].append(read)
        if self.zeros is None:
            return found
        zeros = self.zeros[name][number]
        return mnp.astype(found, zeros.dtype) + zeros


def tables_of(model: Any, parameters: Tree) -> list[str]:
    """The names of the tables of sparse layers among the parameters."""
    layers = {id(each.weight) for each in modules(model) if isinstance(each, Embedding) and each.sparse}
    trained = {name for name, _, _ in named(parameters)}
    return [name for name, leaf, _ in named(model) if id(leaf) in layers and name in trained]


def layers_of(model: Any, tables: list[str]) -> dict[int, str]:
    """The names of tables by the identity of the layers that have them."""
    names = {id(leaf): name for name, leaf, _ in named(model) if name in tables}
    return {id(each): names[id(each.weight)] for each in modules(model)
            if isinstance(each, Embedding) and id(each.weight) in names}  # fmt: skip


def without(tables: list[str], parameters: Tree) -> tuple[Tree, Tree]:
    """(the others, the tables): parameters twice, each with None where the other has an array."""
    return partition(parameters, lambda name: name not in tables)


def replaced(tree: Tree, values: Mapping[str, Any]) -> Tree:
    """The tree with arrays by name in place of its own."""
    leaves, structure = trees.flatten(tree)
    names = (name for name, _, _ in named(tree))
    return trees.unflatten(structure, [values.get(name, x) for x, name in zip(leaves, names, strict=True)])


def check_tables(tables: list[str], state: Tree, shards: Any) -> None:
    """Raises: InputError: with sparse layers, shards, or an optimizer that changes rows that a batch does not read."""
    if tables and shards is not None:
        what = f"The sparse embedding '{tables[0]}' has rows of its own in each shard"
        raise InputError(what, hint="Use nn.Embedding(…, sparse=False) with shards and on several ranks")
    if tables and any(isinstance(each, AccumulationState | EmaState) for each in wrapped(state)):
        what = "Rows of a sparse embedding change only where a batch reads them, which accumulate and ema do not know"
        raise InputError(what, hint="Use nn.Embedding(…, sparse=False), or the optimizer alone")


@dataclass(frozen=True)
class View:
    """How the state of an optimizer is seen as rows: the table of each leaf that is like one, else None."""

    owners: tuple[str | None, ...]

    @staticmethod
    def of(optimizer: GradientTransformation, parameters: Tree, state: Tree, tables: list[str]) -> View:
        """By the shapes of a first state for tables of other extents.

        Raises:
            InputError: a part of the state depends on the extent of a table and is not like it.
        """
        found = {name: as_array(leaf) for name, leaf, _ in named(parameters) if name in tables}
        taken = {x.shape[0] for x in found.values()}
        extents = dict(zip(tables, (n for n in count(2) if n not in taken), strict=False))
        probes = {name: mnp.zeros((extents[name], *x.shape[1:]), dtype=x.dtype) for name, x in found.items()}
        leaves = [as_array(x) for x in trees.leaves(optimizer.init(replaced(parameters, probes)))]
        owners = [_owner(as_array(x), probe, found, probes)
                  for x, probe in zip(trees.leaves(state), leaves, strict=True)]  # fmt: skip
        return View(tuple(owners))

    def mapped(self, f: Callable[[str, Any, Any], Any], state: Tree, other: Tree) -> Tree:
        """``f(table, leaf, leaf of the other)`` of the leaves that are like a table; of others that of ``other``."""
        leaves, structure = trees.flatten(state)
        pairs = zip(self.owners, leaves, trees.leaves(other), strict=True)
        return trees.unflatten(structure, [y if owner is None else f(owner, x, y) for owner, x, y in pairs])


def _owner(x: Array, probe: Array, tables: Mapping[str, Array], probes: Mapping[str, Array]) -> str | None:
    if x.shape == probe.shape:
        return None
    for name, table in tables.items():
        if x.shape == table.shape and probe.shape == probes[name].shape:
            return name
    what = f"The optimizer's state has an array of shape {list(x.shape)}, which is not like the table it is of"
    raise InputError(what, hint="Use nn.Embedding(…, sparse=False), or an optimizer such as adam, adagrad or sgd")


@dataclass(frozen=True)
class Sparse:
    """The rows that a step reads of each table, and the view of the optimizer's state as rows. Without tables all is as
    it is."""

    rows: Mapping[str, Rows]
    view: View

    @staticmethod
    def of(optimizer: GradientTransformation, state: Any, tables: list[str], indices: Any, gradients: Any) -> Sparse:
        """``indices`` and ``gradients`` of the rows read, lists by the names of tables.

        Raises:
            InputError: the optimizer's state is not like the tables.
        """
        if not tables:
            return Sparse({}, View(()))
        found = {name: as_array(x) for name, x, _ in named(state.parameters)}
        rows = {name: Rows.of(indices[name], gradients[name], found[name]) for name in tables}
        return Sparse(rows, View.of(optimizer, state.parameters, state.optimizer, tables))

    def rows_of(self, state: Any) -> Any:
        """The state of a run with the rows in place of the tables, and of what is like them."""
        if not self.rows:
            return state
        found = {name: self.rows[name].read(as_array(x)) for name, x, _ in self._tables(state.parameters)}
        parts = self.view.mapped(lambda name, x, _: self.rows[name].read(as_array(x)), state.optimizer, state.optimizer)
        return state._replace(parameters=replaced(state.parameters, found), optimizer=parts)

    def gradients(self, dense: Tree, parameters: Tree) -> Tree:
        """The gradients of all parameters, those of the tables as rows."""
        if not self.rows:
            return dense
        return trees.merged(dense, replaced(parameters, {name: each.gradients for name, each in self.rows.items()}))

    def written(self, state: Any, new: Any) -> Any:
        """The new state, with the tables of the one before that have its rows."""
        if not self.rows:
            return new
        after = {name: x for name, x, _ in named(new.parameters)}
        write = lambda name, x, y: self.rows[name].write(as_array(x), y)  # noqa: E731
        tables = {name: write(name, x, after[name]) for name, x, _ in self._tables(state.parameters)}
        optimizer = self.view.mapped(write, state.optimizer, new.optimizer)
        return new._replace(parameters=replaced(new.parameters, tables), optimizer=optimizer)

    def _tables(self, parameters: Tree) -> list[Any]:
        return [each for each in named(parameters) if each[0] in self.rows]
