"""Sparse tensors of ONNX, as dense ones: their values where the indices say, zeros elsewhere."""

from __future__ import annotations

import numpy as np
from onnx import SparseTensorProto

from mlc.dialects.types import STRING, element_of_dtype
from mlc.errors import InputError
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import KNOWN_LIMIT, Array
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.reading.data import TensorData, checked_shape

MAX_ELEMENTS = 1 << 31  # of the dense tensor


def dense_tensor(data: TensorData, proto: SparseTensorProto) -> Tensor:
    """A sparse tensor as a dense one, a weight that is made when it is written.

    Raises:
        NotSupported: it holds strings, or has more than MAX_ELEMENTS with its zeros.
        InputError: an index is outside, or there are others than values.
    """
    name = proto.values.name
    values, shape = data.array(proto.values).reshape(-1), checked_shape(proto.dims, f"sparse tensor '{name}'")
    count = int(np.prod(shape, dtype=object))
    if values.dtype == object or count > MAX_ELEMENTS:
        raise NotSupported(f"a sparse tensor of {STRING if values.dtype == object else count} elements; make it dense")
    at, element = _offsets(name, data.array(proto.indices), values.size, shape), element_of_dtype(values.dtype)

    def dense() -> Array:
        made = np.zeros(count, values.dtype)
        made[at] = values
        return made.reshape(shape)

    if count <= KNOWN_LIMIT:
        return Tensor.from_known(dense(), element, name)
    entry = data.weights.add_lazy(name or "constant", values.dtype, shape, dense)
    return Tensor(element, shape, store=lambda: entry, name=name)


def _offsets(name: str, indices: Array, count: int, shape: tuple[int, ...]) -> Array:
    """The row-major offset of each value. Indices are such offsets, or coordinates [count, rank]."""
    if indices.dtype != np.int64 or indices.shape not in ((count,), (count, len(shape))):
        raise InputError(f"Sparse tensor '{name}' has indices {list(indices.shape)} of {count} values; one each, int64")
    bounds = np.array(shape if indices.ndim == 2 else [int(np.prod(shape, dtype=object))], np.int64)
    positions = indices.reshape(count, len(bounds))
    if ((positions < 0) | (positions >= bounds)).any():
        raise InputError(f"Sparse tensor '{name}' has an index outside of its shape {list(shape)}")
    return np.ravel_multi_index(tuple(positions.T), tuple(bounds)) if count else np.zeros(0, np.int64)
