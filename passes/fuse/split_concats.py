"""Concatenation splitting (``split-concats``): a concatenation of very many operands becomes a tree of
concatenations.

    graph.concat(%0, …, %999)    →    %a = graph.concat(%0, …, %127); …; %h = graph.concat(%896, …, %999)
                                      graph.concat(%a, …, %h)

Each operand is a statement of the kernel, and isl compares all pairs of statements. A concatenation that is a zero-copy
view needs no kernel and is not split.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ConcatOp
from mlc.passes.fuse.grouping.views import views
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies


@dataclass(frozen=True)
class SplitConcats(ModulePass):
    """Split concatenations. ``operands``: the most operands of one concatenation. One with twice as many compiles in
    four times the time, and each level of the tree copies the data once more."""

    name = "split-concats"
    operands: int = 128

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            ops = list(body.ops)
            if wide := [o for o in ops if self._is_wide(o)]:
                kept = views(ops)
                for each in wide:
                    if each not in kept:
                        self._split(each)

    def _is_wide(self, op: Operation) -> bool:
        return isinstance(op, ConcatOp) and len(op.operands) > self.operands

    def _split(self, op: Operation) -> None:
        assert isinstance(op, ConcatOp)
        builder, axis = OpBuilder(op), op.axis.value.data
        args: list[SSAValue] = list(op.operands)
        while len(args) > self.operands:
            parts = [args[n : n + self.operands] for n in range(0, len(args), self.operands)]
            args = [part[0] if len(part) == 1 else builder.emit(ConcatOp(part, axis)) for part in parts]
        op.operands = args
