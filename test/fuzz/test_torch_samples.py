"""A few operators of torch's own database in every run; `fuzz_torch.py` compares as many as one likes."""

from __future__ import annotations

import secrets
from random import Random

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")

import torch  # noqa: E402
from torch_agree import (  # noqa: E402
    CRASH,
    DIFFERS,
    MISTAKE,
    compiled,
    differentiated,
    eager_gradients,
    exported,
    judged,
)
from torch_samples import operators, samples  # noqa: E402

FAMILIES = ("fft.", "index_", "cum", "nan", "linalg.solve", "nn.functional.avg_pool", "clamp", "sort")
WRONG = (DIFFERS, MISTAKE, CRASH)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", [exported, compiled], ids=["export", "compile"])
def test_operators_agree_with_eager_torch(way: object) -> None:
    random = Random(secrets.randbits(32))
    names = [name for name in operators() if name.startswith(FAMILIES)]
    for name in random.sample(names, 4 if way is exported else 1):
        for dtype in (torch.float32, torch.int64):
            given = samples(name, dtype, 3, random.randrange(1000))
            found = judged(given, way)  # type: ignore[arg-type]
            assert not [problem for problem in found if problem.startswith(WRONG)], (name, dtype, found)


@pytest.mark.filterwarnings("ignore")
def test_gradients_agree_with_eager_torch() -> None:
    random = Random(secrets.randbits(32))
    name = random.choice([name for name in operators() if name.startswith(FAMILIES)])
    given = samples(name, torch.float32, 1, random.randrange(1000), grad=True)
    found = judged(given, differentiated, eager_gradients)
    assert not [problem for problem in found if problem.startswith(WRONG)], (name, found)
