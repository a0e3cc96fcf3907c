"""A sample of the backend tests of the onnx package on the CUDA target, by the host program of each artifact.

Kernels run on the CPU, and compile for half a second each, so every 61st case runs here. ``cuda_conformance.py`` runs
all.
"""

from __future__ import annotations

import image_libraries
import pytest
from cases import expected_failure, small_cases
from cuda_conformance import WAY, Result, run_case, table
from fake_gpu import Gpu

EVERY = 61  # how many cases there are for one of the sample
ON_THE_HOST = (  # whose steps are the host's, in part: strings, images, sequences, and sizes that depend on data
    "test_string_concat", "test_image_decoder_decode_bmp_rgb", "test_sequence_insert_at_front", "test_nonzero_example",
    "test_loop13_seq", "test_stft", "test_if_opt", "test_range_bfloat16_type_positive_delta_expanded",
)  # fmt: skip
COMPUTED_OFFSETS = ("test_col2im",)  # a sum of elements that are all read at computed offsets


@pytest.mark.parametrize("name", [*sorted(small_cases())[::EVERY], *ON_THE_HOST, *COMPUTED_OFFSETS])
def test_node(name: str, gpu: Gpu) -> None:
    if "image_decoder" in name and (why := image_libraries.missing()):
        pytest.skip(why)
    if expected_failure(name, WAY) is None:
        run_case(name)
        return
    with pytest.raises(Exception):  # noqa: B017, PT011 - what is unsupported fails in many ways
        run_case(name)


def test_the_table_counts_cases_by_reason() -> None:
    found = [Result("test_abs", ""), Result("test_add", "AssertionError: 1"), Result("test_bernoulli", "other")]
    lines = table(found).splitlines()
    assert lines[0] == "1 of 3 cases are right"
    assert lines[4:] == [
        "| 1 | FAILED test_add: AssertionError: 1 |",
        f"| 1 | {expected_failure('test_bernoulli', WAY)} |",
    ]
