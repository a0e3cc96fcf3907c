"""Loops and branches of the host program."""

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

from mlc.dialects.rt.collectives import StartOp, WaitOp
from mlc.dialects.rt.memory import root, start
from mlc.dialects.rt.steps import CopyOp, LaunchOp, NonzeroOp, RoutineOp, SizeOp
from mlc.dialects.semantics.dims import DimLike


@irdl_op_definition
class LoopConditionOp(IRDLOperation):
    """A condition: whether a loop has another iteration, or which branch runs. One thread evaluates it; it is valid
    after a barrier.

    ``rt.loop_condition "step0" next "step0+1" limit %limit while %active {most = "100"}``: there is an iteration
    ``next`` if that number is less than the upper bound ``most`` and the i64 ``limit``, and ``active`` (i1) is true.
    ``size`` names the run-time dimension of the number of iterations, which is written to ``count``. ``strict`` is the
    error message for a run that would need more than ``most`` iterations.
    """

    name = "rt.loop_condition"
    symbol = prop_def(StringAttr)
    next = prop_def(StringAttr)
    most = opt_prop_def(StringAttr)
    size = opt_prop_def(StringAttr)
    strict = opt_prop_def(StringAttr)
    limit = opt_operand_def(MemRefType)
    active = opt_operand_def(MemRefType)
    count = opt_operand_def(MemRefType)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$symbol `next` $next (`limit` $limit^ `:` type($limit))? (`while` $active^ `:` type($active))? "
        "(`count` $count^ `:` type($count))? attr-dict"
    )

    def __init__(
        self,
        symbol: str,
        next: DimLike,
        most: DimLike | None = None,
        limit: SSAValue | None = None,
        active: SSAValue | None = None,
        size: str | None = None,
        count: SSAValue | None = None,
        strict: str | None = None,
    ):
        strings = {"symbol": symbol, "next": str(next), "most": most, "size": size, "strict": strict}
        super().__init__(
            operands=[[v] if v is not None else [] for v in (limit, active, count)],
            properties={k: StringAttr(str(v)) for k, v in strings.items() if v is not None},
        )


@irdl_op_definition
class LoopOp(IRDLOperation):
    """A loop of steps, whose iteration number ``step`` is a dimension in ``[0, trips)``.

        %last = rt.loop "step0" to "seq" (%first, %ping, %pong : …) -> (memref<…>) {
        ^bb0(%old : memref<…>, %new : memref<…>):
          …
        }

    An iteration reads a loop-carried value from ``old`` and writes it to ``new`` (double buffering): ``old`` is
    ``first`` in iteration 0, then ``ping`` and ``pong`` alternately. Without ``trips``, an ``rt.loop_condition`` before
    the loop and one at the end of its body evaluate whether there is another iteration. ``apart`` says why the loop is
    not one kernel (``outline-loops``).
    """

    name = "rt.loop"
    apart = opt_prop_def(StringAttr)
    step = prop_def(StringAttr)
    trips = opt_prop_def(StringAttr)
    first = var_operand_def(MemRefType)
    ping = var_operand_def(MemRefType)
    pong = var_operand_def(MemRefType)
    res = var_result_def(MemRefType)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$step (`to` $trips^)? `(` ($first^ `:` type($first))? `)` `(` ($ping^ `:` type($ping))? `)` "
        "`(` ($pong^ `:` type($pong))? `)` `->` `(` (type($res)^)? `)` attr-dict-with-keyword $body"
    )

    def __init__(
        self,
        step: str,
        trips: DimLike | None,
        first: Sequence[SSAValue],
        ping: Sequence[SSAValue],
        pong: Sequence[SSAValue],
    ):
        strings = {"step": step} | ({} if trips is None else {"trips": str(trips)})
        types = [v.type for v in ping]
        super().__init__(
            operands=[first, ping, pong],
            properties={k: StringAttr(v) for k, v in strings.items()},
            result_types=[types],
            regions=[Region(Block(arg_types=[*types, *types]))],
        )

    def verify_(self) -> None:
        types = [v.type for v in self.res]
        args = [a.type for a in self.body.block.args]
        given = [[v.type for v in buffers] for buffers in (self.first, self.ping, self.pong)]
        if given != [types] * 3 or args != [*types, *types]:
            raise VerifyException("rt.loop: a loop-carried value needs three buffers, two region arguments of its type")

    @property
    def decided(self) -> bool:
        """Whether ``rt.loop_condition`` decides on each iteration."""
        return self.trips is None

    def buffers(self, value: SSAValue) -> list[SSAValue]:
        """Return the buffers that a result or region argument may be in."""
        assert isinstance(value, OpResult | BlockArgument)
        count, n = len(self.ping), value.index % len(self.ping)
        initial = [] if isinstance(value, BlockArgument) and value.index >= count else [self.first[n]]
        return [*initial, self.ping[n], self.pong[n]]


@irdl_op_definition
class IfOp(IRDLOperation):
    """A branch: runs one of two regions, by the result of the ``rt.loop_condition`` of the same name before it."""

    name = "rt.if"
    symbol = prop_def(StringAttr)
    then = region_def("single_block")
    otherwise = region_def("single_block")
    traits = traits_def(NoTerminator())
    assembly_format = "$symbol attr-dict-with-keyword $then `else` $otherwise"

    def __init__(self, symbol: str):
        regions = [Region(Block()), Region(Block())]
        super().__init__(properties={"symbol": StringAttr(symbol)}, regions=regions)


# Which the host computes, whatever the target:
HOST_STEPS = NonzeroOp | SizeOp | RoutineOp | LoopConditionOp | StartOp | WaitOp
STEPS = LaunchOp | CopyOp | HOST_STEPS
NESTS = LoopOp | IfOp


def walk(block: Block) -> Iterator[Operation]:
    """Yield all operations of a block, each loop and branch before those in it."""
    for op in block.ops:
        yield op
        if isinstance(op, NESTS):
            for region in op.regions:
                yield from walk(region.block)


def extents(value: SSAValue) -> list[tuple[SSAValue, DimLike]]:
    """Return the buffers whose memory ``value`` is (or is a view of), each with the offset in bytes. There are several
    if iterations of a loop use different buffers."""
    base, before = root(value), start(value)
    loop = base.owner.parent_op() if isinstance(base.owner, Block) else base.owner
    if not isinstance(loop, LoopOp):
        return [(base, before)]
    return [(found, at + before) for buffer in loop.buffers(base) for found, at in extents(buffer)]
