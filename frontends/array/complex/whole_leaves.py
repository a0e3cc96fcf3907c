"""``mlc.tree_map``, for which a complex array is one leaf, as a real one is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlc.frontends.array import trees
from mlc.frontends.array.complex.pair import ComplexArray


def tree_map(
    function: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """The tree of ``function`` of each leaf, and of the leaves of ``rest`` at its position.

    None is a tree without leaves, and stays. Modules, tuples, lists, dictionaries and registered classes are trees,
    but for those that ``is_leaf`` names.
    """

    def ends(each: Any) -> bool:
        return isinstance(each, ComplexArray) or (is_leaf is not None and is_leaf(each))

    return trees.tree_map(function, tree, *rest, is_leaf=ends)
