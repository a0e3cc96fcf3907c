"""Kernels over their budgets are found, and small models have none."""

from __future__ import annotations

import pytest

from benchmarks import models
from benchmarks.kernel_budgets import LINES, OPERANDS, long_kernels, wide_kernels
from mlc.api import make_options
from mlc.driver.compile import lower_source
from mlc.driver.onnx_source import OnnxSource

BODY = "(void *const *buf) {\n" + "  f();\n" * (LINES - 2) + "}\n"


def test_functions_are_counted_one_by_one() -> None:
    """Two kernels, a body that kernels share, and its caller; the host program is no kernel."""
    one_more = BODY.replace("{\n", "{\n  g();\n", 1)
    shared = f"static __attribute__((noinline)) void k_c{one_more}\nvoid k_d(void *const *buf) {{\n  k_c(buf);\n}}\n"
    text = f"#define MLC_PARTS 0\n\nvoid k_a{BODY}\nvoid k_b{one_more}\n{shared}"
    found = long_kernels({"kernels_0.c": text, "model.c": f"void k_e{one_more}", "weights.bin": b""})
    assert found == {"k_b": LINES + 1, "k_c": LINES + 1}


@pytest.mark.parametrize("name", ["mlp_tiny", "lstm"])
def test_kernels_of_small_models_are_within_their_budgets(name: str) -> None:
    source, options = OnnxSource.of(str(models.path(name))), make_options("x86-64-v3", 2, tuned=False)
    lowered = lower_source(source, options)
    assert not long_kernels(lowered.sources), f"more than {LINES} lines"
    assert not wide_kernels(lowered.module), f"more than {OPERANDS} operands"


def test_operands_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.kernel_budgets.OPERANDS", 2)
    source, options = OnnxSource.of(str(models.path("mlp_tiny"))), make_options("x86-64-v3", 2, tuned=False)
    lowered = lower_source(source, options)
    assert max(wide_kernels(lowered.module).values()) > 2
