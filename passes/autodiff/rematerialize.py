"""Rematerialization (``rematerialize``): a derivative computes anew what is cheaper to compute than to save.

    %n = graph.map "(x0 - x1) * x2"(%c, %m, %s)           %n = graph.map "(x0 - x1) * x2"(%c, %m, %s)
    %y = graph.map "max(x0, 0)"(%n)                       %y = graph.map "max(x0, 0)"(%n)
    …                                                  →  …
    %d = graph.map "where(x0 > 0, x1, 0)"(%n, %g)         %d = graph.map "where((x1 - x2) * x3 > 0, x0, 0)"(%g, %c, …)

The boundary is where most bytes are alive: what is computed before it and read after it is saved. A minimum cut by
bytes chooses what stays saved; the rest is written into its later readers where these then move no more bytes.
Functions without derivatives (attribute ``graph.derivatives``) stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from mlc.passes.autodiff.saving.elementwise import Boundary
from mlc.passes.autodiff.saving.live_values import LiveValues
from mlc.passes.context import machine_of

DERIVATIVES = "graph.derivatives"
ROUNDS = 3  # boundaries, the largest first: a derivative of a derivative has several


@dataclass(frozen=True)
class Rematerialize(ModulePass):
    name = "rematerialize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [f for f in op.ops if isinstance(f, FuncOp) and DERIVATIVES in f.attributes]:
            for _ in range(ROUNDS):
                live = LiveValues(function.body.block, machine_of(ctx))
                if not Boundary(live, live.boundary()).recompute():
                    break
