"""Clusters where a product has one row or one column of tiles, whose loop is not there: emulated, against float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulator import needed
from test_cuda_operators import model_of
from test_tensor_cores import made, reals, within_a_rounding
from test_tma import HOPPER

from mlc.errors import InputError

pytestmark = needed

TEXT = "(float16[ROWS,136] a, float16[136,COLUMNS] b) => (float16[ROWS,COLUMNS] y) { y = MatMul (a, b) }"
BAND = "{m}/64p {n}/64vp | {k}/64 | warps=4 copy=tma depth=2 cluster="


def model(rows: int, columns: int) -> str:
    return TEXT.replace("ROWS", str(rows)).replace("COLUMNS", str(columns))


@pytest.mark.parametrize("more", ["", " persist", " persist raster=4"])
@pytest.mark.parametrize(
    "rows, columns, cluster", [(50, 248, "1x2"), (200, 56, "2x1"), (200, 56, "4x1"), (64, 200, "1x4")]
)
def test_a_single_row_or_column_of_tiles(rows: int, columns: int, cluster: str, more: str, units: Path) -> None:
    program, printed = made(model_of(model(rows, columns)), units, BAND + cluster + more, **HOPPER)
    assert printed.count("mlc_bulk_multicast(") == 1 == printed.count("mlc_bulk_copy(")
    a, b = reals(rows, 136, dtype=np.float16), reals(136, columns, dtype=np.float16)
    wanted = a.astype(float) @ b.astype(float)
    assert within_a_rounding(program.run({"a": a, "b": b})["y"], wanted, np.float16)


@pytest.mark.parametrize("rows, columns, cluster", [(50, 248, "2x1"), (200, 56, "1x2"), (200, 56, "2x2")])
def test_they_are_no_clusters_of_several(rows: int, columns: int, cluster: str, units: Path) -> None:
    with pytest.raises(InputError, match="of tiles are no multiple of 2"):
        made(model_of(model(rows, columns)), units, BAND + cluster, **HOPPER)
