"""Data of libraries: torch's loaders, Hugging Face's data sets, Grain's, and classes with their methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mlc import nn, optim, train
from mlc.errors import InputError
from mlc.train.sources import Rows, once, source_of, steps_of, stream

RNG = np.random.Generator(np.random.Philox(2))
X = RNG.standard_normal((26, 3)).astype(np.float32)
Y = (X @ np.array([1.0, -2.0, 0.5], np.float32)).astype(np.float32)


def loss(model: Any, x: Any, y: Any) -> Any:
    return nn.mse_loss(model(x)[:, 0], y)


class DataSet:
    """The methods of ``datasets.Dataset`` that are asked for, on columns."""

    features = ("x", "y")

    def __init__(self, columns: dict[str, Any], kind: str | None = None) -> None:
        self.columns, self.format = columns, {"type": kind}

    def __len__(self) -> int:
        return len(self.columns["y"])

    def with_format(self, kind: str) -> DataSet:
        return DataSet(self.columns, kind)

    def shuffle(self, seed: int) -> DataSet:
        order = np.random.default_rng(seed).permutation(len(self))
        return DataSet({name: np.asarray(x)[order] for name, x in self.columns.items()}, self.format["type"])

    def iter(self, batch_size: int, drop_last_batch: bool = False) -> Iterator[dict[str, Any]]:
        for first in range(0, len(self), batch_size):
            if not drop_last_batch or first + batch_size <= len(self):
                rows = {name: x[first : first + batch_size] for name, x in self.columns.items()}
                as_lists = {name: np.asarray(x).tolist() for name, x in rows.items()}
                yield rows if self.format["type"] == "numpy" else as_lists


def rows_of(batches: Any) -> list[int]:
    """The numbers of the rows of batches."""
    return [int(np.flatnonzero(np.isclose(Y, y, rtol=1e-6))[0]) for batch in batches for y in batch["y"]]


def check_data_set(data: Any) -> None:
    """Epochs have 3 batches of 8 rows in two orders; a pass has all rows in order; a trainer takes the names."""
    source = source_of(data, 8, 5)
    items = [item for _, item in zip(range(6), stream(source, 0, None), strict=False)]
    assert steps_of(source, None) == 3 and [item.is_last for item in items] == [False, False, True] * 2
    orders = [rows_of(item.batch for item in items[part]) for part in (slice(3), slice(3, 6))]
    assert [len(set(order)) for order in orders] == [24, 24] and orders[0] != orders[1] and orders[0] != list(range(24))
    assert rows_of(once(data, 8, None)) == list(range(26))
    trainer = train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss, metrics="mae")
    trainer.fit(data, epochs=2, batch_size=8, validation_data=data, progress=False)
    expected = trainer.evaluate((X, Y))
    assert trainer.step == 6 and trainer.epochs[-1]["val_loss"] == pytest.approx(expected["loss"], rel=1e-5)
    assert trainer.epochs[-1]["val_mae"] == pytest.approx(expected["mae"], rel=1e-5)
    np.testing.assert_allclose(trainer.predict(data, batch_size=5), trainer.predict(X), rtol=1e-5, atol=1e-6)


def test_data_sets() -> None:
    check_data_set(DataSet({"x": X, "y": Y}))
    with pytest.raises(InputError, match="are rows, not batches. Give batch_size=32"):
        source_of(DataSet({"x": X, "y": Y}), None, 0)
    with pytest.raises(InputError, match="Batches of 30 of 26"):
        Rows(DataSet({"x": X, "y": Y}), 30, 0)


def test_hugging_face() -> None:
    datasets = pytest.importorskip("datasets")
    columns = {"x": X.tolist(), "y": Y.tolist(), "name": [f"row {n}" for n in range(26)]}
    check_data_set(datasets.Dataset.from_dict(columns))
    plain = datasets.Dataset.from_dict(columns)
    trainer = train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss)
    trainer.fit(plain.iter(batch_size=13), epochs=1, progress=False)  # lists of numbers, and of strings
    trainer.fit(plain.with_format("torch"), epochs=2, batch_size=13, progress=False)
    trainer.fit(plain.to_iterable_dataset(), 6, batch_size=13, progress=False)
    assert trainer.step == 6


def test_lists_of_numbers() -> None:
    """Batches of a data set without a format have lists; strings are left out."""
    trainer, other = (train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss) for _ in range(2))
    lists = DataSet({"x": X, "y": Y, "name": np.array(["a"] * 26)}).iter(13)
    first = trainer.fit(lists, epochs=1, progress=False).history[0][1]["loss"]
    other.state = other.state._replace(parameters=trainer.state.parameters)
    nn.manual_seed(0)
    assert first == pytest.approx(train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss).take((X[:13], Y[:13]))["loss"])


def test_torch_loaders() -> None:
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.tensor(X), torch.tensor(Y))
    loader = torch.utils.data.DataLoader(data, batch_size=13, shuffle=True)
    trainer = train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss, metrics="mae")
    trainer.fit(loader, epochs=3, validation_data=torch.utils.data.DataLoader(data, batch_size=13), progress=False)
    expected = trainer.evaluate((torch.tensor(X), torch.tensor(Y)), batch_size=26)
    assert trainer.step == 6 and len(trainer.epochs) == 3
    assert trainer.epochs[-1]["val_mae"] == pytest.approx(expected["mae"], rel=1e-5)
    np.testing.assert_allclose(trainer.predict(torch.tensor(X)), trainer.predict(loader.__class__(data, batch_size=26)),
                               rtol=1e-5, atol=1e-6)  # fmt: skip
    with pytest.raises(InputError, match="torch DataLoader"):
        trainer.fit(data, 9, progress=False)


def test_grain() -> None:
    grain = pytest.importorskip("grain")
    rows = [{"x": x, "y": y} for x, y in zip(X, Y, strict=True)]
    data = grain.MapDataset.source(rows).shuffle(seed=1).batch(13)
    trainer = train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss, metrics="mae")
    trainer.fit(data, epochs=2, validation_data=data, progress=False)
    assert trainer.step == 4 and len(trainer.epochs) == 2
    trainer.fit(data.repeat(), epochs=3, steps_per_epoch=2, progress=False)
    trainer.fit(data.to_iter_dataset(), epochs=4, progress=False)
    assert trainer.step == 8
    sampler = grain.samplers.IndexSampler(26, shuffle=True, seed=1, num_epochs=1)
    operations = [grain.transforms.Batch(13)]
    loader = grain.DataLoader(data_source=rows, sampler=sampler, operations=operations, worker_count=0)
    trainer.fit(loader, epochs=5, progress=False)
    assert trainer.step == 10 and trainer.evaluate(loader)["loss"] == pytest.approx(trainer.evaluate((X, Y))["loss"])


def test_arrays_by_name() -> None:
    """Dictionaries and single arrays with a batch size; a pass has all rows, in equal batches where there are such."""
    assert [len(batch["x"]) for batch in once({"x": X, "y": Y}, 15, None)] == [13, 13]
    assert [len(batch) for batch in once(X, 10, None)] == [10, 10, 6] and len(list(once(X, 99, None))) == 1
    trainer = train.Trainer(nn.Linear(3, 3), optim.sgd(0.1), lambda model, x: nn.mse_loss(model(x), x), metrics="mse")
    trainer.fit(X, epochs=2, batch_size=13, validation_data=X, progress=False)
    assert trainer.epochs[-1]["val_mse"] == pytest.approx(trainer.epochs[-1]["val_loss"], rel=1e-5)
