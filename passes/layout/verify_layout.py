"""Verifier of the graph level with data layouts (``verify-layout``): the rules at the end of the stage.

The rules are those of ``verify-graph``, except that operators may read and write other layouts than the plain one. No
``graph.pack`` and no ``graph.unpack`` is left.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects.graph import PackOp, UnpackOp, source_nodes
from mlc.passes.graph.verify_graph import GraphVerifyError, verify_module
from mlc.passes.rewriter import bodies


@dataclass(frozen=True)
class VerifyLayout(ModulePass):
    """Raise an error if the module is not a well-formed graph; change nothing.

    Raises:
        GraphVerifyError: the first violation, with operator and source nodes.
    """

    name = "verify-layout"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        verify_module(op, self.name)
        left = [o for body in bodies(op) for o in body.ops if isinstance(o, PackOp | UnpackOp)]
        if left:
            raise GraphVerifyError("Invalid graph: decompose-pack writes it in other operators", op=left[0].name,
                                   node=", ".join(source_nodes(left[0])) or None, stage=self.name)  # fmt: skip
