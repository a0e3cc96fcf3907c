"""Operations of the ``poly`` dialect: statements with their domains and accesses, and the tiles of a schedule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, MemRefType, StringAttr, UnitAttr, i64
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.kernel.effects import PURE, Accesses, Orders
from mlc.dialects.poly.attributes import AccessAttr, DomainAttr
from mlc.dialects.semantics.dims import DimLike, parse_dim


@irdl_op_definition
class StatementOp(IRDLOperation):
    """A computation at each point of a box: reads elements of ``ins`` and yields the element written to ``out``.

    ``accesses`` lists the element of each operand, the write last; isl's sets and maps follow from these attributes.
    With a ``monoid`` the yielded value is combined into the element, whose initial value is ``init``; the region then
    gets only the values read. If the domain is a part of the box, ``conditions`` are the expressions that are at least
    0 in it: ``["m - n"]``. Instances outside of the domain may be executed or not: their terms are the identity.

    ``poly.statement "S0" ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>)
    {domain = #poly.domain<"0 <= i < 4 and 0 <= j < 8">, monoid = "add", init = 0.0 : f32,
    accesses = [#poly.access<"b0[i, j]">, #poly.access<"b1[i]">]} do { ^bb0(%x: f32): poly.yield %x : f32 }``
    """

    name = "poly.statement"
    id = prop_def(StringAttr)
    domain = prop_def(DomainAttr)
    accesses = prop_def(ArrayAttr[AccessAttr])
    monoid = opt_prop_def(StringAttr)
    init = opt_prop_def(Attribute)
    conditions = opt_prop_def(ArrayAttr[StringAttr])
    ins = var_operand_def(MemRefType)
    out = operand_def(MemRefType)
    body = region_def("single_block")
    traits = traits_def(RecursiveMemoryEffect(), Accesses(reads=("ins",), writes=("out",)))
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$id (`ins` `(` $ins^ `:` type($ins) `)`)? `outs` `(` $out `:` type($out) `)` attr-dict `do` $body"
    )

    def __init__(
        self,
        id: str,
        domain: DomainAttr,
        accesses: Sequence[AccessAttr],
        ins: Sequence[SSAValue],
        out: SSAValue,
        body: Region,
        monoid: str | None = None,
        init: Attribute | None = None,
    ):
        super().__init__(
            operands=[ins, out],
            properties={
                "id": StringAttr(id),
                "domain": domain,
                "accesses": ArrayAttr(accesses),
                "monoid": StringAttr(monoid) if monoid else None,
                "init": init,
            },
            regions=[body],
        )

    @property
    def restrictions(self) -> tuple[DimLike, ...]:
        """The expressions of iterators that are at least 0 in the domain."""
        return tuple(parse_dim(text.data) for text in self.conditions or ())

    def verify_(self) -> None:
        if len(self.accesses) != len(self.ins) + 1:
            counts = f"{len(self.accesses)} accesses for {len(self.ins) + 1} operands"
            raise VerifyException(f"poly.statement {self.id}: {counts}")
        if len(self.body.block.args) != len(self.ins):
            raise VerifyException(f"poly.statement {self.id}: the region takes one element for each operand read")
        if (self.monoid is None) != (self.init is None):
            raise VerifyException(f"poly.statement {self.id}: a monoid needs its initial value, and only a monoid")
        for operand, access in zip(self.operands, self.accesses, strict=True):
            self._verify_rank(operand, *access.data)
        last, element = self.body.block.last_op, self.out.type.element_type  # type: ignore[attr-defined]
        if not isinstance(last, YieldOp) or tuple(last.operand_types) != (element,):
            raise VerifyException(f"poly.statement {self.id}: its region must end in a poly.yield of one {element}")

    def _verify_rank(self, operand: SSAValue, array: str, index: Sequence[DimLike]) -> None:
        assert isinstance(operand.type, MemRefType)
        if len(index) != (rank := len(operand.type.shape)):
            raise VerifyException(f"poly.statement {self.id}: {len(index)} indices of {array}, which has rank {rank}")


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """Ends a statement's region with the element's value."""

    name = "poly.yield"
    traits = traits_def(IsTerminator(), PURE)


def _strings(values: Iterable[DimLike | str]) -> ArrayAttr[StringAttr]:
    return ArrayAttr(StringAttr(str(v)) for v in values)


@irdl_op_definition
class TileOp(IRDLOperation):
    """One kind of tile: the statement instances that a tile instance executes.

    A tile instance has a coordinate t for each of ``iters``: iterator ``iters[n]`` is in ``[starts[n] + sizes[n]·t, … +
    sizes[n])``, of which ``valid[n]`` points are in the domain: all, or fewer in a partial tile. An iterator that
    occurs twice counts blocks first, then the tiles in a block; an inner iterator with streamed blocks does so too.
    ``vector`` is the vectorized iterator ("" for none). An ``initial`` tile executes no instance, but writes the
    initial values of running reductions.
    """

    name = "poly.tile"
    id = prop_def(StringAttr)
    statements = prop_def(ArrayAttr[StringAttr])
    iters = prop_def(ArrayAttr[StringAttr])
    starts = prop_def(ArrayAttr[StringAttr])
    sizes = prop_def(DenseArrayBase)
    valid = prop_def(ArrayAttr[StringAttr])
    vector = prop_def(StringAttr)
    initial = opt_prop_def(UnitAttr)
    traits = traits_def(Orders())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$id attr-dict"

    def __init__(
        self,
        id: str,
        statements: Sequence[str],
        iters: Sequence[str],
        starts: Sequence[DimLike],
        sizes: Sequence[int],
        valid: Sequence[DimLike],
        vector: str,
        initial: bool = False,
    ):
        super().__init__(
            properties={
                "id": StringAttr(id),
                "statements": _strings(statements),
                "iters": _strings(iters),
                "starts": _strings(starts),
                "sizes": DenseArrayBase.from_list(i64, list(sizes)),
                "valid": _strings(valid),
                "vector": StringAttr(vector),
                "initial": UnitAttr() if initial else None,
            }
        )

    def verify_(self) -> None:
        counts = (len(self.iters), len(self.starts), len(self.sizes), len(self.valid))
        if len(set(counts)) != 1:
            given = "{} iters, {} starts, {} sizes and {} valid".format(*counts)
            raise VerifyException(f"poly.tile {self.id}: {given}; write one of each for each axis")
        if any(size < 1 for size in self.sizes.get_values()):
            raise VerifyException(f"poly.tile {self.id}: a size is smaller than 1")
        if self.vector.data and self.vector not in self.iters.data:
            raise VerifyException(f"poly.tile {self.id}: the vectorized iterator {self.vector} is not one of its iters")
