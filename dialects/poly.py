"""The ``poly`` dialect: statements with isl domains and accesses, and the tiles a schedule makes of them.

All isl objects are text, so they can be read, checked and replaced. Index texts are both isl's and Python's syntax.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, MemRefType, StringAttr, i64
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Dialect, Region, SSAValue
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
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.kernel import verify_yield


@irdl_op_definition
class StatementOp(IRDLOperation):
    """A computation for every point of an isl set: reads elements of ``ins``, yields the element written to ``out``.

    ``accesses`` holds one isl map an operand, the write last. With a ``monoid`` the yielded value is combined into the
    element, which starts as ``init``; the region then sees only the values read.

    ``poly.statement "S0" ins(%a : memref<4x8xf32>) outs(%o : memref<4xf32>)
    {domain = "{ S0[i, j] : 0 <= i < 4 and 0 <= j < 8 }", monoid = "add", init = 0.0 : f32,
    accesses = ["{ S0[i, j] -> b0[i, j] }", "{ S0[i, j] -> b1[i] }"]} do { ^bb0(%x: f32): poly.yield %x : f32 }``
    """

    name = "poly.statement"
    id = prop_def(StringAttr)
    domain = prop_def(StringAttr)
    accesses = prop_def(ArrayAttr[StringAttr])
    monoid = opt_prop_def(StringAttr)
    init = opt_prop_def(Attribute)
    ins = var_operand_def(MemRefType)
    out = operand_def(MemRefType)
    body = region_def("single_block")
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$id (`ins` `(` $ins^ `:` type($ins) `)`)? `outs` `(` $out `:` type($out) `)` attr-dict `do` $body"
    )

    def __init__(
        self,
        id: str,
        domain: str,
        accesses: Sequence[str],
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
                "domain": StringAttr(domain),
                "accesses": ArrayAttr(StringAttr(a) for a in accesses),
                "monoid": StringAttr(monoid) if monoid else None,
                "init": init,
            },
            regions=[body],
        )

    def verify_(self) -> None:
        if len(self.accesses) != len(self.ins) + 1:
            counts = f"{len(self.accesses)} accesses for {len(self.ins) + 1} operands"
            raise VerifyException(f"poly.statement {self.id}: {counts}")
        if len(self.body.block.args) != len(self.ins):
            raise VerifyException(f"poly.statement {self.id}: the region takes one element for each operand read")
        if (self.monoid is None) != (self.init is None):
            raise VerifyException(f"poly.statement {self.id}: a monoid needs its initial value, and only a monoid")
        verify_yield(self, YieldOp)


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """Ends a statement's region with the value of the element."""

    name = "poly.yield"
    traits = traits_def(IsTerminator())


@irdl_op_definition
class TileOp(IRDLOperation):
    """One kind of tile: the part of some statements that an instance executes, one for each point of ``domain``.

    Iterator ``iters[n]`` runs over ``[starts[n] + sizes[n]·t, … + sizes[n])``, t being coordinate n of the instance;
    with ``lanes[n]`` (a text, "" for none) only so many of the points are valid. ``expansion`` is the isl map from
    instances to the statement instances they execute, ``inner`` the loops inside a tile, ``vector`` the iterator along
    the lanes ("" for none).
    """

    name = "poly.tile"
    id = prop_def(StringAttr)
    statements = prop_def(ArrayAttr[StringAttr])
    domain = prop_def(StringAttr)
    expansion = prop_def(StringAttr)
    iters = prop_def(ArrayAttr[StringAttr])
    starts = prop_def(ArrayAttr[StringAttr])
    sizes = prop_def(DenseArrayBase)
    lanes = prop_def(ArrayAttr[StringAttr])
    inner = prop_def(ArrayAttr[StringAttr])
    vector = prop_def(StringAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$id attr-dict"

    def __init__(
        self,
        id: str,
        statements: Sequence[str],
        domain: str,
        expansion: str,
        iters: Sequence[str],
        starts: Sequence[str],
        sizes: Sequence[int],
        lanes: Sequence[str],
        inner: Sequence[str],
        vector: str,
    ):
        def texts(values: Sequence[str]) -> ArrayAttr[StringAttr]:
            return ArrayAttr(StringAttr(v) for v in values)

        super().__init__(
            properties={
                "id": StringAttr(id),
                "statements": texts(statements),
                "domain": StringAttr(domain),
                "expansion": StringAttr(expansion),
                "iters": texts(iters),
                "starts": texts(starts),
                "sizes": DenseArrayBase.from_list(i64, list(sizes)),
                "lanes": texts(lanes),
                "inner": texts(inner),
                "vector": StringAttr(vector),
            }
        )

    def verify_(self) -> None:
        counts = (len(self.iters), len(self.starts), len(self.sizes), len(self.lanes))
        if len(set(counts)) != 1:
            given = "{} iters, {} starts, {} sizes and {} lanes".format(*counts)
            raise VerifyException(f"poly.tile {self.id}: {given}; write one of each for each axis")
        if any(size < 1 for size in self.sizes.get_values()):
            raise VerifyException(f"poly.tile {self.id}: a size is smaller than 1")
        if self.vector.data and self.vector not in self.iters.data:
            raise VerifyException(f"poly.tile {self.id}: the lanes run along {self.vector}, which is none of its iters")


Poly = Dialect("poly", [StatementOp, YieldOp, TileOp], [])
