"""Sharding propagation (``propagate-shardings``): every operator gets the states that it reads and makes on one axis.

    func @main(%x: … {dist.sharding = <[["data"], []]>})     %y = graph.contract "mk,kn->mn"(%x, %w)
    %y = graph.contract "mk,kn->mn"(%x, %w)              →     {dist.operands = [#dist.split<0>, #dist.whole],
                                                                dist.result = #dist.split<0>, dist.why = "…"}

Forward, an operator takes the strategy that moves the fewest bytes of what is split, then divides its work, then has
the least to reduce. Backward, what all readers split is split where it is computed, or as argument: a part of a whole
tensor costs nothing. Source: GSPMD; Shardy.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.passes.distribute.choice.choosing import Chooser
from mlc.passes.distribute.choice.deferring import defer
from mlc.passes.distribute.choice.sinking import sink
from mlc.passes.distribute.choice.written import main_of, mesh_of, write


@dataclass(frozen=True)
class PropagateShardings(ModulePass):
    """Write the states of all operators along ``axis``. Nothing is changed without a mesh.

    Raises:
        InputError: an argument, or a tensor that the user divides, has no equal blocks.
    """

    name = "propagate-shardings"
    axis: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if (mesh := mesh_of(op, self.axis)) is None:
            return
        chooser = Chooser(main_of(op), self.axis, mesh.axes[self.axis])
        chooser.forward()
        defer(chooser)
        sink(chooser)
        write(chooser)
