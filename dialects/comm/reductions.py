"""Collectives that combine the values of all ranks. A fixed tree makes the bits independent of which rank combines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, StringAttr, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.comm.base import (
    FixedRanksOp,
    Group,
    GroupedOp,
    check_moved,
    check_units,
    checked_ranks,
    combined,
    divided,
    group_attr,
    leading,
    number,
    number_of,
    same_type,
    starts,
)
from mlc.dialects.graph.base import PURE
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import element_of, shape_of, tensor

COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
NUMBERS = ("f32", "f64", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
"""The elements that are combined. Floats of 16 bits are cast to f32 before, which is exact."""


@irdl_op_definition
class AllReduceOp(GroupedOp):
    """All-reduce: the values of all ranks are combined, element by element; each rank gets the result.

    ``%y = comm.all_reduce "add"(%x) : (tensor<4xf32>) -> tensor<4xf32>``
    """

    name = "comm.all_reduce"
    fn = prop_def(StringAttr)
    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$fn `(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, fn: str, input: SSAValue, group: Group | None = None):
        properties = {"fn": StringAttr(fn), "group": group_attr(group)}
        super().__init__(operands=[input], properties=properties, result_types=[input.type])

    def infer(self) -> TensorType:
        _check(self.name, self.fn.data, self.input)
        return same_type(self.name, self.input)

    def meaning(self, values: Sequence[Array]) -> list[Array]:
        result = combined(values, COMBINE[self.fn.data])
        return [result] * len(values)


@irdl_op_definition
class ReduceScatterOp(FixedRanksOp):
    """Reduce-scatter: the values of all ranks are combined; each rank gets its part of axis 0 of the result.

    ``%y = comm.reduce_scatter "add"(%x) {ranks = 2} : (tensor<4xf32>) -> tensor<2xf32>``

    With ``units`` the ranks get balanced blocks, of ``part`` elements on this rank: ``{units = 7, part = "size0"}``.
    """

    name = "comm.reduce_scatter"
    part = opt_prop_def(StringAttr)
    fn = prop_def(StringAttr)
    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$fn `(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(
        self,
        fn: str,
        input: SSAValue,
        ranks: int,
        group: Group | None = None,
        units: DimLike | None = None,
        part: DimLike | None = None,
        ahead: int | None = None,
    ):
        properties: dict[str, Attribute | None] = {"fn": StringAttr(fn), "ranks": IntegerAttr(ranks, i64)}
        properties |= {"group": group_attr(group), "ahead": number(ahead)}
        properties |= {"units": number(units), "part": None if part is None else StringAttr(str(part))}
        super().__init__(operands=[input], properties=properties, result_types=[_part(self.name, input, ranks, part)])

    def infer(self) -> TensorType:
        _check(self.name, self.fn.data, self.input)
        if (self.units is None) != (self.part is None):
            raise VerifyException(f"{self.name}: it has one of 'units' and 'part'; give both or none")
        if self.units is not None:
            check_units(number_of(self.units), leading(self.name, self.input))
        return _part(self.name, self.input, self.size, None if self.part is None else parse_dim(self.part.data))

    def meaning(self, values: Sequence[Array]) -> list[Array]:
        total = combined(values, COMBINE[self.fn.data])
        if self.units is None:
            return np.split(total, len(values))
        granule = leading(self.name, self.input) // number_of(self.units)
        assert isinstance(granule, int)
        return np.split(total, starts(len(total) // granule, len(total), len(values)))


def _part(name: str, x: SSAValue, ranks: int, part: DimLike | None) -> TensorType:
    checked_ranks(name, ranks)
    return tensor(element_of(x), (divided(name, x, ranks) if part is None else part, *shape_of(x)[1:]))


def _check(name: str, fn: str, x: SSAValue) -> None:
    check_moved(name, x)
    if fn not in COMBINE:
        raise VerifyException(f"{name}: {fn!r} is none of {', '.join(COMBINE)}")
    if element_of(x) not in NUMBERS:
        raise VerifyException(f"{name}: it combines elements of {', '.join(NUMBERS)}, not {element_of(x)}")
