"""A small U-Net marks discs and crosses in noisy images; the best network is written as a C library.

    python -m examples.training.segmentation

A loader gives batches, flips of images are within the compiled step, mean IoU is measured after each epoch, and
training ends where it gets no better.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from examples.training.arguments import chosen_steps
from mlc import nn, optim, train

SIZE, CLASSES = 16, 3  # background, discs, crosses
EPOCH = 20  # steps
Data = np.ndarray[Any, Any]


def images(count: int, seed: int) -> tuple[Data, Data]:
    """Images [count, 1, SIZE, SIZE] with a disc and a cross each, and the class of each pixel."""
    random = np.random.Generator(np.random.Philox(seed))
    rows, columns = np.meshgrid(np.arange(SIZE), np.arange(SIZE), indexing="ij")
    positions = random.uniform(3, SIZE - 3, (4, count, 1, 1))
    size = random.uniform(2, 4, (2, count, 1, 1))
    down, across = np.abs(rows - positions[0]), np.abs(columns - positions[1])
    disc = down**2 + across**2 < size[0] ** 2
    down, across = np.abs(rows - positions[2]), np.abs(columns - positions[3])
    cross = (np.minimum(down, across) < 1) & (np.maximum(down, across) < size[1])
    classes = np.where(cross, 2, disc.astype(np.int64))
    x = (classes > 0) + random.normal(0, 0.4, classes.shape)
    return x[:, None].astype(np.float32), classes


class Loader:
    """Batches of new images in each epoch, by their names, as a ``torch.utils.data.DataLoader`` gives them."""

    def __init__(self, batch_size: int, seed: int) -> None:
        self.batch_size, self.seed = batch_size, seed

    def __len__(self) -> int:
        return EPOCH

    def __iter__(self) -> Iterator[dict[str, Data]]:
        for _ in range(EPOCH):
            self.seed += 1
            x, classes = images(self.batch_size, self.seed)
            yield {"classes": classes, "x": x}


def block(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm(outputs), nn.relu)


class UNet(nn.Module):
    """Two levels (Ronneberger et al., 2015): scores [N, C, H, W] of images [N, 1, H, W]."""

    down: nn.Sequential
    bottom: nn.Sequential
    up: nn.ConvTranspose2d
    joined: nn.Sequential
    head: nn.Conv2d

    def __init__(self, width: int = 8) -> None:
        self.down, self.bottom = block(1, width), block(width, 2 * width)
        self.up, self.joined = nn.ConvTranspose2d(2 * width, width, 2, 2), block(2 * width, width)
        self.head = nn.Conv2d(width, CLASSES, 1)

    def __call__(self, x: Any) -> Any:
        fine = self.down(x)
        coarse = self.up(self.bottom(nn.max_pool(fine, 2)))
        return self.head(self.joined(mnp.concatenate([fine, coarse], axis=1)))


def loss(model: Any, x: Any, classes: Any) -> Any:
    scores = mnp.moveaxis(model(x), 1, -1)
    marked = mnp.mean(mnp.astype(mnp.argmax(scores, axis=-1) > 0, mnp.float32))
    return nn.cross_entropy(scores, classes), {"marked": marked}


def flipped(x: Any, classes: Any) -> Any:
    """Images and their classes flipped alike."""
    both = mnp.concatenate([x, mnp.astype(classes, x.dtype)[:, None]], axis=1)
    found = train.random_flip(train.random_flip(both), axis=-2)
    return found[:, :1], mnp.astype(found[:, 1], classes.dtype)


def trained(steps: int, best: Path, progress: bool = True) -> train.Trainer:
    """A trainer that ends after these steps, or where mean IoU gets no better; ``best`` gets the best weights."""
    nn.manual_seed(0)
    metrics = {"iou": train.MeanIoU(axis=1), "accuracy": train.Accuracy(axis=1)}
    trainer = train.Trainer(UNet(), optim.adam(1e-2), loss, metrics=metrics, augment=flipped)
    stopping = train.EarlyStopping("val_iou", patience=4, restore_best=True)
    plateau = train.ReduceLROnPlateau("val_iou", factor=0.3, patience=2)
    return trainer.fit(
        Loader(32, seed=1000),
        epochs=max(1, steps // EPOCH),
        validation_data=dict(zip(("x", "classes"), images(128, 1), strict=True)),
        callbacks=[stopping, plateau, train.BestCheckpoint(best, "val_iou")],
        progress=progress,
    )


def deployed(trainer: train.Trainer, path: Path) -> mlc.Model:
    """The network as a library, ``path``, for any number of images, which is then loaded."""
    trainer.model.eval().save(path, images(1, 0)[0], dims={"x": ("batch", 1, SIZE, SIZE)})
    return mlc.load(path)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        trainer = trained(chosen_steps(__doc__, 400), Path(folder) / "best.safetensors")
        library = deployed(trainer, Path(folder) / "unet.so")
        x, classes = images(500, 2)
        iou = train.MeanIoU(axis=1)(library(x), classes)
        print(trainer.summary(x[:1]))
        epochs, rate = len(trainer.epochs), trainer.rate_factor
        print(f"mean IoU {iou:.3f} of the library after {epochs} epochs; the rate fell to {rate:.2g} of the first")


if __name__ == "__main__":
    main()
