"""Rows of ``python -m benchmarks.gpu`` that measure products by several schedules, on the fake driver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fake_gpu import Gpu, needed

from benchmarks.gpu import bulk_stores, shared_tiles
from benchmarks.gpu.advance import Compiled, in_advance
from mlc.target import GPUS
from mlc.tools.cuda_device import Device

pytestmark = needed
TARGET = "cuda:sm_90"


def test_shares_of_tiles_beside_whole_sums(gpu: Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """4 tiles by 4 blocks take 1.04 us, and by 16 blocks 1.16. Both models are compiled in advance."""
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(GPUS, TARGET, replace(GPUS[TARGET], multiprocessors=16))
    monkeypatch.setattr("benchmarks.gpu.measurements.torch_on_gpu", lambda: None)
    device = Device()
    ((name, measure),) = shared_tiles.measured(device, TARGET, 1, [(32, 64, 1021)])
    with in_advance(), pytest.raises(Compiled):
        measure()
    made = {*(tmp_path / "artifacts").iterdir()}
    row = measure()
    device.close()
    assert len(made) == 2 and made == {*(tmp_path / "artifacts").iterdir()}
    assert name == "stream-K (32, 64, 1021)" and row["right"] and 0 < row["error"] < 1e-2
    assert (row["whole sums µs"], row["stream-K µs"], row["speed of the best other"]) == (1.04, 1.16, 0.897)


def test_stores_of_results(gpu: Gpu) -> None:
    device = Device()
    rows = [measure() for _, measure in bulk_stores.measured(device, TARGET, 1, [(72, 136, 64)])]
    device.close()
    assert [row["results"] for row in rows] == ["float16", "float32"]
    assert all(row["right"] and 0 < row["error"] < 1e-2 for row in rows)
    assert [(row["boxes µs"], row["threads µs"], row["GB/s of results"]) for row in rows] == [
        (1.02, 1.02, 19.2),
        (1.02, 1.02, 38.4),
    ]
    first, second = bulk_stores.schedules(bulk_stores.model((72, 136, 64), "float32"), TARGET).values()
    assert second == first.replace("\n", " store=threads\n")
    assert not [*bulk_stores.measured(device, "cuda:sm_80", 1, bulk_stores.SIZES)]
