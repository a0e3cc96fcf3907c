"""Checks of element types: no function computes in narrow ones or in strings, and some functions take floats only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from mlc.dialects.semantics.expr import REAL, Call, Const, NarrowError, element_type, parse, verify_computes, walk
from mlc.dialects.types import STRING, is_float, is_narrow
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor


def check_computes(expr: str, xs: Sequence[Tensor]) -> str | None:
    """The element type of an expression over tensors.

    Raises:
        NotSupported: it computes in a narrow type or in strings, or applies a function of floats to integers.
    """
    return _element(expr, tuple(x.element for x in xs))


@lru_cache(maxsize=4096)
def _element(expr: str, elements: tuple[str, ...]) -> str | None:
    try:
        verify_computes(parse(expr), elements)
    except NarrowError as e:
        raise NotSupported(str(e)) from e
    for call in (e for e in walk(parse(expr)) if isinstance(e, Call)):
        _check_whole(call, elements)
        _check_string(call, elements)
    return element_type(parse(expr), elements)


def _check_whole(call: Call, elements: Sequence[str]) -> None:
    """Raise where a function of floats, a fraction or an infinity has an integer operand."""
    args = call.args[call.fn == "where" :]
    broken = [a for a in args if isinstance(a, Const) and isinstance(a.value, float) and not a.value.is_integer()]
    if call.fn not in REAL and not (broken and len(args) > 1):
        return
    for element in (element_type(a, elements) for a in args):
        if element is not None and not is_float(element):
            what = f"{call.fn} of {element}" + (f" and {broken[0]}" if broken else "")
            raise NotSupported(f"{what}; cast the operand to a float")


def _check_string(call: Call, elements: Sequence[str]) -> None:
    """Raise where strings are operands of anything but comparisons and selections."""
    args = call.args[call.fn == "where" :]
    if call.fn not in ("where", "eq", "ne") and STRING in (element_type(a, elements) for a in args):
        raise NotSupported(f"{call.fn} of strings; cast them to numbers")


def check_combines(what: str, *elements: str | None) -> None:
    """Raises NotSupported where ``what``, a sum or the like, would combine elements of a narrow type."""
    for element in elements:
        if element is not None and (is_narrow(element) or element == STRING):
            raise NotSupported(f"no function computes in {element}; cast the operands of {what}, to f32 for example")
