"""Kernels: isolated fused regions, their calls, and calls of runtime library functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
)
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.kernel.declared import DeclaredFacts
from mlc.dialects.kernel.effects import PURE, Accesses
from mlc.dialects.kernel.iterators import SymbolOp
from mlc.dialects.kernel.linear_layout import LayoutAttr
from mlc.dialects.kernel.sequence import RepeatOp, ViewOp
from mlc.dialects.semantics.dims import DimLike, parse_dim, symbols_of


@irdl_op_definition
class FuncOp(DeclaredFacts):
    """A kernel: ``kernel.func @relu(%x: tensor<8xf32>) -> tensor<8xf32> { … kernel.return %y : tensor<8xf32> }``.

    What passes know about a kernel are typed properties (``DeclaredFacts``), printed among its attributes.
    """

    name = "kernel.func"
    body = region_def("single_block")
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, type: FunctionType, body: Region | None = None):
        body = body or Region(Block(arg_types=type.inputs))
        super().__init__(properties={"sym_name": StringAttr(name), "function_type": type}, regions=[body])

    @property
    def block(self) -> Block:
        return self.body.block

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbolic dimensions that the kernel takes, in the order of its argument ``dim``."""
        found = [o for o in self.walk() if type(o) in _SYMBOLIC]  # isinstance asks a metaclass
        dims = [dim for o in found for dim in _dims_in(o)]
        own = {o.step.data for o in found if isinstance(o, RepeatOp)}
        return tuple(sorted(symbols_of(dims) - own))

    def walk(self, *, reverse: bool = False, region_first: bool = False) -> Iterator[Operation]:
        """Yield the kernel and the operations in it. This is a loop, as xDSL's nested generators take a tenth of the
        passes' time."""
        if reverse or region_first:
            yield from super().walk(reverse=reverse, region_first=region_first)
            return
        yield self
        waiting = [iter(block.ops) for region in reversed(self.regions) for block in reversed(region.blocks)]
        while waiting:
            for op in waiting[-1]:
                yield op
                if op.regions:
                    inside = [block.ops for region in op.regions for block in region.blocks]
                    waiting += [iter(ops) for ops in reversed(inside)]
                    break
            else:
                waiting.pop()

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name, inputs, results, region, attributes, _, _ = parse_func_op_like(
            parser, reserved_attr_names=("sym_name", "function_type")
        )
        op = cls(name, FunctionType.from_lists(inputs, results), region)
        op.declare(dict(attributes.data) if attributes else {})
        return op

    def print(self, printer: Printer) -> None:
        reserved = ("sym_name", "function_type")
        facts = self.declared() | self.attributes
        print_func_op_like(printer, self.sym_name, self.function_type, self.body, facts, reserved_attr_names=reserved)

    def verify_(self) -> None:
        if tuple(self.block.arg_types) != tuple(self.function_type.inputs):
            raise VerifyException(f"kernel.func @{self.sym_name.data}: block arguments differ from the function type")
        last, declared = self.block.last_op, tuple(self.function_type.outputs)
        if not isinstance(last, ReturnOp) or tuple(last.operand_types) != declared:
            types = ", ".join(map(str, declared))
            raise VerifyException(f"kernel.func @{self.sym_name.data}: it must end in a kernel.return of ({types})")
        self.check_facts(len(self.block.args))


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a kernel; a kernel on tensors returns its results, a kernel on buffers returns nothing."""

    name = "kernel.return"
    args = var_operand_def()
    traits = traits_def(IsTerminator(), PURE)
    assembly_format = "attr-dict ($args^ `:` type($args))?"

    def __init__(self, args: Sequence[SSAValue] = ()):
        super().__init__(operands=[args])


@irdl_op_definition
class LocalOp(IRDLOperation):
    """A local buffer of a kernel. At the loops level each thread, or block of threads, has one, of constant size.

    ``%t = kernel.local : memref<?x8xf32, #graph.dims<["batch", "8"]>>``. ``layout``: the linear layout of its elements
    in shared memory, ``#kernel.layout<"offset[1][2][4][40][16] of 64">``; without it, they are row by row.
    """

    name = "kernel.local"
    result = result_def(MemRefType)
    layout = opt_prop_def(LayoutAttr)
    traits = traits_def(Accesses(allocates=("result",)))
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: Attribute, layout: LayoutAttr | None = None):
        super().__init__(result_types=[type], properties={"layout": layout})


@irdl_op_definition
class LibraryCallOp(IRDLOperation):
    """A call of a runtime library function: ``kernel.library_call "argsort_f32"(%x, %p) {integers = […]}``.

    Its arguments are the buffers, the integers (expressions of symbolic dimensions), the thread and the team's size.
    """

    name = "kernel.library_call"
    function = prop_def(StringAttr)
    args = var_operand_def(MemRefType)
    integers = prop_def(ArrayAttr[StringAttr])
    traits = traits_def(Accesses(reads=("ins",), writes=("out",)))
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$function `(` $args `)` attr-dict `:` type($args)"

    def __init__(self, function: str, args: Sequence[SSAValue], integers: Sequence[DimLike]):
        strings = ArrayAttr(StringAttr(str(n)) for n in integers)
        super().__init__(operands=[args], properties={"function": StringAttr(function), "integers": strings})

    @property
    def ins(self) -> tuple[SSAValue, ...]:
        """The buffers that the function reads."""
        return tuple(self.args[:-1])

    @property
    def out(self) -> SSAValue:
        """The buffer that the function writes, its last argument."""
        return self.args[-1]


_SYMBOLIC = (SymbolOp, LibraryCallOp, RepeatOp, ViewOp)


def _dims_in(op: Operation) -> list[DimLike]:
    """Return the expressions of symbolic dimensions in one of these operations."""
    match op:
        case SymbolOp():
            return [parse_dim(op.dim.data)]
        case LibraryCallOp():
            return [parse_dim(n.data) for n in op.integers]
        case RepeatOp():
            return [] if op.most is None else [op.most]
        case ViewOp():
            return [parse_dim(op.offset.data)]
    return []


@irdl_op_definition
class CallOp(IRDLOperation):
    """A call of a kernel on whole tensors: ``%y = kernel.call @relu(%x) : (tensor<8xf32>) -> tensor<8xf32>``."""

    name = "kernel.call"
    callee = prop_def(FlatSymbolRefAttrConstr)
    args = var_operand_def()
    res = var_result_def()
    traits = traits_def(PURE)
    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $res)"

    def __init__(self, callee: str, args: Sequence[SSAValue], results: Sequence[Attribute]):
        super().__init__(operands=[args], properties={"callee": SymbolRefAttr(callee)}, result_types=[results])
