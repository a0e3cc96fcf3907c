"""Turns and branches of the host program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dims import DimLike
from mlc.dialects.rt.program import CopyOp, LaunchOp, PositionsOp, RoutineOp, SizeOp, root, start


@irdl_op_definition
class DecideOp(IRDLOperation):
    """Say whether a loop has another turn, or which branch runs (one thread; known behind the next barrier).

    ``rt.decide "step0" next "step0+1" most "100" (%limit, %active : …)``: number ``next`` is a turn if it is less than
    ``most``, than the i64 ``limit``, and ``active`` (i1) is true. ``size`` is the dimension that tells how many turns
    there were, written to ``told``. ``strict``: what is said where more than ``most`` turns would follow.
    """

    name = "rt.decide"
    symbol = prop_def(StringAttr)
    next = prop_def(StringAttr)
    most = opt_prop_def(StringAttr)
    size = opt_prop_def(StringAttr)
    strict = opt_prop_def(StringAttr)
    limit = opt_operand_def(MemRefType)
    active = opt_operand_def(MemRefType)
    told = opt_operand_def(MemRefType)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$symbol `next` $next (`limit` $limit^ `:` type($limit))? (`while` $active^ `:` type($active))? "
        "(`told` $told^ `:` type($told))? attr-dict"
    )

    def __init__(
        self,
        symbol: str,
        next: DimLike,
        most: DimLike | None = None,
        limit: SSAValue | None = None,
        active: SSAValue | None = None,
        size: str | None = None,
        told: SSAValue | None = None,
        strict: str | None = None,
    ):
        texts = {"symbol": symbol, "next": str(next), "most": most, "size": size, "strict": strict}
        super().__init__(
            operands=[[v] if v is not None else [] for v in (limit, active, told)],
            properties={k: StringAttr(str(v)) for k, v in texts.items() if v is not None},
        )


@irdl_op_definition
class LoopOp(IRDLOperation):
    """Steps that run turn by turn. In each, ``step`` is a dimension, from 0 on to (not with) ``trips``.

        %last = rt.loop "step0" to "seq" (%first, %even, %odd : …) -> (memref<…>) {
        ^bb0(%old : memref<…>, %new : memref<…>):
          …
        }

    A state is ``old`` in a turn and has to be written to ``new``: in turn 0 it is ``first``, then ``even`` and ``odd``
    in turn. Without ``trips``, ``rt.decide`` in front of it and last in it say whether there is another turn.
    """

    name = "rt.loop"
    step = prop_def(StringAttr)
    trips = opt_prop_def(StringAttr)
    first = var_operand_def(MemRefType)
    even = var_operand_def(MemRefType)
    odd = var_operand_def(MemRefType)
    res = var_result_def(MemRefType)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$step (`to` $trips^)? `(` ($first^ `:` type($first))? `)` `(` ($even^ `:` type($even))? `)` "
        "`(` ($odd^ `:` type($odd))? `)` `->` `(` (type($res)^)? `)` attr-dict-with-keyword $body"
    )

    def __init__(
        self,
        step: str,
        trips: DimLike | None,
        first: Sequence[SSAValue],
        even: Sequence[SSAValue],
        odd: Sequence[SSAValue],
    ):
        texts = {"step": step} | ({} if trips is None else {"trips": str(trips)})
        types = [v.type for v in even]
        super().__init__(
            operands=[first, even, odd],
            properties={k: StringAttr(v) for k, v in texts.items()},
            result_types=[types],
            regions=[Region(Block(arg_types=[*types, *types]))],
        )

    def verify_(self) -> None:
        types = [v.type for v in self.res]
        args = [a.type for a in self.body.block.args]
        given = [[v.type for v in places] for places in (self.first, self.even, self.odd)]
        if given != [types] * 3 or args != [*types, *types]:
            raise VerifyException("rt.loop: a state needs three places of its type, and two arguments of the region")

    @property
    def decided(self) -> bool:
        """Whether each turn is decided on when the program runs."""
        return self.trips is None

    def places(self, value: SSAValue) -> list[SSAValue]:
        """The buffers that a result or argument of the region can be."""
        assert isinstance(value, OpResult | BlockArgument)
        count, n = len(self.even), value.index % len(self.even)
        initial = [] if isinstance(value, BlockArgument) and value.index >= count else [self.first[n]]
        return [*initial, self.even[n], self.odd[n]]


@irdl_op_definition
class IfOp(IRDLOperation):
    """The steps of one of two regions run; which one, ``rt.decide`` of the same name says in front of it."""

    name = "rt.if"
    symbol = prop_def(StringAttr)
    then = region_def("single_block")
    otherwise = region_def("single_block")
    traits = traits_def(NoTerminator())
    assembly_format = "$symbol attr-dict-with-keyword $then `else` $otherwise"

    def __init__(self, symbol: str):
        regions = [Region(Block()), Region(Block())]
        super().__init__(properties={"symbol": StringAttr(symbol)}, regions=regions)


STEPS = LaunchOp | CopyOp | PositionsOp | SizeOp | RoutineOp | DecideOp
NESTS = LoopOp | IfOp


def walk(block: Block) -> Iterator[Operation]:
    """All operations of a block, each loop and branch before what is in it."""
    for op in block.ops:
        yield op
        if isinstance(op, NESTS):
            for region in op.regions:
                yield from walk(region.block)


def extents(value: SSAValue) -> list[tuple[SSAValue, DimLike]]:
    """The buffers that ``value`` is, or is a view of, each with the bytes before it: several where turns of a loop take
    different ones."""
    base, before = root(value), start(value)
    loop = base.owner.parent_op() if isinstance(base.owner, Block) else base.owner
    if not isinstance(loop, LoopOp):
        return [(base, before)]
    return [(found, at + before) for place in loop.places(base) for found, at in extents(place)]
