"""A poly.statement as Python values: iterators, bounds and index expressions parsed from its isl text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.utils.exceptions import VerifyException

from mlc.dialects import kernel, poly
from mlc.dialects.dims import Atom, Dim, DimLike, evaluate, parse_dim
from mlc.dialects.types import Shape, shape_of
from mlc.passes.schedule.raise_to_poly import PARAMS

_ACCESS = re.compile(r"\{\s*\w+\[(.*?)\]\s*->\s*(\w+)\[(.*)\]\s*\}")
_BOUND = re.compile(r"^\s*0 <= (\w+) < (.+?)\s*$")


class ScheduleError(VerifyException):
    """A schedule or a statement text that cannot be followed."""


@dataclass(frozen=True)
class Access:
    array: str
    index: tuple[DimLike, ...]  # over iterators and symbols
    shape: Shape

    @cached_property
    def linear(self) -> DimLike:
        """Offset of the element in its row-major buffer."""
        offset: DimLike = 0
        for i, d in zip(self.index, self.shape, strict=True):
            offset = offset * d + i
        return offset

    def depends_on(self, name: str) -> bool:
        return name in self.symbols

    @cached_property
    def symbols(self) -> frozenset[str]:
        """What the place of the element depends on."""
        return frozenset(name for i in self.index if isinstance(i, Dim) for name in i.symbols())

    def slides(self, along: str, over: str) -> bool:
        """Whether neighbours along ``along`` read the same where ``over`` differs, as rows under a window do."""
        return any(isinstance(i, Dim) and {along, over} <= i.symbols() for i in self.index)

    def stride(self, name: str) -> DimLike | None:
        """Elements between neighbours along iterator ``name``; None where that is not a constant."""
        terms = [(m, c) for m, c in (self.linear.terms if isinstance(self.linear, Dim) else ()) if _mentions(m, name)]
        total: DimLike = 0
        for monomial, c in terms:
            rest = tuple(a for a in monomial if a != name)
            if len(rest) != len(monomial) - 1 or _mentions(rest, name):
                return None
            total = total + Dim.of({rest: c})
        return total


def _mentions(monomial: tuple[Atom, ...], name: str) -> bool:
    return any(a == name if isinstance(a, str) else name in Dim((((a,), 1),)).symbols() for a in monomial)


@dataclass(frozen=True)
class StatementView:
    op: poly.StatementOp
    name: str
    iters: tuple[str, ...]
    bounds: dict[str, DimLike]
    reads: tuple[Access, ...]
    write: Access

    @cached_property
    def reduced(self) -> tuple[str, ...]:
        """Iterators the written element does not depend on."""
        return tuple(i for i in self.iters if not self.write.depends_on(i)) if self.op.monoid else ()

    @cached_property
    def parallel(self) -> tuple[str, ...]:
        return tuple(i for i in self.iters if i not in self.reduced)


def params_of(fn: kernel.FuncOp) -> dict[str, DimLike]:
    """What each isl parameter of a kernel stands for."""
    attr = fn.attributes.get(PARAMS)
    items = attr.data.items() if isinstance(attr, DictionaryAttr) else ()
    return {k: parse_dim(v.data) for k, v in items if isinstance(v, StringAttr)}


def statements_of(fn: kernel.FuncOp) -> list[StatementView]:
    params = params_of(fn)
    return [_view(op, params) for op in fn.block.ops if isinstance(op, poly.StatementOp)]


def _view(op: poly.StatementOp, params: Mapping[str, DimLike]) -> StatementView:
    text = op.domain.data
    body = text[text.index("{") + 1 : text.rindex("}")]
    head, _, conditions = body.partition(":")
    name, _, iters = head.strip().rstrip("]").partition("[")
    bounds = {}
    for condition in filter(str.strip, conditions.split(" and ")):
        match = _BOUND.match(condition)
        if not match:
            raise ScheduleError(f"domain {text} is not a box 0 <= i < bound")
        bounds[match[1]] = _dim(match[2], params)
    accesses = [_access(a.data, v.type, params) for a, v in zip(op.accesses, (*op.ins, op.out), strict=True)]
    names = tuple(i.strip() for i in iters.split(",") if i.strip())
    return StatementView(op, name, names, bounds, tuple(accesses[:-1]), accesses[-1])


def _access(text: str, type_: object, params: Mapping[str, DimLike]) -> Access:
    array, index = _parse_access(text, tuple(params.items()))
    return Access(array, index, shape_of(type_))  # type: ignore[arg-type]


@lru_cache(maxsize=1 << 14)  # every pass that looks at a kernel reads the same texts
def _parse_access(text: str, params: tuple[tuple[str, DimLike], ...]) -> tuple[str, tuple[DimLike, ...]]:
    match = _ACCESS.search(text)
    if not match:
        raise ScheduleError(f"{text} is not an access {{ S[i] -> array[index] }}")
    return match[2], tuple(_dim(part, dict(params)) for part in split_index(match[3]))


def split_index(text: str) -> list[str]:
    """Split at top-level commas."""
    parts, depth, current = [], 0, ""
    for char in text:
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    return [p.strip() for p in (*parts, current) if p.strip()]


def _dim(text: str, params: Mapping[str, DimLike]) -> DimLike:
    return evaluate(parse_dim(text), params) if params else parse_dim(text)
