"""A few random cases of onnxruntime's own operators in every run; `fuzz_contrib.py` compares as many as one likes.

All rows are interpreted; a few, other ones for another ``--seed``, are compiled in one model.
"""

from __future__ import annotations

import secrets
from random import Random

import pytest
from contrib import load
from contrib_agree import NO_REFERENCE, compiled, interpreted

SEEDS, COMPILED = range(1, 4), 6


@pytest.mark.parametrize("name", load())
def test_an_operator_agrees_with_onnxruntime(name: str) -> None:
    problems = [problem for seed in SEEDS if (problem := interpreted(name, seed)) and NO_REFERENCE not in problem]
    command = f"python test/fuzz/fuzz_contrib.py --interpret --count {len(SEEDS)} --seed {SEEDS[0]} --only '{name}'"
    assert not problems, f"{problems}: {command}"


def test_compiled_operators_agree_with_onnxruntime() -> None:
    random = Random(secrets.randbits(32))
    keys = [(name, random.randrange(1000)) for name in random.sample(sorted(load()), COMPILED)]
    assert all(NO_REFERENCE in problem for problem in compiled(keys).values()), keys
