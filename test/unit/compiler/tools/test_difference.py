"""How far arrays are apart: floats by a share of the largest value, integers of 8 bits by one, all else exactly."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from mlc.tools.difference import difference

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_floats_by_the_largest_value(kind: type) -> None:
    wanted = np.array([[1, -8], [NAN, 0.5]], kind)
    found = wanted.copy()
    assert difference(found, wanted).right and difference(found, wanted).error == 0
    found[1, 1] = 4.5
    seen = difference(found, wanted)
    assert seen.error == 0.5 and seen.at == (1, 1) and not seen.right
    assert str(seen) == "5.0e-01 at [1, 1]: 4.5, expected 0.5" and difference(found, wanted, 0.6).right


def test_infinities_and_nans_must_be_the_same() -> None:
    wanted = np.array([INF, -INF, NAN, 1], np.float32)
    for n, other in enumerate([1, INF, 0, NAN]):
        found = wanted.copy()
        found[n] = other
        assert difference(found, wanted).error == INF and difference(found, wanted).at == (n,)


def test_integers_booleans_and_strings() -> None:
    assert difference(np.array([1, 2], np.uint8), np.array([2, 2], np.uint8)).right
    assert not difference(np.array([0, 2], np.uint8), np.array([2, 2], np.uint8)).right
    assert not difference(np.array([1, 2]), np.array([2, 2])).right
    assert not difference(np.array([True]), np.array([False])).right
    assert difference(np.array(["a"], object), np.array(["a"])).right
    assert not difference(np.array(["a"], object), np.array(["b"])).right


def test_forms_and_empty_arrays() -> None:
    seen = difference(np.zeros((2, 3), np.float32), np.zeros((3, 2), np.float32))
    assert seen.error == INF and "float32[2, 3], expected float32[3, 2]" in str(seen)
    assert not difference(np.zeros(2, np.int64), np.zeros(2, np.float32)).right
    assert difference(np.zeros((0, 3)), np.zeros((0, 3))).right
