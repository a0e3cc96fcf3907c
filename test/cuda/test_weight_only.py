"""Weights of 8 bits that meet halves or floats: products read the bytes, against float64; their cubins."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from emulator import needed
from launcher import Program
from ml_dtypes import bfloat16, float8_e4m3fn, float8_e5m2
from onnx import helper, numpy_helper
from test_tensor_cores import made
from test_warpgroups import compiled

from mlc import target
from mlc.dialects.types import ITEMSIZE, element_of

pytestmark = needed

HALVES = {"f16": np.float16, "bf16": bfloat16}
LEFT: dict[str, Any] = {**HALVES, "f32": np.float32}
RIGHT: dict[str, Any] = {"i8": np.int8, "ui8": np.uint8, "e4m3": float8_e4m3fn, "e5m2": float8_e5m2}
ERROR = {"f16": 1e-3, "bf16": 8e-3, "f32": 1e-6}  # of the largest value
HOPPER = target.get("cuda:sm_90")


class Case:
    """``y = x @ ((w - z) · s)``, with a scale and a zero point for each column; ``turned``: the weight is [n, k]."""

    def __init__(
        self, left: str, right: str, rows: int = 70, k: int = 96, n: int = 72, zero: str = "none", turned: bool = False
    ) -> None:
        random, kind = np.random.default_rng(), RIGHT[right]
        integers = right in ("i8", "ui8")
        held = random.integers(np.iinfo(kind).min, np.iinfo(kind).max, (k, n), endpoint=True) if integers else None
        self.weight = (random.standard_normal((k, n)) if held is None else held).astype(kind)
        self.scale = random.uniform(0.01, 0.1, n).astype(LEFT[left])
        points = {"none": np.zeros(n), "middle": np.full(n, 128), "columns": random.integers(1, 99, n)}[zero]
        self.zero, self.x = points.astype(kind), random.standard_normal((rows, k)).astype(LEFT[left])
        self.turned, self.has_zero = turned, zero != "none"
        self.left, self.error = left, ERROR[left]

    @property
    def model(self) -> onnx.ModelProto:
        weight = np.ascontiguousarray(self.weight.T) if self.turned else self.weight
        stored = {"w": weight, "s": self.scale, **({"z": self.zero} if self.has_zero else {})}
        kind = helper.np_dtype_to_tensor_dtype(self.x.dtype)
        nodes = [helper.make_node("DequantizeLinear", list(stored), ["d"], axis=0 if self.turned else 1)]
        nodes += [helper.make_node("Transpose", ["d"], ["t"], perm=[1, 0])] if self.turned else []
        nodes += [helper.make_node("MatMul", ["x", "t" if self.turned else "d"], ["y"])]
        ends = [helper.make_tensor_value_info(name, kind, shape)
                for name, shape in (("x", list(self.x.shape)), ("y", [self.x.shape[0], self.scale.size]))]  # fmt: skip
        known = [numpy_helper.from_array(value, name) for name, value in stored.items()]
        graph = helper.make_graph(nodes, "product", ends[:1], ends[1:], known)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)

    @property
    def wanted(self) -> np.ndarray:
        weight = (self.weight.astype(float) - self.zero.astype(float)) * self.scale.astype(float)
        return self.x.astype(float) @ weight

    def check(self, program: Program) -> None:
        """The result is right, and no kernel reads or writes as many elements as the weight has in more than 8 bits."""
        found, wanted = program.run({"x": self.x})["y"].astype(float), self.wanted
        np.testing.assert_allclose(found, wanted, rtol=0, atol=self.error * np.abs(wanted).max())
        arguments = [v for fn in program.functions.values() for v in fn.block.args]
        whole = [v for v in arguments if np.prod(v.type.get_shape()) == self.weight.size]
        assert whole and {ITEMSIZE[element_of(v)] for v in whole} == {1}


def text_of(program: Program) -> str:
    return "".join(program.kernels.strings.values())


@pytest.mark.parametrize("right", RIGHT)
@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("rows", [1, 5, 70])
def test_products_read_bytes(rows: int, left: str, right: str, units: Path) -> None:
    case = Case(left, right, rows)
    program = Program.of(case.model, units)
    case.check(program)
    assert ("mlc_mma_" in text_of(program)) == (rows == 70 and left != "f32")


@pytest.mark.parametrize("right, zero", [("ui8", "middle"), ("ui8", "columns"), ("i8", "columns")])
@pytest.mark.parametrize("left", ["f16", "f32"])
@pytest.mark.parametrize("turned", [False, True])
def test_zero_points_leave_the_sum(turned: bool, left: str, right: str, zero: str, units: Path) -> None:
    case = Case(left, right, 37, 100, 65, zero, turned)
    case.check(Program.of(case.model, units))


@pytest.mark.parametrize("band", ["{m}/64p {n}/64vp | {k}/32 | warps=2x4", "{m}/16p {n}/32vp | {k}/16 | warps=1x2"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("left", HALVES)
def test_bytes_are_copied_asynchronously_and_widened_in_shared_memory(
    left: str, turned: bool, band: str, units: Path
) -> None:
    case = Case(left, "i8", 70, 112, 160, turned=turned)
    program, text = made(case.model, units, band)
    assert "mlc_mma_" in text and re.search(r"mlc_copy_async<int8_t, \d+>", text)
    case.check(program)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("right", ["i8", "e4m3"])
def test_warpgroups(right: str, turned: bool, units: Path) -> None:
    case = Case("f16", right, 100, 272, 152, turned=turned)
    band = "{m}/64p {n}/64vp | {k}/64 | warps=4 mma=m64n64k16"
    program, text = made(case.model, units, band, target=HOPPER)
    case.check(program)
    assert "mlc_wgmma<" in text and "mlc_bulk_copy(" not in text


BULK = [
    "{m}/64p {n}/64vp | {k}/64 | warps=4 copy=tma",
    "{m}/128p {n}/128vp | {k}/64 | warps=8 copy=tma depth=2 raster=2 persist",  # both warpgroups read what all widen
    "{m}/64p {n}/256vp | {k}/32 | warps=4x2 copy=tma depth=3",
    "{m}/64p {n}/128vp | {k}/64 | warps=4 copy=tma depth=2 cluster=2x1",
]


@pytest.mark.parametrize("band", BULK)
@pytest.mark.parametrize("left, right, turned", [("f16", "i8", False), ("bf16", "ui8", True), ("f16", "e4m3", True)])
def test_bulk_copies(left: str, right: str, turned: bool, band: str, units: Path) -> None:
    """Boxes of bytes, which threads write as halves, beside those of activations; in a ring, by any tile of a block."""
    case = Case(left, right, 200, 272, 160, turned=turned)
    few = replace(HOPPER, multiprocessors=4, registers=128 * 256)  # type: ignore[type-var]
    program, text = made(case.model, units, band, target=few)
    assert len(re.findall(r"mlc_bulk_(copy|multicast)\(", text)) >= 2 and "mlc_copy_async" not in text
    case.check(program)


def test_rules_choose_bulk_copies_of_bytes(units: Path) -> None:
    """But not where weights have rows that are no multiples of 16 bytes."""
    for n, bulk in ((1536, True), (1528, False)):
        (text,) = Program.of(Case("f16", "i8", 512, 1024, n).model, units, target=HOPPER).kernels.strings.values()
        assert ("mlc_bulk_copy(" in text) == bulk


def test_strict_numerics_round_each_weight(units: Path) -> None:
    case = Case("f16", "i8")
    program = Program.of(case.model, units, numerics="strict")
    assert all(element_of(v) != "i8" for fn in program.functions.values() for v in fn.block.args)
    weight = (case.weight.astype(np.float32) * case.scale.astype(np.float32)).astype(np.float16)
    wanted = case.x.astype(float) @ weight.astype(float)
    np.testing.assert_allclose(program.run({"x": case.x})["y"], wanted, rtol=0, atol=6e-4 * np.abs(wanted).max())


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_cubins(arch: str, units: Path, tmp_path: Path) -> None:
    """Kernels that read weights as bytes use no stack and spill no registers."""
    options = {"target": HOPPER} if arch == "sm_90a" else {}
    cases = [Case(left, "i8", rows, 1024, 1536) for left in ("f16", "f32") for rows in (1, 512)]
    sources = [text_of(Program.of(case.model, units, **options)) for case in cases]
    found, _, codes = compiled(sources, tmp_path, arch)
    assert len(found) >= 4 and not any(stack or spills for stack, spills, _ in found)
