"""Explanations and attacks of a classifier, with pictures: ``docs/explain.svg`` and ``docs/attack.svg``.

    python -m examples.explain [--folder docs]

The classifier of ``examples/digits.py`` (an ONNX model) is trained, explained by ``mlc.attribution``, attacked by
``mlc.robust``, and proved to resist small changes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import mlc
import mlc.numpy as mnp
from examples.digits import images, trained
from mlc import attribution, robust

CELL, GAP, TITLE = 96, 8, 18
EPSILONS = (0.0, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064)
LEVELS = 12  # of color


def maps(model: onnx.ModelProto, x: Any, y: Any) -> dict[str, Any]:
    """Attributions [n, 1, 12, 12] by their names."""
    f = mlc.function(model)
    cam = attribution.grad_cam(model, x, y, layer="t2")
    return {
        "saliency": attribution.saliency(f, x, y),
        "SmoothGrad": attribution.smooth_grad(f, x, y, key=mnp.random.key(0)),
        "integrated gradients": attribution.integrated_gradients(f, x, y),
        "occlusion": attribution.occlusion(f, x, y, window=(1, 3, 3), strides=(1, 1, 1)),
        "Grad-CAM": attribution.upsampled(cam, (12, 12)),
        "relevance": attribution.layer_relevance(model, x, y, epsilon=1e-2),
    }


def accuracies(f: Callable[[Any], Any], x: Any, y: Any) -> dict[str, list[float]]:
    """The share of right answers under each ε: certified, under PGD, under FGSM."""
    right = np.asarray(mnp.argmax(f(x), axis=1)) == y
    found: dict[str, list[float]] = {"FGSM": [], "PGD": [], "certified": []}
    for epsilon in EPSILONS:
        one = robust.fgsm(f, x, y, epsilon, clip=(0, 1))
        many = robust.pgd(f, x, y, epsilon, clip=(0, 1), key=mnp.random.key(0))
        for name, attacked in (("FGSM", one), ("PGD", many)):
            found[name].append(float(np.mean(np.asarray(mnp.argmax(f(attacked), axis=1)) == y)))
        found["certified"].append(float(np.mean(right & robust.certified(f, x, y, epsilon, clip=(0, 1)))))
    return found


def heat(values: Any, left: int, top: int, signed: bool) -> str:
    """A map as squares: red speaks for the class, blue against it; without a sign, black is most."""
    scaled = np.rint(LEVELS * values / max(float(np.abs(values).max()), 1e-12)).astype(int)
    side, paths = CELL // len(values), []
    for level in set(scaled.ravel()) - {0}:
        faded = 255 - 255 * abs(level) // LEVELS
        warm = f"rgb(255,{faded},{faded})" if level > 0 else f"rgb({faded},{faded},255)"
        color = warm if signed else f"rgb({faded},{faded},{faded})"
        at = np.argwhere(scaled == level)
        squares = "".join(f"M{left + c * side} {top + r * side}h{side}v{side}h-{side}z" for r, c in at)
        paths.append(f'<path fill="{color}" d="{squares}"/>')
    return "".join(paths)


def text(x: float, y: float, words: str, color: str = "#555") -> str:
    return f'<text x="{x}" y="{y}" font-family="sans-serif" font-size="11" fill="{color}">{words}</text>'


def explained(x: Any, found: dict[str, Any]) -> str:
    """A row for each image: the image and its maps."""
    names = ["image", *found]
    width, height = len(names) * (CELL + GAP) + GAP, len(x) * (CELL + GAP) + TITLE + GAP
    parts = [text(GAP + n * (CELL + GAP), 13, name) for n, name in enumerate(names)]
    for row in range(len(x)):
        for n, each in enumerate([x, *found.values()]):
            left, top = GAP + n * (CELL + GAP), TITLE + row * (CELL + GAP)
            parts.append(heat(np.asarray(each)[row, 0], left, top, signed=n > 0))
    return svg(width, height, parts)


def curves(found: dict[str, list[float]]) -> str:
    """Shares of right answers over ε."""
    parts, colors = [], ("#c33", "#36c", "#393")
    place = lambda n, share: (60 + 400 * n / (len(EPSILONS) - 1), 220 - 200 * share)  # noqa: E731
    for share in (0, 0.5, 1):
        parts += [f'<path d="M60 {220 - 200 * share}h400" stroke="#ddd"/>', text(20, 224 - 200 * share, f"{share:.0%}")]
    parts += [text(place(n, 0)[0] - 10, 236, f"{e:g}") for n, e in enumerate(EPSILONS)]
    for n, (name, shares) in enumerate(found.items()):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, range(len(shares)), shares))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colors[n]}" stroke-width="2"/>')
        parts.append(text(380, 30 + 16 * n, name, colors[n]))
    parts.append(text(200, 254, "largest change of a pixel"))
    return svg(480, 262, parts)


def svg(width: float, height: float, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
    return f'{head}\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where the pictures are written")
    parser.add_argument("--steps", type=int, default=300, help="of training")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        model = onnx.load(trained(Path(folder), rng, options.steps))
    x, y = images(100, rng)
    found = maps(model, x[:3], y[:3])
    shares = accuracies(mlc.function(model), x, y)
    for name, values in shares.items():
        print(f"{name:9}", *(f"{e:g}: {v:.0%}" for e, v in zip(EPSILONS, values, strict=True)))
    if options.folder:
        (options.folder / "explain.svg").write_text(explained(x[:3], found))
        (options.folder / "attack.svg").write_text(curves(shares))


if __name__ == "__main__":
    main()
