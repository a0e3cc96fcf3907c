"""com.microsoft: Tokenizer."""

from __future__ import annotations

from mlc.dialects.types import STRING
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.strings.tokens import tokenize
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN


@onnx_op("Tokenizer", domain=DOMAIN)
def tokenizer(node: Node) -> Tensor:
    """[C, D] or [N, C, D]: the tokens of the strings [C] or [N, C]; separators count before an expression."""
    node.only("mark", "mincharnum", "pad_value", "separators", "tokenexp")
    x, least = node[0], node.attr("mincharnum")
    separators, expression = node.attr("separators", None) or [], node.attr("tokenexp", "")
    if x.element != STRING or x.rank not in (1, 2):
        raise NotSupported(f"{x}; it takes strings [C] or [N, C]")
    if least < 1:
        raise NotSupported(f"attribute 'mincharnum' = {least}; tokens have at least one character")
    if not separators and not expression:
        raise NotSupported("one of the attributes 'separators' and 'tokenexp' must be given")
    if 0 in x.shape:
        return node.build.reshape(x, (0,) if x.rank == 1 else (x.shape[0], 0))
    return tokenize(node.build, x, separators, expression, least, node.attr("mark") != 0, node.attr("pad_value"))
