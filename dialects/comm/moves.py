"""Collectives that move values between ranks and change none: all_gather, all_to_all, broadcast, permute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, TensorType, UnitAttr, i64
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
    EXTENT,
    FixedRanksOp,
    Group,
    GroupedOp,
    check_moved,
    check_units,
    checked_ranks,
    divided,
    group_attr,
    leading,
    number,
    number_of,
    same_type,
    starts,
)
from mlc.dialects.comm.world import NONE
from mlc.dialects.graph.base import PURE, ints, ints_of
from mlc.dialects.semantics.dims import DimLike, evaluate
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import element_of, shape_of, tensor
from mlc.errors import RunError


@irdl_op_definition
class AllGatherOp(FixedRanksOp):
    """All-gather: the values of all ranks, concatenated along axis 0 in the order of the ranks.

    ``%y = comm.all_gather(%x) {ranks = 2} : (tensor<4xf32>) -> tensor<8xf32>``

    With ``units`` the ranks have balanced blocks of ``whole`` elements: ``{ranks = 2, units = 7, whole = 7}``.
    """

    name = "comm.all_gather"
    whole = opt_prop_def(EXTENT)
    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(
        self,
        input: SSAValue,
        ranks: int,
        group: Group | None = None,
        units: DimLike | None = None,
        whole: DimLike | None = None,
        ahead: int | None = None,
    ):
        properties: dict[str, Attribute | None] = {"ranks": IntegerAttr(ranks, i64), "group": group_attr(group)}
        properties |= {"units": number(units), "whole": number(whole), "ahead": number(ahead)}
        result = _gathered(self.name, input, ranks, whole)
        super().__init__(operands=[input], properties=properties, result_types=[result])

    def infer(self) -> TensorType:
        check_moved(self.name, self.input)
        if (self.units is None) != (self.whole is None):
            raise VerifyException(f"{self.name}: it has one of 'units' and 'whole'; give both or none")
        if self.units is not None and self.whole is not None:
            check_units(number_of(self.units), number_of(self.whole))
        whole = None if self.whole is None else number_of(self.whole)
        return _gathered(self.name, self.input, self.size, whole)

    def shapes(self, ranks: int, mine: tuple[int, ...], symbols: Mapping[str, int] = NONE) -> list[tuple[int, ...]]:
        if self.units is None or self.whole is None:
            return super().shapes(ranks, mine, symbols)
        units, whole = (evaluate(number_of(each), symbols) for each in (self.units, self.whole))
        assert isinstance(units, int) and isinstance(whole, int)
        ends = [0, *starts(units, whole, self.size), whole]
        at = [n if self.groups is None else self.groups.members(n).index(n) for n in range(ranks)]
        return [(ends[n + 1] - ends[n], *mine[1:]) for n in at]

    def meaning(self, values: Sequence[Array]) -> list[Array]:
        return [np.concatenate(values)] * len(values)


def _gathered(name: str, x: SSAValue, ranks: int, whole: DimLike | None) -> TensorType:
    extent = leading(name, x) * checked_ranks(name, ranks)
    return tensor(element_of(x), (extent if whole is None else whole, *shape_of(x)[1:]))


@irdl_op_definition
class AllToAllOp(FixedRanksOp):
    """All-to-all: rank s gets part s of axis 0 of every rank; its result is these parts in the order of their ranks.

    ``%y = comm.all_to_all(%x) {ranks = 2} : (tensor<4xf32>) -> tensor<4xf32>``

    With ``lists`` axis 1 is that of lists of rows: rows of zeros at the end of each list are not sent, so that the
    bytes follow from data. The result is the same.
    """

    name = "comm.all_to_all"
    lists = opt_prop_def(UnitAttr)
    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, ranks: int, group: Group | None = None, lists: bool = False):
        properties: dict[str, Attribute | None] = {"ranks": IntegerAttr(ranks, i64), "group": group_attr(group)}
        properties["lists"] = UnitAttr() if lists else None
        super().__init__(operands=[input], properties=properties, result_types=[input.type])

    def infer(self) -> TensorType:
        if self.lists is not None and len(shape_of(self.input)) < 2:
            raise VerifyException(f"{self.name}: lists of rows have two axes or more, not {self.input.type}")
        divided(self.name, self.input, checked_ranks(self.name, self.size))
        return same_type(self.name, self.input)

    def meaning(self, values: Sequence[Array]) -> list[Array]:
        parts = [np.split(x, len(values)) for x in values]
        return [np.concatenate([each[to] for each in parts]) for to in range(len(values))]


@irdl_op_definition
class BroadcastOp(GroupedOp):
    """Broadcast: all ranks get the value of one rank, the root.

    ``%y = comm.broadcast(%x) {root = 0} : (tensor<4xf32>) -> tensor<4xf32>``
    """

    name = "comm.broadcast"
    root = prop_def(IntegerAttr)
    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, root: int = 0):
        super().__init__(operands=[input], properties={"root": IntegerAttr(root, i64)}, result_types=[input.type])

    def infer(self) -> TensorType:
        if self.root.value.data < 0:
            raise VerifyException(f"{self.name}: the root is rank {self.root.value.data}; give 0 or more")
        return same_type(self.name, self.input)

    def meaning(self, values: Sequence[Array]) -> list[Array]:
        root = self.root.value.data
        if root >= len(values):
            raise RunError(f"{self.name} from rank {root}, and there are {len(values)} ranks")
        return [values[root]] * len(values)


@irdl_op_definition
class PermuteOp(GroupedOp):
    """Permute: rank ``to`` gets the value of rank ``from``, for each of the pairs ``from, to``; other ranks get
    zeros.

    ``%y = comm.permute(%x) {pairs = array<i64: 0, 1, 1, 0>} : (tensor<4xf32>) -> tensor<4xf32>``

    A rank sends to one rank at most and receives from one at most. A send and its receive are one pair. Within groups
    the numbers are those in the group.
    """

    name = "comm.permute"
    pairs = prop_def(DenseArrayBase)
    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, pairs: Sequence[tuple[int, int]], group: Group | None = None):
        flat = ints([n for pair in pairs for n in pair])
        properties = {"pairs": flat, "group": group_attr(group)}
        super().__init__(operands=[input], properties=properties, result_types=[input.type])

    @property
    def moves(self) -> list[tuple[int, int]]:
        """The pairs (from, to)."""
        flat = ints_of(self.pairs)
        return list(zip(flat[::2], flat[1::2], strict=True))

    def infer(self) -> TensorType:
        flat = ints_of(self.pairs)
        if len(flat) % 2 or any(n < 0 for n in flat):
            raise VerifyException(f"{self.name}: pairs {list(flat)}; give ranks from, to, from, to, …")
        for side, ranks in (("send", flat[::2]), ("receive", flat[1::2])):
            if len(set(ranks)) < len(ranks):
                raise VerifyException(f"{self.name}: pairs {list(flat)} let one rank {side} twice")
        return same_type(self.name, self.input)

    def meaning(self, values: Sequence[Array]) -> list[Array]:
        if self.moves and (last := max(max(pair) for pair in self.moves)) >= len(values):
            raise RunError(f"{self.name} with rank {last}, and there are {len(values)} ranks")
        sources = {to: source for source, to in self.moves}
        return [values[sources[n]] if n in sources else np.zeros_like(x) for n, x in enumerate(values)]
