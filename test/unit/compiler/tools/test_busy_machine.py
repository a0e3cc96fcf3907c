"""What ``mlc bench --profile`` says where other programs use the CPUs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mlc.tools.best_peak import FILE, best_of
from mlc.tools.kernel_profile import Launch, profile, totals
from mlc.tools.latency import disturbance
from mlc.tools.peak import Peak


def test_the_best_peak_of_a_cpu_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path / "cache"))
    assert best_of(Peak(5e9, 2e9), 2) == Peak(5e9, 2e9)
    assert best_of(Peak(1e9, 3e9), 2) == Peak(5e9, 3e9)
    assert best_of(Peak(1e9, 1e9), 1) == Peak(1e9, 1e9)  # other threads
    assert best_of(Peak(1e9, 1e9), 2) == Peak(5e9, 3e9)
    assert len(json.loads((tmp_path / "cache" / FILE).read_text())) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cpu": 3}', "[" * 100_000, '{"cpu, 2 threads": ["a", 1]}'])
def test_a_damaged_file_counts_as_none(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path))
    (tmp_path / FILE).write_text(text)
    assert best_of(Peak(5e9, 2e9), 2) == Peak(5e9, 2e9)
    assert best_of(Peak(1e9, 1e9), 2) == Peak(5e9, 2e9)


def test_a_share_above_the_peak_has_its_reason() -> None:
    peak = Peak(10e9, 1e9)
    assert peak.share_text(1e9, 5e8, 1.0) == "50%"
    assert peak.share_text(1e9, 2e9, 1.0) == "200% (caches)"
    assert peak.share_text(20e9, 1e8, 1.0) == "200% (peak too low)"


def test_disturbed_runs() -> None:
    assert disturbance([1.0, 1.1, 2.9, 2.9, 2.9]) is None
    assert "other programs use the CPUs: the median is 4.0 times the least" in (disturbance([1.0, 4, 4, 4, 9]) or "")


def test_kernels_and_latency_are_compared_at_best() -> None:
    """Each profiled run but one is disturbed."""
    runs = iter([[9e6, 8e6], [2e6, 1e6], [2e6, 7e6]])

    class Net:
        def profile(self, **inputs: Any) -> list[tuple[dict[str, Any], int]]:
            return [({"name": "a"}, int(ns)) for ns in next(runs)]

    launches = profile(Net(), {}, 3)  # type: ignore[arg-type]
    assert [(each.seconds, each.at_best) for each in launches] == [(2e-3, 2e-3), (7e-3, 1e-3)]
    wanted = (
        "at best: kernels 3.000 ms of a latency of 3.100 ms; the difference, 0.100 ms, to enter and leave the model"
    )
    assert totals(launches, 3.1e-3) == wanted
    assert isinstance(launches[0], Launch)
