"""The text of what follows a product on the CUDA target: one register after another, from the sum to its write."""

from __future__ import annotations

import re

from test_cubins import GELU, kernels


def test_results_are_written_as_soon_as_they_are_computed() -> None:
    (text,) = kernels(GELU, numerics="relaxed").values()
    (pointer,) = re.findall(r"\*const (v\d+) = b3 \+", text)
    found = re.findall(rf"= mlc_(erf)_f32|\b({pointer})\[", text)
    assert [erf or written for erf, written in found] == ["erf", pointer] * 64


def test_reads_after_writes_stay_after_them() -> None:
    """A loop of a softmax overwrites what the loop before has written, and another loop reads it between."""
    text = next(iter(kernels("(float[5,3000] x) => (float[5,3000] y) { y = Softmax (x) }").values()))
    accesses = re.findall(r"(b1\[[^=]*\] = )|= (?:[^;]*\? )?b1\[", text)
    kinds = "".join("w" if written else "r" for written in accesses)
    assert re.fullmatch(r"w+r+(r+w+)+|w+(w+)*(r+)+(r+w+)+", kinds), kinds
