"""Complex tensors: pairs of real ones. Movement and sums act on both parts alike, other operators have formulas.

    y = view_as_real(view_as_complex(x) * z)
    →
    y = stack(x[..., 0] * z.re - x[..., 1] * z.im, x[..., 0] * z.im + x[..., 1] * z.re)

So a program with complex numbers, such as a rotary embedding, is one of real numbers, and fuses like one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch.fx import Node

from mlc.dialects.graph import broadcast_shapes
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.dtypes import Complex
from mlc.frontends.torch.registry import Call, Translation, name_of, translation_of

BY_PARTS = frozenset(
    (
        *("alias", "cat", "clone", "concat", "contiguous", "detach", "diagonal", "expand", "flip", "index"),
        *("index_select", "lift_fresh", "mean", "neg", "permute", "positive", "repeat", "reshape", "_reshape_alias"),
        *("roll", "select", "slice", "split", "split_with_sizes", "squeeze", "stack", "sum", "swapaxes", "t"),
        *("transpose", "unbind", "_unsafe_index", "_unsafe_view", "unsqueeze", "view"),
    )
)
"""Linear operators that give of real and of imaginary parts those of their results."""
FORMULAS: dict[str, Translation] = {}


def is_complex(node: Node, args: Any) -> bool:
    """Whether a call gives or takes complex numbers."""
    val = node.meta.get("val")
    made = val if isinstance(val, tuple | list) else [val]
    return _has_complex(args) or any(getattr(getattr(each, "dtype", None), "is_complex", False) for each in made)


def _has_complex(args: Any) -> bool:
    if isinstance(args, Mapping):
        args = list(args.values())
    return any(map(_has_complex, args)) if isinstance(args, tuple | list) else isinstance(args, Complex | complex)


def complex_translation(target: Any) -> Translation:
    """What translates an operator of complex numbers.

    Raises:
        NotSupported: nothing.
    """
    name, real = name_of(target), translation_of(target)
    if name in FORMULAS:
        return FORMULAS[name]
    if real is None:
        raise NotSupported("operator not supported")
    if name.removesuffix("_copy") not in BY_PARTS or getattr(target, "_overloadname", "") == "dtype":
        raise NotSupported("of complex numbers. Compute it of view_as_real(x)")
    return lambda call, *args, **kwargs: _by_parts(call, real, args, kwargs)


def _by_parts(call: Call, real: Translation, args: Any, kwargs: Any) -> Any:
    re, im = (real(call, *_part(args, n), **_part(kwargs, n)) for n in (0, 1))
    return [Complex(*pair) for pair in zip(re, im, strict=True)] if isinstance(re, list | tuple) else Complex(re, im)


def _part(args: Any, n: int) -> Any:
    """Arguments with a part in place of each complex tensor."""
    if isinstance(args, dict):
        return {key: _part(each, n) for key, each in args.items()}
    if isinstance(args, list | tuple):
        return [_part(each, n) for each in args]
    return tuple(args)[n] if isinstance(args, Complex) else args


def formula(*names: str) -> Callable[[Translation], Translation]:
    """Register a translation of operators of complex numbers."""

    def register(function: Translation) -> Translation:
        FORMULAS.update(dict.fromkeys(names, function))
        return function

    return register


def pair(call: Call, x: Any) -> Complex:
    """An operand as a complex one, in the element of the result's parts."""
    re, im = x if isinstance(x, Complex) else (x.real, x.imag) if isinstance(x, complex) else (x, 0)
    return Complex(call.tensor(re), call.tensor(im))


@formula("add", "sub")
def add(call: Call, a: Any, b: Any, *, alpha: float = 1) -> Complex:
    left, right = pair(call, a), pair(call, b)
    expr = f"x0 {'-' if call.op == 'sub' else '+'} {float(alpha)!r} * x1" if alpha != 1 else "x0 + x1"
    expr = "x0 - x1" if alpha == 1 and call.op == "sub" else expr
    return Complex(*(call.build.formula(expr, x, y) for x, y in zip(left, right, strict=True)))


@formula("mul")
def mul(call: Call, a: Any, b: Any) -> Complex:
    if not isinstance(a, Complex | complex) or not isinstance(b, Complex | complex):  # so an infinity times i is no NaN
        return Complex(*(call.build.formula("x0 * x1", *call.tensors(x, y)) for x, y in _scaled(call, a, b)))
    left, right = pair(call, a), pair(call, b)
    parts = (left.re, right.re, left.im, right.im), (left.re, right.im, left.im, right.re)
    return Complex(*(call.build.formula(f"x0 * x1 {sign} x2 * x3", *xs) for sign, xs in zip("-+", parts, strict=True)))


def _scaled(call: Call, a: Any, b: Any) -> list[tuple[Any, Any]]:
    number, factor = (a, b) if isinstance(a, Complex | complex) else (b, a)
    return [(part, factor) for part in pair(call, number)]


@formula("div")
def div(call: Call, a: Any, b: Any) -> Complex:
    if not isinstance(b, Complex | complex):
        return Complex(*(call.build.formula("x0 / x1", part, call.tensor(b)) for part in pair(call, a)))
    left, right = pair(call, a), pair(call, b)
    xs = (*left, *right)
    norm = "(x2 * x2 + x3 * x3)"
    return Complex(*(call.build.formula(f"({top}) / {norm}", *xs)
                     for top in ("x0 * x2 + x1 * x3", "x1 * x2 - x0 * x3")))  # fmt: skip


@formula("_conj", "_conj_physical", "conj_physical", "_conj_copy")
def conj(call: Call, x: Complex) -> Complex:
    return Complex(x.re, call.build.formula("-x0", x.im))


@formula("resolve_conj", "resolve_neg", "_to_copy", "to")
def converted(call: Call, x: Any, *_: Any, **__: Any) -> Any:
    """To complex numbers of other parts, from real ones, or to their real part."""
    return pair(call, x) if call.gives_complex else x.re


@formula("abs")
def absolute(call: Call, x: Complex) -> Tensor:
    return call.build.formula("sqrt(x0 * x0 + x1 * x1)", *x)


@formula("angle")
def angle(call: Call, x: Complex) -> Tensor:
    return call.build.formula("atan2(x1, x0)", *x)


@formula("exp")
def exp(call: Call, x: Complex) -> Complex:
    return Complex(*(call.build.formula(f"exp(x0) * {part}(x1)", *x) for part in ("cos", "sin")))


@formula("complex")
def of_parts(call: Call, re: Tensor, im: Tensor) -> Complex:
    shape = broadcast_shapes([re.shape, im.shape])
    return Complex(*(call.build.broadcast(call.tensor(part), shape) for part in (re, im)))


@formula("polar")
def polar(call: Call, length: Tensor, phase: Tensor) -> Complex:
    return Complex(*(call.build.formula(f"x0 * {part}(x1)", *call.tensors(length, phase)) for part in ("cos", "sin")))


@formula("view_as_complex", "view_as_complex_copy")
def view_as_complex(call: Call, x: Tensor) -> Complex:
    shape = x.shape[:-1]
    return Complex(*(call.build.reshape(call.build.cut(x, -1, n, 1), shape) for n in (0, 1)))


@formula("view_as_real", "view_as_real_copy")
def view_as_real(call: Call, x: Complex) -> Tensor:
    return call.build.concat([call.build.reshape(part, (*part.shape, 1)) for part in x], len(x.re.shape))


@formula("sym_size", "sym_numel")
def size_of(call: Call, x: Complex, *args: Any) -> Any:
    real = translation_of(call.node.target)
    assert real is not None
    return real(call, x.re, *args)
