"""Names that a namespace lacks: an error with the reason, or the nearest name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

_DATA = "Dates, records, strings and objects are no elements of arrays; keep them in NumPy"
_MEMORY = "Memory has no layout that a program sees: arrays are values"
_FILES = "Read text with NumPy, and give its array to asarray"
_ERRORS = "Elements that are no numbers are NaN, and nothing warns; test with isnan"
REASONS: Mapping[str, str] = {
    **dict.fromkeys(("datetime64", "timedelta64", "busday_count", "busday_offset", "is_busday", "isnat"), _DATA),
    **dict.fromkeys(("recarray", "record", "rec", "void", "str_", "bytes_", "object_", "strings", "char"), _DATA),
    **dict.fromkeys(("asfortranarray", "isfortran", "require", "shares_memory", "may_share_memory", "memmap"), _MEMORY),
    **dict.fromkeys(("loadtxt", "savetxt", "genfromtxt", "fromregex", "fromstring", "fromfile"), _FILES),
    **dict.fromkeys(("seterr", "geterr", "errstate", "seterrcall", "geterrcall"), _ERRORS),
    **dict.fromkeys(("copyto", "putmask", "put", "place"), "Write x[where] = values, or use x.at[where].set(values)"),
    **dict.fromkeys(("matrix", "asmatrix", "bmat"), "Use arrays of two dimensions, block and the operator @"),
    **dict.fromkeys(("nditer", "nested_iters", "flatiter"), "Use vmap, scan or functions of whole arrays"),
    "ma": "Use where, and the functions whose names begin with nan",
    "poly1d": "Use polyval, polyadd, polymul and polyder on arrays of coefficients",
    "polynomial": "Use polyval and polyfit on arrays of coefficients, the highest power first",
    "frompyfunc": "Use vectorize, vmap or mlc.compute",
    "float128": "The widest float is float64",
    "longdouble": "The widest float is float64",
    "complex256": "The widest complex type is complex128",
    "einsum_path": "einsum chooses the order itself; multi_dot is the one for chains of matrices",
    "jit": "It is mlc.jit",
    "grad": "It is mlc.grad",
    "vmap": "It is mlc.vmap",
    "sqrtm": "Use eigh for Hermitian matrices: v * sqrt(w) @ v^H",
    "schur": "Use eig, or eigh for Hermitian matrices",
}
"""Why there is no such name, and what to do."""


def missing(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """The exception that access to ``name``, which ``module`` lacks, raises."""
    near = difflib.get_close_matches(name, list(names), n=1, cutoff=0.75)
    says = REASONS.get(name) or (f"Did you mean '{near[0]}'?" if near else "")
    return AttributeError(f"module '{module}' has no attribute '{name}'" + (f". {says}" if says else ""))
