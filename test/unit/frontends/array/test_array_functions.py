"""Functions of ``mlc.numpy`` against NumPy, evaluated line by line, and all of them compiled as one program."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp

RNG = np.random.default_rng(20260)
A = RNG.normal(size=(3, 1, 5)).astype(np.float32)
B = (RNG.normal(size=(4, 5)) * 2).astype(np.float32)
P = RNG.uniform(0.1, 0.9, size=(4, 5)).astype(np.float32)
M, N = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(4, 5))  # float64
K, J = RNG.integers(-9, 9, size=(4, 5)), RNG.integers(1, 7, size=(5,))
T = RNG.integers(0, 4, size=(2, 3))
R = RNG.normal(size=(2, 4, 3, 2))
Q = RNG.normal(size=(3, 3)).astype(np.float32)
F = RNG.integers(0, 2, size=(4, 5)).astype(bool)

UNARY = """
    abs ceil exp expm1 floor negative round sign sin square tanh trunc cos sinh cosh atan asinh
"""
PROBABLE = ["acos", "asin", "atanh", "log", "log10", "log1p", "log2", "reciprocal", "sqrt", "tan"]
BINARY = "add atan2 equal floor_divide greater greater_equal hypot less less_equal logical_and maximum minimum multiply"
INTEGER = [name for name in BINARY.split() if name not in ("atan2", "hypot")]
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    **{name: (getattr(mnp, name), getattr(np, name), (B,)) for name in UNARY.split()},
    **{name: (getattr(mnp, name), getattr(np, name), (P,)) for name in PROBABLE},
    **{name: (getattr(mnp, name), getattr(np, name), (A, B)) for name in BINARY.split()},
    **{f"{name}_i": (getattr(mnp, name), getattr(np, name), (K, J)) for name in INTEGER},
    **{
        f"{name} {axis} {keepdims}": (
            lambda x, f=name, a=axis, k=keepdims: getattr(mnp, f)(x, axis=a, keepdims=k),
            lambda x, f=name, a=axis, k=keepdims: getattr(np, f)(x, axis=a, keepdims=k),
            (M,),
        )
        for name in ("sum", "prod", "max", "min", "mean", "std", "var", "argmax", "argmin", "all", "any")
        for axis, keepdims in ((None, False), (1, True), (-1, False))
    },
    "remainder": (mnp.remainder, np.remainder, (K, J)),
    "divide": (mnp.divide, np.divide, (A, B)),
    "divide_i": (mnp.divide, lambda a, b: (a / b).astype(np.float32), (K, J)),
    "pow": (lambda x: x**2.5, lambda x: x**np.float32(2.5), (P,)),
    "pow_i": (lambda x: x**3, lambda x: x**3, (K,)),
    "bits": (lambda a, b: (a & b) ^ (a | 3), lambda a, b: (a & b) ^ (a | 3), (K, J)),
    "shift": (lambda a, b: (a << b) >> 2, lambda a, b: (a << b) >> 2, (K, J)),
    "invert": (lambda a: ~a, lambda a: ~a, (F,)),
    "where": (mnp.where, np.where, (F, A, B)),
    "clip": (lambda x: mnp.clip(x, -1, 0.5), lambda x: np.clip(x, -1, 0.5), (B,)),
    "astype": (lambda x: mnp.astype(x * 3, np.int32), lambda x: (x * 3).astype(np.int32), (B,)),
    "isnan": (lambda x: mnp.isnan(mnp.log(x)), lambda x: x < 0, (B,)),
    "isfinite": (lambda x: mnp.isfinite(1 / (x * 0)), lambda x: x != x, (B,)),
    "sum of several axes": (lambda x: mnp.sum(x, axis=(0, 2)), lambda x: x.sum((0, 2)), (M,)),
    "narrow sum": (mnp.sum, np.sum, (K.astype(np.int8),)),
    "count_nonzero": (mnp.count_nonzero, np.count_nonzero, (T,)),
    "cumulative_sum": (lambda x: mnp.cumulative_sum(x, axis=1), lambda x: np.cumsum(x, 1), (M,)),
    "cumulative_prod": (lambda x: mnp.cumulative_prod(x, axis=-1), lambda x: np.cumprod(x, -1), (M,)),
    "reshape": (lambda x: mnp.reshape(x, (4, -1)), lambda x: x.reshape(4, -1), (M,)),
    "permute": (lambda x: mnp.permute_dims(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1), (M,)),
    "moveaxis": (lambda x: mnp.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1), (M,)),
    "broadcast": (lambda x: mnp.broadcast_to(x, (3, 2, 5)), lambda x: np.broadcast_to(x, (3, 2, 5)), (A,)),
    "squeeze": (lambda x: mnp.squeeze(x, 1), lambda x: x.squeeze(1), (A,)),
    "concat": (lambda x, y: mnp.concat([x, y, x], axis=0), lambda x, y: np.concatenate([x, y, x]).astype("f4"), (B, K)),
    "stack": (lambda x, y: mnp.stack([x, y], axis=1), lambda x, y: np.stack([x, y], 1), (B, P)),
    "flip": (lambda x: mnp.flip(x, axis=-1), lambda x: np.flip(x, -1), (B,)),
    "roll": (lambda x: mnp.roll(x, (1, -2), axis=(0, 1)), lambda x: np.roll(x, (1, -2), (0, 1)), (B,)),
    "flat roll": (lambda x: mnp.roll(x, 7), lambda x: np.roll(x, 7), (B,)),
    "tile": (lambda x: mnp.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3)), (B,)),
    "slices": (lambda x: x[1, ::2, 3:0:-1], lambda x: x[1, ::2, 3:0:-1], (M,)),
    "negative": (lambda x: x[..., -1, None], lambda x: x[..., -1, None], (M,)),
    "empty": (lambda x: mnp.sum(x[:, 2:2], axis=1), lambda x: x[:, 2:2].sum(1), (M,)),
    "gather": (lambda x, t: x[:, t], lambda x, t: x[:, t], (N, T)),
    "gather two": (lambda x, t: x[t, t + 1], lambda x, t: x[t, t + 1], (N, T)),
    "gather around": (lambda x, t: x[t[0], :, 1:, t[1]], lambda x, t: x[t[0], :, 1:, t[1]], (R, T % 2)),
    "take": (lambda x, t: mnp.take(x, t, axis=1), lambda x, t: np.take(x, t, 1), (N, T)),
    "along": (
        lambda x: mnp.take_along_axis(x, mnp.astype(x > 0, int) * 2, axis=1),
        lambda x: np.take_along_axis(x, (x > 0).astype(int) * 2, 1),
        (N,),
    ),
    "matmul": (mnp.matmul, np.matmul, (M, N)),
    "matvec": (lambda a, b: a @ b[:, 0], lambda a, b: a @ b[:, 0], (M, N)),
    "vecmat": (lambda a, b: a[0, 0] @ b, lambda a, b: a[0, 0] @ b, (M, N)),
    "batches": (lambda a, b: a @ b[:, None], lambda a, b: a @ b[:, None], (M, RNG.normal(size=(5, 4, 3)))),
    "tensordot": (lambda a, b: mnp.tensordot(a, b, axes=1), lambda a, b: np.tensordot(a, b, 1), (M, N)),
    "vecdot": (lambda a, b: mnp.vecdot(a, b[0]), lambda a, b: (a * b[0]).sum(-1), (B, P)),
    "einsum": (lambda a, b: mnp.einsum("bij,jk->kb", a, b), lambda a, b: np.einsum("bij,jk->kb", a, b), (M, N)),
    "einsum of three": (
        lambda a, b: mnp.einsum("bij,jk,bi->k", a, b, a[:, :, 0]),
        lambda a, b: np.einsum("bij,jk,bi->k", a, b, a[:, :, 0]),
        (M, N),
    ),
    "trace": (mnp.trace, np.trace, (Q,)),
    "triangles": (lambda x: mnp.tril(x, k=-1) - mnp.triu(x, k=1), lambda x: np.tril(x, -1) - np.triu(x, 1), (Q,)),
    "eye": (lambda x: x + mnp.eye(3, k=1), lambda x: x + np.eye(3, k=1, dtype="f4"), (Q,)),
    "arange": (lambda x: x * mnp.arange(9, 4, -1), lambda x: x * np.arange(9, 4, -1), (K,)),
    "linspace": (lambda x: x * mnp.linspace(-1, 2, 5), lambda x: x * np.linspace(-1, 2, 5, dtype="f4"), (B,)),
    "meshgrid": (
        lambda x: mnp.stack(mnp.meshgrid(x[0], x[1, :2])),
        lambda x: np.stack(np.meshgrid(x[0], x[1, :2])),
        (B,),
    ),
}  # fmt: skip


def compare(actual: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    tolerance = 1e-12 if expected.dtype == np.float64 else 3e-6
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", CASES)
def test_line_by_line(name: str) -> None:
    ours, theirs, arrays = CASES[name]
    compare(ours(*map(mnp.asarray, arrays)), theirs(*arrays))


def test_compiled() -> None:
    """Every case in one program: one run of the C compiler."""
    arrays = {name: case[2] for name, case in CASES.items()}
    results = mlc.jit(lambda given: {name: CASES[name][0](*xs) for name, xs in given.items()})(arrays)
    for name, (_, theirs, xs) in CASES.items():
        compare(results[name], theirs(*xs))


def test_a_method_of_numpy_that_arrays_do_not_have() -> None:
    with pytest.raises(AttributeError, match=r"an array has no attribute 'median'. Use mlc.numpy.median\(x\)"):
        _ = mnp.ones(3).median
    with pytest.raises(AttributeError, match="an array has no attribute 'total'$"):
        _ = mnp.ones(3, dtype="complex64").total
    assert not hasattr(mnp.ones(3), "__array_interface__")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "complex64"])
def test_pickled_and_copied(dtype: str) -> None:
    x = mnp.astype(mnp.asarray(B), dtype)
    for each in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy({"x": [x]})["x"][0]):
        assert each.dtype == x.dtype and np.array_equal(each.numpy(), x.numpy())


def test_bfloat16_by_name_needs_no_other_package_first() -> None:
    code = "import mlc.numpy as mnp; print(mnp.ones(3, dtype='bfloat16').dtype == mnp.bfloat16)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr
