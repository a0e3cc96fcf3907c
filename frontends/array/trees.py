"""Trees of arrays: nested tuples, lists, dictionaries, named tuples, dataclasses and registered classes, by optree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import optree

from mlc.frontends.array import dataclass_trees
from mlc.frontends.array.dataclass_trees import NAMESPACE

Tree = optree.PyTreeSpec


def flatten(tree: Any) -> tuple[list[Any], Tree]:
    """The leaves of a tree, and its structure; None is a tree without leaves."""
    while True:
        found, structure = optree.tree_flatten(tree, namespace=NAMESPACE)
        if not _register_dataclasses(found):
            return found, structure


def leaves(tree: Any) -> list[Any]:
    return flatten(tree)[0]


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
    """The tree of ``function`` of each leaf, and of the leaves of ``rest`` at its position.

    None is a tree without leaves, and stays. Modules, tuples, lists, dictionaries and registered classes are trees,
    but for those that ``is_leaf`` names.
    """
    leaves(tree)  # knows the dataclasses in it
    return optree.tree_map(function, tree, *rest, is_leaf=is_leaf, namespace=NAMESPACE)


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
