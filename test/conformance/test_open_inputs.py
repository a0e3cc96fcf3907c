"""Inputs without known extents: the operators that read them decide (``open_inputs.py`` tries all operators)."""

from __future__ import annotations

import pytest
from cases import cases
from open_inputs import compare, inputs_of

TESTS = (
    "test_basic_deform_conv_with_padding:X", "test_deform_conv_with_mask_bias:X", "test_gridsample_bilinear",
    "test_nonmaxsuppression_two_batches", "test_resize_tf_crop_and_resize:roi", "test_scatter_elements_with_axis",
    "test_scatter_with_axis", "test_scatternd:data", "test_scatternd:updates", "test_simple_rnn_batchwise",
    "test_string_concat", "test_strnormalizer_export_monday_insensintive_upper_twodim",
)  # fmt: skip


@pytest.mark.parametrize("test", TESTS)
def test_an_open_input(test: str) -> None:
    name, _, only = test.partition(":")
    for each in [only] if only else inputs_of(cases()[name].model):
        compare(cases()[name], each)
