"""The networks of the training benchmark: one loss in mlc, torch and JAX, and Adam as torch computes it."""

from __future__ import annotations

import numpy as np
import optree
import pytest

from benchmarks.training import ours, widened
from benchmarks.training_networks import OURS, Network, characters, jax_functions, mobilenet_v2, torch_functions


def networks() -> list[Network]:
    random = np.random.default_rng()
    return [characters(random, 2, 8), mobilenet_v2(random, 2)]


def test_losses_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for network in networks():
        given = [torch.utils._pytree.tree_map(torch.tensor, x) for x in (network.parameters, network.x, network.labels)]
        expected = network.loss(torch_functions(), *given).item()
        found = float(network.loss(OURS, network.parameters, network.x, network.labels))
        assert abs(found - expected) < 1e-4 * abs(expected)


def test_losses_are_those_of_jax() -> None:
    jax = pytest.importorskip("jax")
    network = characters(np.random.default_rng(), 2, 8)
    given = jax.tree.map(jax.numpy.array, (network.parameters, network.x, network.labels))
    expected = float(network.loss(jax_functions(), *given))
    found = float(network.loss(OURS, network.parameters, network.x, network.labels))
    assert abs(found - expected) < 1e-4 * abs(expected)


def test_steps_are_those_of_torch() -> None:
    pytest.importorskip("torch")
    from benchmarks.gradient_networks import mlp
    from benchmarks.training import torchs

    network = mlp(np.random.default_rng(), 8)
    step, expected = ours(network, 1), torchs(network, False)
    for _ in range(5):
        assert abs(step() - expected()) < 1e-4


def test_widened_networks_keep_labels_and_losses() -> None:
    pytest.importorskip("torch")
    from benchmarks.training import torchs
    from benchmarks.training_twins import in_float64

    network = characters(np.random.default_rng(), 2, 8)
    with in_float64():
        exact, wide = torchs(widened(network), False)(), widened(network)
    assert wide.labels.dtype == network.labels.dtype
    assert {each.dtype for each in optree.tree_leaves(wide.parameters)} == {np.dtype(np.float64)}
    assert 0 < abs(float(network.loss(OURS, network.parameters, network.x, network.labels)) - exact) < 1e-4 * exact
