"""Operators whose derivative the user chooses. They exist while a module is built, and are inlined at its end."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TensorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def, traits_def, var_operand_def, var_region_def, var_result_def
from xdsl.traits import IsolatedFromAbove

from mlc.dialects.graph.copies import copied
from mlc.dialects.graph.loop import RegionOp


@irdl_op_definition
class CustomOp(RegionOp):
    """The operators of the first region, with a rule for their derivative.

    - ``none``: the operators have the derivative 0 (``stop_gradient``).
    - ``recompute``: a pullback recomputes the operators (``checkpoint``).
    - ``jvp``: a second region gets the ``used`` values and tangents of the floats among the first ``count`` of them,
      and yields the tangents of float results.
    - ``vjp``: a second region gets the ``used`` values and adjoints of float results, and yields the adjoints of the
      floats among the first ``count``.
    """

    name = "graph.custom"
    rule = prop_def(StringAttr)
    count = prop_def(IntegerAttr)
    used = var_operand_def(TensorType)
    res = var_result_def(TensorType)
    inner = var_region_def("single_block")
    traits = traits_def(IsolatedFromAbove())

    def __init__(self, rule: str, used: Sequence[SSAValue], count: int, body: Block, derivative: Block | None = None):
        types = [v.type for v in body.last_op.operands]  # type: ignore[union-attr]
        super().__init__(
            operands=[used],
            properties={"rule": StringAttr(rule), "count": IntegerAttr(count, 64)},
            result_types=[types],
            regions=[[Region(body), *([Region(derivative)] if derivative is not None else [])]],
        )

    @property
    def body(self) -> Block:
        return self.inner[0].block

    @property
    def derivative(self) -> Block:
        """The second region, which rules ``jvp`` and ``vjp`` have."""
        return self.inner[1].block


def inline_custom(block: Block) -> None:
    """Replace each ``graph.custom`` in a block and its regions by the operators of its first region."""
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                inline_custom(inner)
        if isinstance(op, CustomOp):
            _inline(block, op)


def _inline(block: Block, op: CustomOp) -> None:
    def emit(made: Operation) -> SSAValue:
        block.insert_op_before(made, op)
        return made.results[0]

    results, _ = copied(op.body, op.used, emit)
    for old, new in zip(op.res, results, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()
