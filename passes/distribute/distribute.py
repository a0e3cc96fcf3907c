"""Distribution (``distribute``): the partition of a program along every axis of its mesh, one after another.

    module attributes {dist.mesh = #dist.mesh<["data"], array<i64: 2>>}       module
    func @main(%x: tensor<8x4xf32> {dist.sharding = <[["data"], []]>})   →    func @main(%x: tensor<4x4xf32>)

The program for the ranks of one axis is a program like any other, so that the next axis divides it anew. A dimension
that two axes divide is in blocks of the first, and these in blocks of the second.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects.dist import DIVIDES, MESH, PLANNED, MeshAttr, ShardOp
from mlc.dialects.semantics.interpreter import main_of
from mlc.passes.distribute.choice.planned import take_plan
from mlc.passes.distribute.choice.written import axes_in_order
from mlc.passes.distribute.insert_reshards import InsertReshards
from mlc.passes.distribute.partition import Partition
from mlc.passes.distribute.propagate_shardings import PropagateShardings
from mlc.passes.distribute.verify_spmd import VerifySpmd
from mlc.passes.graph.canonicalize_graph import CanonicalizeGraph


@dataclass(frozen=True)
class Distribute(ModulePass):
    """Partition the main function. Nothing is changed without a mesh."""

    name = "distribute"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mesh = op.attributes.get(MESH)
        if not isinstance(mesh, MeshAttr):
            return
        take_plan(op)
        for axis in axes_in_order(op, mesh):
            for each in (PropagateShardings(axis), InsertReshards(axis), VerifySpmd(axis), Partition(axis)):
                each.apply(ctx, op)
        _forget(op)
        CanonicalizeGraph().apply(ctx, op)


def _forget(module: ModuleOp) -> None:
    """Remove the mesh, the plan and the constraints within the program. The shardings of arguments and results stay: a
    caller reads them."""
    main = main_of(module)
    for op in main.body.block.ops:
        op.attributes.pop(PLANNED, None)
    for op in [o for o in main.body.block.ops if isinstance(o, ShardOp)]:
        op.result.replace_all_uses_with(op.input)
        op.detach()
        op.erase()
    del module.attributes[MESH]
    module.attributes.pop(DIVIDES, None)
