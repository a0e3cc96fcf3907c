"""Autodiff (``differentiate``): a function returns its derivatives instead of its value.

    func @main(%x) { %y = graph.map "sin(x0)"(%x)      →     func @main(%x) { %1 = graph.map "x0 * cos(x1)"(%one, %x)
                     return %y }                                              return %1 }

The result is the derivative of the sum of the first result's elements, with respect to each float argument. This pass
is for ``mlc-opt``: for a model's own gradient operators the frontends call ``mlc.dialects.autodiff``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.autodiff import DIFFERENTIABLE, NoDerivative, gradients
from mlc.dialects.graph import ComputeOp
from mlc.dialects.types import element_of, shape_of
from mlc.errors import MlcError
from mlc.passes.graph.patterns.cleanup import eliminate_dead


@dataclass(frozen=True)
class Differentiate(ModulePass):
    """Replace the results of each function by its gradients; raise MlcError if an operator between an argument and the
    first result has no derivative."""

    name = "differentiate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, FuncOp):
                _differentiate(function)
        eliminate_dead(op)


def _differentiate(function: FuncOp) -> None:
    end = function.body.block.last_op
    assert isinstance(end, ReturnOp)
    xs = [x for x in function.body.block.args if element_of(x) in DIFFERENTIABLE]

    def emit(op: Operation) -> SSAValue:
        function.body.block.insert_op_before(op, end)
        return op.results[0]

    def filled(number: int, like: SSAValue) -> SSAValue:
        return emit(ComputeOp(f"{element_of(like)}({number})", [], shape_of(like)))

    try:
        found = gradients(end.operands[0], xs, filled(1, end.operands[0]), emit)
    except NoDerivative as e:
        raise MlcError(str(e), stage="differentiate") from e
    end.operands = [filled(0, x) if bar is None else bar for x, bar in zip(xs, found, strict=True)]
    function.function_type = FunctionType.from_lists([*function.function_type.inputs], [v.type for v in end.operands])
    function.res_attrs = None
