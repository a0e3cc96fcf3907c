"""What is refused of types: nothing computes in narrow ones, and some functions are of floats alone."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.expr import REAL, Call, NarrowError, element_type, parse, verify_computes, walk
from mlc.dialects.types import is_float, is_narrow
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.tensors import Tensor


def check_computes(expr: str, xs: Sequence[Tensor]) -> str | None:
    """The element type of an expression over tensors.

    Raises:
        NotSupported: it computes in a narrow type, or a function of floats alone in whole numbers.
    """
    elements = [x.element for x in xs]
    try:
        verify_computes(parse(expr), elements)
    except NarrowError as e:
        raise NotSupported(str(e)) from e
    for call in (e for e in walk(parse(expr)) if isinstance(e, Call) and e.fn in REAL):
        for element in (element_type(a, elements) for a in call.args):
            if element is not None and not is_float(element):
                raise NotSupported(f"{call.fn} of {element}; cast the operand to a float")
    return element_type(parse(expr), elements)


def check_combines(what: str, *elements: str | None) -> None:
    """Raises NotSupported where ``what``, a sum or the like, would combine elements of a narrow type."""
    for element in elements:
        if element is not None and is_narrow(element):
            raise NotSupported(f"nothing computes in {element}; cast the operands of {what}, to f32 for example")
