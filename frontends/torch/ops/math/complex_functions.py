"""Functions of complex numbers by those of arrays: elementwise functions, comparisons, products, of matrices too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mlc.frontends.array.complex import formulas
from mlc.frontends.array.functions import products, reductions, running
from mlc.frontends.array.functions.elementwise import FUNCTIONS
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.dtypes import Complex, common_element
from mlc.frontends.torch.ops.arrays import by_arrays
from mlc.frontends.torch.ops.math import reduction
from mlc.frontends.torch.ops.math.complex import FORMULAS, formula, mul, pair
from mlc.frontends.torch.ops.tensors import indexing
from mlc.frontends.torch.registry import Call

SAME = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "isfinite", "isinf",
    "isnan", "log", "log10", "log1p", "log2", "reciprocal", "sin", "sinh", "sqrt", "square", "tan", "tanh",
)  # fmt: skip
NAMES = {**{name: name for name in SAME}, "sgn": "sign"}
COMPOSED: dict[str, Callable[[Any], Any]] = {
    "exp2": lambda x: FUNCTIONS["exp"](x * 0.6931471805599453),
    "rsqrt": lambda x: 1 / FUNCTIONS["sqrt"](x),
    "sigmoid": lambda x: 1 / (1 + FUNCTIONS["exp"](-x)),
    "silu": lambda x: x / (1 + FUNCTIONS["exp"](-x)),
}
COMPARED = {"eq": "equal", "ne": "not_equal"}
LOGICAL = {"logical_and": "x0 & x1", "logical_or": "x0 | x1", "logical_xor": "x0 ^ x1"}
PRODUCTS = {"mm": products.matmul, "bmm": products.matmul, "mv": products.matmul, "matmul": products.matmul,
            "dot": products.matmul}  # fmt: skip


def _unary(function: Callable[[Any], Any], call: Call, x: Complex) -> Any:
    return by_arrays(call.build, function, x)


def _compared(name: str, call: Call, a: Any, b: Any) -> Tensor:
    """``a == b`` or ``a != b`` in the type that both are promoted to."""
    given = [x.re if isinstance(x, Complex) else x.real if isinstance(x, complex) else x for x in (a, b)]
    element = common_element(given)
    xs = [Complex(*(call.tensor(part, element) for part in pair_of(call, x, element))) for x in (a, b)]
    return call.build.map("(x0 == x2) & (x1 == x3)" if name == "equal" else "(x0 != x2) | (x1 != x3)", *xs[0], *xs[1])


def pair_of(call: Call, x: Any, element: str) -> tuple[Any, Any]:
    """The parts of an operand; 0 is the imaginary one of a real operand."""
    if isinstance(x, Complex):
        return x.re, x.im
    number = x.real if isinstance(x, complex) else x
    return call.tensor(number, element), x.imag if isinstance(x, complex) else 0.0


def _truth(call: Call, x: Any) -> Tensor:
    return call.build.map("(x0 != 0) | (x1 != 0)", *x) if isinstance(x, Complex) else call.predicate(x)


def _logical(expr: str, call: Call, a: Any, b: Any) -> Tensor:
    return call.build.map(expr, _truth(call, a), _truth(call, b))


def _product(function: Callable[[Any, Any], Any], call: Call, a: Any, b: Any) -> Any:
    return by_arrays(call.build, function, pair(call, a), pair(call, b))


FORMULAS.update({name: partial(_unary, FUNCTIONS[own]) for name, own in NAMES.items()})
FORMULAS.update({name: partial(_unary, function) for name, function in COMPOSED.items()})
FORMULAS.update({name: partial(_compared, own) for name, own in COMPARED.items()})
FORMULAS.update({name: partial(_logical, expr) for name, expr in LOGICAL.items()})
FORMULAS.update({name: partial(_product, function) for name, function in PRODUCTS.items()})


@formula("logical_not")
def logical_not(call: Call, x: Complex) -> Tensor:
    return call.build.map("not_(x0)", _truth(call, x))


@formula("any", "all")
def any_or_all(call: Call, x: Complex, *args: Any, **kwargs: Any) -> Any:
    return reduction.any_or_all(call, _truth(call, x), *args, **kwargs)


@formula("count_nonzero")
def count_nonzero(call: Call, x: Complex, dim: Any = None) -> Any:
    return reduction.count_nonzero(call, _truth(call, x), dim)


@formula("nonzero")
def nonzero(call: Call, x: Complex) -> Any:
    return indexing.nonzero(call, _truth(call, x))


@formula("div", "divide", "true_divide")
def div(call: Call, a: Any, b: Any) -> Complex:
    if not isinstance(b, Complex | complex):
        return Complex(*(call.build.formula("x0 / x1", part, call.tensor(b)) for part in pair(call, a)))
    return by_arrays(call.build, formulas.divide, pair(call, a), pair(call, b))


@formula("pow")
def power(call: Call, a: Any, b: Any) -> Any:
    """A power. Known whole exponents are products."""
    if isinstance(b, int | float) and b == int(b) and 0 <= b <= 4:
        y = pair(call, 1.0)
        y = Complex(*(call.build.broadcast(part, pair(call, a).re.shape) for part in y))
        for _ in range(int(b)):
            y = mul(call, y, pair(call, a))
        return y
    return by_arrays(call.build, formulas.power, pair(call, a), pair(call, b))


@formula("prod")
def prod(call: Call, x: Any, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return by_arrays(call.build, lambda a: reductions.prod(a, axis=dim, keepdims=keepdim), pair(call, x))


@formula("cumprod")
def cumprod(call: Call, x: Any, dim: int, *, dtype: Any = None) -> Any:
    given = pair(call, x)
    return given if not given.re.rank else by_arrays(call.build, lambda a: running.cumprod(a, axis=dim), given)


@formula("einsum")
def einsum(call: Call, equation: str, xs: list[Any], *, path: Any = None) -> Any:
    return by_arrays(call.build, partial(products.einsum, equation), *(pair(call, x) for x in xs))


@formula("vdot")
def vdot(call: Call, a: Any, b: Any) -> Any:
    return by_arrays(call.build, products.vecdot, pair(call, a), pair(call, b))


@formula("addmm", "baddbmm", "addmv")
def add_product(call: Call, c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Complex:
    y = mul(call, _product(products.matmul, call, a, b), alpha)
    return add_pairs(call, mul(call, pair(call, c), beta), y) if beta != 0 else y


def add_pairs(call: Call, a: Complex, b: Complex) -> Complex:
    return Complex(*(call.build.map("x0 + x1", x, y) for x, y in zip(a, b, strict=True)))


@formula("addcmul", "addcdiv")
def add_elements(call: Call, x: Any, a: Any, b: Any, *, value: Any = 1) -> Complex:
    y = mul(call, a, b) if call.op == "addcmul" else div(call, a, b)
    return add_pairs(call, pair(call, x), mul(call, pair(call, y), value))


@formula("linalg_vector_norm")
def vector_norm(call: Call, x: Complex, *args: Any, **kwargs: Any) -> Any:
    return reduction.vector_norm(call, by_arrays(call.build, FUNCTIONS["abs"], x), *args, **kwargs)

