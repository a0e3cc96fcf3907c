"""ZeRO-3: the transformer of examples.training on all ranks of an MPI job, each with a part of all state.

    mpiexec -n 2 python -m examples.distributed.transformer

A rank has a part of parameters, gradients and moments. A layer's parameters are gathered while the layer before
computes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from examples.training.arguments import chosen_steps
from examples.training.transformer import Text, Transformer, loss
from mlc import comm, nn, optim, train
from mlc.frontends.array import trees


def trained(steps: int, zero: int = 3, context: int = 32, size: int = 64, progress: bool = True) -> train.Trainer:
    nn.manual_seed(0)
    text = Text()
    model = Transformer(len(text.characters), context, size, layers=2)
    trainer = train.Trainer(model, optim.adamw(1e-3), loss, zero=zero, threads=1)
    return trainer.fit(text.batches(context, batch=16), steps, progress=progress)


def held(state: Any) -> int:
    """The bytes of parameters and of the optimizer's state."""
    return sum(np.asarray(x).nbytes for x in trees.leaves((state.parameters, state.optimizer)))


if __name__ == "__main__":
    trainer = trained(chosen_steps(__doc__, 100))
    whole = held(trainer.state)  # all ranks ask for it
    if comm.current().rank == 0:
        last = trainer.history[-1][1]["loss"]
        print(f"loss {last:.4f}; rank 0 of {comm.current().ranks} holds {held(trainer.held):,} of {whole:,} bytes")
