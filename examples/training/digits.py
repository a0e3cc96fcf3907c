"""A convolutional network learns to read digits: 98 % and more of the test images.

    python -m examples.training.digits

The images are the glyphs of a bitmap font, rotated, scaled, sheared and moved at random, with noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from examples.training.arguments import chosen_steps
from mlc import nn, optim, train

SIZE = 14
ROWS = """
.###. ..#.. .###. .###. ...#. ##### .###. ##### .###. .###.
#...# .##.. #...# #...# ..##. #.... #.... ....# #...# #...#
#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...#
#.#.# ..#.. ...#. ..##. #..#. ....# ####. ..#.. .###. .####
##..# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# ....#
.###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .###.
"""
FONT = np.array([[[c == "#" for c in glyph] for glyph in row.split()] for row in ROWS.strip().splitlines()])
GLYPHS = np.pad(FONT.transpose(1, 0, 2).astype(np.float32), ((0, 0), (1, 1), (1, 1)))  # [10, 9, 7]


def images(count: int, seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Images [count, 1, SIZE, SIZE] and their digits."""
    random = np.random.Generator(np.random.Philox(seed))
    digits = random.integers(0, 10, count)
    angle, shear = random.uniform(-0.3, 0.3, (2, count))
    scale = random.uniform(0.55, 0.85, (2, count))
    cosine, sine = np.cos(angle), np.sin(angle)
    matrix = np.stack([scale[0] * cosine, -scale[0] * (sine + shear), scale[1] * sine, scale[1] * cosine], -1)
    grid = np.stack(np.meshgrid(*[np.arange(SIZE) - (SIZE - 1) / 2] * 2, indexing="ij"), -1).reshape(-1, 2)
    at = grid @ matrix.reshape(-1, 2, 2).swapaxes(1, 2) + random.uniform(-0.7, 0.7, (count, 1, 2)) + [4, 3]
    low = np.floor(at).astype(int)
    part = at - low
    found = np.zeros(at.shape[:2])
    for i in (0, 1):
        for j in (0, 1):
            y, x = np.clip(low + [i, j], 0, [8, 6]).transpose(2, 0, 1)
            weight = np.abs(1 - i - part[..., 0]) * np.abs(1 - j - part[..., 1])
            found += weight * GLYPHS[digits[:, None], y, x]
    noisy = found + random.normal(0, 0.2, found.shape)
    return noisy.reshape(count, 1, SIZE, SIZE).astype(np.float32), digits


def network() -> Any:
    nn.manual_seed(0)
    pool = lambda x: nn.max_pool(x, 2)  # noqa: E731
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm(16), nn.relu, pool),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm(32), nn.relu, pool),
        *(nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * (SIZE // 4) ** 2, 10)),
    )


def loss(model: Any, x: Any, digits: Any) -> Any:
    return nn.cross_entropy(model(x), digits)


def trained(steps: int, progress: bool = True) -> train.Trainer:
    data = train.ArrayData(images(8000, seed=1), batch_size=64)
    optimizer = optim.adamw(optim.one_cycle(1e-2, steps))
    return train.Trainer(network(), optimizer, loss).fit(data, steps, progress=progress)


def accuracy(model: Any, count: int = 2000) -> float:
    """The share of right answers on images that were not trained on."""
    x, digits = images(count, seed=2)
    model.eval()
    scores = mlc.jit(lambda model, x: mnp.argmax(model(x), axis=1), wait=True)(model, x)
    return float((scores.numpy() == digits).mean())


if __name__ == "__main__":
    print(f"{accuracy(trained(chosen_steps(__doc__, 600)).model):.1%} of the test images are read")
