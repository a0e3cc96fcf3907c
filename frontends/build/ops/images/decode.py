"""Image decoding: a stream of bytes in the format of a file becomes pixels. Source: ONNX ImageDecoder 20."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.image_routines import FORMATS
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor

EXTENT = 4096  # rows, and columns, of an image: memory is planned for as many


def decode_image(build: Builder, x: Tensor, pixels: str, too_large: str) -> Tensor:
    """ui8 [height, width, 3 or 1] of a stream ui8 [n]; [0, 0, …] where it cannot be decoded.

    The formats are BMP, JPEG, JPEG 2000, PNG, PNM, TIFF and WebP. ``pixels`` is RGB, BGR or Grayscale, which is made of
    RGB. The run fails, saying ``too_large``, where an image has more than EXTENT rows or columns.

    Raises:
        NotSupported: other ``pixels``, or an operand that is no vector of bytes.
    """
    if pixels not in FORMATS:
        raise NotSupported(f"pixel_format '{pixels}'; give RGB, BGR or Grayscale")
    if x.element != "ui8" or x.rank != 1:
        raise NotSupported(f"a stream {x}; give a vector of uint8")
    capacity, numbers = 3 * EXTENT * EXTENT, (EXTENT, FORMATS.index(pixels))
    decoded = build.routine("image.decode", [x], (capacity + 4,), words=(too_large,), numbers=numbers)
    height, width = (_extent(build, decoded, capacity + 2 * n, what) for n, what in enumerate(("height", "width")))
    shape = (height, width, 1 if pixels == "Grayscale" else 3)
    return build.reshape(build.slice(decoded, [0], [shape[0] * shape[1] * shape[2]]), shape)


def _extent(build: Builder, decoded: Tensor, at: int, what: str) -> DimLike:
    """The 16-bit integer at offset ``at``, little-endian, as a dimension."""
    number = build.compute(f"i64(x0[{at}]) + 256*i64(x0[{at + 1}])", [decoded], ())
    return build.dim(build.scalars.of(number).item(), f"the {what} of the image", EXTENT)
