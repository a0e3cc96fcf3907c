"""Features before a model: ArrayFeatureExtractor, Binarizer, Scaler, Normalizer, Imputer, FeatureVectorizer."""

from __future__ import annotations

from math import prod

import numpy as np

from mlc.dialects.semantics.dims import product
from mlc.dialects.types import is_float
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.indexing.gather import gather_at
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.ml import DOMAIN


@onnx_op("ArrayFeatureExtractor", domain=DOMAIN)
def array_feature_extractor(node: Node) -> Tensor:
    """The columns that the second input, of any shape, names, of all rows; a vector is one row."""
    x, build = node[0], node.build
    wide = build.reshape(x, (1, *x.shape)) if x.rank == 1 else x
    indices = build.reshape(node[1], (prod(node[1].shape),))
    return gather_at(build, wide, indices, wide.rank - 1)


@onnx_op("Binarizer", domain=DOMAIN)
def binarizer(node: Node) -> Tensor:
    """1 above the threshold, else 0."""
    x, threshold = node[0], node.attr("threshold", 0.0)
    return node.build.cast(node.build.map(f"x0 > {x.element}({literal(threshold)})", x), x.element)


def per_column(node: Node, name: str, values: list[float], x: Tensor) -> Tensor:
    """An attribute of one number, or of one a column of ``x``, in f32 or i64."""
    if len(values) not in (1, x.shape[-1]):
        raise NotSupported(f"attribute '{name}' of {len(values)} numbers on {x}; give one, or one a column")
    return Tensor.from_known(np.asarray(values, np.int64 if isinstance(values[0], int) else np.float32))


@onnx_op("Scaler", domain=DOMAIN)
def scaler(node: Node) -> Tensor:
    """(x - offset) * scale in f32."""
    x = node.build.cast(node[0], "f32")
    offset, scale = (per_column(node, name, node.attr(name), x) for name in ("offset", "scale"))
    return node.build.map("(x0 - x1) * x2", x, offset, scale)


NORMS = {"MAX": ("x0", "max", "x0"), "L1": ("abs(x0)", "add", "x0"), "L2": ("x0 * x0", "add", "sqrt(x0)")}


@onnx_op("Normalizer", domain=DOMAIN)
def normalizer(node: Node) -> Tensor:
    """Each row by its norm; rows of norm 0 stay. As in onnxruntime, MAX is the largest element, with its sign."""
    build, norm = node.build, node.attr("norm", "MAX")
    if norm not in NORMS:
        raise NotSupported(f"norm '{norm}'; it is MAX, L1 or L2")
    before, monoid, after = NORMS[norm]
    x = build.cast(node[0], "f32")
    total = build.reduce(monoid, build.map(before, x), [x.rank - 1], keepdims=True)
    return build.map("where(x1 == 0, x0, x0 / x1)", x, build.map(after, total))


@onnx_op("Imputer", domain=DOMAIN)
def imputer(node: Node) -> Tensor:
    """Elements that equal ``replaced_value``, or NaN where that is NaN, replaced by column."""
    x = node[0]
    kind = "float" if is_float(x.element) else "int64"
    name, replaced = f"imputed_value_{kind}s", node.attr(f"replaced_value_{kind}", 0)
    new = per_column(node, name, node.attr(name), x)
    hit = "isnan(x0)" if replaced != replaced else f"x0 == {x.element}({literal(replaced)})"
    return node.build.map(f"where({hit}, x1, x0)", x, node.build.cast(new, x.element))


@onnx_op("FeatureVectorizer", domain=DOMAIN)
def feature_vectorizer(node: Node) -> Tensor:
    """The rows of all inputs beside each other in f32, cut or filled with zeros to its entry in ``inputdimensions``."""
    build, parts = node.build, []
    widths = node.attr("inputdimensions", None) or [x.shape[-1] for x in node.tensors()]
    for x, width in zip(node.tensors(), widths, strict=True):
        shape = (1, *x.shape) if x.rank == 1 else (x.shape[0], product(x.shape[1:]))
        rows = build.reshape(build.cast(x, "f32"), shape)
        parts.append(build.pad(rows, [0, 0], [0, width - rows.shape[1]]))
    return build.concat(parts, 1)
