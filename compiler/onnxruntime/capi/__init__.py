"""Where onnxruntime keeps its exceptions, for programs that name them."""

from __future__ import annotations

from mlc.onnxruntime.capi import onnxruntime_pybind11_state as onnxruntime_pybind11_state

_pybind_state = onnxruntime_pybind11_state
