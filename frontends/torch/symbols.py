"""Symbolic dimensions of an exported program: names, extents of inputs, ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import sympy
from torch.export import ExportedProgram
from torch.fx import Node

from mlc.dialects.semantics.dims import Dim, DimLike, floordiv
from mlc.errors import InputError
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import larger, smaller
from mlc.frontends.build.symbols import symbol_name

FUNCTIONS: dict[str, Callable[[Any, Any], DimLike]] = {
    "FloorDiv": floordiv,
    "CleanDiv": floordiv,
    "CeilDiv": lambda a, b: -floordiv(-a, b),
    "Mod": lambda a, b: a - floordiv(a, b) * b,
    "PythonMod": lambda a, b: a - floordiv(a, b) * b,
    "Max": larger,
    "Min": smaller,
}
"""torch's functions of sizes, by the names of their classes."""
UNLIMITED = 1 << 40  # upper bounds from here on say nothing


class Symbols:
    """The dimensions of a graph's inputs. A symbol has the name of its ``torch.export.Dim``, or of the first input and
    axis that it is the extent of, ``x_0``."""

    def __init__(self, inputs: Mapping[str, Node], fixed: Mapping[str, DimLike]) -> None:
        self.names = _names(inputs)
        self.solved = _solved(inputs, self.names)
        self.fixed = {symbol_name(name): size for name, size in fixed.items()}
        unknown = sorted(set(self.fixed) - set(self.names.values()))
        if unknown:
            known = ", ".join(sorted(set(self.names.values()))) or "none"
            what = f"The program has no symbolic dimension '{unknown[0]}'"
            raise InputError(what, hint=f"Its symbolic dimensions: {known}")

    def dim(self, extent: Any) -> DimLike:
        """An integer or torch.SymInt as a dimension."""
        expr = _expr(extent)
        return expr if isinstance(expr, int) else self.of(expr)

    def extent(self, name: str, axis: int, extent: Any) -> DimLike:
        """An extent of an input; a dimension of its own where no input determines its symbols."""
        return self.dim(extent) if self.knows(extent) else Dim.symbol(symbol_name(f"{name}_{axis}"))

    def of(self, expr: Any) -> DimLike:
        """An expression of torch's symbols as a dimension.

        Raises:
            NotSupported: it has other functions than dimensions have.
        """
        if isinstance(expr, sympy.Integer):
            return int(expr)
        if isinstance(expr, sympy.Symbol) and str(expr) in self.solved:
            name, rest = self.solved[str(expr)]
            return self.fixed.get(name, Dim.symbol(name)) - self.of(rest)
        if isinstance(expr, sympy.Symbol):
            name = self.names.get(str(expr), symbol_name(str(expr)))
            return self.fixed.get(name, Dim.symbol(name))
        args = [self.of(arg) for arg in expr.args]
        if isinstance(expr, sympy.Add):
            return reduce(lambda a, b: a + b, args)
        if isinstance(expr, sympy.Mul):
            return reduce(lambda a, b: a * b, args)
        if isinstance(expr, sympy.Pow) and isinstance(args[1], int):
            return reduce(lambda a, b: a * b, [args[0]] * args[1])
        if (function := FUNCTIONS.get(type(expr).__name__)) is not None:
            return reduce(function, args)
        raise NotSupported(f"an extent {expr}")

    def knows(self, extent: Any) -> bool:
        """Whether the extents of tensors determine the symbol."""
        expr, known = _expr(extent), self.names.keys() | self.solved.keys()
        return isinstance(expr, int) or {str(symbol) for symbol in expr.free_symbols} <= known

    def require(self, build: Builder, ranges: Mapping[Any, Any]) -> None:
        """Guards for the ranges that the program was exported for. A minimum up to 2 is only torch's way to tell
        dimensions from 1."""
        for symbol, limits in ranges.items():
            if str(symbol) not in self.names:
                continue
            low, high = _limit(limits.lower), _limit(limits.upper)
            if high is not None and high < UNLIMITED:
                build.require(high, self.of(symbol))
            if low is not None and low > 2:
                build.require(self.of(symbol), low)


def dim_names(program: ExportedProgram) -> dict[str, str]:
    """The names of the dimensions of a program's inputs, by torch's symbol."""
    return _names(
        {n.name: n for n in program.graph.nodes if n.op == "placeholder" and hasattr(n.meta.get("val"), "shape")}
    )


def _names(inputs: Mapping[str, Node]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, node in inputs.items():
        for axis, extent in enumerate(getattr(node.meta.get("val"), "shape", ())):
            expr = _expr(extent)
            if isinstance(expr, sympy.Symbol) and str(expr) not in found:
                found[str(expr)] = symbol_name(_debug_name(node.meta["val"], expr) or f"{name}_{axis}")
    return found


def _solved(inputs: Mapping[str, Node], names: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    """Symbols that are no extent, of those that are one together with others: of an extent ``s + rest`` the name of
    this dimension, and the rest."""
    found: dict[str, tuple[str, Any]] = {}
    for name, node in inputs.items():
        for axis, extent in enumerate(getattr(node.meta.get("val"), "shape", ())):
            expr = _expr(extent)
            unknown = [] if isinstance(expr, int) else [s for s in expr.free_symbols if str(s) not in names]
            if len(unknown) == 1 and unknown[0] not in (rest := expr - unknown[0]).free_symbols:
                found.setdefault(str(unknown[0]), (symbol_name(f"{name}_{axis}"), rest))
    return found


def _limit(bound: Any) -> int | None:
    return int(bound) if getattr(bound, "is_Integer", isinstance(bound, int)) else None


def _expr(extent: Any) -> Any:
    """The expression of a torch.SymInt; an int as it is."""
    if isinstance(extent, int):
        return extent
    expr = extent.node.expr
    return int(expr) if expr.is_Integer else expr


def _debug_name(val: Any, symbol: sympy.Symbol) -> str | None:
    """The name that the user gave to the dimension with ``torch.export.Dim``."""
    env = val.fake_mode.shape_env
    for source in env.var_to_sources.get(symbol, ()):
        name = source.name if isinstance(source.name, str) else source.name()
        if (found := env.source_name_to_debug_name.get(name)) is not None and found.isidentifier():
            return str(found)
    return None
