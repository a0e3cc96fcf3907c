"""Data-parallel training: the digits of examples.training on all ranks of an MPI job.

    mpiexec -n 2 python -m examples.distributed.digits
    python -m examples.distributed.digits                  # one process: the same bits

Each rank reads its rows of a batch, of which there are 64 in 4 shards, and gradients are averaged over the shards.
"""

from __future__ import annotations

from examples.training.arguments import chosen_steps
from examples.training.digits import accuracy, images, loss, network
from mlc import comm, optim, train

SHARDS = 4


def trained(steps: int, progress: bool = True) -> train.Trainer:
    data = train.ArrayData(images(8000, seed=1), batch_size=64)
    optimizer = optim.adamw(optim.one_cycle(1e-2, steps))
    # A rank computes on one thread: two ranks have two of the processors.
    trainer = train.Trainer(network(), optimizer, loss, shards=SHARDS, threads=1)
    return trainer.fit(data, steps, progress=progress)


if __name__ == "__main__":
    trainer = trained(chosen_steps(__doc__, 600))
    if comm.current().rank == 0:
        last = trainer.history[-1][1]["loss"]
        print(f"{accuracy(trainer.model):.1%} of the test images are read; last loss {last:.9g}")
