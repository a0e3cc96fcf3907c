"""Logs for TensorBoard, as its own format is read: numbers, histograms, images, text, the graph."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlc import nn, optim, train
from mlc.errors import InputError

pytest.importorskip("tensorboardX")
X = np.random.Generator(np.random.Philox(5)).standard_normal((20, 3)).astype(np.float32)
Y = X[:, 0]


def events(folder: Path) -> Iterator[Any]:
    """The events of a log: a length and its checksum, the message, its checksum."""
    from tensorboardX.proto.event_pb2 import Event

    (path,) = folder.iterdir()
    data, at = path.read_bytes(), 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        yield Event.FromString(data[at + 12 : at + 12 + size])
        at += 16 + size


def test_a_run(tmp_path: Path) -> None:
    """Values beside the loss, means of epochs, validation, histograms and the graph."""
    model = nn.Sequential(nn.Linear(3, 4), nn.relu, nn.Linear(4, 1))

    def loss(m: Any, x: Any, y: Any) -> Any:
        found = m(x)[:, 0]
        return nn.mse_loss(found, y), {"mae": nn.l1_loss(found, y)}

    trainer = train.Trainer(model, optim.sgd(0.1), loss, metrics="r2")
    board = train.TensorBoard(tmp_path / "a", histograms=True, graph=X[:1])
    trainer.fit((X, Y), epochs=2, batch_size=10, validation_data=(X, Y), callbacks=[board], progress=False)
    board.add_text("note", "**bold**", 2)
    board.add_image("image", np.zeros((3, 4, 5), np.uint8))
    board.add_image("gray", np.zeros((4, 5)))
    board.add_image("many", np.zeros((2, 1, 4, 5), np.float32))
    board.close()
    found = list(events(tmp_path / "a"))
    values = [(each.step, value) for each in found for value in each.summary.value]
    scalars = {(value.tag, step): value.simple_value for step, value in values if value.HasField("simple_value")}
    for step, metrics in trainer.history:
        assert scalars["mae", step] == pytest.approx(metrics["mae"])
    for each in trainer.epochs:
        for name in ("epoch_loss", "epoch_r2", "val_loss", "val_mae", "val_r2"):
            assert scalars[name, each["step"]] == pytest.approx(each[name.removeprefix("epoch_")], rel=1e-5)
        assert scalars["rate_factor", each["step"]] == 1
    histograms = {(value.tag, step): value.histo for step, value in values if value.HasField("histo")}
    weight = trainer.model[0].weight.numpy()
    last = histograms["0.weight", 4]
    assert last.num == 12 and last.sum == pytest.approx(weight.sum(), rel=1e-5)
    images = {value.tag: value.image for _, value in values if value.HasField("image")}
    assert (images["image"].height, images["image"].width) == (4, 5) and len(images) >= 3
    assert any(b"**bold**" in t for _, v in values for t in (v.tensor.string_val if v.HasField("tensor") else []))
    assert sum(b"MatMul" in each.graph_def or b"Gemm" in each.graph_def for each in found) == 1


def test_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = train.TensorBoard(tmp_path / "b")
    with pytest.raises(InputError, match=r"'x' of the shape \(2, 4, 5\) is no image"):
        board.add_image("x", np.zeros((2, 4, 5)))
    with pytest.raises(InputError, match="The histogram 'h' has values that are not finite"):
        board.add_histogram("h", np.array([1, np.nan]))
    board.close()
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(InputError, match=r"need the package tensorboardX. pip install 'mlc\[train\]'"):
        train.TensorBoard(tmp_path / "c")
