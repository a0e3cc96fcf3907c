"""Tensor data: small arrays become known values, large ones entries of the weight store that are read when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import TensorProto

from mlc.dialects.semantics.strings import StringTable
from mlc.dialects.types import ITEMSIZE, NARROW, STRING, element_of_dtype, numpy_dtype
from mlc.dialects.weights import WeightStore
from mlc.errors import InputError
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import KNOWN_LIMIT, Array
from mlc.frontends.build.methods.result_limits import MAX_RANK
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.reading.protobuf_stream import INSIDE
from mlc.frontends.onnx.reading.types import array_of, element_of_onnx

MAX_BYTES = 1 << 46  # beyond any machine; byte counts above it are nonsense and would overflow C's int64 in products


@dataclass(frozen=True)
class Extent:
    """The bytes of a tensor in a file."""

    path: Path
    offset: int
    length: int

    def read(self) -> bytes:
        with self.path.open("rb") as file:
            file.seek(self.offset)
            return file.read(self.length)


class TensorData:
    """Reads the tensors of one model, whose file (None for a model in memory) and folder bound what may be read."""

    def __init__(self, weights: WeightStore, file: Path | None, strings: StringTable) -> None:
        self.weights = weights
        self.strings = strings
        self.file = file

    def tensor(self, proto: TensorProto) -> Tensor:
        """The tensor of a proto; its name is that of the proto.

        Raises:
            NotSupported: the element type is.
            InputError: the data has not the length that type and dims say, or is outside the model's folder.
        """
        element, shape = element_of_onnx(proto.data_type), checked_shape(proto.dims, f"tensor '{proto.name}'")
        if proto.HasField("segment"):
            raise NotSupported("tensors in segments are not supported")
        if element == STRING:
            return self._inline(proto, shape)
        elements = int(np.prod(shape, dtype=object))
        extent = self._extent(proto, stored_bytes(element, elements))
        if extent is None:
            return self._inline(proto, shape)
        if elements <= KNOWN_LIMIT:
            return Tensor.from_known(read_elements(extent, element, shape), element, proto.name)
        return Tensor(element, shape, store=self._later(proto.name, extent, element, shape), name=proto.name)

    def array(self, proto: TensorProto) -> Array:
        """The elements of a proto, wherever they are; strings as objects. Raises as ``tensor`` does."""
        element, shape = element_of_onnx(proto.data_type), checked_shape(proto.dims, f"tensor '{proto.name}'")
        if element == STRING:
            return _carried(proto, shape)
        extent = self._extent(proto, stored_bytes(element, int(np.prod(shape, dtype=object))))
        return _carried(proto, shape) if extent is None else read_elements(extent, element, shape)

    def raw(self, proto: TensorProto) -> bytes | None:
        """The bytes of a proto's data in a file, or None where it carries it. Raises as ``tensor`` does."""
        element, shape = element_of_onnx(proto.data_type), checked_shape(proto.dims, f"tensor '{proto.name}'")
        if element == STRING:
            return None
        extent = self._extent(proto, stored_bytes(element, int(np.prod(shape, dtype=object))))
        return None if extent is None else extent.read()

    def _inline(self, proto: TensorProto, shape: tuple[int, ...]) -> Tensor:
        array = _carried(proto, shape)
        if array.dtype == object:
            array, element = self.strings.numbers(array), STRING
        else:
            element = element_of_dtype(array.dtype)
        known = Tensor.from_known(array, element, proto.name)
        if array.size <= KNOWN_LIMIT:
            return known
        return Tensor(
            known.element,
            shape,
            store=_once(lambda: self.weights.add(proto.name or "constant", array)),
            name=proto.name,
        )

    def _later(self, name: str, extent: Extent, element: str, shape: tuple[int, ...]) -> Callable[[], str]:
        dtype = numpy_dtype(element)
        if NARROW.get(element, 8) < 8:
            load = lambda: read_elements(extent, element, shape)  # noqa: E731
            return _once(lambda: self.weights.add_lazy(name or "constant", dtype, shape, load))
        return _once(lambda: self.weights.add_file(name or "constant", str(extent.path), extent.offset, dtype, shape))

    def _extent(self, proto: TensorProto, nbytes: int) -> Extent | None:
        """The extent of the data in a file, or None where the proto carries it."""
        entries = {e.key: e.value for e in proto.external_data}
        if INSIDE in entries and self.file is not None:
            extent = _checked(proto.name, self.file, entries[INSIDE], entries.get("length", nbytes))
        elif proto.data_location == TensorProto.EXTERNAL:
            path = self._inside_folder(proto.name, entries.get("location", ""))
            extent = _checked(proto.name, path, entries.get("offset", 0), entries.get("length", nbytes))
        else:
            return None
        if extent.length != nbytes:
            says = f"{extent.length} bytes of data where its type and dims say {nbytes}"
            raise InputError(f"Tensor '{proto.name}' has {says}")
        return extent

    def _inside_folder(self, name: str, location: str) -> Path:
        if self.file is None:
            raise InputError(f"Tensor '{name}' is in an external file", hint="Compile the model from its path instead")
        folder = self.file.parent.resolve()
        what = f"Tensor '{name}': external data {location!r:.200}"
        if not location or Path(location).is_absolute() or ".." in Path(location).parts:
            raise InputError(f"{what} is not a path inside the model's folder")
        try:
            path = Path(folder, location).resolve()
            there = path.is_file()
        except (OSError, ValueError, RuntimeError) as e:  # a NUL in the name, too long a one, or a loop of links
            raise InputError(f"{what} cannot be the name of a file") from e
        if not path.is_relative_to(folder):
            raise InputError(f"{what} is a link out of the model's folder")
        if not there:
            raise InputError(f"{what} is not there", hint="Put it beside the model")
        return path


def _carried(proto: TensorProto, shape: tuple[int, ...]) -> Array:
    """The elements that are stored in the proto itself. Strings are objects."""
    try:
        return array_of(proto).reshape(shape)
    except ValueError as e:
        raise InputError(f"Tensor '{proto.name}' of shape {list(shape)} has data of the wrong length: {e}") from e


def _checked(name: str, path: Path, offset: str | int, length: str | int) -> Extent:
    """The bytes of a tensor, checked to be inside the file."""
    try:
        extent = Extent(path, int(offset), int(length))
    except ValueError as e:
        raise InputError(f"Tensor '{name}': its external data has a malformed offset or length") from e
    size = path.stat().st_size
    if extent.offset < 0 or extent.length < 0 or extent.offset + extent.length > size:
        end = extent.offset + extent.length
        raise InputError(f"Tensor '{name}': bytes {extent.offset} to {end} of '{path.name}', which has {size}")
    return extent


def checked_shape(dims: Iterable[int], what: str) -> tuple[int, ...]:
    """Dimensions as a tuple.

    Raises:
        InputError: a negative one, or more elements than any machine holds.
    """
    shape = tuple(int(d) for d in dims)
    if any(d < 0 for d in shape):
        raise InputError(f"The shape {list(shape)} of {what} has a negative dimension")
    if len(shape) > MAX_RANK:
        raise InputError(f"The rank {len(shape)} of {what} is over {MAX_RANK}", hint="Reshape it to fewer dimensions")
    if int(np.prod([max(d, 1) for d in shape], dtype=object)) * 16 > MAX_BYTES:
        raise InputError(f"The shape {list(shape)} of {what} has more elements than fit into any memory")
    return shape


def stored_bytes(element: str, count: int) -> int:
    """Bytes of ``count`` elements in ONNX's raw data, which packs those of 6, 4 and 2 bits."""
    packed = NARROW.get(element, 8 * ITEMSIZE[element])
    return -(-count * packed // 8)


def read_elements(extent: Extent, element: str, shape: tuple[int, ...]) -> Array:
    """The elements in a file; of packed ones the first is in the lowest bits of its byte."""
    dtype, bits = numpy_dtype(element), NARROW.get(element, 8)
    if bits == 8:
        count = int(np.prod(shape, dtype=np.int64))
        return np.fromfile(extent.path, dtype, count, offset=extent.offset).reshape(shape)
    packed = np.fromfile(extent.path, np.uint8, extent.length, offset=extent.offset)
    count = int(np.prod(shape, dtype=np.int64))
    each = np.unpackbits(packed, count=bits * count, bitorder="little").reshape(count, bits)
    return np.packbits(each, axis=1, bitorder="little").reshape(-1).view(dtype).reshape(shape)


def _once(make: Callable[[], str]) -> Callable[[], str]:
    """``make``, called on the first use only."""
    made: list[str] = []

    def entry() -> str:
        if not made:
            made.append(make())
        return made[0]

    return entry
