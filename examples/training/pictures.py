"""Draws what the examples learn, which takes minutes.

    python -m examples.training.pictures docs/training.svg

It needs matplotlib (``pip install '.[plots]'``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from examples.training import adversarial, digits, heat, second_order, transformer
from examples.training.arguments import parser


def curves(axes: Any) -> None:
    for name, trainer in (("digits", digits.trained(300)), ("characters", transformer.trained(300))):
        axes.semilogy([metrics["loss"] for _, metrics in trainer.history], label=name, linewidth=1)
    axes.set(title="loss of the digits and the characters", xlabel="step")
    axes.legend()


def second(axes: Any) -> None:
    for name, losses in zip(("Gauss–Newton", "Adam"), second_order.both(60), strict=True):
        axes.semilogy(losses, label=name)
    axes.set(title="loss of a small network", xlabel="step")
    axes.legend()


def field(axes: Any) -> None:
    model = heat.trained(1500).model
    x, t = np.meshgrid(np.linspace(0, 1, 60, dtype=np.float32), np.linspace(0, 1, 60, dtype=np.float32))
    found = heat.temperature(model, x.ravel(), t.ravel()).numpy().reshape(x.shape)
    image = axes.imshow(found.T, origin="lower", extent=(0, 1, 0, 1), aspect="auto", cmap="inferno")
    axes.figure.colorbar(image, ax=axes)
    axes.set(title=f"temperature, error up to {heat.error(model):.0e}", xlabel="time", ylabel="position")


def ring(axes: Any) -> None:
    points = adversarial.samples(adversarial.trained(2000)[0], 400)
    data = adversarial.ring(np.array([0, 5], np.uint32), 400).numpy()
    for each, name in ((data, "data"), (points, "generated")):
        axes.scatter(*each.T, s=4, label=name)
    axes.set(title="points of the adversarial networks", aspect="equal")
    axes.legend(loc="center")


def main(path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "mlc"  # the same file from the same numbers
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for draw, each in zip((curves, second, field, ring), axes.flat, strict=True):
        draw(each)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    command = parser(__doc__)
    command.add_argument("path", help="a file whose suffix says the format, such as .svg or .png")
    main(command.parse_args().path)
