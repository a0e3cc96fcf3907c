"""Random short programs over functions of `mlc.numpy` on edge values, line by line, compiled and batched, beside NumPy.

    python test/fuzz/fuzz_arrays.py --count 1000 --seed 0 [--jit] [--vmap] [--grad]

Values are NaN, infinities, zeros of either sign, ties, the ends of integers, booleans, none at all; types are mixed,
ranks are 0 to 3, axes negative. Each function is compared on the operands that it had here, then the whole
program compiled and batched with it line by line, and its gradient with differences. What no rule of ``explained``
covers is printed with its seed; the exit status is 1 then.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from array_transforms import batched, derivative

import mlc
import mlc.numpy as mnp
from mlc.errors import MlcError

Array = np.ndarray[Any, Any]
Step = tuple[str, str, int, bool, str]  # family, name, axis, whether there is none, options
DTYPES = ("bool", "int8", "uint8", "int32", "int64", "float32", "float64")
UNARY = (
    *(
        "abs",
        "sign",
        "negative",
        "square",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "isnan",
        "isinf",
        "isfinite",
        "logical_not",
    ),
    *("sqrt", "exp", "log", "expm1", "log1p", "exp2", "cbrt", "sin", "cos", "tanh", "arctan", "sinh", "arcsinh"),
    *("reciprocal", "signbit", "nan_to_num", "sinc", "degrees", "ravel", "transpose", "fliplr_", "sort_", "argsort_"),
)
BINARY = (
    *(
        "add",
        "subtract",
        "multiply",
        "divide",
        "floor_divide",
        "remainder",
        "fmod",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
    ),
    *("hypot", "arctan2", "logaddexp", "equal", "less", "greater_equal", "logical_and", "logical_or", "logical_xor"),
    *("copysign", "heaviside", "power", "where_"),
)
REDUCTIONS = (
    *(
        "sum",
        "prod",
        "max",
        "min",
        "mean",
        "var",
        "std",
        "any",
        "all",
        "argmax",
        "argmin",
        "nansum",
        "nanprod",
        "nanmax",
    ),
    *("nanmin", "nanmean", "nanvar", "nanstd", "ptp", "median", "cumsum", "cumprod", "count_nonzero", "average"),
    *("diff", "nancumsum"),
)
OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("sum", "prod", "nansum", "nanprod"), ("keepdims", "where", "initial")),
    **dict.fromkeys(("max", "min", "nanmax", "nanmin"), ("keepdims", "initial", "where initial")),
    **dict.fromkeys(("var", "std", "nanvar", "nanstd"), ("keepdims", "where", "ddof", "where ddof")),
    **dict.fromkeys(("mean", "any", "all", "nanmean"), ("keepdims", "where")),
    **dict.fromkeys(("argmax", "argmin", "median", "average", "ptp", "count_nonzero"), ("keepdims",)),
}
"""What reductions take beside an axis; a mask is that of the elements other than 3."""
OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "fliplr_": lambda np, x: np.flip(x, -1) if x.ndim else x,
    "sort_": lambda np, x: np.sort(x, axis=-1) if x.ndim else x,
    "argsort_": lambda np, x: np.argsort(x, axis=-1, stable=True) if x.ndim else x,
}


def drawn(rng: np.random.Generator, shape: Sequence[int], dtype: str) -> Array:
    """Edge values and small numbers, of which several are equal."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        ends = np.iinfo(dtype)
        values = [0, 1, 2, 3, 3, ends.max, ends.min, ends.max - 1, 7]
        return rng.choice(np.array(values, dtype=dtype), shape)
    values = [0.0, -0.0, 1, -1, 0.5, -2.5, 3, 3, np.inf, -np.inf, np.nan, 1e-30, 7.25]
    return rng.choice(np.array(values, dtype=dtype), shape)


def shapes(rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two that broadcast; one in ten has no elements."""
    rank = int(rng.integers(0, 4))
    first = [int(n) for n in rng.choice([1, 2, 3, 5], rank)]
    if rank and rng.random() < 0.1:
        first[int(rng.integers(rank))] = 0
    cut = int(rng.integers(0, rank + 1))
    return tuple(first), tuple(1 if rng.random() < 0.3 else n for n in first[cut:])


class Program:
    """Up to three functions in a chain; calling it with a module and arrays runs it there."""

    def __init__(self, rng: np.random.Generator) -> None:
        first, second = shapes(rng)
        self.inputs = [drawn(rng, s, str(rng.choice(DTYPES))) for s in (first, second)]
        self.steps = [self._step(rng) for _ in range(int(rng.integers(1, 4)))]

    def _step(self, rng: np.random.Generator) -> Step:
        family = str(rng.choice(["unary", "binary", "reduction"], p=[0.35, 0.35, 0.3]))
        names = {"unary": UNARY, "binary": BINARY, "reduction": REDUCTIONS}[family]
        name, axis, whole = str(rng.choice(names)), int(rng.integers(-3, 3)), bool(rng.random() < 0.3)
        options = str(rng.choice(["", *OPTIONS.get(name, ())])) if family == "reduction" else ""
        return family, name, axis, whole, options

    def __call__(self, np: Any, x: Any, y: Any) -> Any:
        *_, found = self.values(np, x, y)
        return found

    def values(self, np: Any, x: Any, y: Any) -> Iterator[Any]:
        """The result of each step."""
        for step in self.steps:
            x = self.applied(np, step, x, y)
            yield x

    def applied(self, np: Any, step: Step, x: Any, y: Any) -> Any:
        family, name, axis, whole, options = step
        if family == "unary":
            return OTHERS[name](np, x) if name in OTHERS else getattr(np, name)(x)
        if family == "binary":
            return np.where(x > y, x, y) if name == "where_" else getattr(np, name)(x, y)
        masked = {"where": x != 3} if "where" in options else {}
        given = {"keepdims": True, "initial": 1, "ddof": 1}
        chosen = {key: given[key] for key in options.split() if key in given} | masked
        return getattr(np, name)(x, axis=None if whole or not x.ndim else axis, **chosen)

    def __str__(self) -> str:
        inputs = "; ".join(f"{x.dtype}{list(x.shape)} {x.ravel().tolist()}" for x in self.inputs)
        steps = " | ".join(f"{name}({'' if whole else axis} {options})" for _, name, axis, whole, options in self.steps)
        return f"{steps} of {inputs}"


def differs(found: Array, wanted: Array) -> bool:
    """Where shapes or values are others; floats in our type, which is narrower where NumPy's default is float64."""
    if found.shape != wanted.shape:
        return True
    with np.errstate(all="ignore"):
        wide, ours = wanted.astype(found.dtype), found
    if found.dtype.kind != "f":
        return not np.array_equal(ours, wide) and wanted.dtype.kind != "f"
    limit = 2e-5 if found.dtype == np.float32 else 1e-11
    with np.errstate(all="ignore"):
        size = np.abs(wide[np.isfinite(wide)]).max(initial=0)
    return not np.allclose(ours, wide, rtol=limit, atol=limit * min(size, 1e30) + 1e-38, equal_nan=True)


REFUSED = ("no common integer type", "on booleans", "without elements", "empty")
"""Parts of the messages of what is refused here and computed by NumPy."""
ROUNDED = ("sin", "cos", "sinc")


def explained(name: str, xs: Sequence[Array], wanted: Array) -> str:
    """The rule of docs/frontend/array.md#differences-from-numpy that a difference falls under; "" for none."""
    integers = all(x.dtype.kind in "biu" for x in xs)
    if integers and name in ("floor_divide", "remainder", "fmod"):
        return "integers divided by 0"
    if integers and name == "power":
        return "powers of integers"
    if integers and name == "reciprocal":
        return "functions of integers that are floats"
    if name == "floor_divide":
        return "quotients that are infinite"
    large = any(x.dtype.kind in "iu" and x.size and np.abs(x.astype(float)).max() > 2**24 for x in xs)
    if wanted.dtype.kind == "f" and (large or name in ROUNDED):
        return "integers become float32" if large else "multiples of pi in float32"
    return ""


def one(seed: int, jit: bool, vmap: bool = False, grad: bool = False) -> list[tuple[str, str]]:
    """(rule, what differs) of one program: each step beside NumPy on our own operands, then the whole compiled."""
    program = Program(np.random.default_rng(seed))
    x, y = (mnp.asarray(each) for each in program.inputs)
    found = []
    for step in program.steps:
        given = [np.asarray(x), np.asarray(y)][: 2 if step[0] == "binary" else 1]
        try:
            wanted = np.asarray(program.applied(np, step, *(given * 2)[:2]))
            if wanted.dtype == np.float16:  # NumPy's float of booleans and of bytes
                wanted = np.asarray(program.applied(np, step, *[each.astype(float) for each in (given * 2)[:2]]))
        except (TypeError, ValueError, ArithmeticError):
            return found  # NumPy refuses it
        try:
            x = mnp.asarray(program.applied(mnp, step, x, y))
            ours = np.asarray(x)
        except (MlcError, TypeError, ValueError) as error:
            rule = "refused" if any(part in str(error) for part in REFUSED) else ""
            return [(rule, f"{seed} {step} {given}: {error}")]
        if differs(ours, wanted):
            found.append(
                (explained(step[1], given, wanted), f"{seed} {step} of {given}\n  ours {ours!r}\n  NumPy {wanted!r}")
            )
            return found
    if jit:
        whole = np.asarray(mlc.jit(lambda a, b: program(mnp, a, b), wait=True)(*program.inputs))
        if differs(whole, np.asarray(x)):
            found.append(("", f"{seed} compiled: {program}\n  {whole!r}\n  {np.asarray(x)!r}"))
    return found + _transformed(program, seed, vmap, grad)


def _transformed(program: Program, seed: int, vmap: bool, grad: bool) -> list[tuple[str, str]]:
    """(rule, what differs) of the program in a batch, and of its gradient."""
    checks: list[Callable[[], str]] = [lambda: batched(program, program.inputs, differs)] * vmap
    checks += [lambda: derivative(program, program.inputs, np.random.default_rng(seed))] * grad
    found = []
    for check in checks:
        try:
            problem, rule = check(), ""
        except (MlcError, TypeError, ValueError) as error:
            problem, rule = str(error), "refused" if any(part in str(error) for part in REFUSED) else ""
        found += [(rule, f"{seed} {program}: {problem}")] * bool(problem)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python test/fuzz/fuzz_arrays.py", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jit", action="store_true", help="compile each program as well")
    parser.add_argument("--vmap", action="store_true", help="run each program on a batch as well")
    parser.add_argument("--grad", action="store_true", help="compare the gradient of each program with differences")
    given = parser.parse_args()
    rules: Counter[str] = Counter()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for seed in range(given.seed, given.seed + given.count):
            for rule, what in one(seed, given.jit, given.vmap, given.grad):
                rules[rule or "unexplained"] += 1
                if not rule:
                    print(what, flush=True)
    print(f"{given.count} programs; differences: {dict(rules)}")
    return int(bool(rules["unexplained"]))


if __name__ == "__main__":
    sys.exit(main())
