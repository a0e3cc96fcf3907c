"""What is refused of narrow types: nothing computes in them."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.expr import NarrowError, element_type, parse, verify_computes
from mlc.dialects.types import is_narrow
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.tensors import Tensor


def check_computes(expr: str, xs: Sequence[Tensor]) -> str | None:
    """The element type of an expression over tensors.

    Raises:
        NotSupported: it computes in a narrow type.
    """
    elements = [x.element for x in xs]
    try:
        verify_computes(parse(expr), elements)
    except NarrowError as e:
        raise NotSupported(str(e)) from e
    return element_type(parse(expr), elements)


def check_combines(what: str, *elements: str | None) -> None:
    """Raises NotSupported where ``what``, a sum or the like, would combine elements of a narrow type."""
    for element in elements:
        if element is not None and is_narrow(element):
            raise NotSupported(f"nothing computes in {element}; cast the operands of {what}, to f32 for example")
