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


def is_leaf(structure: Tree) -> bool:
    """Whether the tree is one leaf and nothing around it."""
    return structure.is_leaf(strict=True)


def paths(structure: Tree) -> list[tuple[Any, ...]]:
    """Where each leaf is: keys, indices and names from the root."""
    return optree.treespec_paths(structure)


def register(cls: type, flatten: Callable[..., Any], unflatten: Callable[..., Any]) -> None:
    """Make instances of a class trees; ``flatten`` gives (children, data, names), ``unflatten`` takes the first two."""
    optree.register_pytree_node(cls, flatten, unflatten, path_entry_type=optree.GetAttrEntry, namespace=NAMESPACE)
