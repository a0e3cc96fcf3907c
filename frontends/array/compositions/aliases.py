"""Second names of functions: those of NumPy for the standard's."""

from __future__ import annotations

ALIASES = {
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "around": "round",
    "asanyarray": "asarray",
    "ascontiguousarray": "asarray",
    "bitwise_not": "bitwise_invert",
    "concatenate": "concat",
    "conjugate": "conj",
    "deg2rad": "radians",
    "fix": "trunc",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "mod": "remainder",
    "power": "pow",
    "rad2deg": "degrees",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
    "row_stack": "vstack",
    "true_divide": "divide",
}
"""From NumPy's name to the one by which the function is defined."""
