"""Verifier of the graph level (``verify-graph``): the rules at the end of the stage.

A module holds functions of one block; a block holds graph operators and ends in func.return; every value is a
ranked tensor, is defined before it is read, and has the type that its operator infers. No operator has a data layout of
a target.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.comm import CommOp
from mlc.dialects.graph import GraphOp, IfOp, LayoutOp, LoopOp, PackOp, RegionOp, UnpackOp, YieldOp, source_nodes
from mlc.dialects.graph.base import ALIAS, NODE
from mlc.dialects.graph.data import ConstantOp, WeightOp
from mlc.dialects.graph.winograd import WinogradOp
from mlc.dialects.types import ELEMENTS
from mlc.errors import MlcError
from mlc.passes.legality import shape_error
from mlc.passes.rewriter import bodies

_LEGAL = (GraphOp, RegionOp, WeightOp, ConstantOp)
_ELEMENTS = set(ELEMENTS.values())


class GraphVerifyError(MlcError, VerifyException):
    """A module is not a well-formed graph."""


@dataclass(frozen=True)
class VerifyGraph(ModulePass):
    """Raise an error if the module is not a well-formed graph; change nothing.

    Raises:
        GraphVerifyError: the first violation, with operator and source nodes.
    """

    name = "verify-graph"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        verify_module(op, self.name)
        for each in (o for body in bodies(op) for o in body.ops):
            if belongs := _of_a_target(each):
                raise _error(each, f"{belongs} belongs to a target, and to the stage 'layout'")


def verify_module(module: ModuleOp, stage: str) -> None:
    """Check the rules that hold with and without data layouts. ``stage``: the pass that errors name."""
    try:
        checked: set[Hashable] = set()
        for function in module.ops:
            _verify_function(function, checked)
    except GraphVerifyError as error:
        error.stage = stage
        raise


def _verify_function(function: Operation, checked: set[Hashable]) -> None:
    if not isinstance(function, func.FuncOp):
        raise _error(function, "a graph module may contain only functions")
    if len(function.body.blocks) != 1:
        raise _error(function, f"function @{function.sym_name.data} has {len(function.body.blocks)} blocks, not 1")
    _verify_block(function, function.body.block, func.ReturnOp, checked)
    _verify_aliases(function, function.body.block)


def _verify_aliases(function: func.FuncOp, block: Block) -> None:
    """Check that a result with ``graph.alias`` has the type of the argument that it names, and that no other result
    names that argument."""
    taken: set[int] = set()
    for n, attributes in enumerate(function.res_attrs or ()):
        if (alias := attributes.data.get(ALIAS)) is None:
            continue
        at = alias.value.data if isinstance(alias, IntegerAttr) else -1
        if not 0 <= at < len(block.args) or at in taken:
            raise _error(function, f"the alias of result {n} is {alias}, no argument or that of another result too")
        if block.args[at].type != function.function_type.outputs.data[n]:
            raise _error(function, f"result {n} and argument {at}, its alias, differ in type")
        taken.add(at)


def _of_a_target(op: Operation) -> str | None:
    """Return what makes an operator specific to a target, its layouts or its kind; None if it is not specific."""
    match op:
        case LayoutOp(layouts=layouts) if layouts is not None:
            return f"the layout {layouts}"
        case PackOp() | UnpackOp():
            return "packing"
        case WinogradOp():
            return "Winograd's convolution"
    return None


def _verify_block(function: Operation, block: Block, end: type[Operation], checked: set[Hashable]) -> None:
    """Check the body of a function, loop or branch, which must end in ``end``. ``checked``: keys of operators that are
    known to be right."""
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
        if (key := _key(op)) is None or key not in checked:
            _verify_op(op)
            checked.add(key)
        for inner in op.inner_blocks() if isinstance(op, RegionOp) else ():
            _verify_collectives(op, inner)
            _verify_block(op, inner, YieldOp, checked)
        defined.update(op.results)
    if not isinstance(block.last_op, end):
        raise _error(function, f"the function does not end in {end.name}")


def _verify_collectives(region: Operation, block: Block) -> None:
    """No collective is where data decide whether a rank comes to it: the others would wait for it."""
    if not (isinstance(region, IfOp) or (isinstance(region, LoopOp) and region.counted)):
        return
    for op in block.walk():
        if isinstance(op, CommOp):
            where = "a branch" if isinstance(region, IfOp) else "a loop whose number of iterations depends on data"
            raise _error(op, f"a collective in {where}: not all ranks may come to it; compute it outside, and select")


def _key(op: Operation) -> Hashable:
    """Return a key such that operators of equal keys are all right or all wrong. Return None for operators with regions
    or layouts, which the key cannot describe."""
    if not isinstance(op, GraphOp) or isinstance(op, LayoutOp):
        return None
    attributes = [(name, a) for name, a in op.attributes.items() if name != NODE]
    types = (*op.operand_types, None, *op.result_types)
    return type(op), types, tuple(op.properties.items()), tuple(attributes), len(op.regions), len(op.successors)


def _verify_op(op: Operation) -> None:
    for result in op.results:
        _verify_type(op, result.type)
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
