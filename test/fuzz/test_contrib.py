"""A few random cases of onnxruntime's own operators in every run; `fuzz_contrib.py` compares as many as one likes.

All rows are interpreted; a few, other ones for another ``--seed``, are compiled in one model.
"""

from __future__ import annotations

import secrets
from random import Random

import pytest
from contrib import load
from contrib_agree import NO_REFERENCE, compiled, interpreted

SEED, COMPILED = 1, 6


@pytest.mark.parametrize("name", load())
def test_an_operator_agrees_with_onnxruntime(name: str) -> None:
    problem = interpreted(name, SEED)
    command = f"python test/fuzz/fuzz_contrib.py --interpret --count 1 --seed {SEED} --only '{name}'"
    assert not problem or NO_REFERENCE in problem, command


def test_compiled_operators_agree_with_onnxruntime() -> None:
    random = Random(secrets.randbits(32))
    keys = [(name, random.randrange(1000)) for name in random.sample(sorted(load()), COMPILED)]
    assert all(NO_REFERENCE in problem for problem in compiled(keys).values()), keys
