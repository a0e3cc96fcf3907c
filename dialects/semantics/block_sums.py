"""Sums of products with a weight of a few bits, whose blocks have a scale each (MatMulNBits): their one form.

``BlockSum(4, 32, False).text`` says what element (row, column) of the product sums, over the blocks, the words of a
block and the integers of a word. A graph stage that chooses other arithmetic for such a sum recognizes that text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.expr import parse

FEW_ROWS = 16  # for which unpacking costs less than reading more bytes; a symbolic number may be as few
WORD = 32  # bits, which hold some integers of a row of the weight


@dataclass(frozen=True)
class BlockSum:
    """A sum over operands x0 [rows, terms] of f32, x1 [columns, blocks, words] of i32, x2 [columns, blocks], the
    scales, and with ``zeros`` x3, the zero points in their shape.

    ``bits``: of an integer; ``block``: integers that share a scale.
    """

    bits: int
    block: int
    zeros: bool

    @classmethod
    def of(cls, text: str, extents: Sequence[DimLike], operands: int) -> BlockSum | None:
        """Return the sum whose ``text`` an operator over ``extents`` has, with so many operands; None for others."""
        _, words, per = extents if len(extents) == 3 else (0, 0, 0)
        if not isinstance(words, int) or not isinstance(per, int) or not per or WORD % per:
            return None
        found = cls(WORD // per, words * per, operands == 4)
        return found if str(parse(found.text)) == text else None

    @property
    def per(self) -> int:
        """Integers in a word."""
        return WORD // self.bits

    @property
    def mask(self) -> int:
        return 2**self.bits - 1

    @property
    def middle(self) -> int:
        """The zero point where none is given."""
        return 2 ** (self.bits - 1)

    @property
    def text(self) -> str:
        integer = f"((x1[i1, r0, r1] >> i32(r2 * {self.bits})) & {self.mask})"
        centred = f"(f32({integer}) - f32(x3[i1, r0]))" if self.zeros else f"f32({integer} - {self.middle})"
        return f"x0[i0, r0 * {self.block} + r1 * {self.per} + r2] * ({centred} * x2[i1, r0])"
