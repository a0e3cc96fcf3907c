"""Complex tensors: pairs of real ones. Movement and sums act on both parts alike, other operators have formulas.

    y = view_as_real(view_as_complex(x) * z)
    →
    y = stack(x[..., 0] * z.re - x[..., 1] * z.im, x[..., 0] * z.im + x[..., 1] * z.re)

So a program with complex numbers, such as a rotary embedding, is one of real numbers, and fuses like one. The formulas
of elementwise functions are those of arrays (``frontends/array/complex``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.fx import Node

from mlc.dialects.graph import broadcast_shapes
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.dtypes import Complex
from mlc.frontends.torch.registry import Call, Translation, name_of, translation_of

BY_PARTS = frozenset(
    (
        *("alias", "as_strided", "clone", "concat", "constant_pad_nd", "contiguous", "cumsum", "detach", "diagonal"),
        *("embedding", "expand", "flip", "gather", "index", "index_select", "lift_fresh", "lift_fresh_copy"),
        *("masked_select", "mean", "neg", "permute", "positive", "repeat", "reshape", "_reshape_alias", "roll"),
        *("select", "slice", "split", "split_with_sizes", "squeeze", "sum", "swapaxes", "t", "transpose", "tril"),
        *("triu", "unbind", "unfold", "_unsafe_index", "_unsafe_view", "unsqueeze", "view"),
        *("reflection_pad1d", "reflection_pad2d", "reflection_pad3d"),
        *("replication_pad1d", "replication_pad2d", "replication_pad3d"),
    )
)
"""Linear operators that give of real and of imaginary parts those of their results."""
NUMBERS: dict[str, tuple[int, ...]] = {
    "cat": (0,), "stack": (0,), "where": (1, 2), "masked_fill": (0, 2), "copy": (0, 1), "index_put": (0, 2),
    "_unsafe_index_put": (0, 2), "slice_scatter": (0, 1), "select_scatter": (0, 1), "scatter": (0, 3),
    "scatter_add": (0, 3), "index_add": (0, 3), "masked_scatter": (0, 2), "full": (1,), "full_like": (1,),
    "new_full": (2,), "scalar_tensor": (0,), "zeros": (), "zeros_like": (), "new_zeros": (), "empty": (),
    "empty_like": (), "new_empty": (), "empty_strided": (), "new_empty_strided": (), "empty_permuted": (),
}  # fmt: skip
"""Operators whose arguments at these positions are numbers, perhaps real ones, whose imaginary part is 0; each is moved
by parts."""
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
    """The translation of an operator on complex numbers.

    Raises:
        NotSupported: nothing.
    """
    name, real = name_of(target), translation_of(target)
    if name in FORMULAS:
        return FORMULAS[name]
    if real is None:
        raise NotSupported("operator not supported")
    plain = name.removesuffix("_copy")
    if plain in NUMBERS:
        return lambda call, *args, **kwargs: _of_numbers(call, real, NUMBERS[plain], args, kwargs)
    if plain not in BY_PARTS or getattr(target, "_overloadname", "") == "dtype":
        raise NotSupported("of complex numbers. Compute it of view_as_real(x)")
    return lambda call, *args, **kwargs: _by_parts(call, real, args, kwargs)


def _by_parts(call: Call, real: Translation, args: Any, kwargs: Any) -> Any:
    re, im = (real(call, *_part(args, n), **_part(kwargs, n)) for n in (0, 1))
    return [Complex(*pair) for pair in zip(re, im, strict=True)] if isinstance(re, list | tuple) else Complex(re, im)


def _part(args: Any, n: int) -> Any:
    """Arguments in which one part replaces each complex tensor."""
    if isinstance(args, dict):
        return {key: _part(each, n) for key, each in args.items()}
    if isinstance(args, list | tuple):
        return [_part(each, n) for each in args]
    return tuple(args)[n] if isinstance(args, Complex) else args


def _of_numbers(call: Call, real: Translation, positions: Sequence[int], args: Any, kwargs: Any) -> Any:
    given = [_paired(call, x) if n in positions else x for n, x in enumerate(args)]
    return _by_parts(call, real, given, kwargs)


def _paired(call: Call, x: Any) -> Any:
    return [pair(call, each) for each in x] if isinstance(x, list | tuple) else pair(call, x)


def formula(*names: str) -> Callable[[Translation], Translation]:
    """Register a translation of operators of complex numbers."""

    def register(function: Translation) -> Translation:
        FORMULAS.update(dict.fromkeys(names, function))
        return function

    return register


def pair(call: Call, x: Any) -> Complex:
    """An operand as a complex one, in the element of the result's parts; the imaginary part of a real one is 0."""
    if isinstance(x, Complex | complex):
        parts = tuple(x) if isinstance(x, Complex) else (x.real, x.imag)
        return Complex(call.tensor(parts[0]), call.tensor(parts[1]))
    re = call.tensor(x)
    return Complex(re, call.build.broadcast(call.tensor(0), re.shape))


def parted(build: Builder, x: Tensor) -> Complex:
    """The parts of a tensor [.., 2]."""
    return Complex(*(build.reshape(build.cut(x, -1, n, 1), x.shape[:-1]) for n in (0, 1)))


def joined(build: Builder, x: Complex) -> Tensor:
    """The parts as a tensor [.., 2]."""
    return build.concat([build.reshape(part, (*part.shape, 1)) for part in x], x.re.rank)


@formula("add", "sub", "rsub")
def add(call: Call, a: Any, b: Any, *, alpha: Any = 1) -> Complex:
    left, right = (pair(call, x) for x in ((b, a) if call.op == "rsub" else (a, b)))
    if alpha != 1:
        right = mul(call, right, complex(alpha) if isinstance(alpha, complex) else alpha)
    expr = "x0 + x1" if call.op == "add" else "x0 - x1"
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


@formula("_conj", "_conj_physical", "conj_physical", "_conj_copy")
def conj(call: Call, x: Complex) -> Complex:
    return Complex(x.re, call.build.formula("-x0", x.im))


@formula("resolve_conj", "resolve_neg", "_to_copy", "to")
def converted(call: Call, x: Any, *_: Any, **__: Any) -> Any:
    """Convert to complex numbers with other parts, from real to complex, or to the real part."""
    if call.gives_complex:
        return pair(call, x)
    if call.element == "i1":
        return call.build.map("(x0 != 0) | (x1 != 0)", *x)
    return x.re


@formula("angle")
def angle(call: Call, x: Complex) -> Tensor:
    return call.build.formula("atan2(x1, x0)", *x)


@formula("complex")
def of_parts(call: Call, re: Tensor, im: Tensor) -> Complex:
    shape = broadcast_shapes([re.shape, im.shape])
    return Complex(*(call.build.broadcast(call.tensor(part), shape) for part in (re, im)))


@formula("polar")
def polar(call: Call, length: Tensor, phase: Tensor) -> Complex:
    return Complex(*(call.build.formula(f"x0 * {part}(x1)", *call.tensors(length, phase)) for part in ("cos", "sin")))


@formula("view_as_complex", "view_as_complex_copy")
def view_as_complex(call: Call, x: Tensor) -> Complex:
    return parted(call.build, x)


@formula("view_as_real", "view_as_real_copy")
def view_as_real(call: Call, x: Complex) -> Tensor:
    return joined(call.build, x)


@formula("ones", "ones_like", "new_ones")
def ones(call: Call, *args: Any, **kwargs: Any) -> Complex:
    real = translation_of(call.node.target)
    assert real is not None
    re = real(call, *(x.re if isinstance(x, Complex) else x for x in args), **kwargs)
    return Complex(re, call.build.broadcast(call.tensor(0), re.shape))


@formula("sym_size", "sym_numel")
def size_of(call: Call, x: Complex, *args: Any) -> Any:
    real = translation_of(call.node.target)
    assert real is not None
    return real(call, x.re, *args)
