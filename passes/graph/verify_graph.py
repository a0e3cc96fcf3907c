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

from mlc.dialects.graph import GraphOp, RegionOp, YieldOp, source_nodes
from mlc.dialects.graph.data import ConstantOp, WeightOp
from mlc.dialects.types import ELEMENTS
from mlc.passes.legality import shape_error
from mlc.runtime.errors import MlcError

_LEGAL = (GraphOp, RegionOp, WeightOp, ConstantOp)
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
            _verify_block(function, function.body.block, func.ReturnOp)


def _verify_block(function: Operation, block: Block, end: type[Operation]) -> None:
    """The body of a function, or of a loop or branch, which ends in ``end``."""
    defined: set[SSAValue] = set(block.args)
    for arg in block.args:
        _verify_type(function, arg.type)
    for op in block.ops:
        for n, operand in enumerate(op.operands):
            if operand not in defined:
                raise _error(op, f"operand {n} is {_whence(operand, block)}")
        if isinstance(op, end):
            _verify_end(function, op)
            continue
        if not isinstance(op, _LEGAL):
            raise _error(op, "it is not an operator of the graph dialect")
        for result in op.results:
            _verify_type(op, result.type)
        _verify_op(op)
        for inner in op.inner_blocks() if isinstance(op, RegionOp) else ():
            _verify_block(op, inner, YieldOp)
        defined.update(op.results)
    if not isinstance(block.last_op, end):
        raise _error(function, f"the function does not end in {end.name}")


def _verify_op(op: Operation) -> None:
    try:
        op.verify(verify_nested_ops=False)
    except (VerifyException, ValueError) as e:
        raise _error(op, str(e)) from e


def _verify_end(function: Operation, op: Operation) -> None:
    returned = tuple(op.operand_types)
    declared = tuple(function.function_type.outputs) if isinstance(function, func.FuncOp) else returned
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
