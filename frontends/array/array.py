"""Arrays: lazy values of an element type and a shape; an operator adds a record to the trace.

An array is data, or a record that is evaluated when somebody asks for its elements. The arguments of a function that
is traced (``jit``) have no elements; asking for them is an error that shows the line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import Dim, DimLike, product
from mlc.dialects.types import Shape, numpy_dtype
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.methods.conversions import Conversions
from mlc.frontends.array.methods.numpy_names import Methods
from mlc.frontends.array.methods.operators import Operators
from mlc.frontends.array.record import Emit, Record, check_not_donated, dimension, of_data, record, where_called
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


class TraceError(InputError):
    """A traced function asks for a value that is known only when the function runs."""


class Array(Operators, Methods, Conversions):
    """A lazy n-dimensional array. Made by ``mlc.numpy.asarray`` and by operators on arrays.

    Its elements never change: ``x[key] = v`` gives ``x`` others.
    """

    __slots__ = ("__weakref__", "_record", "value")
    __array_priority__ = 100

    def __init__(self, given: Record) -> None:
        self._record: Record | None = given
        self.value = given.data

    @classmethod
    def of(cls, value: np.ndarray[Any, Any]) -> Array:
        """An array of elements that nobody may change afterwards; the record is made when an operation needs one."""
        made = cls.__new__(cls)
        made._record, made.value = None, value
        return made

    @property
    def record(self) -> Record:
        if self._record is None:
            assert self.value is not None
            self._record = of_data(self.value)
        return self._record

    def become(self, other: Array) -> None:
        """Take over the elements of another array: ``x[key] = v``. Those who hold the old ones keep them."""
        self._record, self.value = other._record, other.value

    def same(self) -> Array:
        """A second array with the same elements, which keeps them when this one is assigned to."""
        made = Array.of(self.value) if self.value is not None else Array(self.record)
        made._record = self._record
        return made

    def give_away(self, to: str) -> None:
        """Give the elements to a call that overwrites them. ``to`` names the call in the error of a later use."""
        self._record, self.value = self.record.as_donated(to), None

    def operand(self) -> Record:
        """The array's record, for use as an operand of a new one. An array that has been evaluated drops its trace,
        unless a derivative needs it.
        """
        if self.value is None:
            check_not_donated(self.record)
        if self.value is not None and self.record.data is None and not self.is_varied():
            self._record = of_data(self.value)
        return self.record

    @property
    def traced(self) -> bool:
        """Whether the elements depend on an argument of a function that is being traced: then they do not exist yet."""
        return self.record.traced

    def is_varied(self) -> bool:
        """Whether a derivative may still be taken through this array, by something that it depends on."""
        return self._record is not None and any(not each.closed for each in self._record.variables)

    @property
    def shape(self) -> Shape:
        return self.record.shape

    @property
    def element(self) -> str:
        return self.record.element

    @property
    def dtype(self) -> np.dtype[Any]:
        return numpy_dtype(self.element)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> DimLike:
        return product(self.shape)

    @property
    def device(self) -> str:
        return "cpu"

    def to_device(self, device: str, /, *, stream: Any = None) -> Array:
        if device != "cpu":
            raise ValueError(f"there is no device '{device}'; arrays are on 'cpu'")
        return self

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements as a NumPy array, which evaluates the trace. Callers must not write to it.

        Raises:
            TraceError: it depends on an argument of a function that is traced.
        """
        from mlc.frontends.array.evaluate import evaluate

        if self.value is None:
            evaluate([self])
        assert self.value is not None
        return self.value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if self.traced:
            hint = "Use the function of mlc.numpy in place of NumPy's; to index a NumPy array, mlc.numpy.asarray(a)[i]"
            raise TraceError(f"{where_called()}: NumPy asks for the elements of a traced array", hint=hint)
        return np.array(self.numpy(), dtype, copy=copy)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return import_module("mlc.numpy")  # which adds the compiler that no frontend knows

    def __reduce__(self) -> tuple[Any, ...]:
        return from_numpy, (self.numpy(),)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array of rank 0 has no len()")
        if isinstance(self.shape[0], Dim):
            what = f"len() cannot be known: the dimension '{self.shape[0]}' is open"
            raise TraceError(what, hint="Use x.shape[0]")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return (self[n] for n in range(len(self)))

    def __repr__(self) -> str:
        if self.traced:
            return f"Array({dtypes.text(self.element, self.shape)}, traced)"
        return f"Array({np.array2string(self.numpy(), separator=', ', prefix='Array(')}, dtype={self.dtype})"

    __hash__ = None  # type: ignore[assignment]


def apply(
    emit: Emit, operands: Sequence[Array], params: tuple[Any, ...], element: str, shape: Sequence[DimLike]
) -> Array:
    """The array of a new record. Complex operands make one record for each part; ``emit`` must then be ``linear``.

    Raises:
        InputError: an operand is complex, and ``emit`` is not linear.
    """
    if element in dtypes.PART:
        from mlc.frontends.array.complex.pair import by_parts

        _check_linear(emit, operands)
        return by_parts(lambda *xs: apply(emit, xs, params, dtypes.PART[element], shape), *operands)
    return Array(record(emit, [each.operand() for each in operands], params, element, tuple(shape)))


_LINEAR: set[Emit] = set()


def linear(emit: Emit) -> Emit:
    """A decorator of functions of the Builder that act on the real and the imaginary part of an array alike."""
    _LINEAR.add(emit)
    return emit


def _check_linear(emit: Emit, operands: Sequence[Array]) -> None:
    if emit not in _LINEAR:
        types = ", ".join(str(x.dtype) for x in operands)
        raise InputError(f"{where_called()}: '{emit.__name__}' of {types} is not defined", hint="Use real and imag")


def constant(build: Builder, operands: Sequence[Tensor], element: str, shape: tuple[int, ...], data: bytes) -> Tensor:
    """A known tensor, which is folded into the records that use it."""
    return Tensor.from_known(np.frombuffer(data, numpy_dtype(element)).reshape(shape), element)


def known(value: Any, element: str) -> Array:
    """A small constant of the program, such as a Python scalar."""
    data = np.asarray(value, numpy_dtype(element))
    if element in dtypes.PART:
        return _pair(known(data.real, dtypes.PART[element]), known(data.imag, dtypes.PART[element]))
    return Array(record(constant, (), (element, data.shape, data.tobytes()), element, data.shape))


def as_array(value: Any, beside: str | None = None) -> Array:
    """An operand as an array; a Python scalar takes the type of the array ``beside`` it.

    Raises:
        InputError: it is neither an array nor a number.
    """
    if isinstance(value, Array):
        return value
    if isinstance(value, bool | int | float | complex | np.generic):
        return known(value, dtypes.of_scalar_beside(value, beside) if beside else dtypes.element_of_scalar(value))
    if isinstance(value, Dim):
        return apply(dimension, [], (value,), "i64", ())
    if isinstance(value, np.ndarray):
        return from_numpy(value.copy())
    if isinstance(value, list | tuple):
        return from_numpy(dtypes.default_types(_rectangular(value)))
    raise InputError(f"A {type(value).__name__} is not an array", hint="Give an array, a number, or asarray(value)")


def _rectangular(value: list[Any] | tuple[Any, ...]) -> np.ndarray[Any, Any]:
    try:
        return np.array(value)
    except ValueError:
        what = f"A {type(value).__name__} whose parts have different shapes is not an array"
        raise InputError(what, hint="Give nested lists of one length a level, or use mlc.numpy.concat") from None


def from_numpy(data: np.ndarray[Any, Any]) -> Array:
    """An array of these elements, which nobody may change afterwards.

    Raises:
        InputError: strings or objects.
    """
    dtypes.element(data.dtype)
    if data.dtype.kind == "c":
        return _pair(Array.of(data.real.copy()), Array.of(data.imag.copy()))
    return Array.of(data)


def _pair(re: Array, im: Array) -> Array:
    from mlc.frontends.array.complex.pair import ComplexArray

    return ComplexArray(re, im)
