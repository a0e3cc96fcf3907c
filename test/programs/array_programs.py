"""Runs array programs on NumPy and on mlc.numpy, and compares: ``array_programs.py [--seed N] [NAME ...]``.

Each program takes the array module and a framework with derivatives and loops; only the import differs. The reference
is NumPy in float64, with derivatives by differences. A name selects the programs that begin with it.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import numpy_framework
import programs_of_learning
import programs_of_physics
import programs_of_signals
from program_runs import run
from program_table import PROGRAMS

import mlc
import mlc.numpy as mnp
from mlc.frontends.array.array import Array

MODULES = (programs_of_learning, programs_of_physics, programs_of_signals)
TOLERANCE = 3e-4  # the default type is float32, and the reference's derivatives are differences


def check(name: str, seed: int) -> None:
    """AssertionError where the results differ."""
    f, given = PROGRAMS[name]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted = _leaves(f(np, numpy_framework, np.random.default_rng(seed), **given))
    found = _leaves(f(mnp, mlc, np.random.default_rng(seed), **given))
    assert len(found) == len(wanted), (len(found), len(wanted))
    for ours, theirs in zip(found, wanted, strict=True):
        assert np.shape(ours) == np.shape(theirs), (np.shape(ours), np.shape(theirs))
        np.testing.assert_allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE)


def _leaves(found: Any) -> list[Any]:
    if isinstance(found, list | tuple):
        return [leaf for each in found for leaf in _leaves(each)]
    return [np.asarray(found) if isinstance(found, Array) else found]


def problem(name: str, seed: int) -> str:
    """Empty; an error where the results differ."""
    check(name, seed)
    return ""


if __name__ == "__main__":
    sys.exit(run(__doc__, PROGRAMS, problem))
