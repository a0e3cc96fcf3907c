"""Random images as streams in all formats and with all options that Pillow writes, and some that it does not."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

Array = np.ndarray[Any, Any]
Random = np.random.Generator
ORDERS = ("LRCP", "RLCP", "RPCL", "PCRL", "CPRL")


def pixels(rng: Random, height: int, width: int, channels: int) -> Array:
    """Noise, waves or tiles."""
    y, x = np.mgrid[:height, :width]
    match rng.integers(3):
        case 0:
            found = rng.integers(0, 256, (height, width, channels))
        case 1:
            waves = rng.uniform(0, 0.3, (channels, 2))
            found = np.stack([127 + 127 * np.sin(a * x + b * y + a) for a, b in waves], -1)
        case _:
            found = rng.integers(0, 256, (height // 7 + 1, width // 5 + 1, channels))[y // 7, x // 5]
    return found.astype(np.uint8)


def image(rng: Random, modes: str) -> Image.Image:
    """An image of one of the modes, separated by spaces."""
    mode, (height, width) = rng.choice(modes.split()), rng.integers(1, 90, 2)
    if mode in ("P", "1"):
        coloured = Image.fromarray(pixels(rng, height, width, 3))
        return coloured.quantize(int(rng.integers(2, 256))) if mode == "P" else coloured.convert("1")
    data = pixels(rng, height, width, {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}[mode])
    return Image.frombytes(mode, (int(width), int(height)), data.tobytes())


def saved(picture: Image.Image, fmt: str, **options: Any) -> bytes:
    """The stream of an image."""
    file = io.BytesIO()
    picture.save(file, fmt, **options)
    return file.getvalue()


def bmp(rng: Random) -> bytes:
    return saved(image(rng, "RGB L RGBA P 1"), "BMP")


def pnm(rng: Random) -> bytes:
    """As bytes by Pillow, or as text."""
    picture = image(rng, "RGB L 1")
    if rng.integers(2):
        return saved(picture, "PPM")
    kind, most = {"1": (1, 1), "L": (2, 255), "RGB": (3, 255)}[picture.mode]
    values = np.asarray(picture).astype(np.int64).reshape(-1)
    text = " \n".join(map(str, 1 - values if kind == 1 else values))
    head = f"P{kind} # text\n{picture.width} {picture.height}\n" + (f"{most}\n" if kind > 1 else "")
    return (head + text + "\n").encode()


def png(rng: Random) -> bytes:
    return saved(image(rng, "RGB L RGBA P 1 LA"), "PNG", compress_level=int(rng.integers(10)))


def tiff(rng: Random) -> bytes:
    coding = rng.choice(["raw", "packbits", "tiff_lzw", "tiff_adobe_deflate", "tiff_deflate"])
    info = {278: int(rng.integers(1, 50))} if rng.integers(2) else {}
    info |= {274: int(rng.integers(1, 9))} if rng.integers(2) else {}  # how it is rotated
    if coding in ("tiff_lzw", "tiff_adobe_deflate") and rng.integers(2):
        return saved(image(rng, "RGB L"), "TIFF", compression=coding, tiffinfo=info | {317: 2})
    return saved(image(rng, "RGB L RGBA P 1 CMYK"), "TIFF", compression=coding, tiffinfo=info)


def jpeg(rng: Random) -> bytes:
    picture = image(rng, "RGB RGB RGB L CMYK")
    how: dict[str, Any] = {"quality": int(rng.integers(1, 101)), "restart_marker_blocks": int(rng.integers(4))}
    how |= {"progressive": bool(rng.integers(2)), "optimize": bool(rng.integers(2))}
    if picture.mode == "RGB":
        kind = [0, 1, 2, "4:1:1", "keep_rgb"][rng.integers(5)]
        how |= {"keep_rgb": True} if kind == "keep_rgb" else {"subsampling": kind}
    return saved(picture, "JPEG", **how)


def webp(rng: Random) -> bytes:
    how = {"quality": int(rng.integers(101)), "method": int(rng.integers(7)), "exact": True}
    return saved(image(rng, "RGB RGBA"), "WEBP", lossless=bool(rng.integers(2)), **how)


def jpeg2000(rng: Random) -> bytes:
    """Encoders stop where a tile is divided once too often, so those of real numbers are not divided in tiles."""
    picture = image(rng, "RGB L RGBA")
    most = max(1, min(picture.size).bit_length() - 1)
    how: dict[str, Any] = {"progression": str(rng.choice(ORDERS)), "mct": int(rng.integers(2))}
    how |= {"num_resolutions": int(rng.integers(1, most + 1)), "no_jp2": bool(rng.integers(2))}
    match rng.integers(3):
        case 0:
            how["irreversible"] = True
        case 1 if min(picture.size) > 20:
            how |= {"tile_size": tuple(map(int, rng.integers(20, 80, 2))), "num_resolutions": int(rng.integers(1, 4))}
    if rng.integers(2):
        how |= {"quality_mode": "rates", "quality_layers": sorted(map(int, rng.integers(1, 60, 3)), reverse=True)}
    if rng.integers(2):
        how["codeblock_size"] = tuple(2 ** int(n) for n in rng.integers(2, 7, 2))
    if rng.integers(3) == 0:
        how["precinct_size"] = (64, 32)
    try:
        return saved(picture, "JPEG2000", **how)
    except OSError:
        return saved(picture, "JPEG2000", **how | {"num_resolutions": 1})


STREAMS: dict[str, Callable[[Random], bytes]] = {
    "bmp": bmp, "pnm": pnm, "png": png, "tiff": tiff, "jpeg": jpeg, "webp": webp, "jpeg2000": jpeg2000,
}  # fmt: skip


def decoded(stream: bytes, mode: str = "RGB") -> Array:
    """What Pillow makes of it."""
    return np.asarray(Image.open(io.BytesIO(stream)).convert("RGB").convert(mode))
