"""Header parts: which parts of the C headers a file of kernels needs; mlc_parts.h says what they contain and what they
depend on.

The headers take a C compiler some 30 ms, a small kernel 10.
"""

from __future__ import annotations

import re

NAMES = re.compile(r"\b(?:mlc_|[fiu]\d+x)\w+")
ROUNDING = "abs|copysign|floor|ceil|trunc|roundeven|round|sqrt|rsqrt"
MATH = "exp|exp2|expm1|log|log2|log10|log1p|tanh|erf|sin|cos|pow"
LIBM = "tan|sinh|cosh|asin|acos|atan|asinh|acosh|atanh|cbrt|erfc|fmod|atan2"
LIBRARY = "argsort|scan_add|scan_mul|scatter_add|scatter_mul|scatter_max|scatter_min|cholesky|lu|triangular_solve"
PARTS = {
    "MLC_USE_I8": r"(.*_)?[iu]8x\d+.*",
    "MLC_USE_I16": r"(.*_)?[iu]16x\d+.*",
    "MLC_USE_I32": rf"(.*_)?[iu]32x\d+.*|mlc_({LIBRARY})_i32",
    "MLC_USE_I64": rf"(.*_)?[iu]64x\d+.*|mlc_({LIBRARY})_u?i64",
    "MLC_USE_F16": r"(.*_)?f16x\d+.*",
    "MLC_USE_F32": rf"(.*_)?f32x\d+.*|mlc_({LIBRARY})_f32",
    "MLC_USE_F64": rf"(.*_)?f64x\d+.*|mlc_({LIBRARY})_f64",
    "MLC_USE_BF16": r"mlc_(widen|narrow)_u16x\d+",
    "MLC_USE_PAIRS": r"mlc_dot2_f32x\d+",
    "MLC_USE_STRIDED": r"mlc_load_every_.*",
    "MLC_USE_TRANSPOSED": r"mlc_(transpose|exchange)_.*",
    "MLC_USE_BYTES": r"mlc_widen_[iu]8x\d+|mlc_narrow_i32x\d+|mlc_(dot4|dot2_i16|dot2x2|add2|sum2)_i32x\d+",
    "MLC_USE_NIBBLES": r"mlc_nibbles_f32x16",
    "MLC_USE_DIVISION": r"mlc_(div|rem|floordiv)_[iu]\d+x\d+",
    "MLC_USE_ROUNDING": rf"mlc_({ROUNDING})_f32(x\d+)?",
    "MLC_USE_MATH": rf"mlc_({MATH})_f32(x\d+)?",
    "MLC_USE_LIBM": rf"mlc_({LIBM})_f(32|64)(x\d+)?|mlc_({ROUNDING}|{MATH})_f64(x\d+)?",
    "MLC_USE_POWERS": r"mlc_ipow_.*",
    "MLC_USE_ORDER": r"mlc_argsort_.*",
    "MLC_USE_SUMS": r"mlc_scan_.*",
    "MLC_USE_SCATTERING": r"mlc_scatter_.*",
    "MLC_USE_BOXES": r"mlc_non_max_suppression",
    "MLC_USE_DRAWING": r"mlc_random_.*",
}
"""For each part of the headers, the names that it defines, or whose vector type it defines."""
_COMPILED = {part: re.compile(names) for part, names in PARTS.items()}


def parts_of(text: str) -> list[str]:
    """Return the parts that define the names in a C text, in the order of the table."""
    found: set[str] = set()
    for name in set(NAMES.findall(text)):
        found.update(part for part, names in _COMPILED.items() if names.fullmatch(name))
    return [part for part in PARTS if part in found]
