"""Training with differential privacy: what accuracy costs. Draws ``docs/privacy.svg``.

    python -m examples.privacy [--folder docs]

A classifier of 5,000 drawn digits (``examples/digits.py``) is trained with gradients that are clipped for each
example and hidden, on batches of Poisson sampling. An accountant (``pip install 'mlc[privacy]'``) says what ε is spent.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from examples.digits import images
from examples.explain import svg, text
from mlc import nn, optim, privacy

COUNT, RATE, MOST, CLIP, DELTA = 5000, 0.05, 340, 1.0, 1e-5  # MOST: more are left out of a batch, with probability 1e-8
NOISES = (0.6, 1.0, 2.0, 4.0, 8.0, 16.0)


def loss(model: Any, x: Any, label: Any, kept: Any) -> Any:
    """Of one example; 0 of what fills up a batch."""
    return kept * nn.cross_entropy(model(x[None]), label[None])


def trained(noise: float, x: Any, y: Any, steps: int) -> nn.Module:
    """A network after so many private steps."""
    nn.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(144, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer, rng = optim.sgd(0.5, 0.9), np.random.default_rng(0)
    gradient = privacy.private_value_and_grad(loss, clip=CLIP, noise_multiplier=noise, expected=int(COUNT * RATE))

    @mlc.jit(wait=True)
    def step(model: Any, state: Any, x: Any, y: Any, kept: Any, key: Any) -> Any:
        _, found = gradient(model, x, y, kept, key=key)
        updates, state = optimizer.update(found, state, model)
        return optim.apply_updates(model, updates), state

    state, keys = optimizer.init(model), mnp.random.split(mnp.random.key(0), steps)
    for n in range(steps):
        chosen = np.flatnonzero(rng.random(COUNT) < RATE)[:MOST]
        rows = np.concatenate([chosen, np.zeros(MOST - len(chosen), int)])
        kept = (np.arange(MOST) < len(chosen)).astype(np.float32)
        model, state = step(model, state, x[rows], y[rows], kept, keys[n])
    return model


def picture(points: list[tuple[float, float]]) -> str:
    """Accuracy over ε, on a logarithmic axis from 0.1 to 100."""
    place = lambda e, share: (60 + 400 * (np.log10(e) + 1) / 3, 220 - 200 * share)  # noqa: E731
    parts = [f'<path d="M60 {220 - 200 * share}h400" stroke="#ddd"/>' for share in (0, 0.5, 1)]
    parts += [text(20, 224 - 200 * share, f"{share:.0%}") for share in (0, 0.5, 1)]
    parts += [text(place(e, 0)[0] - 8, 236, f"{e:g}") for e in (0.1, 1, 10, 100)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*p) for p in points))
    parts.append(f'<polyline points="{line}" fill="none" stroke="#36c" stroke-width="2"/>')
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#36c"/>' for x, y in (place(*p) for p in points)]
    return svg(480, 262, [*parts, text(230, 254, "ε (δ = 1e-5)")])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where the picture is written")
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    rng, points = np.random.default_rng(0), []
    (x, y), (new, labels) = images(COUNT, rng), images(1000, rng)
    for noise in NOISES:
        model = trained(noise, x, y, options.steps).eval()
        right = float(np.mean(np.asarray(mnp.argmax(model(new), axis=1)) == labels))
        spent = privacy.epsilon(noise, RATE, options.steps, DELTA)
        points.append((spent, right))
        print(f"noise {noise:4}: ε = {spent:6.2f}, {right:.0%} of new digits are right")
    if options.folder:
        (options.folder / "privacy.svg").write_text(picture(points))


if __name__ == "__main__":
    main()
