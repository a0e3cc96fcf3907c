"""Errors of the builder: constructs without a translation."""

from __future__ import annotations


class NotSupported(Exception):
    """This use of an operator has no translation. A frontend catches it and says which part of its source it is."""


class NeedsConstant(NotSupported):
    """A value that decides shapes or structure is computed at run time; it must be known while the module is built."""
