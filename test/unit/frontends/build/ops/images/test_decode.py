"""ImageDecoder against Pillow, on random images in all formats; what Pillow does not write is made here."""

from __future__ import annotations

import functools
import struct
import zlib
from typing import Any

import image_libraries
import numpy as np
import pytest
from image_streams import STREAMS, decoded, image, pixels, saved
from onnx import TensorProto, helper

import mlc
from mlc.errors import RunError
from mlc.frontends.onnx import UnsupportedError

pytestmark = image_libraries.needed

Array = np.ndarray[Any, Any]


def decoder(fmt: str, n: int | str = "n") -> Any:
    node = helper.make_node("ImageDecoder", ["x"], ["y"], name="pixels", pixel_format=fmt)
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [n])
    y = helper.make_tensor_value_info("y", TensorProto.UINT8, ["h", "w", 1 if fmt == "Grayscale" else 3])
    graph = helper.make_graph([node], "decoder", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


@functools.cache
def net(fmt: str) -> Any:
    return mlc.compile(decoder(fmt))


def read(stream: bytes, fmt: str = "RGB") -> Array:
    (found,) = net(fmt).run({"x": np.frombuffer(stream, np.uint8)}).values()
    assert found.dtype == np.uint8
    return found


def same(stream: bytes) -> None:
    np.testing.assert_array_equal(read(stream), decoded(stream))


@pytest.mark.parametrize("fmt", STREAMS)
def test_all_options_bit_for_bit(fmt: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(60):
        same(STREAMS[fmt](rng))


def test_pixel_formats() -> None:
    rng = np.random.default_rng(8)
    for make in STREAMS.values():
        stream = make(rng)
        right = decoded(stream)
        np.testing.assert_array_equal(read(stream, "BGR"), right[:, :, ::-1])
        np.testing.assert_array_equal(read(stream, "Grayscale"), decoded(stream, "L")[:, :, np.newaxis])


@pytest.mark.parametrize("fmt", ["RGB", "Grayscale"])
def test_what_is_no_image_gives_an_empty_one(fmt: str) -> None:
    rng = np.random.default_rng(9)
    empty = (0, 0, 1 if fmt == "Grayscale" else 3)
    whole = saved(image(rng, "RGB"), "PNG")
    for stream in (
        b"",
        b"\0",
        b"text",
        b"BM",
        b"P6\n3 3\n255\n",
        whole[:-30],
        b"\xff\xd8\xff\xd9",
        b"II*\0\xff\xff\xff\xff",
    ):
        assert read(stream, fmt).shape == empty
    assert read(whole, fmt).size > 0


def test_larger_images_than_there_is_memory_for() -> None:
    most = b"P5\n4096 1\n255\n" + bytes(4096)
    assert read(most).shape == (1, 4096, 3)
    for stream in (b"P5\n4097 1\n255\n" + bytes(4097), b"P5\n1 4097\n255\n" + bytes(4097)):
        with pytest.raises(RunError, match="node 'pixels': an image larger than 4096 x 4096"):
            read(stream)


def test_refused() -> None:
    with pytest.raises(UnsupportedError, match="pixel_format 'CMYK'; give RGB, BGR or Grayscale"):
        mlc.compile(decoder("CMYK"))
    model = decoder("RGB", 4)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT
    with pytest.raises(UnsupportedError, match="give a vector of uint8"):
        mlc.compile(model)


def test_operators_after_a_decoder() -> None:
    """What follows takes the sizes found at run time; a stream may be a constant."""
    rng = np.random.default_rng(10)
    stream = saved(image(rng, "RGB"), "PNG")
    nodes = [
        helper.make_node("ImageDecoder", ["x"], ["p"]),
        helper.make_node("Cast", ["p"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Transpose", ["f"], ["t"], perm=[2, 0, 1]),
        helper.make_node("ReduceMean", ["t", "axes"], ["mean"]),
    ]
    x = helper.make_tensor("x", TensorProto.UINT8, [len(stream)], stream, raw=True)
    axes = helper.make_tensor("axes", TensorProto.INT64, [2], [1, 2])
    outs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("t", "mean")]
    graph = helper.make_graph(nodes, "after", [], outs, [x, axes])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    found = mlc.compile(model).run({})
    right = decoded(stream).astype(np.float32).transpose(2, 0, 1)
    np.testing.assert_array_equal(found["t"], right)
    np.testing.assert_allclose(found["mean"], right.mean((1, 2), keepdims=True), rtol=1e-5)


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


PASSES = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def interlaced(values: Array, bits: int, colour: int) -> bytes:
    """A PNG in seven passes: [height, width, channels] samples, of 8 bits or a whole number of them in a byte."""
    height, width, _ = values.shape
    rows = []
    for y, x, dy, dx in PASSES:
        part = values[y::dy, x::dx]
        if part.size == 0:
            continue
        for row in part.reshape(len(part), -1):
            packed = np.packbits(np.unpackbits(row[:, None], axis=1)[:, 8 - bits :]) if bits < 8 else row
            rows.append(b"\0" + packed.tobytes())
    head = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 1)
    data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


def test_interlaced_png() -> None:
    rng = np.random.default_rng(11)
    for _ in range(20):
        height, width = rng.integers(1, 40, 2)
        same(interlaced(pixels(rng, height, width, 3), 8, 2))
        bits = int(rng.choice([1, 2, 4]))
        same(interlaced(pixels(rng, height, width, 1) >> (8 - bits), bits, 0))


def test_png_of_16_bits_keeps_the_high_ones() -> None:
    rng = np.random.default_rng(12)
    high, low = pixels(rng, 9, 14, 3), pixels(rng, 9, 14, 3)
    rows = b"".join(b"\0" + np.stack([h, w], -1).tobytes() for h, w in zip(high, low, strict=True))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 14, 9, 16, 2, 0, 0, 0))
    stream = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    np.testing.assert_array_equal(read(stream), high)


def test_a_damaged_sum_of_a_png() -> None:
    stream = bytearray(saved(image(np.random.default_rng(13), "RGB"), "PNG"))
    stream[stream.index(b"IDAT") + 9] ^= 1
    assert read(bytes(stream)).shape == (0, 0, 3)


def bitmap(width: int, height: int, bits: int, coding: int, data: bytes, between: bytes = b"") -> bytes:
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, coding, len(data), 0, 0, 0, 0)
    return struct.pack("<2sIHHI", b"BM", 54 + len(between) + len(data), 0, 0, 54 + len(between)) + info + between + data


def test_bitmaps_of_16_bits_and_from_the_top() -> None:
    rng = np.random.default_rng(14)
    words = rng.integers(0, 1 << 16, (7, 6), np.uint16).astype("<u2")
    same(bitmap(6, 7, 16, 0, (words & 0x7FFF).tobytes()))
    same(bitmap(6, -7, 16, 3, words.tobytes(), struct.pack("<III", 0xF800, 0x7E0, 0x1F)))
    same(bitmap(6, -7, 32, 0, rng.bytes(6 * 7 * 4)))


def test_bitmaps_in_runs() -> None:
    rng = np.random.default_rng(15)
    palette = rng.bytes(256 * 4)
    data = b"\x05\x07\x02\x63\x00\x00" + b"\x00\x05\x01\x02\x03\x04\x05\x00\x02\x09\x00\x00" + b"\x07\x01\x00\x01"
    same(bitmap(7, 3, 8, 1, data, palette))
    data = b"\x05\x27\x02\x63\x00\x00" + b"\x00\x05\x12\x34\x50\x00\x02\x99\x00\x00" + b"\x07\x1a\x00\x01"
    same(bitmap(7, 3, 4, 2, data, palette[:64]))


def tiled(values: Array, tile: int, order: str, apart: bool) -> bytes:
    """A TIFF of tiles of 8-bit samples; ``apart``: a plane after the other."""
    height, width, channels = values.shape
    down, across = -(-height // tile), -(-width // tile)
    whole = np.zeros((down * tile, across * tile, channels), np.uint8)
    whole[:height, :width] = values
    tiles = whole.reshape(down, tile, across, tile, channels).transpose(0, 2, 1, 3, 4).reshape(-1, tile, tile, channels)
    data = [t[:, :, k].tobytes() for k in range(channels) for t in tiles] if apart else [t.tobytes() for t in tiles]
    many, at = len(data), 8 + sum(map(len, data))
    starts = np.cumsum([8, *map(len, data)])[:-1]
    extra = struct.pack(f"{order}{many}I{many}I3H", *starts, *map(len, data), 8, 8, 8)
    fields = [(256, 3, 1, width), (257, 3, 1, height), (258, 3, 3, at + 8 * many), (259, 3, 1, 1), (262, 3, 1, 2)]
    fields += [(277, 3, 1, channels), (284, 3, 1, 2 if apart else 1), (322, 3, 1, tile), (323, 3, 1, tile)]
    fields += [(324, 4, many, at), (325, 4, many, at + 4 * many)]
    entries = b"".join(
        struct.pack(f"{order}HHI", *f[:3])
        + (struct.pack(f"{order}HH", f[3], 0) if f[1] == 3 and f[2] == 1 else struct.pack(f"{order}I", f[3]))
        for f in fields
    )
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(f"{order}I", at + len(extra))
    return head + b"".join(data) + extra + struct.pack(f"{order}H", len(fields)) + entries + bytes(4)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("apart", [False, True])
def test_tiles_and_planes_of_tiff(order: str, apart: bool) -> None:
    rng = np.random.default_rng(16)
    values = pixels(rng, 37, 50, 3)
    np.testing.assert_array_equal(read(tiled(values, 16, order, apart)), values)
