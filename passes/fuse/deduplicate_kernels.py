"""Kernel deduplication (``deduplicate-kernels``): kernels that differ only in name become one.

kernel.call @map_0(%a); kernel.call @map_7(%b)   →   kernel.call @map_0(%a); kernel.call @map_0(%b)

Kernels whose arguments are different constant band matrices, such as the masks of local and of global attention, are
not merged: each is specialized to its own mask later.
"""

from __future__ import annotations

import io
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from mlc.dialects import kernel
from mlc.dialects.graph import MapOp
from mlc.dialects.graph.base import NODE
from mlc.dialects.weights import WeightStore
from mlc.passes.constant_bands import bands_of_argument, calls_of
from mlc.passes.context import weights_of
from mlc.passes.rewriter import bodies

_NODES = re.compile(rf"{re.escape(NODE)} = \[[^\]]*\](, )?")


@dataclass(frozen=True)
class DeduplicateKernels(ModulePass):
    name = "deduplicate-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        first: dict[Hashable, str] = {}
        calls, weights = calls_of(op), weights_of(ctx)
        renamed: dict[str, str] = {}
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            name = fn.sym_name.data
            renamed[name] = first.setdefault((structure_of(fn), _bands(fn, calls.get(name, []), weights)), name)
            if renamed[name] != name:
                fn.detach()
                fn.erase()
        for call in [o for block in bodies(op) for o in block.ops if isinstance(o, kernel.CallOp)]:
            call.callee = SymbolRefAttr(renamed[call.callee.root_reference.data])


def _bands(fn: kernel.FuncOp, calls: Sequence[kernel.CallOp], weights: WeightStore) -> Hashable:
    """Return the constant band matrices among the arguments that elementwise operators read, with the numbers of the
    arguments."""
    arguments = [arg for arg in fn.block.args if all(isinstance(use.operation, MapOp) for use in arg.uses)]
    found = ((arg.index, tuple(bands_of_argument(arg, calls, weights))) for arg in arguments)
    return tuple((index, bands) for index, bands in found if bands)


def structure_of(fn: kernel.FuncOp) -> Hashable:
    """Return a key that is equal for two kernels exactly if ``text_of`` is, without printing: the class, types,
    properties and numbered operands of each operation."""
    numbers: dict[SSAValue, int] = {}
    rows: list[Hashable] = [fn.function_type, _attributes(fn)]
    for value in fn.block.args:
        numbers[value] = len(numbers)
    for op in fn.block.ops:
        if op.regions:
            return text_of(fn)
        operands = tuple(numbers[v] for v in op.operands)
        rows.append((type(op), operands, tuple(op.result_types), frozenset(op.properties.items()), _attributes(op)))
        for value in op.results:
            numbers[value] = len(numbers)
    return tuple(rows)


def _attributes(op: Operation) -> Hashable:
    return frozenset((name, value) for name, value in op.attributes.items() if name != NODE)


class _Numbering(Printer):
    """A printer that prints each value as a number, so that names of values do not matter."""

    def print_ssa_value(self, value: SSAValue) -> str:
        if value not in self._ssa_values:
            self._ssa_values[value] = self._get_new_valid_name_id()
        return super().print_ssa_value(value)


def text_of(fn: kernel.FuncOp) -> str:
    """Return the kernel's type, attributes and body as text, without its name and source nodes."""
    out = io.StringIO()
    printer = _Numbering(out)
    printer.print_attribute(fn.function_type)
    printer.print_attr_dict(fn.attributes)
    printer.print_region(fn.body)
    return _NODES.sub("", out.getvalue())
