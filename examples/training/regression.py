"""Ridge regression of 442 patients with 10 correlated features, as in the diabetes study of Efron et al. (2004).

    python -m examples.training.regression

The data are generated. The weights are compared with those of the normal equations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from examples.training.arguments import chosen_steps
from mlc import nn, optim, train

DECAY = 0.05


def data() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Standardized features [442, 10], and what is predicted [442]."""
    random = np.random.Generator(np.random.Philox(7))
    hidden = random.standard_normal((442, 4))
    x = hidden @ random.standard_normal((4, 10)) + random.standard_normal((442, 10))
    y = x @ random.normal(0, 10, 10) + random.normal(0, 50, 442)
    return ((x - x.mean(0)) / x.std(0)).astype(np.float32), ((y - y.mean()) / y.std()).astype(np.float32)


def loss(model: Any, x: Any, y: Any) -> Any:
    return nn.mse_loss(model(x)[:, 0], y)


def fitted(steps: int, progress: bool = True) -> train.Trainer:
    nn.manual_seed(0)
    optimizer = optim.sgd(0.05, 0.9, weight_decay=2 * DECAY, decays=lambda name, _: name == "weight")
    return train.Trainer(nn.Linear(10, 1), optimizer, loss).fit([data()], steps, progress=progress)


def solved() -> np.ndarray[Any, Any]:
    """The weights of the normal equations."""
    x, y = (each.astype(float) for each in data())
    return np.linalg.solve(x.T @ x / len(x) + DECAY * np.eye(10), x.T @ y / len(x))


if __name__ == "__main__":
    trainer = fitted(chosen_steps(__doc__, 300))
    x, y = data()
    explained = 1 - np.square(trainer.model(x).numpy()[:, 0] - y).sum() / np.square(y).sum()
    difference = np.abs(trainer.model.weight.numpy()[0] - solved()).max()
    print(f"R² {explained:.3f}; weights differ by {difference:.1e} from those of the normal equations")
