"""Programs on fields: stencils, waves, images, iterated maps."""

from __future__ import annotations

from typing import Any

import numpy as np

RNG = np.random.default_rng(1)


def field(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.random(shape, np.float32)


def laplacian(lib: Any, u: Any) -> Any:
    np = lib.np
    return np.roll(u, 1, axis=0) + np.roll(u, -1, axis=0) + np.roll(u, 1, axis=1) + np.roll(u, -1, axis=1) - 4 * u


def heat_1d(lib: Any, u: Any) -> Any:
    """One explicit step on a periodic line."""
    return u + 0.25 * (lib.np.roll(u, 1) - 2 * u + lib.np.roll(u, -1))


def heat_2d(lib: Any, u: Any) -> Any:
    """Twenty explicit steps on a torus."""
    return lib.fori(20, lambda n, u: u + 0.2 * laplacian(lib, u), u)


def jacobi(lib: Any, u: Any, f: Any) -> Any:
    """Twenty Jacobi iterations of Poisson's equation with fixed edges."""
    np = lib.np

    def step(n: Any, u: Any) -> Any:
        inner = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - f[1:-1, 1:-1])
        rows = np.concat([u[1:-1, :1], inner, u[1:-1, -1:]], axis=1)
        return np.concat([u[:1], rows, u[-1:]], axis=0)

    return lib.fori(20, step, u)


def life(lib: Any, board: Any) -> Any:
    """Ten generations of the game of life."""
    np = lib.np

    def step(n: Any, x: Any) -> Any:
        rows = np.roll(x, 1, axis=0) + x + np.roll(x, -1, axis=0)
        count = np.roll(rows, 1, axis=1) + rows + np.roll(rows, -1, axis=1) - x
        return np.astype((count == 3) | ((count == 2) & (x == 1)), np.int32)

    return lib.fori(10, step, board)


def gray_scott(lib: Any, u: Any, v: Any) -> Any:
    """Twenty steps of a reaction with diffusion."""

    def step(n: Any, state: Any) -> Any:
        u, v = state
        reaction = u * v * v
        return (
            u + 0.16 * laplacian(lib, u) - reaction + 0.035 * (1 - u),
            v + 0.08 * laplacian(lib, v) + reaction - 0.095 * v,
        )

    return lib.np.stack(lib.fori(20, step, (u, v)))


def wave(lib: Any, u: Any, before: Any) -> Any:
    """Twenty leapfrog steps of the wave equation."""
    def step(n, state):
        return (2 * state[0] - state[1] + 0.1 * laplacian(lib, state[0]), state[0])
    return lib.fori(20, step, (u, before))[0]


def blur(lib: Any, image: Any) -> Any:
    """A 5x5 binomial filter, separable."""
    taps = (0.0625, 0.25, 0.375, 0.25, 0.0625)
    rows, columns = image.shape
    down = sum(t * image[n : rows - 4 + n] for n, t in enumerate(taps))
    return sum(t * down[:, n : columns - 4 + n] for n, t in enumerate(taps))


def sobel(lib: Any, image: Any) -> Any:
    """The magnitude of an image's gradient."""
    np = lib.np
    top, middle, bottom = image[:-2], image[1:-1], image[2:]
    x = (top + 2 * middle + bottom)[:, 2:] - (top + 2 * middle + bottom)[:, :-2]
    down = bottom - top
    y = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    return np.sqrt(x * x + y * y)


def total_variation(lib: Any, image: Any) -> Any:
    """One step of denoising, by a gradient written out."""
    np = lib.np
    right, down = np.roll(image, -1, axis=1) - image, np.roll(image, -1, axis=0) - image
    size = np.sqrt(right * right + down * down + 1e-3)
    x, y = right / size, down / size
    return image + 0.1 * (x - np.roll(x, 1, axis=1) + y - np.roll(y, 1, axis=0))


def mandelbrot(lib: Any, re: Any, im: Any) -> Any:
    """Fifty iterations, counted while they are bounded."""
    np = lib.np

    def step(n: Any, state: Any) -> Any:
        x, y, count = state
        x, y = x * x - y * y + re, 2 * x * y + im
        inside = x * x + y * y < 4
        return np.where(inside, x, 2.0), np.where(inside, y, 0.0), count + np.astype(inside, np.float32)

    return lib.fori(50, step, (re * 0, im * 0, re * 0))[2]


def low_pass(lib: Any, image: Any, mask: Any) -> Any:
    """A filter in the frequency domain."""
    return lib.np.fft.irfftn(lib.np.fft.rfftn(image) * mask)


GRID = np.meshgrid(np.linspace(-2, 1, 512, dtype="f4"), np.linspace(-1, 1, 512, dtype="f4"))
PROGRAMS = {
    heat_1d: [field(1 << 20)],
    heat_2d: [field(512, 512)],
    jacobi: [field(512, 512), field(512, 512)],
    life: [RNG.integers(0, 2, (512, 512)).astype("i4")],
    gray_scott: [field(256, 256), field(256, 256)],
    wave: [field(512, 512), field(512, 512)],
    blur: [field(1024, 1024)],
    sobel: [field(1024, 1024)],
    total_variation: [field(1024, 1024)],
    mandelbrot: GRID,
    low_pass: [field(512, 512), field(512, 257)],
}
