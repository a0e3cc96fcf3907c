"""Narrow types (floats of at most 8 bits, integers of at most 4): decoding to f32 or i32 and encoding, as scalar
expressions.

The expressions are integer operations and one addition, without branches, so they vectorize. Encoding rounds to
nearest, ties to even, with subnormals, and does not saturate where the format has an infinity or a NaN. Sources: OCP
8-bit Floating Point Specification (E4M3, E5M2), OCP Microscaling Formats (E2M1, E8M0), https://arxiv.org/abs/2206.02915
(the formats without a negative zero, FNUZ), and the behaviour of ml_dtypes where these leave a choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import SSAValue

from mlc.dialects.types import NARROW, is_unsigned

Typed = tuple[SSAValue, str]
Formula = Callable[..., Typed]
"""``formula(text, *values)`` returns the value and element type of the expression ``text``, in which x0, x1, … name
``values``."""


@dataclass(frozen=True)
class Format:
    """A float format: a sign, an exponent and a mantissa, from the highest bit to the lowest.

    ``beyond`` is the code of magnitudes above the largest finite one; ``nan`` is the magnitude of NaN (FNUZ: the whole
    code, that of a negative zero), None where the format has no NaN.
    """

    exponent: int
    mantissa: int
    bias: int
    beyond: int
    nan: int | None

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << (self.exponent + self.mantissa)

    @property
    def unsigned_zero(self) -> bool:
        """Whether NaN has the code that would be a negative zero."""
        return self.nan == self.sign

    @property
    def dropped(self) -> int:
        """How many mantissa bits f32 has more than this format."""
        return 23 - self.mantissa

    @property
    def rebias(self) -> int:
        """The difference of the exponents' biases, as bits of an f32."""
        return (127 - self.bias) << 23

    @property
    def normal(self) -> int:
        """The smallest normal number, as bits of an f32."""
        return (128 - self.bias) << 23

    @property
    def step(self) -> int:
        """The exponent of the smallest subnormal number."""
        return 1 - self.bias - self.mantissa


FORMATS = {
    "f8e4m3fn": Format(4, 3, 7, beyond=0x7F, nan=0x7F),
    "f8e4m3fnuz": Format(4, 3, 8, beyond=0x80, nan=0x80),
    "f8e5m2": Format(5, 2, 15, beyond=0x7C, nan=0x7E),
    "f8e5m2fnuz": Format(5, 2, 16, beyond=0x80, nan=0x80),
    "f6e2m3": Format(2, 3, 1, beyond=31, nan=None),
    "f6e3m2": Format(3, 2, 3, beyond=31, nan=None),
    "f4e2m1": Format(2, 1, 1, beyond=7, nan=None),
}


def wide(element: str) -> str:
    """Return the element type to and from which a narrow one is cast."""
    return "f32" if element[0] == "f" else "i32"


def decode(formula: Formula, code: SSAValue, element: str) -> Typed:
    """Return the value of ``code``, which is of type i8, as f32 or i32."""
    width = NARROW[element]
    bits = formula("i32(x0)" if width == 8 else f"i32(x0) & {(1 << width) - 1}", (code, "ui8"))
    if element in FORMATS:
        return _decode_float(formula, bits, FORMATS[element])
    if element == "f8e8m0":  # 2 ** -127 is subnormal in f32
        return formula(f"where(x0 == 255, f32(nan), as_f32(max(x0 << 23, {1 << 22})))", bits)
    sign = 1 << (width - 1)
    return bits if is_unsigned(element) else formula(f"(x0 ^ {sign}) - {sign}", bits)


def _decode_float(formula: Formula, code: Typed, f: Format) -> Typed:
    magnitude = formula(f"x0 & {f.sign - 1}", code)
    normal = f"as_f32((x0 << {f.dropped}) + {f.rebias})"
    value = formula(f"where(x0 < {1 << f.mantissa}, f32(x0) * {2.0**f.step!r}, {normal})", magnitude)
    if f.beyond != f.nan and f.nan is not None:  # an infinity, and NaNs above it
        value = formula(f"where(x0 < {f.beyond}, x1, as_f32((x0 << {f.dropped}) | {0x7F800000}))", magnitude, value)
    elif f.nan is not None:
        value = formula(f"where(x0 == {f.nan}, f32(nan), x1)", code if f.unsigned_zero else magnitude, value)
    up = 31 - f.exponent - f.mantissa
    return formula(f"as_f32(as_i32(x0) | ((x1 & {f.sign}) << {up}))", value, code)


def encode(formula: Formula, value: SSAValue, element: str) -> SSAValue:
    """Return the code, of type i8, of ``value``, which has the type f32 or i32 (:func:`wide`)."""
    if element in FORMATS:
        code = _encode_float(formula, (value, "f32"), FORMATS[element])
    elif element == "f8e8m0":
        code = _encode_power(formula, (value, "f32"))
    else:
        code = formula(f"x0 & {(1 << NARROW[element]) - 1}", (value, "i32"))
    return formula("ui8(x0)", code)[0]


def _encode_float(formula: Formula, value: Typed, f: Format) -> Typed:
    code = _magnitude(formula, formula("as_i32(x0) & 0x7fffffff", value), f)
    sign = formula(f"(as_i32(x0) >> {31 - f.exponent - f.mantissa}) & {f.sign}", value)
    if f.unsigned_zero:
        return formula("where(x0 == 0, x0, x0 | x1)", code, sign)
    if f.nan is None:  # ml_dtypes gives a zero, of the other sign
        return formula(f"where(isnan(x2), x1 ^ {f.sign}, x0 | x1)", code, sign, value)
    if f.beyond != f.nan:
        code = formula(f"where(isnan(x1), {f.nan}, x0)", code, value)
    return formula("x0 | x1", code, sign)


def _magnitude(formula: Formula, bits: Typed, f: Format) -> Typed:
    """Return the code of an absolute value, given as the ``bits`` of an f32.

    A mantissa that rounds up to the next power of two carries into the exponent. For subnormals, adding a number whose
    unit in the last place is the smallest subnormal rounds to a multiple of it, and the lowest bits are the code.
    """
    top = ((1 << f.exponent) - f.bias + 127) << 23
    bits = formula(f"min(x0, {top})", bits)
    half = (1 << (f.dropped - 1)) - 1
    normal = f"((x0 + {half} + ((x0 >> {f.dropped}) & 1)) >> {f.dropped}) - {f.rebias >> f.dropped}"
    magic, magic_bits = 2.0 ** (f.step + 23), (f.step + 23 + 127) << 23
    subnormal = f"as_i32(as_f32(x0) + {magic!r}) - {magic_bits}"
    return formula(f"min(where(x0 < {f.normal}, {subnormal}, {normal}), {f.beyond})", bits)


def _encode_power(formula: Formula, value: Typed) -> Typed:
    """Return the code of the nearest power of two, ties up; NaN for values not above zero. 2 ** -127 is subnormal in
    f32."""
    bits = formula(f"min(as_i32(x0), {0x7F800000})", value)
    least = 1 << 22
    return formula(f"where(x0 <= 0, 255, where(x0 <= {least}, 0, (x0 + {least}) >> 23))", bits)
