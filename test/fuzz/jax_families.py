"""Which functions ``fuzz_jax.py`` compares with JAX, and how their operands are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax_calls import (
    FLOATS,
    INTEGERS,
    Draw,
    along,
    axis_of,
    binary,
    drawn,
    normal,
    quantile,
    reduction,
    shape,
    some,
    square,
    ternary,
    unary,
)

REAL = ("float32", "float64")
FAMILIES: dict[str, tuple[Draw, str, str]] = {}
"""The operands' kind: how they are drawn, the module, and names of functions."""


def family(key: str, draw: Draw, module: str, names: str) -> None:
    FAMILIES[key] = draw, module, names


family(
    "unary",
    unary(),
    "numpy",
    "abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh "
    "atleast_1d atleast_2d atleast_3d cbrt ceil conj conjugate copy cos cosh deg2rad degrees "
    "exp exp2 expm1 fabs "
    "flatnonzero floor i0 imag isfinite isinf isnan isneginf isposinf isreal iscomplex log "
    "log10 log1p log2 logical_not "
    "nan_to_num negative ones_like positive rad2deg radians ravel real reciprocal rint round "
    "sign signbit sin sinc sinh "
    "spacing sqrt square squeeze tan tanh transpose trunc zeros_like modf frexp fix nonzero unique diagflat "
    "matrix_transpose trim_zeros ediff1d",
)
family("bits", unary(("bool", *INTEGERS)), "numpy", "invert bitwise_not bitwise_invert bitwise_count")
family(
    "binary",
    binary(),
    "numpy",
    "add subtract multiply divide true_divide floor_divide remainder mod fmod maximum minimum "
    "fmax fmin hypot arctan2 atan2 "
    "logaddexp logaddexp2 equal not_equal less less_equal greater greater_equal logical_and "
    "logical_or logical_xor "
    "copysign heaviside power pow float_power nextafter isclose divmod array_equal array_equiv allclose",
)
family("integers", binary(INTEGERS), "numpy", "bitwise_and bitwise_or bitwise_xor")


def divisors(rng: Any) -> Any:
    """Small integers: JAX's ``gcd`` of the least integer does not end."""
    x = rng.integers(-12, 13, shape(rng)).astype(str(rng.choice(["int8", "int32", "int64"])))
    return (x, rng.integers(0, 13, x.shape).astype(str(rng.choice(["int8", "uint8", "int64"])))), {}


family("divisors", divisors, "numpy", "gcd lcm")


def shifts(rng: Any) -> Any:
    x = drawn(rng, shape(rng), INTEGERS)
    return (x, rng.integers(0, 9, x.shape).astype(x.dtype)), {}


family("shifts", shifts, "numpy", "left_shift right_shift bitwise_left_shift bitwise_right_shift")
family("ldexp", binary(FLOATS, ("int32", "int8")), "numpy", "ldexp")
family("where", ternary(), "numpy", "clip where")
family("sums", reduction("keepdims", "where", "initial", "dtype"), "numpy", "sum prod nansum nanprod")
family("extremes", reduction("keepdims", "initial"), "numpy", "max min amax amin nanmax nanmin")
family("means", reduction("keepdims", "where", "dtype"), "numpy", "mean nanmean")
family("spreads", reduction("keepdims", "where", "ddof"), "numpy", "var std nanvar nanstd")
family("any", reduction("keepdims", "where"), "numpy", "any all")
family("positions", reduction("keepdims", several=False), "numpy", "argmax argmin nanargmax nanargmin")
family("ranges", reduction("keepdims"), "numpy", "ptp count_nonzero median nanmedian average")
family("running", reduction("dtype", several=False), "numpy", "cumsum cumprod nancumsum nancumprod")
family("cumulative", along("axis", "dtype", "include_initial"), "numpy", "cumulative_sum cumulative_prod")
family("sorts", along("axis", "descending", "stable"), "numpy", "sort argsort")
family("diff", along("axis", "n"), "numpy", "diff gradient trapezoid unwrap")
family("quantile", quantile(1), "numpy", "quantile nanquantile")
family("percentile", quantile(100), "numpy", "percentile nanpercentile")
family("norms", reduction("keepdims", several=False, names=REAL), "numpy", "linalg.vector_norm linalg.norm")
family(
    "special",
    unary(FLOATS + INTEGERS),
    "scipy",
    "special.digamma special.entr special.erf special.erfc special.erfinv special.expit "
    "special.gammaln special.i0 "
    "special.i0e special.i1 special.i1e special.log_ndtr special.logit special.ndtr "
    "special.ndtri special.gamma special.factorial",
)
family(
    "special2",
    binary(("float32", "float64", "int32")),
    "scipy",
    "special.beta special.betaln special.gammainc special.gammaincc special.kl_div "
    "special.rel_entr special.xlog1py "
    "special.xlogy special.boxcox special.boxcox1p special.binom special.poch special.zeta "
    "special.multigammaln",
)
family("logsumexp", reduction("keepdims", "where"), "scipy", "special.logsumexp")
family("softmaxes", along("axis", least=0), "scipy", "special.softmax special.log_softmax")
family(
    "activations",
    unary(FLOATS),
    "nn",
    "celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu log_sigmoid "
    "mish relu relu6 selu sigmoid "
    "silu soft_sign softplus sparse_plus sparse_sigmoid squareplus swish tanh log1mexp glu",
)
family(
    "integer activations",
    unary(("bool", *INTEGERS)),
    "nn",
    "relu relu6 sigmoid silu softplus gelu elu leaky_relu identity",
)
family("nn sums", reduction("keepdims", "where"), "nn", "logsumexp logmeanexp")
family("nn softmax", along("axis", "where", least=0, names=FLOATS), "nn", "softmax log_softmax standardize")


def classes(rng: Any) -> Any:
    return (drawn(rng, shape(rng), INTEGERS), int(rng.integers(1, 6))), some(rng, axis=0, dtype="float32")


family("one_hot", classes, "nn", "one_hot")


def parameters(rng: Any) -> Any:
    x = drawn(rng, shape(rng), FLOATS) if rng.random() < 0.6 else drawn(rng, shape(rng), INTEGERS)
    return (x, rng.choice([0.5, 1.0, 2.5, -1.0, 0.0])), {}


family("activations of two", parameters, "nn", "celu elu leaky_relu squareplus")


def moved(rng: Any) -> Any:
    x = drawn(rng, shape(rng, 1))
    return (x,), some(rng, axis=axis_of(rng, x.ndim, True))


family("flips", moved, "numpy", "flip")


def rolled(rng: Any) -> Any:
    x = drawn(rng, shape(rng, 1))
    axis = axis_of(rng, x.ndim, True)
    shift = (
        tuple(int(n) for n in rng.integers(-7, 8, len(axis))) if isinstance(axis, tuple) else int(rng.integers(-7, 8))
    )
    return (x, shift), {"axis": axis}


family("roll", rolled, "numpy", "roll")


def repeated(rng: Any) -> Any:
    x = drawn(rng, shape(rng))
    return (x, int(rng.integers(0, 4))), {"axis": axis_of(rng, x.ndim)}


family("repeat", repeated, "numpy", "repeat")


def taken(rng: Any) -> Any:
    x = drawn(rng, shape(rng, 1))
    axis = axis_of(rng, x.ndim)
    extent = x.size if axis is None else x.shape[axis]
    index = rng.integers(-extent - 2, extent + 3, tuple(rng.choice([1, 2, 3], int(rng.integers(0, 3)))))
    return (x, index), {"axis": axis} | some(rng, mode=str(rng.choice(["clip", "wrap", "fill"])))


family("take", taken, "numpy", "take")


def padded(rng: Any) -> Any:
    x = drawn(rng, [n or 2 for n in shape(rng, 1)])
    modes = ["constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "mean", "minimum"]
    width = [(int(a), int(b)) for a, b in rng.integers(0, 4, (x.ndim, 2))]
    return (x, width), {"mode": str(rng.choice(modes))}


family("pad", padded, "numpy", "pad")


def searched(rng: Any) -> Any:
    x = np.sort(drawn(rng, [int(rng.integers(1, 6))], INTEGERS + FLOATS))
    return (x, drawn(rng, shape(rng), (x.dtype.name,))), some(rng, side="right")


family("searchsorted", searched, "numpy", "searchsorted digitize_")


def mixed(rng: Any) -> Any:
    sizes = shape(rng, 1)
    return ([drawn(rng, sizes) for _ in range(int(rng.integers(1, 4)))],), some(
        rng, axis=int(rng.integers(-len(sizes), len(sizes)))
    )


family("join", mixed, "numpy", "concatenate stack concat vstack_ hstack_ dstack_ column_stack_")


def product(rng: Any) -> Any:
    x, y = drawn(rng, shape(rng)), drawn(rng, shape(rng))
    if x.ndim and y.ndim:
        y = drawn(rng, [*y.shape[:-2], x.shape[-1], *y.shape[-1:]] if y.ndim > 1 else [x.shape[-1]])
    return (x, y), {}


family("products", product, "numpy", "dot matmul inner_ outer kron tensordot_ vdot_ cross_ convolve_ correlate_")
family("solve", square(right=True), "numpy", "linalg.solve linalg.lstsq_")
family(
    "matrices",
    square(),
    "numpy",
    "linalg.inv linalg.det linalg.slogdet linalg.matrix_rank linalg.pinv linalg.svdvals "
    "linalg.cond linalg.matrix_norm trace",
)
family("positive", square(positive=True), "numpy", "linalg.cholesky linalg.eigvalsh")
family("expm", square(), "scipy", "linalg.expm linalg.det linalg.inv")


def density(count: int, integers: bool = False, open: bool = True) -> Draw:
    def draw(rng: Any) -> Any:
        sizes = shape(rng)
        x = drawn(rng, sizes, REAL) if rng.random() < 0.5 else normal(rng, sizes)
        x = rng.integers(-1, 8, sizes) if integers and rng.random() < 0.5 else x
        choices = [0.3, 1.0, 2.5, 0.5] if open else [0.3, 0.5, 0.0, 1.0]
        return (x, *(np.float32(rng.choice(choices)) for _ in range(count))), {}

    return draw


def _each(names: str, functions: str) -> str:
    return " ".join(f"stats.{name}.{function}" for name in names.split() for function in functions.split())


family(
    "densities",
    density(0),
    "scipy",
    _each("norm expon laplace logistic cauchy uniform gumbel_r", "logpdf pdf cdf sf logcdf"),
)
family("located", density(2), "scipy", _each("norm expon laplace logistic cauchy uniform gumbel_r", "logpdf cdf"))
family("densities of one", density(1), "scipy", _each("gamma t chi2", "logpdf pdf cdf"))
family("densities of two", density(2), "scipy", _each("beta", "logpdf pdf cdf"))
family("masses", density(1, True, False), "scipy", _each("bernoulli geom", "logpmf pmf"))
family("counts", density(1, True), "scipy", _each("poisson", "logpmf pmf cdf"))
