"""Trees of arrays: nested tuples, lists, dictionaries, named tuples, dataclasses and registered classes, by optree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import optree

from mlc.frontends.array import dataclass_trees
from mlc.frontends.array.dataclass_trees import NAMESPACE

Tree = optree.PyTreeSpec
REAL: set[type] = {bool, int, float}
"""Types of leaves that are never complex; the type of real arrays joins them."""


def flatten(tree: Any) -> tuple[list[Any], Tree]:
    """The leaves of a tree, and its structure; None is a tree without leaves, a complex number or array of NumPy one of
    two.
    """
    while True:
        found, structure = optree.tree_flatten(tree, namespace=NAMESPACE)
        if _register_dataclasses(found):
            continue
        if REAL.issuperset(map(type, found)) or not any(map(_is_complex, found)):
            return found, structure
        tree = unflatten(structure, [_as_pair(leaf) if _is_complex(leaf) else leaf for leaf in found])


def leaves(tree: Any) -> list[Any]:
    return flatten(tree)[0]


def _is_complex(leaf: Any) -> bool:
    """Whether a leaf is a complex number, or an array or the type of one, of NumPy or another library."""
    dtype = getattr(leaf, "dtype", None)
    if dtype is None or isinstance(dtype, np.dtype):
        return isinstance(leaf, complex) or (dtype is not None and dtype.kind == "c")
    return "complex" in str(dtype)


def _as_pair(leaf: Any) -> Any:
    """Parts of the kind of ``leaf``: of a Python number Python numbers, which take the type of what is beside them."""
    from mlc.frontends.array.complex.pair import ComplexArray  # which imports this file

    if hasattr(leaf, "real"):
        return ComplexArray(leaf.real, leaf.imag)
    part = replace(leaf, dtype=np.empty((), leaf.dtype).real.dtype)  # a TensorSpec
    return ComplexArray(part, part)


def _register_dataclasses(leaves: Sequence[Any]) -> bool:
    """Register the dataclasses among the leaves as trees, and return whether there were any."""
    found = {type(leaf) for leaf in leaves if dataclass_trees.is_unknown(leaf)}
    for cls in found:
        dataclass_trees.register(cls)
    return bool(found)


def unflatten(structure: Tree, values: Sequence[Any]) -> Any:
    return optree.tree_unflatten(structure, values)


def tuple_of(structures: Sequence[Tree]) -> Tree:
    """The structure of a tuple of trees."""
    return optree.treespec_tuple(structures, namespace=NAMESPACE)


def is_leaf(structure: Tree) -> bool:
    """Whether the tree is a single leaf."""
    return structure.is_leaf(strict=True)


def above(structure: Tree, is_leaf: Callable[[Any], bool]) -> Tree:
    """The structure down to what ``is_leaf`` names."""
    tree = unflatten(structure, range(structure.num_leaves))
    return optree.tree_structure(tree, is_leaf=is_leaf, namespace=NAMESPACE)


def paths(structure: Tree) -> list[tuple[Any, ...]]:
    """The path of each leaf: keys, indices and names from the root."""
    return optree.treespec_paths(structure)


def register(cls: type, flatten: Callable[..., Any], unflatten: Callable[..., Any]) -> None:
    """Make instances of a class trees; ``flatten`` gives (children, data, names), ``unflatten`` takes the first two."""
    optree.register_pytree_node(cls, flatten, unflatten, path_entry_type=optree.GetAttrEntry, namespace=NAMESPACE)


def register_fields(cls: type, held: tuple[str, ...], fixed: tuple[str, ...]) -> None:
    """Make instances of a class trees of the attributes ``held``; those of ``fixed`` are part of the structure.

    A tree is put together without a call of ``__init__``.
    """

    def flatten(instance: Any) -> tuple[list[Any], Any, tuple[str, ...]]:
        return [getattr(instance, n) for n in held], tuple(getattr(instance, n) for n in fixed), held

    def unflatten(values: Any, children: Any) -> Any:
        made: Any = object.__new__(cls)
        vars(made).update(zip((*fixed, *held), (*values, *children), strict=True))
        return made

    register(cls, flatten, unflatten)


def tree_map(
    function: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """The tree of ``function`` of each leaf, and of the leaves of ``rest`` at its position; complex arrays are trees of
    their parts (``mlc.tree_map`` takes them whole)."""
    found, structure = flatten(tree)  # knows the dataclasses in it
    if is_leaf is not None:
        return optree.tree_map(function, tree, *rest, is_leaf=is_leaf, namespace=NAMESPACE)
    others = (unflatten(*reversed(flatten(each))) for each in rest)
    return optree.tree_map(function, unflatten(structure, found), *others, namespace=NAMESPACE)


def children(tree: Any) -> list[tuple[Any, Any]] | None:
    """The key, index or name of each child of a tree's root, and the child; None for a leaf."""
    is_leaf = optree.tree_is_leaf(tree, namespace=NAMESPACE)
    if is_leaf and not _register_dataclasses([tree]):
        return None
    found, _, entries, _ = optree.tree_flatten_one_level(tree, namespace=NAMESPACE)
    return list(zip(entries, found, strict=True))


def merged(tree: Any, other: Any) -> Any:
    """The first tree, with its None leaves replaced by those of the second."""
    return optree.tree_map(lambda x, y: y if x is None else x, tree, other, none_is_leaf=True, namespace=NAMESPACE)
