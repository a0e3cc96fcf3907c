"""Derivatives, second derivatives and batches of functions of `mlc` beside JAX's of the same names.

    python test/fuzz/fuzz_transforms.py --count 500 --seed 0 [--each N] [--only NAME] [--jit]

Operands are random or edge values in float32 and float64. ``--jit`` compiles all transforms of a call as one program.
What no rule of ``jax_rules.py`` covers is printed with its seed; the exit status is 1 then. Needs JAX.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import fuzz_jax
import jax
import numpy as np
from fuzz_jax import REFUSALS, found_in, names
from jax_calls import Array, Call, Draw
from jax_command import parser_of, run
from jax_derivatives import FURTHER, close, explained, scale_of
from jax_transforms import OURS, THEIRS, by_floats, results, transforms, weights

import mlc
import mlc.lax
from mlc.errors import MlcError

Found = list[tuple[str, str]]
MODULES: dict[str, Any] = {**fuzz_jax.OURS, "lax": mlc.lax}
JAX_MODULES: dict[str, Any] = {**fuzz_jax.THEIRS, "lax": jax.lax}


def table_of(only: str = "") -> list[tuple[str, Draw]]:
    """Each function whose name contains ``only``, and how its operands are drawn."""
    further = [(f"{module}.{name}", draw) for draw, module, text in FURTHER.values() for name in text.split()]
    both = [(n, d) for n, d in further if found_in(MODULES, n) is not None and found_in(JAX_MODULES, n) is not None]
    return [pair for pair in (*names(), *both) if only in pair[0]]


def drawn_call(seed: int, table: Sequence[tuple[str, Draw]]) -> Call | None:
    """A call with floats among its arrays; None where there are none, or they are narrow."""
    rng = np.random.default_rng(seed)
    name, draw = table[int(rng.integers(len(table)))]
    args, options = draw(rng)
    element = str(rng.choice(["float32", "float64"]))
    with np.errstate(all="ignore"):
        wide = [x.astype(element) if isinstance(x, np.ndarray) and x.dtype.kind in "fV" else x for x in args]
    call = Call(name, tuple(wide), options)
    return call if any(isinstance(x, np.ndarray) and x.dtype.kind == "f" for x in wide) else None


def one(seed: int, table: Sequence[tuple[str, Draw]], jit: bool = False) -> Found:
    """(rule, what differs) of all transforms of one call."""
    call = drawn_call(seed, table)
    if call is None:
        return []
    ours, arrays = by_floats(call, found_in(MODULES, call.name))
    theirs, _ = by_floats(call, found_in(JAX_MODULES, call.name))
    along = [weights(x.shape, str(x.dtype), seed + 1) for x in arrays]
    wanted = _theirs(theirs, arrays, along, seed)
    if not wanted:
        return []
    found = _compared(transforms(ours, OURS, len(arrays), seed), wanted, arrays, along, call)
    if jit and not found:
        every = transforms(ours, OURS, len(arrays), seed)
        whole = mlc.jit(lambda *xs: [every[key](*_halves(xs)) for key in wanted], wait=True)(*arrays, *along)
        for key, value in zip(wanted, whole, strict=True):
            found += _problem(f"compiled {key}", value, wanted, call)
    return found


def _halves(xs: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return xs[: len(xs) // 2], xs[len(xs) // 2 :]


def _theirs(f: Any, arrays: list[Array], along: list[Array], seed: int) -> dict[str, Any]:
    """What JAX gives for each transform; nothing where it refuses, or no result is a float."""
    xs, ts = (tuple(map(jax.numpy.asarray, each)) for each in (arrays, along))
    try:
        if not results(f(*xs), THEIRS):
            return {}
    except REFUSALS:
        return {}
    wanted = {}
    for key, transform in transforms(f, THEIRS, len(arrays), seed).items():
        try:
            wanted[key] = [np.asarray(x) for x in jax.jit(transform)(xs, ts)]
        except REFUSALS:
            continue
    return wanted


def _compared(every: Any, wanted: Any, arrays: list[Array], along: list[Array], call: Call) -> Found:
    found: Found = []
    xs, ts = (tuple(map(mlc.numpy.asarray, each)) for each in (arrays, along))
    for key in wanted:
        try:
            value = [np.asarray(x) for x in every[key](xs, ts)]
        except (MlcError, AttributeError, RecursionError, *REFUSALS) as error:
            text = f"{type(error).__name__}: {error}"
            found.append((explained(key, call, None, None, text, []), f"{key} of {call}: {text[:400]}"))
            continue
        found += _problem(key, value, wanted, call)
    return found


def _problem(what: str, ours: Any, wanted: dict[str, list[Array]], call: Call) -> Found:
    found, scale = [], scale_of(call, wanted)
    for a, b in zip(map(np.asarray, ours), wanted[what.removeprefix("compiled ")], strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            why, text = f"type {a.dtype}{a.shape} for {b.dtype}{b.shape}", ""
        elif close(a, b, scale):
            continue
        else:
            why, text = "values", shown(a, b, scale)
        rule = explained(what, call, a, b, why, wanted.get("value", []))
        found.append((rule, f"{what} of {str(call)[:500]}: {why}\n  {text}"))
    return found


def shown(ours: Array, theirs: Array, scale: float) -> str:
    """The first elements that differ, and where."""
    indices = [n for n in np.ndindex(ours.shape) if not close(ours[n], theirs[n], scale)]
    return "; ".join(f"{list(n)}: {ours[n]!s}, JAX {theirs[n]!s}" for n in indices[:6])


def main() -> int:
    given = parser_of("fuzz_transforms", __doc__, count=500).parse_args()
    return run(one, table_of(given.only), given)


if __name__ == "__main__":
    sys.exit(main())
