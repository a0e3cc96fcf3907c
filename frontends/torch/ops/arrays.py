"""Functions on arrays (``mlc.numpy``) as operators of a torch graph.

What arrays have is so written once: functions of complex numbers, Fourier transforms, linear algebra. A call is traced
on arguments that stand for its tensors, and the trace is emitted in their place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.complex.pair import ComplexArray
from mlc.frontends.array.lowering import lower_records
from mlc.frontends.array.record import Record, new_argument
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.dtypes import Complex

Values = dict[Record, Any]


def by_arrays(build: Builder, function: Callable[..., Any], *operands: Any) -> Any:
    """The results of a function on arrays: a tensor or a pair for each array, and lists for tuples. Operands that are
    no tensors are passed unchanged.

    Raises:
        NotSupported: the function refuses these shapes or types.
    """
    values: Values = {}
    try:
        made = function(*(_array(x, values) for x in operands))
    except InputError as error:
        raise NotSupported(str(error).partition("\n")[0]) from error
    return _tensors(build, made, values)


def _array(x: Any, values: Values) -> Any:
    if isinstance(x, Complex):
        return ComplexArray(_array(x.re, values), _array(x.im, values))
    if not isinstance(x, Tensor):
        return x
    record = new_argument(x.element, x.shape, traced=True)
    values[record] = x
    return Array(record)


def _tensors(build: Builder, made: Any, values: Values) -> Any:
    if isinstance(made, tuple | list):
        return [_tensors(build, each, values) for each in made]
    if isinstance(made, ComplexArray):
        return Complex(_tensors(build, made.re, values), _tensors(build, made.im, values))
    return lower_records(build, [made.operand()], values)[0]
