"""``python -m benchmarks.gpu --smoke`` on the fake driver: a sample of its rows; all by the command of the docs.

And what a row says that is wrong: where its elements are, and the first launch that differs from the emulation.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu import Gpu, needed

from benchmarks.gpu import first_wrong, smoke
from benchmarks.gpu.advance import given
from benchmarks.gpu.comparison import judged_whole
from mlc.tools.cuda_device import Device

pytestmark = needed
TARGET = "cuda:sm_90"
CHEAP = ("open dimension", "state", "attention, open")
FEATURES = ("copy=async", "copy=tma", "persist", "raster=", "cluster=2x1", "cluster=1x2", "cluster=2x2", "pingpong",
            "streamk=", "store=threads", "mma=")  # fmt: skip


def test_every_feature_has_a_row_after_those_that_it_is_made_of() -> None:
    names = [name for name, _ in smoke.measured(Device.__new__(Device), TARGET)]
    lines = [line for _, line in smoke.PRODUCTS.values()]
    assert all(any(word in line for line in lines) for word in FEATURES)
    order = ["cp.async", "TMA", "bulk stores of f16", "persistent", "raster", "clusters 2x1", "ping-pong",
             "stream-K", "bulk stores of f32", "fp8 default", "cluster in a graph", "state", "attention",
             "convolution 3x3", "training step"]  # fmt: skip
    assert [name for name in names if name in order] == order
    ampere = [name for name, _ in smoke.measured(Device.__new__(Device), "cuda:sm_80")]
    assert not {"TMA", "ping-pong", "bulk stores of f32"} & {*ampere} and "stream-K" in ampere


@pytest.mark.parametrize("name", CHEAP)
def test_rows_are_right(name: str, gpu: Gpu) -> None:
    device = Device()
    ((_, measure),) = [row for row in smoke.measured(device, TARGET) if row[0] == name]
    row = measure()
    device.close()
    assert row["right"] and row["error"] < 1e-2 and "wrong" not in row


@pytest.mark.parametrize("name", ["TMA", "clusters 2x1", "ping-pong"])
def test_products_of_one_tile_more_are_right(name: str, gpu: Gpu) -> None:
    facts, line = smoke.PRODUCTS[name]
    device = Device()
    row = smoke.product(device, name, TARGET, facts.replace("6", "2"), line, (250, 136, 72))
    device.close()
    assert row["right"] and row["error"] < smoke.ERROR["float16"]


def test_a_wrong_element_of_any_row_is_found_and_said() -> None:
    wanted = np.random.default_rng(0).standard_normal((300, 40))
    right = wanted.astype(np.float16)
    assert judged_whole([{"y": right}] * 2, {"y": wanted})["right"]
    for value in (9.0, np.nan, np.inf):
        bad = right.copy()
        bad[299, 3] = value
        row = judged_whole([{"y": right}, {"y": bad}], {"y": wanted})
        assert row["right"] is False
        assert row["wrong"] == "run 2, y: 1 of 12000 elements, from (299, 3) to (299, 3)"
    assert judged_whole([{"y": right[:200]}], {"y": wanted})["wrong"] == "run 1, y: the shape (200, 40)"


def test_the_first_wrong_launch_is_named(gpu: Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the device the second kernel of three has another constant than in the emulation."""
    images: Any = first_wrong.compiled_images

    def faulty(strings: dict[str, str], target: Any) -> list[bytes]:
        changed = {name: text.replace("1.0f / v", "1.25f / v", 1) for name, text in strings.items()}
        assert sum(strings[name] != text for name, text in changed.items()) == 1
        return images(changed, target)

    device = Device()
    ((_, measure),) = [row for row in smoke.measured(device, TARGET) if row[0] == "open dimension"]
    monkeypatch.setattr(first_wrong, "compiled_images", faulty)
    found = first_wrong.first_wrong(*given(measure), device, tmp_path)
    device.close()
    assert re.match("launch of reduce_3: argument 1 differs in [0-9]+ of 14400 elements, first at", found), found
