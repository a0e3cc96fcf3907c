"""What a jitted function takes: defaults, methods, dataclasses, arrays of other packages, and captured NumPy arrays."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.frontends.array.array import TraceError

X = np.arange(6, dtype="f4").reshape(2, 3)
TABLE = np.arange(12, dtype="f4").reshape(3, 4)


@pytest.mark.parametrize("f", [mnp.sum, mnp.mean, mnp.sort, mnp.argmax, mnp.std])
def test_functions_of_the_library_have_static_defaults(f: Any) -> None:
    np.testing.assert_allclose(mlc.jit(f)(X), getattr(np, f.__name__)(X), rtol=1e-6)


def test_a_parameter_that_is_left_out_is_static() -> None:
    @mlc.jit(wait=True)
    def f(x: Any, training: bool = True, scale: float = 2.0, *, mode: str = "a", axes: Any = (0, 1)) -> Any:
        y = x * scale if training and mode == "a" else -x
        return mnp.sum(y, axis=axes)

    for _ in range(3):
        assert float(f(X)) == 30 and float(f(X, scale=3.0)) == 45 and float(f(scale=np.float32(4), x=X)) == 60
    assert len(f.programs) == 2  # without a scale and with one


def test_a_call_by_keyword_is_not_taken_for_one_by_position() -> None:
    @mlc.jit(wait=True)
    def f(x: Any, y: Any = None, z: Any = None) -> Any:
        return x if y is None and z is None else x + y if z is None else x - z

    for _ in range(2):
        np.testing.assert_array_equal(f(X), X)
        np.testing.assert_array_equal(f(X, z=X), 0 * X)
        np.testing.assert_array_equal(f(X, X), 2 * X)


class Scaled:
    """Methods of an object that is no tree."""

    def __init__(self, factor: float, table: Any, power: int = 1) -> None:
        self.factor, self.table, self.power, self.notes = factor, table, power, ["a note"]

    @mlc.jit
    def times(self, x: Any, more: float = 1.0) -> Any:
        return (x * self.factor * more + self.table) ** self.power

    @classmethod
    @mlc.jit
    def twice(cls, x: Any) -> Any:
        return x * 2 if cls is Scaled else x

    @staticmethod
    @mlc.jit
    def thrice(x: Any) -> Any:
        return x * 3


def test_methods_see_their_objects_as_they_are() -> None:
    one, two = Scaled(3.0, np.float32(1)), Scaled(7.0, X)
    np.testing.assert_array_equal(one.times(X), 3 * X + 1)
    np.testing.assert_array_equal(two.times(X), 8 * X)
    one.factor, one.table, one.power = 5.0, X, 2
    np.testing.assert_array_equal(one.times(X, more=2.0), (11 * X) ** 2)
    np.testing.assert_array_equal(Scaled.times(two, X), 8 * X)
    np.testing.assert_array_equal(Scaled.twice(X), 2 * X)
    np.testing.assert_array_equal(Scaled.thrice(X), 3 * X)
    np.testing.assert_array_equal(mlc.jit(one.times)(X), (6 * X) ** 2)


def test_arrays_of_an_object_are_arguments() -> None:
    made = Scaled(1.0, X)
    before = len(Scaled.times.programs)
    for n in range(3):
        made.table = X + n
        np.testing.assert_array_equal(made.times(X), 2 * X + n)
    assert len(Scaled.times.programs) == before + 1 and list(made.times.lower(X).inputs) == ["self.table", "x"]


@dataclasses.dataclass(frozen=True)
class Line:
    slope: Any
    shift: Any = 0.0
    name: str = "line"
    steps: int = dataclasses.field(default=2, metadata={"static": True})


def test_dataclasses_are_trees() -> None:
    @mlc.jit
    def moved(line: Line, x: Any) -> Line:
        assert isinstance(line.steps, int) and line.name == "line"
        return dataclasses.replace(line, slope=line.slope * x, shift=line.shift + line.steps)

    line = moved(Line(X), X)
    np.testing.assert_array_equal(line.slope, X * X)
    assert float(line.shift) == 2 and line.steps == 2
    slopes = mlc.grad(lambda line: mnp.sum(line.slope * line.slope) + line.shift)(Line(X, 1.0))
    np.testing.assert_array_equal(slopes.slope, 2 * X)


class Foreign:
    """An array of another package."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __dlpack__(self, **options: Any) -> Any:
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.data.__dlpack_device__()


def test_arrays_of_other_packages_and_scalars() -> None:
    f = mlc.jit(lambda x, s: x * s, wait=True)
    for scalar in (2, 2.0, np.float32(2), np.int64(2), np.float16(2), np.uint8(2), Foreign(np.array(2.0))):
        for _ in range(2):
            np.testing.assert_array_equal(f(Foreign(X.copy()), scalar), 2 * X)


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    np.testing.assert_array_equal(mlc.jit(lambda x: x + 1)(torch.ones(2, 3)), np.full((2, 3), 2, "f4"))


def test_captured_arrays_are_indexed_by_traced_values() -> None:
    inner = TABLE.copy()
    i, j = np.array([2, 0]), np.array([1, 3])
    np.testing.assert_array_equal(mlc.jit(lambda i: TABLE[i])(i), TABLE[i])
    np.testing.assert_array_equal(mlc.jit(lambda i: inner[i] + inner.T[1][i][:, None])(i), TABLE[i] + TABLE[i, 1:2])
    np.testing.assert_array_equal(mlc.jit(lambda i, j: TABLE[i, j])(i, j), TABLE[i, j])
    np.testing.assert_array_equal(mlc.jit(lambda n: TABLE[n])(np.int64(1)), TABLE[1])
    np.testing.assert_array_equal(mlc.vmap(lambda n: TABLE[n])(i), TABLE[i])
    np.testing.assert_array_equal(mlc.compute((3, 4), lambda i, j: TABLE[i, j] * 2), TABLE * 2)
    total = mlc.compute((3,), lambda i: mlc.reduce("add", 4, lambda k: inner[i, k]))
    np.testing.assert_array_equal(total, TABLE.sum(1))


def test_numpy_functions_on_traced_arrays_say_what_to_write() -> None:
    with pytest.raises(TraceError, match=r"NumPy asks for the elements.*mlc\.numpy"):
        mlc.jit(lambda x: np.linalg.norm(x))(X)


def test_further_arguments_of_repeated_calls() -> None:
    """The short way of calls like the one before is also that of ``*xs``: other counts and trees are other programs."""
    f = mlc.jit(lambda a, *xs: sum((x[0] * x[1] if isinstance(x, tuple) else x for x in xs), a * 2), wait=True)
    a, b = np.arange(3.0), np.ones(3)
    for given in ((a, b), (a,), (a, b, a), (a, (a, b)), (a, (a, b), b), (a, a, 2.0)):
        wanted = sum((x[0] * x[1] if isinstance(x, tuple) else x for x in given[1:]), given[0] * 2)
        for _ in range(3):
            np.testing.assert_array_equal(f(*given), wanted)
