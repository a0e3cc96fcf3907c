"""Names: symbolic dimensions and SSA values, from a source's free text to identifiers."""

from __future__ import annotations

import re

from mlc.dialects.semantics.dims import Dim, DimLike, evaluate, parse_dim, symbols_of
from mlc.expressions import is_reserved


def symbol_name(text: str) -> str:
    """A dimension name as an identifier: ``batch size`` is batch_size, ``n`` is n_, ``1st`` is d1st."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    name = f"d{name}" if not name or name[0].isdigit() else name
    return f"{name}_" if is_reserved(name) else name


def parse_open_dim(text: str) -> DimLike:
    """A dimension that a caller wrote, such as ``2*n + 1``, of identifiers (``symbol_name``).

    Raises:
        DimError: not an expression over integers, names, ``+ - * // %``, ``max`` and ``min``.
    """
    dim = parse_dim(text)
    return evaluate(dim, {name: Dim.symbol(symbol_name(name)) for name in symbols_of([dim])})


def value_name(text: str) -> str:
    """The name hint of an SSA value: ``layer.0/weight`` is layer_0_weight, ``conv_1`` conv1, ``1x1`` v1x1.

    The printer distinguishes values of one name by ``_1``, ``_2``, …; so no hint ends like that.
    """
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    while (shorter := re.sub(r"_(\d+)$", r"\1", name)) != name:
        name = shorter
    return f"v{name}" if not name or name[0].isdigit() else name
