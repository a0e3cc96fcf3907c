"""A net of layers with forward, backward and an update, on handwritten-like digits of 8 × 8 points."""

from __future__ import annotations

import numpy as np

from mlc.graph import Adam, Dense, Model, Net, ReLU, SoftmaxCrossEntropyLoss


def digits(count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Noisy copies of ten patterns, and one-hot rows."""
    patterns = np.random.default_rng(7).random((10, 64)) > 0.5
    labels = random.integers(0, 10, count)
    return patterns[labels] + 0.5 * random.standard_normal((count, 64)), np.eye(10)[labels]


def main(epochs: int = 5) -> float:
    """The share of right answers on new digits."""
    random = np.random.default_rng(0)
    x, y = digits(1000, random)
    net = Net([Dense(64, rng=random), ReLU(), Dense(32, rng=random), ReLU(), Dense(10, rng=random)])
    model = Model(net=net, loss=SoftmaxCrossEntropyLoss(), optimizer=Adam(lr=3e-3))
    for epoch in range(epochs):
        order = random.permutation(len(x))
        for rows in np.split(order, 20):
            predicted = model.forward(x[rows])
            loss, grads = model.backward(predicted, y[rows])
            model.apply_grad(grads)
        print(f"epoch {epoch}: loss {loss:.4f}")
    model.set_phase("TEST")
    test_x, test_y = digits(500, random)
    return float((model.forward(test_x).argmax(1) == test_y.argmax(1)).mean())


if __name__ == "__main__":
    print(main())
