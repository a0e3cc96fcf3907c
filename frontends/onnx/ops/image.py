"""ImageDecoder: a stream in the format of a file becomes pixels."""

from __future__ import annotations

from mlc.dialects.dims import DimLike
from mlc.dialects.image_routines import FORMATS
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.tensors import Tensor

EXTENT = 4096  # rows, and columns, of an image: memory is planned for as many


@onnx_op("ImageDecoder", since=20)
def image_decoder(node: Node) -> Tensor:
    """ui8 [height, width, 3 or 1] of a stream ui8 [n]; [0, 0, …] where it cannot be decoded (ONNX ImageDecoder 20).

    The formats are BMP, JPEG, JPEG 2000, PNG, PNM, TIFF and WebP. ``pixel_format`` is RGB, BGR or Grayscale, which is
    made of RGB. The run fails where an image has more than EXTENT rows or columns.

    Raises:
        NotSupported: another ``pixel_format``, or an operand that is no vector of bytes.
    """
    x, build, fmt = node[0], node.build, node.attr("pixel_format", "RGB")
    if fmt not in FORMATS:
        raise NotSupported(f"pixel_format '{fmt}'; give RGB, BGR or Grayscale")
    if x.element != "ui8" or x.rank != 1:
        raise NotSupported(f"a stream {x}; give a vector of uint8")
    too_large = f"node '{node.name}': an image larger than {EXTENT} x {EXTENT} pixels, for which memory is planned"
    room, numbers = 3 * EXTENT * EXTENT, (EXTENT, FORMATS.index(fmt))
    decoded = build.routine("image.decode", [x], (room + 4,), words=(too_large,), numbers=numbers)
    height, width = (_size(node, decoded, room + 2 * n, what) for n, what in enumerate(("height", "width")))
    shape = (height, width, 1 if fmt == "Grayscale" else 3)
    return build.reshape(build.slice(decoded, [0], [shape[0] * shape[1] * shape[2]]), shape)


def _size(node: Node, decoded: Tensor, at: int, what: str) -> DimLike:
    """The number of two bytes that stands there, as a size."""
    number = node.build.compute(f"i64(x0[{at}]) + 256*i64(x0[{at + 1}])", [decoded], ())
    return node.size(node.build.numbers.of(number).item(), f"the {what} of the image", EXTENT)
