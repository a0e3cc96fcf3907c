"""Strings as C literals. This module imports nothing, because the driver writes headers without xDSL."""

from __future__ import annotations


def c_string(text: str) -> str:
    """Return a string literal of C: bytes that are not ASCII become three octal digits, which a following digit does
    not extend."""
    plain = (chr(b) if 32 <= b < 127 and chr(b) not in '"\\\\?' else f"\\{b:03o}" for b in text.encode())
    return f'"{"".join(plain)}"'
