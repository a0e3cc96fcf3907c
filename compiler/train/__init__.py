"""``mlc.train``: the training loop, its data, metrics, callbacks, checkpoints and logs.

from mlc import nn, optim, train

model = nn.Sequential(nn.Linear(784, 128), nn.relu, nn.Linear(128, 10))
loss = lambda model, x, labels: nn.cross_entropy(model(x), labels)
trainer = train.Trainer(model, optim.adam(1e-3), loss, metrics=["accuracy"])
trainer.fit((x, labels), epochs=10, batch_size=64, validation_data=(x_test, labels_test))
"""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish, publish_methods
from mlc.train.augmentation import mixup, random_brightness, random_crop, random_flip
from mlc.train.callbacks import BestCheckpoint, Callback, EarlyStopping, ReduceLROnPlateau
from mlc.train.checkpoints import Checkpoints
from mlc.train.data import ArrayData, prefetched
from mlc.train.distillation import distillation_loss, distilled
from mlc.train.metrics import (
    AUC,
    F1,
    R2,
    Accuracy,
    BinaryAccuracy,
    ConfusionMatrix,
    MeanAbsoluteError,
    MeanIoU,
    MeanSquaredError,
    Metric,
    Precision,
    Recall,
    RootMeanSquaredError,
    TopK,
)
from mlc.train.rates import RateSearch, find_learning_rate
from mlc.train.step import TrainState, training_step
from mlc.train.tensorboard import TensorBoard
from mlc.train.trainer import Trainer

__all__ = [
    "AUC",
    "F1",
    "R2",
    "Accuracy",
    "ArrayData",
    "BestCheckpoint",
    "BinaryAccuracy",
    "Callback",
    "Checkpoints",
    "ConfusionMatrix",
    "EarlyStopping",
    "MeanAbsoluteError",
    "MeanIoU",
    "MeanSquaredError",
    "Metric",
    "Precision",
    "RateSearch",
    "Recall",
    "ReduceLROnPlateau",
    "RootMeanSquaredError",
    "TensorBoard",
    "TopK",
    "TrainState",
    "Trainer",
    "distillation_loss",
    "distilled",
    "find_learning_rate",
    "mixup",
    "prefetched",
    "random_brightness",
    "random_crop",
    "random_flip",
    "training_step",
]

for _class in (ArrayData, Checkpoints, Trainer):
    publish_methods(_class, "mlc.train", ("__init__", "fit", "take", "evaluate", "predict", "summary"))
publish(globals(), ("distillation_loss", "distilled", "find_learning_rate", "mixup"))
publish(globals(), ("random_brightness", "random_crop", "random_flip"))


def __getattr__(name: str) -> Any:
    """AttributeError, with the nearest name."""
    if name.startswith("__"):
        raise AttributeError(f"module 'mlc.train' has no attribute '{name}'")
    raise missing("mlc.train", name, __all__)
