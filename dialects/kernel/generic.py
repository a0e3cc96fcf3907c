"""Kernels before the loops level: a computation at each point of a box, and the values that its region reads."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IndexType, MemRefType, StringAttr
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Region, SSAValue
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
)
from xdsl.traits import IsTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.kernel.effects import PURE, Accesses


@irdl_op_definition
class GenericOp(IRDLOperation):
    """A computation at each point of a box: it reads an element of each of ``ins`` and writes the yielded one to
    ``out``.

    It differs from ``linalg.generic`` in two points: ``bounds`` declares the box (linalg infers it from the operands'
    shapes, which padding and strides prevent), and ``maps`` may contain ``symbols``, expressions of symbolic
    dimensions. With a ``monoid`` the yielded value is combined into the element, whose initial value is ``init``.

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
    traits = traits_def(Accesses(reads=("ins",), writes=("out",)), RecursiveMemoryEffect())
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
        def strings(values: Sequence[object]) -> ArrayAttr[StringAttr]:
            return ArrayAttr(StringAttr(str(v)) for v in values)

        properties = {
            "iters": strings(iters),
            "bounds": strings(bounds),
            "maps": ArrayAttr(AffineMapAttr(m) for m in maps),
            "symbols": strings(symbols) if symbols else None,
            "monoid": StringAttr(monoid) if monoid else None,
            "init": init,
        }
        super().__init__(operands=[ins, out], properties=properties, regions=[body])

    def verify_(self) -> None:
        if len(self.bounds) != len(self.iters):
            raise VerifyException(f"kernel.generic: {len(self.bounds)} bounds for {len(self.iters)} iterators")
        if len(self.maps) != len(self.operands) or len(self.body.block.args) != len(self.ins):
            raise VerifyException("kernel.generic: it needs a map for each operand, a block argument for each read")
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
            raise VerifyException(f"kernel.generic: {map_} is not a map of {message}")


def verify_yield(op: IRDLOperation, end: type[AbstractYieldOperation[Attribute]]) -> None:
    """Check that the region of a computation yields one value, of the element type of its buffer ``out``."""
    last, element = op.regions[0].block.last_op, op.out.type.element_type  # type: ignore[attr-defined]
    if not isinstance(last, end) or tuple(last.operand_types) != (element,):
        raise VerifyException(f"{op.name}: its region must end in a {end.name} of one {element}")


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """Ends the region of ``kernel.generic`` with the element's value."""

    name = "kernel.yield"
    traits = traits_def(IsTerminator(), PURE)


@irdl_op_definition
class IndexOp(IRDLOperation):
    """The value of an iterator of the enclosing computation: ``%i = kernel.index "i"``."""

    name = "kernel.index"
    iterator = prop_def(StringAttr)
    result = result_def(IndexType)
    traits = traits_def(PURE)
    assembly_format = "$iterator attr-dict"

    def __init__(self, iterator: str):
        super().__init__(properties={"iterator": StringAttr(iterator)}, result_types=[IndexType()])


@irdl_op_definition
class SymbolOp(IRDLOperation):
    """The run-time value of a symbolic dimension (an expression of symbols): ``%n = kernel.symbol "batch"``."""

    name = "kernel.symbol"
    dim = prop_def(StringAttr)
    result = result_def(IndexType)
    traits = traits_def(PURE)
    assembly_format = "$dim attr-dict"

    def __init__(self, dim: str):
        super().__init__(properties={"dim": StringAttr(dim)}, result_types=[IndexType()])
