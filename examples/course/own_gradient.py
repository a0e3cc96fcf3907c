"""An operation of the host with a gradient of its own, between compiled parts: a saturated sine is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc import graph
from mlc.graph import AdamOptimizer, Graph, Operation, Placeholder, Saver, Session, Variable, gradients


class Saturated(Operation):
    """Values between -1 and 1; the gradient passes where nothing is cut off."""

    def __init__(self, x: Any) -> None:
        super().__init__([x])

    def compute(self, x_value: Any) -> Any:
        return np.clip(x_value, -1, 1)

    def gradient(self, grad: Any, x_value: Any) -> Any:
        return grad * (np.abs(x_value) < 1)


def main(path: str, steps: int = 300) -> tuple[float, Any]:
    """The last loss, and the amplitude and frequency that a second session reads from ``path``."""
    points = np.linspace(-2, 2, 80, dtype=np.float32)
    target = np.clip(1.5 * np.sin(2 * points), -1, 1)
    with Graph().as_default():
        x, y = Placeholder(), Placeholder()
        amplitude, frequency = Variable(0.8, name="amplitude"), Variable(1.6, name="frequency")
        loss = graph.mean((Saturated(amplitude * graph.sin(frequency * x)) - y) ** 2)
        norm = sum(g**2 for g in gradients(loss, [amplitude, frequency]))
        step = AdamOptimizer(0.02).minimize(loss)
        saver = Saver()
        with Session() as session:
            for n in range(steps):
                value, size, _ = session.run((loss, norm, step), {x: points, y: target})
                if n % 50 == 0:
                    print(f"step {n}: loss {value:.6f}, squared norm of the gradient {size:.6f}")
            saver.save(session, path)
        other = Session()
        saver.restore(other, path)
        return float(value), other.run({"amplitude": amplitude, "frequency": frequency})


if __name__ == "__main__":
    print(*main("sine.npz"))
