"""runtime/c/vector/mlc_math.h against NumPy's float64 over the whole range of floats, and against mpmath."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import emulated
import numpy as np
import pytest

from mlc.runtime import c

CC = os.environ.get("CC", "cc")
X86 = platform.machine() == "x86_64"
BUILDS = {  # name: (flags, the driver's function that says whether this CPU runs it)
    "baseline": ([], None),
    "avx2": (["-mavx2", "-mfma"], "has_avx2"),
    "unfused": (["-mavx2", "-mfma", "-ffp-contract=off"], "has_avx2"),
    "avx512": (["-mavx512f", "-mfma"], "has_avx512"),
}
LIBM = {"tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
        "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "cbrt": np.cbrt, "erfc": np.vectorize(math.erfc)}
LIBM_ULP = 3.0  # what C libraries promise for these
SPECIAL = [0.0, math.inf, math.nan, 2.0**-149, 2.0**-126, 2.0**-25, 0.25, 0.5, 0.49999997, 0.8, 1.0, 1.5, 2.5, 9.02,
           17.3, 87.34, 88.72283, 88.72284, 89.0, 103.9, 104.1, 127.99999, 128.0, 149.0, 149.5, 150.0, 2.0**17,
           131073.0, 8388607.5, 2.0**23, 2.0**24, 2.0**25, 2.0**126, 2.0**127, 3.4028235e38]


def stated_bounds() -> dict[str, float]:
    """The table of largest errors in the header's first comment."""
    comment = c.paths()["mlc_math.h"].read_text().split("*/")[0]
    return {name: float(bound) for name, bound in re.findall(r"\b([a-z]+[0-9]*p?) (\d\.\d)", comment)}


REFERENCE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "erf": lambda x: np.fromiter(map(math.erf, x), np.float64, len(x)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "roundeven": np.rint,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),  # exact on the doubles that are floats
    **{f.__name__: f for f in (np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.tanh, np.sin, np.cos,
                               np.floor, np.ceil, np.trunc, np.sqrt)},
}


@functools.cache
def samples() -> np.ndarray:
    """About a million floats of every exponent and sign, and the special ones; a multiple of 16."""
    start = np.random.default_rng().integers(4099)
    bits = np.arange(start, 2**32, 4099, dtype=np.uint32).view(np.float32)
    special = np.array(SPECIAL, np.float32)
    with np.errstate(over="ignore"):
        near = [np.nextafter(special, np.float32(s)) for s in (-np.inf, np.inf)]
    x = np.concatenate([bits, *near, special, *(-v for v in (*near, special))])
    return np.resize(x, -(-len(x) // 16) * 16)


@functools.cache
def expected(name: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return (REFERENCE | LIBM)[name](samples().astype(np.float64))


def compile_driver(folder: Path, flags: list[str], cc: str = CC) -> Path:
    library = folder / "driver.so"
    common = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-shared", "-fPIC", *c.include_flags()]
    source = Path(__file__).with_name("driver.c")
    subprocess.run([cc, *common, "-ffp-contract=fast", *flags, str(source), "-o", str(library), "-lm"], check=True)
    return library


class Emulated:
    """The functions as another architecture computes them."""

    def __init__(self, folder: Path) -> None:
        self.program, source = folder / "program", Path(__file__).with_name("apply.c")
        self.library = compile_driver(folder, [], emulated.COMPILER)
        subprocess.run([emulated.COMPILER, str(source), "-ldl", "-o", str(self.program)], check=True)

    def call(self, symbol: str, *x: np.ndarray) -> np.ndarray:
        data = b"".join(a.tobytes() for a in x)
        written = emulated.run(self.program, self.library, symbol, str(len(x)), str(x[0].itemsize), data=data)
        return np.frombuffer(written, x[0].dtype)


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if shutil.which(CC) is None:
        pytest.skip("no C compiler")
    return ctypes.CDLL(str(compile_driver(tmp_path_factory.mktemp("baseline"), BUILDS["baseline"][0])))


@pytest.fixture(scope="module", params=[*(BUILDS if X86 else ["baseline"]),
                                        pytest.param("neon", marks=emulated.needed)])
def library(request: pytest.FixtureRequest, baseline: ctypes.CDLL,
            tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL | Emulated:
    if request.param == "neon":
        return Emulated(tmp_path_factory.mktemp("neon"))
    flags, supported = BUILDS[request.param]
    if supported is None:
        return baseline
    if not getattr(baseline, supported)():
        pytest.skip(f"this CPU lacks {request.param}")
    return ctypes.CDLL(str(compile_driver(tmp_path_factory.mktemp(request.param), flags)))


def call(library: ctypes.CDLL | Emulated, symbol: str, *x: np.ndarray) -> np.ndarray:
    if isinstance(library, Emulated):
        return library.call(symbol, *x)
    y = np.empty_like(x[0])
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*x, y)]
    getattr(library, symbol)(*pointers, ctypes.c_long(y.size))
    return y


def ulp_error(y: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """|y - exact| in units in the last place of the float nearest to `exact`; infinity counts as 2^128."""
    top = 2.0**128
    exact = np.clip(exact, -top, top)
    exponent = np.maximum(np.frexp(exact)[1], -125)
    return np.abs(np.clip(y.astype(np.float64), -top, top) - exact) / np.ldexp(1.0, np.minimum(exponent, 128) - 24)


def check(x: np.ndarray, y: np.ndarray, exact: np.ndarray, bound: float) -> None:
    nan = np.isnan(exact)
    np.testing.assert_array_equal(np.isnan(y), nan)
    x, y, exact = x[~nan], y[~nan], exact[~nan]
    np.testing.assert_array_equal(np.signbit(y), np.signbit(exact))
    error = ulp_error(y, exact)
    worst = error.argmax()
    assert error[worst] <= bound, f"{error[worst]:.3f} ulp at {x[worst]!r}: {y[worst]!r}, not {exact[worst]!r}"


def test_every_vector_function_states_its_bound() -> None:
    assert stated_bounds().keys() == {*REFERENCE, "pow"}


@pytest.mark.parametrize("name", REFERENCE)
def test_error_over_all_floats(library: ctypes.CDLL | Emulated, name: str) -> None:
    check(samples(), call(library, f"{name}_f32x16", samples()), expected(name), stated_bounds()[name])


@pytest.mark.parametrize("name", REFERENCE)
def test_every_width_gives_the_same_bits(library: ctypes.CDLL | Emulated, name: str) -> None:
    x = samples()
    wide = call(library, f"{name}_f32x16", x)
    number = ~np.isnan(wide)
    for symbol in ("f32x8", "f32x4", "f32"):
        narrow = call(library, f"{name}_{symbol}", x)
        np.testing.assert_array_equal(narrow.view(np.int32)[number], wide.view(np.int32)[number])
        assert np.isnan(narrow[~number]).all()


@pytest.mark.parametrize("name", LIBM)
def test_libm_functions(baseline: ctypes.CDLL, name: str) -> None:
    for symbol in ("f32x16", "f32x8", "f32x4", "f32"):
        check(samples(), call(baseline, f"{name}_{symbol}", samples()), expected(name), LIBM_ULP)


@pytest.mark.parametrize("name", [*REFERENCE, *LIBM])
def test_double(baseline: ctypes.CDLL, name: str) -> None:
    x = np.random.default_rng().uniform(0, 4, 4096) * np.tile([1.0, -1.0], 2048)
    with np.errstate(invalid="ignore"):
        exact = (REFERENCE | LIBM)[name](x)
    for symbol in ("f64x16", "f64x8", "f64x4", "f64"):
        np.testing.assert_allclose(call(baseline, f"{name}_{symbol}", x), exact, rtol=4e-15, atol=1e-300)


def powers() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Bases and exponents: all floats, results of every size, whole exponents, and the special ones by each other."""
    rng = np.random.default_rng()
    x = rng.permutation(samples())
    with np.errstate(all="ignore"):
        sized = (rng.uniform(-152, 130, x.size) / np.log2(np.abs(x).astype(float))).astype(np.float32)
    special = np.array([*SPECIAL, 3, *(-v for v in SPECIAL), -3], np.float32)
    pairs = np.resize(np.stack(np.meshgrid(special, special)).reshape(2, -1), (2, 16 * special.size**2))
    whole = rng.integers(-9, 9, x.size).astype(np.float32)
    return {"any": (x, rng.permutation(x)), "sized": (x, sized), "whole": (x, whole), "special": tuple(pairs)}


@pytest.mark.parametrize("lanes", [16, 8, 4])
@pytest.mark.parametrize("kind", ["any", "sized", "whole", "special"])
def test_pow(library: ctypes.CDLL | Emulated, kind: str, lanes: int) -> None:
    x, y = powers()[kind]
    with np.errstate(all="ignore"):
        exact = x.astype(float) ** y.astype(float)
    check(x, call(library, f"pow_f32x{lanes}", x, y), exact, stated_bounds()["pow"])


@pytest.mark.parametrize("lanes", [16, 8, 4])
def test_pow_of_doubles(baseline: ctypes.CDLL, lanes: int) -> None:
    rng = np.random.default_rng()
    x, y = np.exp(rng.normal(0, 4, 4096)), rng.normal(0, 4, 4096)
    np.testing.assert_allclose(call(baseline, f"pow_f64x{lanes}", x, y), x**y, rtol=4e-15)


@pytest.mark.parametrize("name", [name for name, bound in stated_bounds().items()
                                  if bound > 0.5 and name not in ("rsqrt", "pow")])
def test_against_mpmath(library: ctypes.CDLL | Emulated, name: str) -> None:
    """The float64 references themselves are libm's; these are of arbitrary precision."""
    mpmath = pytest.importorskip("mpmath")
    own = {"exp2": lambda x: mpmath.mpf(2) ** x, "log2": lambda x: mpmath.log(x) / mpmath.log(2)}
    function = own.get(name) or getattr(mpmath, name)
    rng = np.random.default_rng()
    x = np.exp2(rng.uniform(-30, 6, 256)).astype(np.float32)
    x = x if name in ("log", "log2", "log10", "log1p") else x * rng.choice(np.array([-1, 1], np.float32), 256)
    with mpmath.workdps(60):
        exact = np.array([float(function(mpmath.mpf(float(v)))) for v in x])
    check(x, call(library, f"{name}_f32x16", x), exact, stated_bounds()[name])
