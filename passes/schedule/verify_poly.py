"""Verifier of the poly level (``verify-poly``), for scheduled and tiled kernels: statements, tiles, a schedule tree."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.passes.kernel.verify_kernel import MAIN
from mlc.passes.legality import SCALARS, TENSORS, Level

LEVEL = Level(
    "poly",
    {
        "builtin.module": "func.func kernel.func",
        **MAIN,
        "kernel.func": "kernel.local kernel.library_call poly.statement poly.tile kernel.return",
        "poly.statement": f"{SCALARS} poly.yield",
    },
    TENSORS,
    frozenset({"kernel.call"}),
)


@dataclass(frozen=True)
class VerifyPoly(ModulePass):
    """Raise IllegalIR if the module breaks a rule of the poly level; change nothing."""

    name = "verify-poly"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        LEVEL.verify(op)
