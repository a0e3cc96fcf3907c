"""The examples of training on ranks that are threads of this process."""

from __future__ import annotations

import numpy as np

from examples.distributed import federated, transformer
from mlc import comm, nn


def test_a_transformer_is_trained_in_parts() -> None:
    """Each rank holds half of all state, and all have one loss."""

    def run(rank: int) -> tuple[list[float], float]:
        trainer = transformer.trained(3, context=8, size=16, progress=False)
        share = transformer.held(trainer.held) / transformer.held(trainer.state)
        return [values["loss"] for _, values in trainer.history], share

    (losses, share), (others, _) = comm.in_threads(2, run, limit=200)
    assert losses == others and losses[-1] < losses[0] < 6
    assert 0.5 <= share < 0.55


def test_clients_have_one_model_after_a_round() -> None:
    found = comm.in_threads(2, lambda rank: federated.trained(1), limit=200)
    first, second = (nn.partition(each)[0].layers[1] for each in found)
    np.testing.assert_array_equal(np.asarray(first.weight), np.asarray(second.weight))
    np.testing.assert_array_equal(np.asarray(first.bias), np.asarray(second.bias))
