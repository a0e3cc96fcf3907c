"""Kernels over their budgets, of which the C compiler's time is: 500 lines of C, and 16 operands.

`python -m benchmarks.compile_time` counts them for each model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp

from mlc.dialects import kernel

LINES = 500
OPERANDS = 16
FUNCTION = re.compile(r"^(?:static [^\n]*)?\bvoid (k_\w+)\([^;\n]*\{\n.*?^\}$", re.MULTILINE | re.DOTALL)


def long_kernels(sources: Mapping[str, str | bytes]) -> dict[str, int]:
    """Symbol -> lines of the functions in files of kernels that have more than ``LINES``; bodies that kernels share
    count once."""
    strings = [text for name, text in sources.items() if name.startswith("kernels_") and isinstance(text, str)]
    lines = {found[1]: found[0].count("\n") + 1 for text in strings for found in FUNCTION.finditer(text)}
    return {symbol: count for symbol, count in lines.items() if count > LINES}


def wide_kernels(module: ModuleOp) -> dict[str, int]:
    """Name -> operands, outputs and scratch included, of the kernels that have more than ``OPERANDS``."""
    functions = [op for op in module.ops if isinstance(op, kernel.FuncOp) and op.body.blocks]
    operands = {fn.sym_name.data: len(fn.block.args) for fn in functions}
    return {name: count for name, count in operands.items() if count > OPERANDS}
