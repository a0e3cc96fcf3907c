"""``deduplicate-kernels``: kernels that differ only in name become one.

    kernel.call @map_0(%a); kernel.call @map_7(%b)   →   kernel.call @map_0(%a); kernel.call @map_0(%b)
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from mlc.dialects import kernel
from mlc.dialects.graph.base import NODE

_NODES = re.compile(rf"{re.escape(NODE)} = \[[^\]]*\](, )?")


@dataclass(frozen=True)
class DeduplicateKernels(ModulePass):
    name = "deduplicate-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        first: dict[str, str] = {}
        renamed: dict[str, str] = {}
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            name = fn.sym_name.data
            renamed[name] = first.setdefault(text_of(fn), name)
            if renamed[name] != name:
                fn.detach()
                fn.erase()
        for call in [o for o in op.walk() if isinstance(o, kernel.CallOp)]:
            call.callee = SymbolRefAttr(renamed[call.callee.root_reference.data])


def text_of(fn: kernel.FuncOp) -> str:
    """The kernel's type, attributes and body as text, without its name and the source nodes it comes from."""
    out = io.StringIO()
    printer = Printer(out)
    printer.print_attribute(fn.function_type)
    printer.print_attr_dict(fn.attributes)
    printer.print_region(fn.body)
    return _NODES.sub("", out.getvalue())
