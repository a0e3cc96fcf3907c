"""100 matrix products, rows × columns × terms: squares, those of transformers, skinny and odd ones."""

from __future__ import annotations

Size = tuple[int, int, int]

_SQUARES = (
    256,
    384,
    512,
    640,
    768,
    896,
    1024,
    1280,
    1536,
    1792,
    2048,
    2304,
    2560,
    3072,
    3584,
    4096,
    5120,
    6144,
    7168,
    8192,
)
_WIDTHS = (768, 1024, 2048, 4096)  # of the layers of transformers
_TOKENS = (128, 384, 512, 2048, 4096)
_ODD = (
    (1000, 1000, 1000), (1009, 1013, 1019), (1111, 777, 2222), (1234, 567, 890), (1500, 1500, 1500), (100, 3000, 700),
    (999, 4097, 513), (2000, 3000, 1000), (3333, 1111, 555), (197, 768, 3072), (197, 3072, 768), (577, 1024, 4096),
    (49, 2048, 512), (196, 1024, 2304), (784, 512, 1152), (3136, 256, 576), (50257, 128, 768), (30522, 128, 768),
    (4100, 4100, 4100), (2050, 2050, 2050),
)  # fmt: skip

SQUARE: list[Size] = [(n, n, n) for n in _SQUARES]
TRANSFORMER: list[Size] = [
    size for width in _WIDTHS for tokens in _TOKENS for size in ((tokens, 3 * width, width), (tokens, width, 4 * width))
]
SKINNY: list[Size] = [
    (rows, columns, terms)
    for rows in (16, 32, 48, 64, 96)
    for columns, terms in ((4096, 4096), (11008, 4096), (4096, 11008), (512, 16384))
]
ODD: list[Size] = list(_ODD)
SHAPES = {"square": SQUARE, "transformer": TRANSFORMER, "skinny": SKINNY, "odd": ODD}
