"""The host program of a GPU as C: phases, loops, branches and steps on the host."""

from __future__ import annotations

import re

import onnx

from mlc.api import make_options
from mlc.driver.compile import lower_source
from mlc.driver.sources import source_of


def body(text: str) -> str:
    """The body of the program of an ONNX graph."""
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]>\n{text}')
    options = make_options("cuda:sm_90")
    printed = lower_source(source_of(model), options).sources["model.c"]
    found = re.search(r"static void body\(mlc_call \*c\) \{\n(.*?)\n\}", printed, re.S)
    assert found
    return found[1]


def test_launches_that_depend_on_each_other_have_a_barrier_between_them() -> None:
    lines = body("net (float[4,8] x) => (float[4,8] y) { a = Softmax(x)\n y = Softmax(a) }")
    steps = re.findall(r"mlc_cuda_(launch|barrier)", lines)
    assert steps and steps == ["launch", "barrier"] * (len(steps) // 2)


def test_a_branch_reads_its_condition_on_the_host() -> None:
    lines = body(
        """net (float[4] x, bool c) => (float[4] y) {
             y = If(c) <then_branch = t () => (float[4] p) { p = Exp(x) },
                        else_branch = e () => (float[4] p) { p = Abs(x) }> }"""
    )
    copied = lines.index("mlc_cuda_download(c, (void *)(host + 0), (void *)c->in[1], 1);")
    condition = lines.index("next_branch0 = *(const uint8_t *)(void *)(host + 0) && !mlc_failed(c)")
    assert copied < lines.index("mlc_cuda_wait(c);") < condition
    assert condition < lines.index("if (next_branch0) {") < lines.index("} else {")


def test_a_loop_whose_length_is_data_ends_after_a_failure() -> None:
    lines = body(
        """net (float[1,4] x, int64 n, float[4,4] w) => (float[1,4] y) {
             go = Constant<value = bool {1}>()
             y = Loop(n, go, x) <body = body (int64 i, bool c, float[1,4] a) => (bool d, float[1,4] s) {
               d = Identity(c)
               m = MatMul(a, w)
               s = Softmax(m) }> }"""
    )
    assert "next_step0 = 0 < *(const int64_t *)(void *)(host + 0) && !mlc_failed(c)" in lines
    assert "while (next_step0) {" in lines
    assert "mlc_state(step0 + 1, 0, " in lines  # double buffering
