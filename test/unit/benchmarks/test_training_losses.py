"""Losses of the example networks beside torch in a few steps; bits on several threads and when resumed."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import training_losses as command
from benchmarks.training_twins import EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_losses_are_torchs(name: str) -> None:
    pytest.importorskip("torch")
    if name == "fine_tuning":
        pytest.importorskip("transformers")
    twin = EXAMPLES[name]()
    np.testing.assert_allclose(twin.ours(8, 2), twin.theirs(8), rtol=1e-3)


def test_bits_of_a_trainer() -> None:
    pytest.importorskip("safetensors")
    twin = EXAMPLES["regression"]()
    assert command.same_on_threads(twin, 6) and command.same_when_resumed(twin, 6)
