"""``verify-graph``: what is true of a graph module, checked at the border of the stage.

A module holds functions of one block; a block holds graph operators and ends in func.return; every value is a
ranked tensor, is defined before it is read, and has the type its operator gives.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph import GraphOp, source_nodes
from mlc.dialects.graph.data import ConstantOp, WeightOp
from mlc.dialects.types import ELEMENTS
from mlc.passes.legality import shape_error
from mlc.runtime.errors import MlcError

_LEGAL = (GraphOp, WeightOp, ConstantOp)
_ELEMENTS = set(ELEMENTS.values())


class GraphVerifyError(MlcError, VerifyException):
    """A module is not a well-formed graph."""


@dataclass(frozen=True)
class VerifyGraph(ModulePass):
    """Raises where the module is not a well-formed graph; changes nothing.

    Raises:
        GraphVerifyError: the first violation, with operator and source nodes.
    """

    name = "verify-graph"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if not isinstance(function, func.FuncOp):
                raise _error(function, "only functions may stand in a graph module")
            if len(function.body.blocks) != 1:
                raise _error(
                    function, f"function @{function.sym_name.data} has {len(function.body.blocks)} blocks, not 1"
                )
            _verify_block(function, function.body.block)


def _verify_block(function: func.FuncOp, block: Block) -> None:
    defined: set[SSAValue] = set(block.args)
    for arg in block.args:
        _verify_type(function, arg.type)
    for op in block.ops:
        for n, operand in enumerate(op.operands):
            if operand not in defined:
                raise _error(op, f"operand {n} is {_whence(operand, block)}")
        if isinstance(op, func.ReturnOp):
            _verify_return(function, op)
            continue
        if not isinstance(op, _LEGAL):
            raise _error(op, "it is not an operator of the graph dialect")
        _verify_type(op, op.results[0].type)
        _verify_op(op)
        defined.update(op.results)
    if not isinstance(block.last_op, func.ReturnOp):
        raise _error(function, "the function does not end in func.return")


def _verify_op(op: Operation) -> None:
    try:
        op.verify()
    except (VerifyException, ValueError) as e:
        raise _error(op, str(e)) from e


def _verify_return(function: func.FuncOp, op: func.ReturnOp) -> None:
    declared, returned = tuple(function.function_type.outputs), tuple(op.operand_types)
    if declared != returned:
        raise _error(op, f"the function declares ({_list(declared)}) and returns ({_list(returned)})")
    if op.next_op is not None:
        raise _error(op, "operators follow it")


def _verify_type(op: Operation, type_: Attribute) -> None:
    if not isinstance(type_, TensorType):
        raise _error(op, f"a value of type {type_} is not a ranked tensor")
    if type_.element_type not in _ELEMENTS:
        raise _error(op, f"tensors of {type_.element_type} are not known; elements are {', '.join(ELEMENTS)}")
    if wrong := shape_error(type_):
        raise _error(op, wrong)


def _whence(operand: SSAValue, block: Block) -> str:
    owner = operand.owner
    inside = owner is block or (isinstance(owner, Operation) and owner.parent is block)
    return "read before it is defined" if inside else "defined outside the function"


def _list(types: tuple[Attribute, ...]) -> str:
    return ", ".join(map(str, types))


def _error(op: Operation, message: str) -> GraphVerifyError:
    nodes = ", ".join(source_nodes(op))
    return GraphVerifyError(f"Invalid graph: {message}", op=op.name, node=nodes or None, stage="verify-graph")
