"""mlc.compile of what is no model: the error says how to get one, and imports no framework."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import mlc


def of(module: str, name: str, *bases: type, **values: Any) -> Any:
    """An instance of a class that says it is of ``module``."""
    return type(name, bases, {"__module__": module, **values})()


@pytest.mark.parametrize("model, message", [
    (of("mine", "Net", type(of("torch.nn.modules.module", "Module"))), r"a Net .*torch\.export\.export\(model, inputs"),
    (of("torch.onnx._internal", "ONNXProgram", model_proto=b""), "give its model_proto"),
    (of("keras.src.models", "Functional"), "tf2onnx"),
    (of("onnxruntime.capi", "InferenceSession"), "file that the session was made of"),
    (3, "Cannot compile a int .*Give a path, the bytes"),
])  # fmt: skip
def test_the_error_says_the_way(model: Any, message: str) -> None:
    before = "torch" in sys.modules  # other tests in this process may use it
    for call in (mlc.compile, mlc.tune):
        with pytest.raises(mlc.InputError, match=message):
            call(model)
    assert any("Cannot compile" in problem for problem in mlc.check(model))
    assert ("torch" in sys.modules) == before
