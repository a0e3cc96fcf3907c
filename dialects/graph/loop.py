"""Control flow at run time: loops and branches.

Regions are isolated: values from outside are operands, and each region has its own weights and constants. So every pass
of the level treats a region like the body of a function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerType, StringAttr, TensorType, i32
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, SSAValues
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsolatedFromAbove, IsTerminator
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import dims_attr, dims_of
from mlc.dialects.graph.sizes import SIZE, SizedOp, sizes_of, upper
from mlc.dialects.semantics.dims import Dim, DimLike, parse_dim, symbols_of
from mlc.dialects.types import element_of, shape_of, tensor

STEP = re.compile(r"step\d+")  # names of iteration numbers, which are dimensions within a loop
SEGMENTS = "operandSegmentSizes"


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a region with its results: ``graph.yield %h, %y : tensor<…>, tensor<…>``."""

    name = "graph.yield"
    values = var_operand_def(TensorType)
    traits = traits_def(IsTerminator())
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])


class RegionOp(IRDLOperation):
    """An operator with regions. ``used`` are values from outside, which the regions get as their last arguments."""

    def inner_blocks(self) -> list[Block]:
        return [region.block for region in self.regions]

    @property
    def seen(self) -> Sequence[SSAValue]:
        """The values from outside that the regions get."""
        return self.used  # type: ignore[attr-defined]

    def use(self, values: Sequence[SSAValue]) -> None:
        """Replace the values that the regions get."""
        self.operands = [*self.operands[: len(self.operands) - len(self.seen)], *values]
        if (sizes := self.properties.get(SEGMENTS)) is not None:
            kept = cast("DenseArrayBase[IntegerType]", sizes).get_values()[:-1]
            self.properties[SEGMENTS] = DenseArrayBase.from_list(i32, [*kept, len(values)])


@irdl_op_definition
class LoopOp(RegionOp):
    """A loop. In its region, ``step`` is a dimension: the number of the iteration, from 0 on.

        %last, %all = graph.loop "step0" to "seq" carry(%h) use(%x) -> (tensor<2x8xf32>, tensor<?x2x8xf32, …>)
        attributes {at = ["step0"]} {
        ^bb0(%state : tensor<2x8xf32>, %0 : tensor<?x2x8xf32, …>):
          …
          graph.yield %new, %new : …
        }

    The results are the last loop-carried values, then the collected ones: values of all iterations along a new first
    axis, the value of an iteration at index ``at``. There are ``trips`` iterations, or fewer if the integer ``limit``
    or a predicate ends the loop at run time: ``active`` before the first iteration, then the first value that an
    iteration yields. If values are collected, the number of iterations is then the run-time dimension ``size``.
    ``strict`` is the error message for a run that would need more than ``trips`` iterations.
    """

    name = "graph.loop"
    step = prop_def(StringAttr)
    trips = prop_def(StringAttr)
    size = opt_prop_def(StringAttr)
    at = prop_def(ArrayAttr[StringAttr])
    strict = opt_prop_def(StringAttr)
    limit = opt_operand_def(TensorType)
    active = opt_operand_def(TensorType)
    states = var_operand_def(TensorType)
    used = var_operand_def(TensorType)
    res = var_result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove())
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$step `to` $trips (`limit` `(` $limit^ `:` type($limit) `)`)? (`while` `(` $active^ `:` type($active) `)`)? "
        "`carry` `(` ($states^ `:` type($states))? `)` `use` `(` ($used^ `:` type($used))? `)` "
        "`->` `(` (type($res)^)? `)` attr-dict-with-keyword $body"
    )

    def __init__(
        self,
        step: str,
        trips: DimLike,
        states: Sequence[SSAValue],
        used: Sequence[SSAValue],
        body: Block,
        at: Sequence[DimLike] = (),
        limit: SSAValue | None = None,
        active: SSAValue | None = None,
        size: str | None = None,
        strict: str | None = None,
    ):
        properties: dict[str, Attribute] = {"step": StringAttr(step), "trips": StringAttr(str(trips))}
        properties["at"] = dims_attr(at)
        properties |= {k: StringAttr(v) for k, v in (("size", size), ("strict", strict)) if v is not None}
        iterations = trips if size is None else Dim.symbol(size)
        yielded = body.last_op.operands[(active is not None) + len(states) :]  # type: ignore[union-attr]
        collected = [tensor(element_of(v), (iterations, *shape_of(v))) for v in yielded]
        super().__init__(
            operands=[[limit] if limit else [], [active] if active else [], states, used],
            properties=properties,
            result_types=[[*(s.type for s in states), *collected]],
            regions=[Region(body)],
        )

    @property
    def most(self) -> DimLike:
        """The upper bound of the number of iterations."""
        return parse_dim(self.trips.data)

    @property
    def collect_at(self) -> tuple[DimLike, ...]:
        """The index of an iteration's element along the first axis of each collected value."""
        return dims_of(self.at)

    @property
    def counted(self) -> bool:
        """Whether the number of iterations is a run-time value."""
        return self.limit is not None or self.active is not None

    @property
    def carried(self) -> tuple[SSAValue, ...]:
        """The region arguments that are loop-carried values."""
        return self.body.block.args[: len(self.states)]

    @property
    def yielded(self) -> tuple[SSAValue | None, Sequence[SSAValue], Sequence[SSAValue]]:
        """What an iteration yields: the condition of the next iteration, the loop-carried values, and the values to
        collect."""
        values = list(self.body.block.last_op.operands)  # type: ignore[union-attr]
        goes_on = values.pop(0) if self.active is not None else None
        return goes_on, values[: len(self.states)], values[len(self.states) :]

    def verify_(self) -> None:
        states, args = [s.type for s in self.states], [a.type for a in self.body.block.args]
        if not STEP.fullmatch(self.step.data):
            raise VerifyException(f"graph.loop: {self.step.data!r} is not the name of a step, such as step0")
        if not isinstance(self.body.block.last_op, YieldOp):
            raise VerifyException("graph.loop: its region does not end in graph.yield")
        if args != [*states, *(u.type for u in self.used)]:
            raise VerifyException("graph.loop: its region arguments must be loop-carried values, then used values")
        _, new, collected = self.yielded
        if [n.type for n in new] != states:
            raise VerifyException(f"graph.loop: carried {_list(states)} become {_list([n.type for n in new])}")
        iterations = self.most if self.size is None else Dim.symbol(self.size.data)
        types = [*states, *(tensor(element_of(v), (iterations, *shape_of(v))) for v in collected)]
        if [r.type for r in self.res] != types or len(self.at) != len(collected):
            raise VerifyException(f"graph.loop: its results are {_list(types)}")
        if self.size is not None and not (self.counted and SIZE.fullmatch(self.size.data)):
            raise VerifyException("graph.loop: a size is for a run-time number of iterations")
        if self.size is None and self.counted and collected:
            raise VerifyException("graph.loop: a run-time number of collected iterations needs a size")


@irdl_op_definition
class IfOp(RegionOp):
    """A branch, which runs one of two regions: ``graph.if (%c : tensor<i1>) use(%x : …) -> (tensor<8xf32>) {…} else
    {…}``."""

    name = "graph.if"
    condition = operand_def(TensorType)
    used = var_operand_def(TensorType)
    res = var_result_def(TensorType)
    then = region_def("single_block")
    otherwise = region_def("single_block")
    traits = traits_def(IsolatedFromAbove())
    assembly_format = (
        "`(` $condition `:` type($condition) `)` `use` `(` ($used^ `:` type($used))? `)` `->` `(` (type($res)^)? `)` "
        "attr-dict-with-keyword $then `else` $otherwise"
    )

    def __init__(self, condition: SSAValue, used: Sequence[SSAValue], then: Block, otherwise: Block):
        types = [v.type for v in then.last_op.operands]  # type: ignore[union-attr]
        super().__init__(operands=[condition, used], result_types=[types], regions=[Region(then), Region(otherwise)])

    def verify_(self) -> None:
        if (element_of(self.condition), shape_of(self.condition)) != ("i1", ()):
            raise VerifyException("graph.if: its condition is not a single predicate")
        for block in self.inner_blocks():
            if not isinstance(block.last_op, YieldOp):
                raise VerifyException("graph.if: a region does not end in graph.yield")
            if [a.type for a in block.args] != [u.type for u in self.used]:
                raise VerifyException("graph.if: the arguments of a region must be the used values")
            if [v.type for v in block.last_op.operands] != [r.type for r in self.res]:
                raise VerifyException(f"graph.if: a region does not yield {_list([r.type for r in self.res])}")


def _list(types: Iterable[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"


def collect(loop: LoopOp, value: SSAValue, at: DimLike) -> SSAValue:
    """Make a loop collect another value of its region, at index ``at``. Return its result, which may exist already."""
    _, states, seen = loop.yielded
    for n, (other, index) in enumerate(zip(seen, loop.collect_at, strict=True)):
        if (other, index) == (value, at):
            return loop.res[len(states) + n]
    end = loop.body.block.last_op
    assert end is not None
    end.operands = [*end.operands, value]
    loop.properties["at"] = dims_attr([*loop.collect_at, at])
    trips = loop.most if loop.size is None else Dim.symbol(loop.size.data)
    result = OpResult(tensor(element_of(value), (trips, *shape_of(value))), loop, len(loop.results))
    loop.results = SSAValues((*loop.results, result))
    return result


def size_made(op: Operation) -> str | None:
    """Return the run-time dimension that ``op`` defines, or None."""
    size = op.size if isinstance(op, SizedOp | LoopOp) else None
    return None if size is None else size.data


def size_bounds(ops: Iterable[Operation]) -> dict[str, DimLike]:
    """Return the upper bounds of the run-time dimensions that operators define, in order, as functions of other
    symbols."""
    found: dict[str, DimLike] = {}
    for op in ops:
        if (size := size_made(op)) is not None:
            assert isinstance(op, SizedOp | LoopOp)
            found[size] = upper(op.most if isinstance(op, LoopOp) else op.bound, found)
    return found


def steps_of(dims: Iterable[DimLike]) -> set[str]:
    """Return the iteration numbers among the symbols of dimensions."""
    return {symbol for symbol in symbols_of(dims) if STEP.fullmatch(symbol)}


def local_symbols(dims: Iterable[DimLike]) -> set[str]:
    """Return the symbols that do not occur in the shapes of inputs."""
    dims = list(dims)
    return sizes_of(dims) | steps_of(dims)
