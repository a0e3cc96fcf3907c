"""The tables of ``graph.forest`` (dialects/graph/forest.py), of nodes that all ask ``x <= bound``.

Floats become integers of the same order, so that one comparison serves them and NaN: below all, or above all, by what a
node does with it. So a column is a feature and that choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.dialects.graph.forest import TREE
from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.ops.trees.forest import Forest
from mlc.frontends.build.ops.trees.slots import Slots, slots_of
from mlc.frontends.build.ops.trees.splits import splits_of

MANY = 8
SMALL = 4096  # rows of a table that is padded
MOST_WORDS = 8  # of a bit vector; more leaves are reached faster by descent
TEST_COST, LEVEL_COST = 5.0, 8.0  # instructions: of a test of a vector of rows, and of a step of one row
IDENTITY = {"add": 0.0, "min": np.inf, "max": -np.inf}


class TooLarge(Exception):
    """The links or leaves of a forest do not fit in integers of its keys' width."""


@dataclass(frozen=True)
class Tables:
    """The operands of ``graph.forest``; columns are the features, and with ``low`` again with NaN below all bounds.

    ``features``: those that are used, where they are much fewer than there are; otherwise all.
    """

    features: Array
    low: bool
    nodes: Array
    trees: Array
    weights: Array
    tests: Array
    bits: int
    least: int


def tables_of(
    forest: Forest,
    x: np.dtype[Any],
    count: int | None,
    weight: np.dtype[Any],
    monoid: str,
) -> Tables:
    """The tables for ``count`` features of the type ``x`` and weights of the type ``weight``.

    Raises:
        TooLarge: features of 64 bits are needed.
    """
    splits = splits_of(forest, x)
    slots = slots_of(splits, forest.roots)
    key, inner, node = key_type(x), slots.inner, slots.node[slots.inner]
    features, low = _features(splits.feature[node], count), bool(splits.missing[node].any())
    column = np.searchsorted(features, splits.feature[node]) + len(features) * splits.missing[node]
    bits = max(1, (len(features) * (1 + low) - 1).bit_length())
    leaf, below = slots.leaves()
    least = np.iinfo(key).min
    if len(inner) >> (8 * key.itemsize - bits) or (~inner).sum() >= lowest(x) - least:
        raise TooLarge
    nodes = np.empty((len(inner), 2), key)
    nodes[inner, 0] = np.where(np.isnan(splits.bound[node]), lowest(x), ordered(splits.bound[node]))
    nodes[~inner, 0] = leaf[~inner] + least
    link = np.arange(len(inner)) << bits
    link[inner] = ((slots.pair[inner] + 1) << bits) | column
    nodes[:, 1] = link.astype(f"u{key.itemsize}").view(key)
    trees = np.zeros((len(slots.roots), TREE), np.int32)
    trees[:, 0], trees[:, 2] = slots.roots, leaf[slots.roots]
    tests, ends = _tests(slots, nodes, column, leaf, below)
    weights = _weights(forest, slots, leaf, trees, weight, monoid)
    rows = _rows_that_pay(slots, len(tests)) if ends.size else 1
    table = np.concatenate([trees, _whole_words(ends)], 1)
    return Tables(features, low, _padded(nodes), table, _padded(weights), _padded(tests), bits, _power(rows))


def _power(count: int) -> int:
    """The smallest power of two that is at least ``count``."""
    return 1 << max(count - 1, 0).bit_length()


def _padded(table: Array) -> Array:
    """A small table with zeros up to a power of two rows, so that forests of similar sizes have equal kernels."""
    return table if len(table) > SMALL else np.pad(table, [(0, _power(len(table)) - len(table)), (0, 0)])


def _whole_words(ends: Array) -> Array:
    """The ends of the tests of each word, padded to a power of two words. The added words have no tests."""
    return np.pad(ends, [(0, 0), (0, _power(ends.shape[1]) - ends.shape[1])], mode="edge") if ends.size else ends


def _features(asked: Array, count: int | None) -> Array:
    """The features that become keys: reading some of many takes as long as reading MANY times as many in order."""
    used = np.unique(asked)
    if count is None or count > MANY * len(used) + MANY:
        return used if used.size else np.zeros(1, np.int64)
    return np.arange(count)


def key_type(x: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the keys of floats of the type ``x``."""
    return np.dtype(f"i{x.itemsize}")


def ordered(values: Array) -> Array:
    """Floats as integers with the same order; both zeros are one."""
    bits = (values + values.dtype.type(0)).view(key_type(values.dtype))
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def lowest(x: np.dtype[Any]) -> int:
    """The key of a NaN below all bounds: one less than that of -inf."""
    return int(ordered(np.array([-np.inf], x))[0]) - 1


def _tests(slots: Slots, nodes: Array, column: Array, leaf: Array, count: Array) -> tuple[Array, Array]:
    """(tests, ends): the tests of all words of bit vectors, and where those of each word of a tree end."""
    width, trees = 8 * nodes.itemsize, len(slots.roots)
    words = int(-(-count[slots.roots].max(initial=1) // width))
    if not slots.is_tree or words > MOST_WORDS:
        return np.zeros((1, 3), nodes.dtype), np.zeros((trees, 0), np.int32)
    at = np.flatnonzero(slots.inner)
    tree = np.searchsorted(slots.roots, at, side="right") - 1
    start = leaf[at] - leaf[slots.roots][tree]  # the leaves below the left child: from start to end
    end = start + count[slots.pair[at]]
    number = (end - 1) // width - start // width + 1  # of words that these are in
    each = np.repeat(np.arange(len(at)), number)
    word = np.arange(len(each)) - np.repeat(np.cumsum(number) - number, number) + (start // width)[each]
    low, high = np.maximum(start[each] - word * width, 0), np.minimum(end[each] - word * width, width)
    ones = np.uint64(2**64 - 1)
    gone = (ones >> (64 - (high - low)).astype(np.uint64)) << low.astype(np.uint64)
    tests = np.empty((max(len(each), 1), 3), nodes.dtype)
    order = np.lexsort((np.arange(len(each)), word, tree[each]))
    tests[: len(each)] = np.stack(
        [nodes[at, 0][each], column[each], (~gone).astype(f"u{nodes.itemsize}").view(nodes.dtype)], 1
    )[order]
    ends = np.bincount(tree[each] * words + word, minlength=trees * words).cumsum().reshape(trees, words)
    return tests, ends.astype(np.int32)


def _rows_that_pay(slots: Slots, tests: int) -> int:
    """The number of rows from which on vectors of bits cost less than descents."""
    depths = sum(len(np.unique(np.searchsorted(slots.roots, at, side="right"))) for at in slots.levels())
    return max(1, round(tests * TEST_COST / (LEVEL_COST * max(depths, 1))))


def _weights(
    forest: Forest,
    slots: Slots,
    leaf: Array,
    trees: Array,
    weight: np.dtype[Any],
    monoid: str,
) -> Array:
    """[leaves, width]: the weights of the leaves, for consecutive targets from the first one that their tree has."""
    at = np.flatnonzero(~slots.inner)
    order = np.argsort(forest.leaves, kind="stable")
    entries = forest.leaves[order]
    low, high = (np.searchsorted(entries, slots.node[at], side=s) for s in ("left", "right"))
    row = np.repeat(leaf[at], high - low)
    each = order[
        np.arange(len(row)) - np.repeat(np.cumsum(high - low) - (high - low), high - low) + np.repeat(low, high - low)
    ]
    target, width = forest.targets[each], forest.count
    if slots.is_tree and len(row):
        tree = np.searchsorted(trees[:, 2], row, side="right") - 1
        first, last = np.full(len(trees), forest.count), np.zeros(len(trees), np.int64)
        np.minimum.at(first, tree, target)
        np.maximum.at(last, tree, target)
        width = max(1, int((last - first).max()) + 1)
        trees[:, 1] = np.minimum(first, forest.count - width)
        target = target - trees[tree, 1]
    table = np.full((len(at), width), IDENTITY[monoid])
    {"add": np.add, "min": np.minimum, "max": np.maximum}[monoid].at(table, (row, target), forest.weight[each])
    return table.astype(weight)
