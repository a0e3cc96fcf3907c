"""Kernels: isolated fused regions, what calls them, and what they compute before there are loops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    IndexType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
)
from xdsl.dialects.utils import AbstractYieldOperation, parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
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

from mlc.dialects.dims import DimLike


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A kernel. ``kernel.func @relu(%x: tensor<8xf32>) -> tensor<8xf32> { … kernel.return %y : tensor<8xf32> }``"""

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

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name, inputs, results, region, attributes, _, _ = parse_func_op_like(
            parser, reserved_attr_names=("sym_name", "function_type")
        )
        op = cls(name, FunctionType.from_lists(inputs, results), region)
        op.attributes |= attributes.data if attributes else {}
        return op

    def print(self, printer: Printer) -> None:
        reserved = ("sym_name", "function_type")
        print_func_op_like(
            printer, self.sym_name, self.function_type, self.body, self.attributes, reserved_attr_names=reserved
        )

    def verify_(self) -> None:
        if tuple(self.block.arg_types) != tuple(self.function_type.inputs):
            raise VerifyException(f"kernel.func @{self.sym_name.data}: block arguments differ from the function type")
        last, declared = self.block.last_op, tuple(self.function_type.outputs)
        if not isinstance(last, ReturnOp) or tuple(last.operand_types) != declared:
            types = ", ".join(map(str, declared))
            raise VerifyException(f"kernel.func @{self.sym_name.data}: it must end in a kernel.return of ({types})")


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a kernel; a kernel on tensors returns its results, one on buffers has written them."""

    name = "kernel.return"
    args = var_operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict ($args^ `:` type($args))?"

    def __init__(self, args: Sequence[SSAValue] = ()):
        super().__init__(operands=[args])


@irdl_op_definition
class LocalOp(IRDLOperation):
    """A buffer of the kernel's own. In a kernel of loops each thread has one, of constant size.

    ``%t = kernel.local : memref<?x8xf32, #graph.dims<["batch", "8"]>>``
    """

    name = "kernel.local"
    result = result_def(MemRefType)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: Attribute):
        super().__init__(result_types=[type])


@irdl_op_definition
class GenericOp(IRDLOperation):
    """A computation for every point of a box: reads an element of each of ``ins``, writes the one it yields to ``out``.

    It is ``linalg.generic`` but for what that cannot say: ``bounds`` gives the box (linalg reads it off the operands,
    which padding and strides do not allow), and ``maps`` mention ``symbols``, expressions of symbolic sizes. With a
    ``monoid`` the yielded value is combined into the element, which starts as ``init``.

    ``kernel.generic ["i", "j"] ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>) {bounds = ["4", "8"], maps =
    [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], monoid = "add", init = 0.0 : f32} do { … }``
    """

    name = "kernel.generic"
    iters = prop_def(ArrayAttr[StringAttr])
    bounds = prop_def(ArrayAttr[StringAttr])
    maps = prop_def(ArrayAttr[AffineMapAttr])
    symbols = opt_prop_def(ArrayAttr[StringAttr])
    monoid = opt_prop_def(StringAttr)
    init = opt_prop_def(Attribute)
    ins = var_operand_def(MemRefType)
    out = operand_def(MemRefType)
    body = region_def("single_block")
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$iters (`ins` `(` $ins^ `:` type($ins) `)`)? `outs` `(` $out `:` type($out) `)` attr-dict `do` $body"
    )

    def __init__(
        self,
        iters: Sequence[str],
        bounds: Sequence[object],
        maps: Sequence[AffineMap],
        ins: Sequence[SSAValue],
        out: SSAValue,
        body: Region,
        symbols: Sequence[str] = (),
        monoid: str | None = None,
        init: Attribute | None = None,
    ):
        def texts(values: Sequence[object]) -> ArrayAttr[StringAttr]:
            return ArrayAttr(StringAttr(str(v)) for v in values)

        properties = {
            "iters": texts(iters),
            "bounds": texts(bounds),
            "maps": ArrayAttr(AffineMapAttr(m) for m in maps),
            "symbols": texts(symbols) if symbols else None,
            "monoid": StringAttr(monoid) if monoid else None,
            "init": init,
        }
        super().__init__(operands=[ins, out], properties=properties, regions=[body])

    def verify_(self) -> None:
        if len(self.bounds) != len(self.iters):
            raise VerifyException(f"kernel.generic: {len(self.bounds)} bounds for {len(self.iters)} iterators")
        if len(self.maps) != len(self.operands) or len(self.body.block.args) != len(self.ins):
            raise VerifyException("kernel.generic: one map an operand, one block argument an element read")
        if (self.monoid is None) != (self.init is None):
            raise VerifyException("kernel.generic: a monoid needs its initial value, and only a monoid")
        verify_yield(self, YieldOp)
        for operand, map_ in zip(self.operands, self.maps, strict=True):
            self._verify_map(operand.type, map_.data)

    def _verify_map(self, type: Attribute, map_: AffineMap) -> None:
        assert isinstance(type, MemRefType)
        wanted = (len(self.iters), len(self.symbols or ()), len(type.shape))
        if (map_.num_dims, map_.num_symbols, len(map_.results)) != wanted:
            message = "{} iterators, {} symbols and {} results".format(*wanted)
            raise VerifyException(f"kernel.generic: {map_} is no map of {message}")


def verify_yield(op: IRDLOperation, end: type[AbstractYieldOperation[Attribute]]) -> None:
    """The region of a computation ends in one value, of the elements of its buffer ``out``."""
    last, element = op.regions[0].block.last_op, op.out.type.element_type  # type: ignore[attr-defined]
    if not isinstance(last, end) or tuple(last.operand_types) != (element,):
        raise VerifyException(f"{op.name}: its region must end in a {end.name} of one {element}")


@irdl_op_definition
class LibraryCallOp(IRDLOperation):
    """All that a kernel does is in a C function: ``kernel.library_call "order_f32"(%x, %p) {integers = […]}``.

    It gets the buffers, the integers (expressions of symbolic dimensions), and which thread of how many it is.
    """

    name = "kernel.library_call"
    function = prop_def(StringAttr)
    args = var_operand_def(MemRefType)
    integers = prop_def(ArrayAttr[StringAttr])
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$function `(` $args `)` attr-dict `:` type($args)"

    def __init__(self, function: str, args: Sequence[SSAValue], integers: Sequence[DimLike]):
        texts = ArrayAttr(StringAttr(str(n)) for n in integers)
        super().__init__(operands=[args], properties={"function": StringAttr(function), "integers": texts})


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """Ends the region of ``kernel.generic`` with the value of the element."""

    name = "kernel.yield"
    traits = traits_def(IsTerminator())


@irdl_op_definition
class IndexOp(IRDLOperation):
    """The value of an iterator of the computation it stands in: ``%i = kernel.index "i"``."""

    name = "kernel.index"
    iterator = prop_def(StringAttr)
    result = result_def(IndexType)
    assembly_format = "$iterator attr-dict"

    def __init__(self, iterator: str):
        super().__init__(properties={"iterator": StringAttr(iterator)}, result_types=[IndexType()])


@irdl_op_definition
class CallOp(IRDLOperation):
    """Run a kernel on whole tensors: ``%y = kernel.call @relu(%x) : (tensor<8xf32>) -> tensor<8xf32>``."""

    name = "kernel.call"
    callee = prop_def(FlatSymbolRefAttrConstr)
    args = var_operand_def()
    res = var_result_def()
    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $res)"

    def __init__(self, callee: str, args: Sequence[SSAValue], results: Sequence[Attribute]):
        super().__init__(operands=[args], properties={"callee": SymbolRefAttr(callee)}, result_types=[results])


@irdl_op_definition
class SymbolOp(IRDLOperation):
    """The run-time value of a symbolic dimension (an expression of symbols): ``%n = kernel.symbol "batch"``."""

    name = "kernel.symbol"
    dim = prop_def(StringAttr)
    result = result_def(IndexType)
    assembly_format = "$dim attr-dict"

    def __init__(self, dim: str):
        super().__init__(properties={"dim": StringAttr(dim)}, result_types=[IndexType()])
