"""Trees of arrays: nested tuples, lists, dictionaries, named tuples and registered classes, through optree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import optree

Tree = optree.PyTreeSpec
NAMESPACE = "mlc"
"""optree's namespace of classes that only mlc takes for trees, beside those that are registered for all."""


def flatten(tree: Any) -> tuple[list[Any], Tree]:
    """The leaves of a tree, and its structure; None is a tree without leaves."""
    return optree.tree_flatten(tree, namespace=NAMESPACE)


def leaves(tree: Any) -> list[Any]:
    return optree.tree_leaves(tree, namespace=NAMESPACE)


def unflatten(structure: Tree, values: Sequence[Any]) -> Any:
    return optree.tree_unflatten(structure, values)


def tuple_of(structures: Sequence[Tree]) -> Tree:
    """The structure of a tuple of trees."""
    return optree.treespec_tuple(structures, namespace=NAMESPACE)


def is_leaf(structure: Tree) -> bool:
    """Whether the tree is one leaf and nothing around it."""
    return structure.is_leaf(strict=True)


def paths(structure: Tree) -> list[tuple[Any, ...]]:
    """Where each leaf is: keys, indices and names from the root."""
    return optree.treespec_paths(structure)


def register(cls: type, flatten: Callable[..., Any], unflatten: Callable[..., Any]) -> None:
    """Make instances of a class trees; ``flatten`` gives (children, data, names), ``unflatten`` takes the first two."""
    optree.register_pytree_node(cls, flatten, unflatten, path_entry_type=optree.GetAttrEntry, namespace=NAMESPACE)


def tree_map(function: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """The tree of ``function`` of each leaf, and of the leaves of ``rest`` at its position.

    None is a tree without leaves, and stays. Modules, tuples, lists, dictionaries and registered classes are trees.
    """
    return optree.tree_map(function, tree, *rest, namespace=NAMESPACE)


def children(tree: Any) -> list[tuple[Any, Any]] | None:
    """The key, index or name of each child of a tree's root, and the child; None for a leaf."""
    if optree.tree_is_leaf(tree, namespace=NAMESPACE):
        return None
    found, _, entries, _ = optree.tree_flatten_one_level(tree, namespace=NAMESPACE)
    return list(zip(entries, found, strict=True))


def merged(tree: Any, other: Any) -> Any:
    """The first tree with the leaves of the other where it has None."""
    return optree.tree_map(lambda x, y: y if x is None else x, tree, other, none_is_leaf=True, namespace=NAMESPACE)
