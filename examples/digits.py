"""Gradients of an ONNX model: a small classifier of digits is trained, explained and attacked.

    python -m examples.digits [--picture digits.png]

The images are drawn: each digit of a 5×7 font near the middle of 12×12 pixels, blurred, with noise. The model is an
ONNX file; ``mlc.function`` makes it a function on arrays. Its gradients by the weights train it. Those by its input
are integrated gradients (Sundararajan et al., 2017), which say what each pixel adds to the result, and adversarial
examples: one step of the sign of the gradient (FGSM: Goodfellow et al., 2014), or many, projected (PGD: Madry et al.,
2017).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import mlc
import mlc.numpy as mnp
from mlc import nn, optim

FONT = (
    "01110100011001110101110011000101110 00100011000010000100001000010001110 01110100010000100010001000100011111 "
    "11111000100010000010000011000101110 00010001100101010010111110001000010 11111100001111000001000011000101110 "
    "00110010001000011110100011000101110 11111000010001000100010000100001000 01110100011000101110100011000101110 "
    "01110100011000101111000010001001100"
)  # seven rows of five pixels for each digit
SIDE = 12
EPSILON = 0.04  # of a pixel, whose range is 1
STEPS = 32  # of the path of integrated gradients
Array = Any


def images(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(images [count, 1, 12, 12] from 0 to 1, digits [count])."""
    glyphs = np.array([[int(bit) for bit in word] for word in FONT.split()], np.float32).reshape(10, 7, 5)
    digits, drawn = rng.integers(0, 10, count), np.zeros((count, SIDE + 2, SIDE + 2), np.float32)
    for image, digit in zip(drawn, digits, strict=True):
        row, column = rng.integers(2, 5), rng.integers(3, 6)
        image[row : row + 7, column : column + 5] = glyphs[digit] * rng.uniform(0.6, 1)
    blurred = drawn[:, 1:-1, 1:-1] * 0.6 + 0.1 * (
        drawn[:, :-2, 1:-1] + drawn[:, 2:, 1:-1] + drawn[:, 1:-1, :-2] + drawn[:, 1:-1, 2:]
    )
    noisy = np.clip(blurred + rng.normal(0, 0.05, blurred.shape), 0, 1)
    return noisy[:, None].astype(np.float32), digits


def untrained(rng: np.random.Generator) -> onnx.ModelProto:
    """Two convolutions and a linear layer, with random weights, for any number of images."""
    shapes = {"w1": (8, 1, 3, 3), "b1": (8,), "w2": (16, 8, 3, 3), "b2": (16,), "w3": (144, 10), "b3": (10,)}
    weights = {n: rng.normal(0, np.prod(s[1:]) ** -0.5, s) * (len(s) > 1) for n, s in shapes.items()}
    weights["w3"] /= 4
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
        helper.make_node("Tanh", ["c1"], ["t1"]),
        helper.make_node("AveragePool", ["t1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p1", "w2", "b2"], ["c2"], pads=[1, 1, 1, 1]),
        helper.make_node("Tanh", ["c2"], ["t2"]),
        helper.make_node("AveragePool", ["t2"], ["p2"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p2"], ["flat"]),
        helper.make_node("Gemm", ["flat", "w3", "b3"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["images", 1, SIDE, SIDE])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["images", 10])],
        [numpy_helper.from_array(w.astype(np.float32), n) for n, w in weights.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def trained(folder: Path, rng: np.random.Generator, steps: int = 300) -> Path:
    """An ONNX file of the classifier after some steps of Adam, each on 128 new images."""
    onnx.save(untrained(rng), folder / "untrained.onnx")
    f, adam = mlc.function(folder / "untrained.onnx"), optim.adam(1e-2)

    @mlc.jit
    def step(weights: Any, state: Any, x: Array, digits: Array) -> Any:
        gradient = mlc.grad(lambda w: nn.cross_entropy(f(x, weights=w), digits))(weights)
        updates, state = adam.update(gradient, state, weights)
        return optim.apply_updates(weights, updates), state

    weights, state = f.weights, adam.init(f.weights)
    for _ in range(steps):
        weights, state = step(weights, state, *images(128, rng))
    nn.save_onnx(folder / "untrained.onnx", weights, folder / "digits.onnx")
    return folder / "digits.onnx"


def attributions(f: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    """Integrated gradients: (images, digits) → what each pixel adds to the logit of the digit, from a black image on.

    The mean gradient along the straight path, by the midpoint rule, times the pixel.
    """

    def of_one(x: Array, digit: Array) -> Array:
        slope = mlc.grad(lambda image: f(image[None])[0, digit])
        path = (mnp.arange(STEPS, dtype=mnp.float32) + 0.5) / STEPS
        return x * mnp.mean(mlc.vmap(lambda part: slope(part * x))(path), axis=0)

    return mlc.jit(mlc.vmap(of_one))


def fgsm(f: Callable[[Array], Array], epsilon: float = EPSILON) -> Callable[[Array, Array], Array]:
    """Fast gradient sign method: each pixel one step of ``epsilon`` towards a greater loss."""

    def attack(x: Array, digits: Array) -> Array:
        slope = mlc.grad(lambda image: nn.cross_entropy(f(image), digits))(x)
        return mnp.clip(x + epsilon * mnp.sign(slope), 0, 1)

    return mlc.jit(attack)


def pgd(f: Callable[[Array], Array], epsilon: float = EPSILON, steps: int = 20) -> Callable[[Array, Array], Array]:
    """Projected gradient descent: small steps, each projected onto what is within ``epsilon`` of the image."""

    def attack(x: Array, digits: Array) -> Array:
        def step(_: Array, image: Array) -> Array:
            slope = mlc.grad(lambda image: nn.cross_entropy(f(image), digits))(image)
            moved = image + 2.5 * epsilon / steps * mnp.sign(slope)
            return mnp.clip(mnp.clip(moved, x - epsilon, x + epsilon), 0, 1)

        return mlc.fori_loop(0, steps, step, x)

    return mlc.jit(attack)


def accuracy(f: Callable[[Array], Array], x: Array, digits: np.ndarray) -> float:
    return float(np.mean(np.asarray(f(x)).argmax(1) == digits))


def main(picture: Path | None = None, seed: int = 0) -> dict[str, Any]:
    """Train, explain, attack; what was found, printed too."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        f = mlc.function(trained(Path(folder), rng))
    x, digits = images(100, rng)
    parts = attributions(f)(x, digits).numpy()
    change = (f(x) - f(np.zeros_like(x))).numpy()[np.arange(len(x)), digits]
    attacked = {"none": x, "FGSM": fgsm(f)(x, digits).numpy(), "PGD": pgd(f)(x, digits).numpy()}
    found: dict[str, Any] = {
        "completeness": float(np.abs(parts.sum((1, 2, 3)) - change).max() / np.abs(change).max()),
        "accuracy": {name: accuracy(f, each, digits) for name, each in attacked.items()},
        "distance": {name: float(np.abs(each - x).max()) for name, each in attacked.items()},
    }
    print(f"attributions sum to f(x) - f(0) within {found['completeness']:.1e} of the greatest")
    for name in attacked:
        print(f"attack {name:5} accuracy {found['accuracy'][name]:.2f}, pixels within {found['distance'][name]:.3f}")
    if picture is not None:
        draw(picture, x, parts, attacked["PGD"], np.asarray(f(attacked["PGD"])).argmax(1))
    return found


def draw(path: Path, x: np.ndarray, parts: np.ndarray, attacked: np.ndarray, answers: np.ndarray) -> None:
    """Images, what their pixels add, and the attacked images with the model's answers; needs matplotlib."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(3, 8, figsize=(10, 4))
    for column, (image, part, other, answer) in enumerate(zip(x, parts, attacked, answers, strict=True)):
        if column == axes.shape[1]:
            break
        limit = np.abs(part).max()
        axes[0, column].imshow(image[0], cmap="gray", vmin=0, vmax=1)
        axes[1, column].imshow(part[0], cmap="RdBu", vmin=-limit, vmax=limit)
        axes[2, column].imshow(other[0], cmap="gray", vmin=0, vmax=1)
        axes[2, column].set_title(f"{answer}", fontsize=9)
    for each in axes.flat:
        each.axis("off")
    figure.savefig(path, bbox_inches="tight")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, help="a file to draw into (matplotlib)")
    main(parser.parse_args().picture)
