"""Searches that are not translated, with what to use in their place."""

from __future__ import annotations

from typing import NoReturn

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN

INSTEAD = {
    "WhisperBeamSearch": "compile encoder and decoder alone, and search in a program",
    "Sampling": "export as GreedySearch, or compile the decoder alone and draw tokens in a program",
}


@onnx_op(*INSTEAD, domain=DOMAIN)
def refused(node: Node) -> NoReturn:
    """A search whose subgraph is a model of its own."""
    raise NotSupported(f"a search by subgraphs; {INSTEAD[node.op]}")
