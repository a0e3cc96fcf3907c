"""Categories: LabelEncoder, CategoryMapper, OneHotEncoder, of numbers and strings."""

from __future__ import annotations

import numpy as np

from mlc.dialects.types import STRING, is_float
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.indexing.lookup import looked_up
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.ml import DOMAIN

NUMBERS = {"int64": np.int64, "float": np.float32}
UNUSED = "_Unused"  # ONNX's default of a string


def _known(build: Builder, array: object) -> Tensor:
    """An array of numbers or strings as a vector."""
    values = np.asarray(array).reshape(-1)
    return build.strings(values) if values.dtype.kind in "OU" else Tensor.from_known(values)


def labels_of(node: Node, numbers: str, strings: str = "classlabels_strings") -> Tensor:
    """The class labels of a model, one of two attributes: i64 or strings.

    Raises:
        NotSupported: there are none, or both.
    """
    ints, words = node.attr(numbers, None) or [], node.attr(strings, None) or []
    if bool(ints) == bool(words):
        raise NotSupported(f"class labels; give either {numbers} or {strings}")
    return _known(node.build, words or np.asarray(ints, np.int64))


def _table(node: Node, which: str) -> Tensor:
    """The keys or the values of a LabelEncoder."""
    if f"{which}_tensor" in node.attributes:
        return _known(node.build, node.attr(f"{which}_tensor"))
    if node.attr(f"{which}_strings", None):
        return node.build.strings(node.attr(f"{which}_strings"))
    for kind, dtype in NUMBERS.items():
        if node.attr(f"{which}_{kind}s", None):
            return Tensor.from_known(np.asarray(node.attr(f"{which}_{kind}s"), dtype))
    raise NotSupported(f"no {which}; give {which}_strings, {which}_int64s, {which}_floats or {which}_tensor")


def _default(node: Node, values: Tensor) -> Tensor:
    """The value of an element without a key."""
    if "default_tensor" in node.attributes:
        given = node.attr("default_tensor")
    elif values.element == STRING:
        given = [node.attr("default_string", UNUSED)]
    else:
        whole = not is_float(values.element)
        given = node.attr("default_int64", -1) if whole else node.attr("default_float", -0.0)
    return _known(node.build, given if values.element == STRING else np.asarray(given, values.dtype))


def translated(build: Builder, x: Tensor, keys: Tensor, values: Tensor, default: Tensor, nan: bool = False) -> Tensor:
    """The value of the first key that equals an element, else the default; with ``nan`` a NaN equals a NaN.

    Raises:
        NotSupported: keys and elements are of two types, or there are more keys than values.
    """
    count = len(keys.known)  # type: ignore[arg-type]
    if (keys.element == STRING) != (x.element == STRING) or values.shape != keys.shape:
        raise NotSupported(f"{keys} keys and {values} values for elements of {x}")
    if x.element in ("i64", STRING) and keys.element == x.element:
        table = np.append(values.known, default.known)  # type: ignore[arg-type]
        found = looked_up(build, x, keys.known, table, values.element)  # type: ignore[arg-type]
        if found is not None:
            return found
    here = ", ".join(f"i{n}" for n in range(x.rank)) or "()"
    hit = f"x0[{here}] == x1[r0]"
    if nan:
        hit = f"({hit}) | (isnan(x0[{here}]) & isnan(x1[r0]))"
    index = build.compute(f"where({hit}, r0, {count})", [x, build.cast(keys, x.element)], x.shape, [count], "min")
    return build.compute(f"x0[x1[{here}]]", [build.concat([values, default], 0), index], x.shape)


@onnx_op("LabelEncoder", domain=DOMAIN, since=2)
def label_encoder(node: Node) -> Tensor:
    """The value of the first key that equals an element, else the default; from 4 on, a NaN equals a NaN."""
    x, keys, values = node[0], _table(node, "keys"), _table(node, "values")
    nan = is_float(x.element) and node.opset >= 4
    return translated(node.build, x, keys, values, _default(node, values), nan)


def _by_kind(node: Node, numbers: Tensor, strings: Tensor) -> Tensor:
    """Strings as numbers or numbers as strings, by pairs."""
    build, x = node.build, node[0]
    if x.element == STRING:
        return translated(build, x, strings, numbers, build.constant([node.attr("default_int64", -1)], "i64"))
    return translated(build, x, numbers, strings, build.strings([node.attr("default_string", UNUSED)]))


@onnx_op("LabelEncoder", domain=DOMAIN)
def label_encoder_1(node: Node) -> Tensor:
    """The index of a string among the classes, or the class at an index."""
    classes = node.attr("classes_strings")
    return _by_kind(node, node.build.constant(np.arange(len(classes)), "i64"), node.build.strings(classes))


@onnx_op("CategoryMapper", domain=DOMAIN)
def category_mapper(node: Node) -> Tensor:
    """Strings as i64 or i64 as strings, by the pairs of cats_strings and cats_int64s."""
    numbers = node.build.constant(node.attr("cats_int64s"), "i64")
    return _by_kind(node, numbers, node.build.strings(node.attr("cats_strings")))


@onnx_op("OneHotEncoder", domain=DOMAIN)
def one_hot_encoder(node: Node) -> Tensor:
    """[…, categories] in f32: 1 at the category that an element is; nothing for one that is none of them.

    With ``zeros`` = 0 that is an error in ONNX, which kernels cannot raise: zeros too.
    """
    x, build = node[0], node.build
    categories = labels_of(node, "cats_int64s", "cats_strings")
    here = ", ".join(f"i{n}" for n in range(x.rank)) or "()"
    text = f"f32(x0[{here}] == x1[i{x.rank}])"
    return build.compute(text, [build.cast(x, categories.element), categories], (*x.shape, *categories.shape))
