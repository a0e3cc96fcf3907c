"""``mlc.train``: the training loop, its data, checkpoints and logs.

from mlc import nn, optim, train

model = nn.Sequential(nn.Linear(784, 128), nn.relu, nn.Linear(128, 10))
loss = lambda model, x, labels: nn.cross_entropy(model(x), labels)
trainer = train.Trainer(model, optim.adam(1e-3), loss)
trainer.fit(train.ArrayData((x, labels), batch_size=64), steps=1000)
"""

from mlc.frontends.array.public import publish_methods
from mlc.train.checkpoints import Checkpoints
from mlc.train.data import ArrayData, prefetched
from mlc.train.step import TrainState, training_step
from mlc.train.trainer import Trainer

__all__ = ["ArrayData", "Checkpoints", "TrainState", "Trainer", "prefetched", "training_step"]

for _class in (ArrayData, Checkpoints, Trainer):
    publish_methods(_class, "mlc.train", ("__init__", "fit", "take"))
