"""Categories: LabelEncoder, OneHotEncoder, of numbers."""

from __future__ import annotations

import numpy as np

from mlc.dialects.types import is_float
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import Array
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.ml import DOMAIN
from mlc.frontends.onnx.tensors import Tensor

NUMBERS = {"int64": np.int64, "float": np.float32}


def no_texts(node: Node, *names: str) -> None:
    """Refuse attributes that hold texts."""
    for name in names:
        if node.attr(name, None):
            raise NotSupported(f"attribute '{name}' holds texts, which are not supported; map numbers to numbers")


def _table(node: Node, which: str) -> Array:
    """The keys or the values of a LabelEncoder."""
    if f"{which}_tensor" in node.attributes:
        return np.asarray(node.attr(f"{which}_tensor")).reshape(-1)
    for kind, dtype in NUMBERS.items():
        if node.attr(f"{which}_{kind}s", None):
            return np.asarray(node.attr(f"{which}_{kind}s"), dtype)
    raise NotSupported(f"no {which} of numbers; give {which}_int64s, {which}_floats or {which}_tensor")


@onnx_op("LabelEncoder", domain=DOMAIN, since=2)
def label_encoder(node: Node) -> Tensor:
    """The value of the first key that equals an element, else the default; from 4 on, a NaN equals a NaN."""
    x, build = node[0], node.build
    no_texts(node, "keys_strings", "values_strings")
    keys, values = _table(node, "keys"), _table(node, "values")
    if len(keys) != len(values):
        raise NotSupported(f"{len(keys)} keys for {len(values)} values")
    default = node.attr("default_int64", -1) if values.dtype.kind == "i" else node.attr("default_float", -0.0)
    default = np.asarray(node.attr("default_tensor", default)).reshape(1).astype(values.dtype)
    here = ", ".join(f"i{n}" for n in range(x.rank)) or "()"
    hit = f"x0[{here}] == x1[r0]"
    if is_float(x.element) and node.opset >= 4:
        hit = f"({hit}) | (isnan(x0[{here}]) & isnan(x1[r0]))"
    table = Tensor.from_known(keys.astype(x.dtype), x.element)
    place = build.compute(f"where({hit}, r0, {len(keys)})", [x, table], x.shape, [len(keys)], "min")
    return build.compute(f"x0[x1[{here}]]", [Tensor.from_known(np.concatenate([values, default])), place], x.shape)


@onnx_op("OneHotEncoder", domain=DOMAIN)
def one_hot_encoder(node: Node) -> Tensor:
    """[…, categories] in f32: 1 at the category that an element is; nothing for one that is none of them."""
    x, build = node[0], node.build
    no_texts(node, "cats_strings")
    if not node.attr("zeros", 1):
        raise NotSupported("attribute 'zeros' = 0: an unknown category would be an error at run time; set it to 1")
    categories = Tensor.from_known(np.asarray(node.attr("cats_int64s"), np.int64))
    here = ", ".join(f"i{n}" for n in range(x.rank)) or "()"
    text = f"f32(x0[{here}] == x1[i{x.rank}])"
    return build.compute(text, [build.cast(x, "i64"), categories], (*x.shape, *categories.shape))


@onnx_op("ZipMap", "DictVectorizer", "CastMap", domain=DOMAIN)
def maps(node: Node) -> Tensor:
    """Refused: maps from keys to values are no tensors."""
    hint = "; its input is the scores: export without it (skl2onnx: options={'zipmap': False})"
    raise NotSupported(f"maps are not supported{hint if node.op == 'ZipMap' else ''}")


@onnx_op("CategoryMapper", domain=DOMAIN)
def category_mapper(node: Node) -> Tensor:
    """Refused: it maps from or to texts."""
    raise NotSupported("texts are not supported; map numbers to numbers with a LabelEncoder")
