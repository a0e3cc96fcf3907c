"""The scores of an ensemble of trees: keys of the features, and ``graph.forest``."""

from __future__ import annotations

import numpy as np

from mlc.dialects.graph import ForestOp
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.trees.forest import Forest
from mlc.frontends.build.ops.trees.tables import Tables, TooLarge, lowest, tables_of
from mlc.frontends.build.tensors import Tensor


def forest_scores(build: Builder, x: Tensor, forest: Forest, monoid: str, element: str) -> Tensor:
    """[N, targets] in ``element``: the weights of the leaves that the rows of ``x`` [N, features] in f32 or f64 reach.

    They are summed over the trees in order, or their least or greatest; a target without any has 0, inf or -inf.

    Raises:
        NotSupported: children form a cycle, a feature is not there, or a table is too large.
    """
    forest.check()
    features = x.shape[1]
    if isinstance(features, int) and forest.most_features > features:
        raise NotSupported(f"a test of feature {forest.most_features - 1} of an input {x}")
    count = features if isinstance(features, int) else None
    weight = np.dtype("f8" if element == "f64" else "f4")
    if element == "f64":
        x = build.cast(x, "f64")
    try:
        tables = tables_of(forest, x.dtype, count, weight, monoid)
    except TooLarge:
        x = build.cast(x, "f64")
        tables = tables_of(forest, x.dtype, count, weight, monoid)
    operands = [tables.nodes, tables.trees, tables.weights, tables.tests]
    xs = [build.value(t) for t in (keys(build, x, tables), *map(Tensor.from_known, operands))]
    return build.emit(ForestOp(monoid, xs, forest.count, tables.bits, tables.least))


def keys(build: Builder, x: Tensor, tables: Tables) -> Tensor:
    """[N, columns]: features as integers with the order of floats and NaN above all; with ``low``, again, NaN below."""
    count = len(tables.features)
    if not np.array_equal(tables.features, np.arange(x.shape[1]) if isinstance(x.shape[1], int) else []):
        x = build.compute("x0[i0, x1[i1]]", [x, Tensor.from_known(tables.features)], (x.shape[0], count))
    key, most = ("i64" if x.element == "f64" else "i32"), np.iinfo(tables.nodes.dtype).max
    bits, nan = f"as_{key}(x0[i0, i2])", f"{key}({most})"
    if tables.low:
        nan = f"where(i1 == 1, {key}({lowest(x.dtype)}), {nan})"
    text = f"where(x0[i0, i2] == 0, {key}(0), where({bits} < 0, {bits} ^ {most}, {bits}))"
    shape = (x.shape[0], 1 + tables.low, count)
    found = build.compute(f"where(isnan(x0[i0, i2]), {nan}, {text})", [x], shape)
    return build.reshape(found, (x.shape[0], shape[1] * count))
