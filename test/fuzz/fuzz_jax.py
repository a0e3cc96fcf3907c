"""Functions of `mlc.numpy`, `mlc.nn` and `mlc.scipy` on edge values beside JAX's of the same names.

    python test/fuzz/fuzz_jax.py --count 2000 --seed 0 [--only NAME] [--jit] [--missing]

Compared are shapes, types and values. ``--jit`` compiles each call as well. ``--missing``
lists names of JAX that mlc lacks. Needs JAX.
"""

from __future__ import annotations

import sys
from functools import reduce
from typing import Any

import jax
import numpy as np
from jax_calls import Array, Call
from jax_command import parser_of, run
from jax_families import FAMILIES
from jax_rules import differs, explained

import mlc
import mlc.nn
import mlc.numpy
import mlc.scipy
from mlc.errors import MlcError

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_disable_most_optimizations", True)  # these compile, and do not run, for most of the time

OURS: dict[str, Any] = {"numpy": mlc.numpy, "nn": mlc.nn, "scipy": mlc.scipy}
THEIRS: dict[str, Any] = {"numpy": jax.numpy, "nn": jax.nn, "scipy": jax.scipy}
REFUSALS = (TypeError, ValueError, ArithmeticError, NotImplementedError, IndexError, AssertionError)


def found_in(modules: dict[str, Any], name: str) -> Any:
    """The function ``numpy.linalg.norm``; None where there is none."""
    module, *path = name.split(".")
    try:
        return reduce(getattr, path, modules[module])
    except AttributeError:
        return None


def names() -> list[tuple[str, Any]]:
    """Each compared function, and how its operands are drawn."""
    return [
        (f"{module}.{name}", draw)
        for draw, module, text in FAMILIES.values()
        for name in text.split()
        if found_in(THEIRS, f"{module}.{name}") is not None and found_in(OURS, f"{module}.{name}") is not None
    ]


def leaves(result: Any) -> list[Array]:
    """The arrays of a result."""
    if isinstance(result, list | tuple) and not (isinstance(result, tuple) and all(isinstance(x, int) for x in result)):
        return [leaf for each in result for leaf in leaves(each)]
    return [np.asarray(result)]


def called(modules: dict[str, Any], call: Call, convert: Any) -> Any:
    args = [convert(x) if isinstance(x, np.ndarray) else x for x in call.args]
    if args and isinstance(args[0], list) and isinstance(call.args[0][0], np.ndarray):
        args[0] = [convert(x) for x in args[0]]
    options = {k: convert(v) if isinstance(v, np.ndarray) else v for k, v in call.options.items()}
    return found_in(modules, call.name)(*args, **options)


def problem(what: str, ours: Any, theirs: Any, call: Call) -> list[tuple[str, str]]:
    """(rule, text) of what differs."""
    first, second = leaves(ours), leaves(theirs)
    if len(first) != len(second):
        return [("", f"{what} of {call}\n  {len(first)} results, JAX has {len(second)}")]
    for a, b in zip(first, second, strict=True):
        if why := differs(a, b, call):
            rule = explained(call, a, b, why)
            return [(rule, f"{what} of {call}: {why}\n  ours {a!r}\n  JAX  {b!r}")]
    return []


def one(seed: int, table: list[tuple[str, Any]], jit: bool = False) -> Any:
    """The differences of one call."""
    rng = np.random.default_rng(seed)
    name, draw = table[int(rng.integers(len(table)))]
    call = Call(name, *draw(rng))
    try:
        theirs = called(THEIRS, call, jax.numpy.asarray)
    except REFUSALS:
        return []  # what JAX refuses is compared with NumPy elsewhere
    try:
        ours = called(OURS, call, mlc.numpy.asarray)
        found = problem("values", ours, theirs, call)
        if jit and not found:
            arrays = [x for x in call.args if isinstance(x, np.ndarray)]
            if arrays and not isinstance(call.args[0], list):
                whole = mlc.jit(lambda *xs: called(OURS, _replaced(call, xs), lambda x: x), wait=True)(*arrays)
                found = problem("compiled", whole, theirs, call)
    except (MlcError, AttributeError, RecursionError, *REFUSALS) as error:
        text = f"{type(error).__name__}: {error}"
        return [(explained(call, None, None, text), f"{call}: {text[:400]}")]
    return found


def _replaced(call: Call, arrays: tuple[Any, ...]) -> Call:
    rest = iter(arrays)
    args = tuple(next(rest) if isinstance(x, np.ndarray) else x for x in call.args)
    return Call(call.name, args, call.options)


def lacking() -> None:
    """Prints names of JAX that mlc has not."""
    for module in (
        "numpy",
        "numpy.linalg",
        "numpy.fft",
        "numpy.random",
        "nn",
        "scipy.special",
        "scipy.linalg",
        "scipy.stats",
    ):
        theirs = (
            jax.random if module == "numpy.random" else found_in(THEIRS, module) if "." in module else THEIRS[module]
        )
        ours = found_in(OURS, module) if "." in module else OURS[module]
        missing = [n for n in dir(theirs) if not n.startswith("_") and not hasattr(ours, n)]
        print(f"{module}: {' '.join(missing)}")


def main() -> int:
    parser = parser_of("fuzz_jax", __doc__, count=2000)
    parser.add_argument("--missing", action="store_true")
    given = parser.parse_args()
    if given.missing:
        lacking()
        return 0
    return run(one, [pair for pair in names() if given.only in pair[0]], given)


if __name__ == "__main__":
    sys.exit(main())
