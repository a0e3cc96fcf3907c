"""Numbers of parts of sums that a schedule says, and ``mlc tune`` over them, on a GPU whose events say that a block
takes 10 ns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulator import needed
from fake_gpu import Gpu, model, random
from launcher import Program
from onnx import TensorProto
from test_cuda_operators import feed_of, model_of
from test_host_program import TARGET

import mlc
from benchmarks.attention import Shape, arguments, reference
from benchmarks.attention import model as attention
from mlc.api import make_options
from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of, schedule_text
from mlc.driver.lower import run
from mlc.driver.sources import source_of
from mlc.tuning import parts, tuner
from mlc.tuning.variants import Variants

PRODUCT = "(float[9,4096] a, float[4096,20] b) => (float[9,20] y) { c = MatMul (a, b)  y = Relu (c) }"


@needed
@pytest.mark.parametrize(
    "number, schedule", [(4, "part@4 part m/16p n/32vp | k"), (1, "m/16p n/32vp | k/32 | warps=4")]
)
def test_a_schedule_says_the_number_of_parts(number: int, schedule: str, units: Path) -> None:
    """The estimate has 64 parts."""
    source = model_of(PRODUCT)
    name, statements = ("contract_0_parts", "S0") if number > 1 else ("contract_0", "S0 S1")
    made = Program.of(source, units, schedule=f"{name}: mine: {statements} | {schedule}")
    feed = feed_of(source)
    wanted = np.maximum(feed["a"].astype(np.float64) @ feed["b"], 0)
    assert len(made.functions) == (2 if number > 1 else 1)
    assert schedule_text(schedule_of(made.functions[name])) == f"mine: {statements} | {schedule}"
    np.testing.assert_allclose(made.run(feed)["y"], wanted, atol=1e-5 * np.abs(wanted).max())


def lines(variants: Variants) -> str:
    return "".join(f"{name}: {variants.chosen(name)}\n" for name in variants.kernels)


@needed
@pytest.mark.parametrize("number", [1, 2, 5])
def test_keys_of_attention_have_given_numbers_of_parts(number: int, units: Path, tmp_path: Path) -> None:
    """The text of a variant's schedules makes its kernels again."""
    shape = Shape(4, 2, 1, 1280, 16, 24)
    source, feed = attention(shape, TensorProto.FLOAT), dict(zip("qkv", arguments(shape), strict=True))
    variants = Variants(source_of(source), make_options("cuda"), tmp_path)
    name = next(name for name in variants.kernels if variants.number(name) > 1)
    assert {1, 2, 5} - {variants.number(name)} <= {*variants.numbers(name)}
    variants.divide({name: number})
    assert variants.number(name) == number
    made = Program.of(source, units, schedule=lines(variants))
    assert made.functions.keys() == variants.kernels.keys()
    assert (f"{name}_parts" in made.functions) == (number > 1)
    wanted = reference(shape, *feed.values())
    assert np.abs(made.run(feed)["y"].astype(np.float64) - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_a_tuned_number_of_parts_is_found_by_the_digest_of_the_whole_kernel(tmp_path: Path) -> None:
    source = source_of(model_of(PRODUCT))
    first = Variants(source, make_options("cuda"), tmp_path)
    first.divide({"contract_0": 8})
    tuned = {first.digests["contract_0_parts"]: first.chosen("contract_0_parts")}
    imported, options = source.imported({}), replace(make_options("cuda"), tuned=tuned)
    run(imported.module, imported.weights, options, ("graph", "layout", "fuse", "kernel", "schedule"))
    found = {o.sym_name.data: o for o in imported.module.ops if isinstance(o, kernel.FuncOp)}
    assert first.number("contract_0") == 8 and found.keys() == first.kernels.keys()
    assert found["contract_0_parts"].origin.tuned
    assert schedule_text(schedule_of(found["contract_0_parts"])) == first.chosen("contract_0_parts")


def test_the_number_of_parts_with_the_best_event_times_wins(
    gpu: Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a block costs the same whatever it does, whole sums are the fastest."""
    monkeypatch.setattr(tuner, "PAIRS_SECONDS", 0.0)
    monkeypatch.setattr(tuner, "PROFILE_SECONDS", 0.0)
    monkeypatch.setattr(tuner, "CANDIDATES", 0)
    monkeypatch.setattr(parts, "NUMBERS", 1)
    weight, file = random(1024, 32), tmp_path / "net"
    source = model("net (float[16,1024] x) => (float[16,32] y) { y = MatMul(x, w) }", w=weight)
    found = mlc.tune(source, seconds=1000, target=TARGET)
    file.write_text(found.text())
    (sum_,) = found.sums
    assert sum_.estimated > 1 and (sum_.best, sum_.tried) == (1, 1) and found.gain == sum_.gain > 0.5
    assert file.read_text() == f"{sum_.name}: {found.kernels[0].chosen}\n"
    x = random(16, 1024)
    with mlc.compile(source, target=TARGET, schedule=file) as tuned:
        assert len(tuned.signature["kernels"]) == 1
        np.testing.assert_allclose(tuned(x), x @ weight, rtol=1e-4, atol=1e-3)
