"""The programs of ``examples/course`` as a reader runs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


def test_operations_of_the_program() -> None:
    from examples.course import first_graph

    z, a = first_graph.main()
    np.testing.assert_array_equal(z, [2, -1])
    np.testing.assert_allclose(a, 1 / (1 + np.exp([-2.0, 1.0])))


def test_points_are_separated() -> None:
    from examples.course import perceptron

    losses, right = perceptron.main(60)
    assert losses[-1] < losses[0] / 10 and right == 1


def test_a_gradient_of_the_program(tmp_path: Path) -> None:
    from examples.course import own_gradient

    loss, found = own_gradient.main(str(tmp_path / "sine.npz"), 200)
    assert loss < 1e-4
    assert found["amplitude"] == pytest.approx(1.5, abs=0.05) and found["frequency"] == pytest.approx(2, abs=0.05)


def test_layers_learn_digits() -> None:
    from examples.course import layers

    assert layers.main(3) > 0.95
