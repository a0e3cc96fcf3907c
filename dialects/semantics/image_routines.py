"""The routines on images in Python, the reference of ``runtime/c/image/mlc_image.c``."""

from __future__ import annotations

import io

import numpy as np

from mlc.dialects.semantics.routine import Array, Given, Routine

FORMATS = ("RGB", "BGR", "Grayscale")


def _pixels(stream: bytes, fmt: str, most: int) -> Array:
    """Return the pixels [height, width, channels] by Pillow, like onnx's reference; an empty array if it cannot decode
    the image."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(stream)) as image:
            if max(image.size) > most:
                raise ValueError(f"an image has {image.height} x {image.width} pixels, more than {most} x {most}")
            colours = image.convert("RGB")
    except (OSError, SyntaxError):
        return np.zeros((0, 0, 0), np.uint8)
    if fmt == "Grayscale":
        return np.asarray(colours.convert("L"))[:, :, np.newaxis]
    return np.asarray(colours)[:, :, :: -1 if fmt == "BGR" else 1]


def _decoded(given: Given, stream: Array) -> Array:
    most, fmt = given.numbers
    pixels = _pixels(stream.tobytes(), FORMATS[fmt], most)
    out = np.zeros(given.shape, np.uint8)
    out[: pixels.size] = pixels.reshape(-1)
    out[-4:] = np.array(pixels.shape[:2], "<u2").view(np.uint8)
    return out


IMAGE_ROUTINES = {"decode": Routine(("ui8",), "ui8", _decoded, pointwise=False, widens=True)}
"""Routines by name. ``decode`` has a stream as operand, and as ``numbers`` the largest extent and an index of FORMATS.
Its result begins with the pixels; its last four bytes are height and width, 0 if the stream cannot be decoded."""
