"""``mlc tune`` on a GPU whose events say that a block takes 10 ns, so that the best schedule has the fewest blocks."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from fake_gpu import Gpu, model, random
from test_host_program import TARGET

import mlc
from mlc.api import make_options
from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of, schedule_text
from mlc.driver.lower import run
from mlc.driver.sources import source_of
from mlc.errors import InputError
from mlc.pipelines.backends import backend_of
from mlc.runtime import Model
from mlc.target import GPUS
from mlc.tools import gpu_peak
from mlc.tools.cuda_device import NoDevice, open_driver
from mlc.tools.peak import peak_of
from mlc.tuning import tuner
from mlc.tuning.variants import Variants


def product() -> onnx.ModelProto:
    return model("net (float[70,24] x) => (float[70,66] y) { c = MatMul(x, w)\n y = Relu(c) }", w=random(24, 66))


def test_the_schedule_with_the_best_event_times_wins(gpu: Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuner, "PAIRS_SECONDS", 0.0)
    monkeypatch.setattr(tuner, "PROFILE_SECONDS", 0.0)
    monkeypatch.setattr(tuner, "CANDIDATES", 3)
    source, file = product(), tmp_path / "net.schedules"
    found = mlc.tune(source, seconds=100, target=TARGET)
    file.write_text(found.text())
    assert found.gain > 0 and len(found.tuned) == 1
    x = random(70, 24)
    with mlc.compile(source, target=TARGET) as chosen, mlc.compile(source, target=TARGET, schedule=file) as tuned:
        np.testing.assert_allclose(tuned(x), chosen(x), rtol=1e-5, atol=1e-6)
        times = [sum(ns for _, ns in net.profile(x=x)) for net in (chosen, tuned)]
        assert times[1] < times[0]
        blocks = [int(net.signature["kernels"][0]["grid"]) for net in (chosen, tuned)]
        assert blocks[1] < blocks[0] and times[0] - times[1] == 10 * (blocks[0] - blocks[1])


@pytest.mark.parametrize(
    "multiprocessors, size, chosen, tuned",
    [
        (5, (90, 301, 70), "m/32p n/32vp | k", "m/32p n/32vp | k | streamk=5"),  # 9 tiles, by 5 blocks
        (16, (32, 521, 32), "m/8p n/32vp | k | streamk=16", "m/8p n/32vp | k"),  # 4 tiles, by 16 blocks
    ],
)
def test_shares_of_tiles_are_measured_against_whole_sums(
    multiprocessors: int,
    size: tuple[int, int, int],
    chosen: str,
    tuned: str,
    gpu: Gpu,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Launches of shares have more buffers than those of whole tiles; events say which has fewer blocks."""
    monkeypatch.setitem(GPUS, TARGET, replace(GPUS[TARGET], multiprocessors=multiprocessors))
    monkeypatch.setattr(tuner, "PAIRS_SECONDS", 0.0)
    monkeypatch.setattr(tuner, "PROFILE_SECONDS", 0.0)
    monkeypatch.setattr(tuner, "CANDIDATES", 1)
    (m, k, n), file = size, tmp_path / "net.schedules"
    weight, x = random(k, n), random(m, k)
    source = model(f"net (float[{m},{k}] x) => (float[{m},{n}] y) {{ y = MatMul(x, w) }}", w=weight)
    found = mlc.tune(source, seconds=1000, target=TARGET)
    file.write_text(found.text())
    (kernel_,) = found.kernels
    assert (kernel_.chosen, kernel_.best) == (f"contraction: S0 | {chosen}", f"contraction: S0 | {tuned}")
    with mlc.compile(source, target=TARGET) as first, mlc.compile(source, target=TARGET, schedule=file) as best:
        times, blocks = ([each(net) for net in (first, best)] for each in (lambda net: _time(net, x), _blocks))
        assert times[0] - times[1] == 10 * (blocks[0] - blocks[1]) and found.gain == 1 - times[1] / times[0]
        for net in (first, best):
            np.testing.assert_allclose(net(x), x.astype(float) @ weight, rtol=0, atol=1e-4)


def _time(net: Model, x: np.ndarray[Any, Any]) -> int:
    """The ns of the kernels of one run."""
    return sum(ns for _, ns in net.profile(x=x))


def _blocks(net: Model) -> int:
    return sum(int(kernel["grid"]) for kernel in net.signature["kernels"])


def test_fewer_buffers_of_staged_operands_are_candidates() -> None:
    imported, options = source_of(product()).imported({}), make_options(TARGET)
    run(imported.module, imported.weights, options, ("graph", "layout", "fuse", "kernel", "schedule"))
    (fn,) = (o for o in imported.module.ops if isinstance(o, kernel.FuncOp))
    found = [each.text for each in backend_of(options.target).candidates(fn)]
    assert "depth" not in found[0] and sum(each.endswith("| depth=3") for each in found) == 1


@pytest.mark.parametrize(
    "element, numerics, items",
    [
        ("float16", "strict", set()),
        ("float16", "default", {"mma=m16n8k16", "copy=tma"}),
        ("float", "default", {"mma=m16n8k8"}),
        ("float", "relaxed", {"mma=m16n8k8", "copy=tma"}),
    ],
)
def test_candidates_are_those_of_the_numerics(element: str, numerics: Any, items: set[str], tmp_path: Path) -> None:
    """``mlc tune`` gave all numerics those of default ones. The chosen schedule is the first."""
    text = (
        f"net ({element}[512,512] x, {element}[512,512] w) => ({element}[512,512] y) {{ y = Gemm <transB = 1> (x, w) }}"
    )
    variants = Variants(source_of(model(text)), make_options("cuda:sm_90", numerics=numerics), tmp_path)
    name = next(iter(variants.kernels))
    found = [*variants.candidates(name)]
    words = {word for each in found for word in each.split() if word.startswith(("mma=", "copy="))}
    assert (found[0], words) == (variants.chosen(name), items)


def test_both_kernels_of_a_split_sum_have_schedules_of_their_own(tmp_path: Path) -> None:
    """A tuned schedule of the parts is found by their digest, and the others stay."""
    source = model("net (float[32,4096] x) => (float[32,32] y) { c = MatMul(x, w)\n y = Relu(c) }", w=random(4096, 32))
    first = Variants(source_of(source), make_options(TARGET), tmp_path)
    parts, total = (next(name for name in first.kernels if name.endswith("_parts") == split) for split in (True, False))
    assert {parts, total} == set(first.digests) and len(set(first.digests.values())) == 2
    other = next(s for s in first.candidates(parts) if s != first.chosen(parts) and first.legal(parts, s))
    options = replace(make_options(TARGET), tuned={first.digests[parts]: other})
    imported = source_of(source).imported({})
    run(imported.module, imported.weights, options, ("graph", "layout", "fuse", "kernel", "schedule"))
    found = {o.sym_name.data: schedule_of(o) for o in imported.module.ops if isinstance(o, kernel.FuncOp)}
    assert {name: schedule_text(each) for name, each in found.items()} == {parts: other, total: first.chosen(total)}


def test_without_a_gpu_tuning_says_so(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    open_driver()
    monkeypatch.setenv("FAKE_CUDA_DEVICES", "0")
    with pytest.raises(InputError, match="are measured on a GPU, and the CUDA driver finds no device on this machine"):
        mlc.tune(product(), seconds=1, target=TARGET)


def test_without_a_driver_there_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    with pytest.raises(NoDevice, match="no CUDA driver"):
        open_driver()


def test_the_ceilings_are_measured_by_events(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """8 blocks on each of two multiprocessors take 1.16 us here, and a copy of 1 MiB 1.024 us."""
    monkeypatch.setattr(gpu_peak, "COPIED", 1 << 20)
    monkeypatch.setattr(gpu_peak, "ROUNDS", 4)
    found = peak_of(TARGET)
    assert found.source == "measured"
    np.testing.assert_allclose(found.flops, 2 * 8 * 4 * 256 * 16 / 1.16e-6, rtol=1e-3)
    np.testing.assert_allclose(found.bytes, 2 * (1 << 20) / 1.024e-6, rtol=1e-3)
    monkeypatch.setenv("FAKE_CUDA_DEVICES", "0")
    assert peak_of(TARGET).source == "nominal"
