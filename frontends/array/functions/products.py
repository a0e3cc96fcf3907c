"""Products: matmul, tensordot, vecdot, einsum; each is a ``graph.contract``. Source: Array API 2025.12, NumPy."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike
from mlc.errors import InputError
from mlc.frontends.array.array import Array, apply, linear
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert, formulas, is_complex, operands
from mlc.frontends.array.functions.reductions import reduce
from mlc.frontends.array.functions.shapes import of_matrices
from mlc.frontends.array.functions.shaping import moveaxis, permute_dims, reshape
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


def contracted(build: Builder, xs: Sequence[Tensor], equation: str) -> Tensor:
    return build.contract(equation, xs[0], xs[1])


def contract(equation: str, a: Array, b: Array) -> Array:
    """The sum of products of two arrays; an index of extent 1 beside another extent is repeated.

    Raises:
        InputError: an index has two extents.
    """
    left, right, result = equation.replace("->", ",").split(",")
    if is_complex(a, b):
        return formulas().bilinear(lambda x, y: contract(equation, x, y), a, b)
    if a.element == "i1":
        return FUNCTIONS["not_equal"](contract(equation, convert(a, "i32"), convert(b, "i32")), 0)
    sizes = _sizes(equation, (left, a), (right, b))
    (left, a), (right, b) = _without_ones(left, a, sizes), _without_ones(right, b, sizes)
    kept = "".join(c for c in result if c in left or c in right)
    made = apply(contracted, [a, b], (f"{left},{right}->{kept}",), a.element, [sizes[c] for c in kept])
    return reshape(made, [sizes[c] for c in result])


def _sizes(equation: str, *given: tuple[str, Array]) -> dict[str, DimLike]:
    sizes: dict[str, DimLike] = {}
    for letters, x in given:
        for c, extent in zip(letters, x.shape, strict=True):
            if sizes.setdefault(c, extent) == 1:
                sizes[c] = extent
            if extent not in (1, sizes[c]):
                shapes = " and ".join(str(x.shape) for _, x in given)
                raise InputError(f"A product of shapes {shapes} ({equation}): index {c} is {sizes[c]} and {extent}")
    return sizes


def _without_ones(letters: str, x: Array, sizes: dict[str, DimLike]) -> tuple[str, Array]:
    kept = [n for n, c in enumerate(letters) if x.shape[n] == sizes[c]]
    return "".join(letters[n] for n in kept), reshape(x, [x.shape[n] for n in kept])


def matmul(x1: Any, x2: Any, /) -> Array:
    """Products of matrices in the last two dimensions, broadcast over the others; of vectors where there is one."""
    a, b = operands(x1, x2)
    if not a.ndim or not b.ndim:
        raise InputError(
            f"matmul takes no numbers, as of shapes {a.shape} and {b.shape}", hint="Multiply by a number with *"
        )
    outer = string.ascii_lowercase[: max(a.ndim, b.ndim, 2) - 2]
    left = (outer[len(outer) - a.ndim + 2 :] + "Mk") if a.ndim > 1 else "k"
    right = (outer[len(outer) - b.ndim + 2 :] + "kN") if b.ndim > 1 else "k"
    rows, columns = "M" if a.ndim > 1 else "", "N" if b.ndim > 1 else ""
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise InputError(
            f"The shapes {a.shape} and {b.shape} have no product by matmul", hint="The inner extents must be equal"
        )
    return contract(f"{left},{right}->{outer}{rows}{columns}".replace("k", "K"), a, b)


def tensordot(x1: Any, x2: Any, /, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Array:
    """Sums of products over ``axes``: the last and first so many, or two lists."""
    a, b = operands(x1, x2)
    over = (range(a.ndim - axes, a.ndim), range(axes)) if isinstance(axes, int) else axes
    lefts, rights = ([n % x.ndim for n in which] for which, x in zip(over, (a, b), strict=True))
    letters = iter(string.ascii_letters)
    left = [next(letters) for _ in range(a.ndim)]
    right = [left[lefts[rights.index(n)]] if n in rights else next(letters) for n in range(b.ndim)]
    kept = [c for n, c in enumerate(left) if n not in lefts] + [c for n, c in enumerate(right) if n not in rights]
    for n, m in zip(lefts, rights, strict=True):
        if a.shape[n] != b.shape[m]:
            what = f"tensordot of shapes {a.shape} and {b.shape}: {a.shape[n]} and {b.shape[m]} are not equal"
            raise InputError(what, hint="Give axes of equal extents")
    return contract(f"{''.join(left)},{''.join(right)}->{''.join(kept)}", a, b)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Sums of products along one axis, broadcast over the others; of the conjugate of ``x1``."""
    a, b = operands(x1, x2)
    a = FUNCTIONS["conj"](a)
    a, b = moveaxis(a, axis, -1), moveaxis(b, axis, -1)
    if a.shape[-1] != b.shape[-1]:
        what = f"vecdot of shapes {a.shape} and {b.shape}: the extents along axis {axis} are not equal"
        raise InputError(what)
    outer = string.ascii_lowercase[: max(a.ndim, b.ndim) - 1]
    left, right = (outer[len(outer) - x.ndim + 1 :] + "K" for x in (a, b))
    return contract(f"{left},{right}->{outer}", a, b)


def outer(x1: Any, x2: Any, /) -> Array:
    """All products of the elements of two vectors."""
    a, b = operands(x1, x2)
    return contract("a,b->ab", reshape(a, (-1,)), reshape(b, (-1,)))


def einsum(equation: Any, /, *arrays: Any, optimize: Any = None, precision: Any = None) -> Array:
    """Sums of products by index letters, such as ``"bij,bjk->bik"``; several arrays from left to right.

    ``...`` stands for further dimensions, which are broadcast; a letter that an array has twice is its diagonal. In
    place of an equation, arrays may each be followed by a list of integers, and the result's come last.

    Raises:
        InputError: the equation does not fit the arrays.
    """
    if not isinstance(equation, str):
        equation, arrays = _of_lists((equation, *arrays))
    given = operands(*arrays)
    inputs, result = _parsed(equation, given)
    pairs = [_without_repeats(t, x) for t, x in zip(inputs, given, strict=True)]
    inputs, given = [t for t, _ in pairs], [x for _, x in pairs]
    letters, x = inputs[0], given[0]
    for n, (other, y) in enumerate(zip(inputs[1:], given[1:], strict=True), 2):
        needed = set(result).union(*inputs[n:])
        letters, x = _summed(letters, x, needed | set(other))
        other, y = _summed(other, y, needed | set(letters))
        kept = "".join(c for c in dict.fromkeys(letters + other) if c in needed)
        letters, x = kept, contract(f"{letters},{other}->{kept}", x, y)
    letters, x = _summed(letters, x, set(result))
    return permute_dims(x, [letters.index(c) for c in result])


def _of_lists(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The equation of arrays with lists of numbers."""
    arrays, lists = given[: len(given) // 2 * 2 : 2], given[1::2]
    words = ["".join("..." if n is Ellipsis else string.ascii_letters[n] for n in each) for each in lists]
    result = "".join("..." if n is Ellipsis else string.ascii_letters[n] for n in given[-1])
    return ",".join(words) + (f"->{result}" if len(given) % 2 else ""), arrays


def _without_repeats(letters: str, x: Array) -> tuple[str, Array]:
    """An operand as its diagonal along letters that it has twice."""
    twice = next((c for c in letters if letters.count(c) > 1), None)
    if twice is None:
        return letters, x
    first, second = letters.index(twice), letters.rindex(twice)
    if x.shape[first] != x.shape[second]:
        raise InputError(f"einsum: index {twice} of shape {x.shape} is {x.shape[first]} and {x.shape[second]}")
    rest = [n for n in range(x.ndim) if n not in (first, second)]
    diagonals = diagonal(permute_dims(x, [*rest, first, second]))
    return _without_repeats("".join(letters[n] for n in rest) + twice, diagonals)


def _parsed(equation: str, given: list[Array]) -> tuple[list[str], str]:
    text = equation.replace(" ", "")
    left, arrow, result = text.partition("->")
    inputs = left.split(",")
    if len(inputs) == len(given):
        inputs, result = _spelled_out(inputs, result, bool(arrow), given)
    fits = len(inputs) == len(given) and all(len(t) == x.ndim for t, x in zip(inputs, given, strict=False))
    if not fits or any(not t.isalpha() and t for t in (*inputs, result)) or set(result) - set("".join(inputs)):
        shapes = ", ".join(str(x.shape) for x in given)
        raise InputError(f"einsum '{equation}' does not fit the shapes {shapes}", hint="Give one letter a dimension")
    if len(set(result)) < len(result):
        raise InputError(f"einsum '{equation}' repeats an index in the result", hint="Use diag of the result")
    return inputs, result


def _spelled_out(inputs: list[str], result: str, arrow: bool, given: list[Array]) -> tuple[list[str], str]:
    """Letters in place of ``...``, and the result's where there is no arrow: those that occur once, in order."""
    free = [c for c in string.ascii_letters if c not in "".join(inputs) + result]
    counts = [x.ndim - len(t.replace("...", "")) for t, x in zip(inputs, given, strict=True)]
    most = max([n for t, n in zip(inputs, counts, strict=True) if "..." in t], default=0)
    more = "".join(free[:most])
    full = [t.replace("...", more[len(more) - n :] if n > 0 else "") for t, n in zip(inputs, counts, strict=True)]
    every = "".join(t.replace("...", "") for t in inputs)
    once = "".join(sorted(c for c in set(every) if every.count(c) == 1))
    return full, result.replace("...", more) if arrow else more + once


def _summed(letters: str, x: Array, needed: set[str]) -> tuple[str, Array]:
    axes = tuple(n for n, c in enumerate(letters) if c not in needed)
    return "".join(c for c in letters if c in needed), reduce("sum", x, axes, False) if axes else x


def diagonal(x: Any, /) -> Array:
    """The main diagonals of the last two dimensions."""
    given = of_matrices("diagonal", x)
    rows, columns = given.shape[-2:]
    least = rows if rows == columns else min((d for d in (rows, columns) if isinstance(d, int)), default=None)
    if least is None:
        hint = "Fix one of its last two dimensions"
        raise InputError(f"mlc.numpy.diagonal of an array of shape {given.shape}, which is open", hint=hint)
    return apply(diagonals, [given], (least,), given.element, (*given.shape[:-2], least))


@linear
def diagonals(build: Builder, xs: Sequence[Tensor], size: DimLike) -> Tensor:
    (x,) = xs
    names = [f"i{n}" for n in range(x.rank - 1)]
    return build.compute(f"x0[{', '.join([*names, names[-1]])}]", [x], (*x.shape[:-2], size))


PUBLIC = ("einsum", "matmul", "outer", "tensordot", "vecdot")
