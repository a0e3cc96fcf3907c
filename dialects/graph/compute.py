"""The generic structured operator: any statement over a box (as MLIR's linalg.generic)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE, StructuredOp, dims_attr, dims_of, iterators
from mlc.dialects.graph.contract import ContractOp
from mlc.dialects.graph.map import scalar_element
from mlc.dialects.graph.traits import FusesWithProducer, PointwiseIndices
from mlc.dialects.semantics.block_sums import BlockSum
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.expr import Call, Const, Expr, Index, Load, parse, walk
from mlc.dialects.semantics.statement import MONOIDS, Statement, statement
from mlc.dialects.types import tensor

LINEAR = ("add", "sub", "mul")


class _ReadsPanels(FusesWithProducer):
    """Holds if each panel of the result reads one panel of a contraction's result (``interleave-gates``) at linear
    indices. A gather from the panel could read a row that another tile computes."""

    def holds(self, op: Operation) -> bool:
        assert isinstance(op, ComputeOp)
        product = op.args[0].owner if op.args else None
        if not isinstance(product, ContractOp) or op.monoid is not None:
            return False
        lhs, rhs, out = product.terms
        panels = out[:1] == rhs[:1] != "" and out[:1] not in lhs
        read = [e for e in walk(parse(op.expr.data)) if isinstance(e, Load) and e.operand == 0]
        linear = all(_is_linear(at) for e in read for at in e.index or ())
        return panels and linear and all((e.index or ())[:1] == (Index("i0"),) for e in read)


def _is_linear(index: Expr) -> bool:
    return all(isinstance(e, Index | Const) or isinstance(e, Call) and e.fn in LINEAR for e in walk(index))


class _GathersPointwise(PointwiseIndices):
    def holds(self, op: Operation) -> bool:
        assert isinstance(op, ComputeOp)
        point = tuple(map(Index, iterators(len(op.shape))))
        read = [e for e in walk(parse(op.expr.data)) if isinstance(e, Load)]
        computed = [e for e in read if any(isinstance(i, Load) for at in e.index or () for i in walk(at))]
        return op.monoid is None and bool(computed) and all(e in computed or e.index == point for e in read)


@irdl_op_definition
class ComputeOp(StructuredOp):
    """Any statement over a box: element ``i0, i1, …`` of the result is ``expr``, combined over ``r0, r1, …`` with a
    monoid.

    The general form of which named operators are special cases. A gather reads at a loaded index:
    ``%y = graph.compute "x0[x1[i0], i1]"(%table, %ids) {shape = ["4", "8"], reduce = []} : …``

    ``rounds``: the element to which the model allows its first operand to be rounded, with a scale for some neighbours.
    """

    name = "graph.compute"
    expr = prop_def(StringAttr)
    args = var_operand_def(TensorType)
    result = result_def(TensorType)
    shape = prop_def(ArrayAttr[StringAttr])
    reduce = prop_def(ArrayAttr[StringAttr])
    monoid = opt_prop_def(StringAttr)
    rounds = opt_prop_def(StringAttr)
    traits = traits_def(PURE, _ReadsPanels(), _GathersPointwise())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$expr `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(
        self,
        expr: str,
        args: Sequence[SSAValue],
        shape: Sequence[DimLike],
        reduce: Sequence[DimLike] = (),
        monoid: str | None = None,
        rounds: str | None = None,
    ):
        text = str(parse(expr))
        properties = {
            "expr": StringAttr(text),
            "shape": dims_attr(shape),
            "reduce": dims_attr(reduce),
            "monoid": StringAttr(monoid) if monoid else None,
            "rounds": StringAttr(rounds) if rounds else None,
        }
        super().__init__(
            operands=[args], properties=properties, result_types=[_infer_compute(text, args, shape, reduce, monoid)]
        )

    def infer(self) -> TensorType:
        monoid = self.monoid.data if self.monoid else None
        return _infer_compute(self.expr.data, self.args, dims_of(self.shape), dims_of(self.reduce), monoid)

    @property
    def block_sum(self) -> BlockSum | None:
        """The sum over the blocks of a weight that this is; None if it is something else."""
        return BlockSum.of(self.expr.data, dims_of(self.reduce), len(self.args)) if self.monoid else None

    def statements(self) -> tuple[Statement, ...]:
        shape, reduce = dims_of(self.shape), dims_of(self.reduce)
        names, over = " ".join(iterators(len(shape))), " ".join(f"r{n}" for n in range(len(reduce)))
        monoid = self.monoid.data if self.monoid else None
        return (statement(names, (*shape, *reduce), self.expr.data, reduce=over, monoid=monoid),)


def _infer_compute(
    text: str, args: Sequence[SSAValue], shape: Sequence[DimLike], reduce: Sequence[DimLike], monoid: str | None
) -> TensorType:
    if bool(reduce) != bool(monoid) or (monoid and monoid not in MONOIDS):
        raise VerifyException(f"graph.compute: reduced extents {list(reduce)} with the monoid {monoid!r}")
    return tensor(scalar_element("graph.compute", text, args, indexed=True), shape)
