"""Band matrices against their definition."""

from __future__ import annotations

import numpy as np
import pytest

from mlc.dialects.semantics.band import Band, bands_of


def matrix(band: Band, rows: int, columns: int) -> np.ndarray:
    diagonal = np.arange(columns) - np.arange(rows)[:, None]
    inside = np.ones((rows, columns), bool)
    inside &= True if band.lower is None else diagonal >= band.lower
    inside &= True if band.upper is None else diagonal <= band.upper
    return np.where(inside, band.inside, band.outside)


@pytest.mark.parametrize("lower", [None, -3, -1, 2])
@pytest.mark.parametrize("upper", [None, 0, 2, 4])
def test_a_band_is_found(lower: int | None, upper: int | None) -> None:
    rows, columns = (int(n) for n in np.random.default_rng().integers(7, 12, 2))
    array = matrix(Band(lower, upper, 0.0, -np.inf), rows, columns)
    found = bands_of(array.reshape(1, 1, rows, columns))
    if np.isinf(array).all() or not np.isinf(array).any():
        assert found == []
        return
    assert any(band.inside == 0 for band in found)
    for band in found:
        assert (matrix(band, rows, columns) == array).all()
        assert band.share(rows, columns) == pytest.approx((array == band.inside).mean())


def test_other_arrays_are_none() -> None:
    causal = np.tri(6, 8)
    broken, three = causal.copy(), causal.copy()
    broken[4, 0] = 0
    three[0, 7] = 2
    for array in (broken, three, np.full((4, 4), np.nan), np.zeros((0, 4)), np.stack([causal, causal]), np.ones(4)):
        assert bands_of(array) == []
