"""Operators of com.microsoft whose inputs random cases (`test/fuzz`) cannot draw; refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from single import MS, ms, single

import mlc
from mlc.errors import RunError
from mlc.frontends.onnx import UnsupportedError, import_model


def test_words_that_begin_with_0_are_zeros(rng: np.random.Generator) -> None:
    """onnxruntime leaves them as its memory was."""
    words = np.array([[0, 1, 2], [1, 2, 0]], "i4")
    inputs = {"x": words, "w": rng.standard_normal((2, 1, 2, 3)).astype("f4"), "b": np.ones(2, "f4")}
    inputs["c"] = rng.standard_normal((3, 3)).astype("f4")
    taps = np.stack([inputs["c"][words[1, n : n + 2]] for n in range(1)])
    y = np.tanh(np.einsum("pwe,fwe->pf", taps, inputs["w"][:, 0]) + 1).max(0)
    ms("WordConvEmbedding", inputs, wanted=[np.stack([0 * y, y]).astype("f4")])


def test_predicted_tokens_have_to_fit() -> None:
    inputs = {"s": np.array([1, 2, 3]), "c": np.array([1]), "p": np.array(1), "q": np.array([2, 5, 6])}
    ms("BifurcationDetector", inputs, 2)
    net = mlc.compile(single("BifurcationDetector", inputs, 2, domain=MS))
    with pytest.raises(RunError, match="3 predicted tokens are not one more than the rest"):
        net.run(inputs | {"p": np.array(0)})
    with pytest.raises(RunError, match="BifurcationDetector.*no place from 0 to 3"):
        net.run(inputs | {"p": np.array(-1)})


ONES = np.ones((3, 3), "f4")
REFUSED: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("CDist", [ONES, ONES], {"metric": "cityblock"}, "metric 'cityblock'"),
    ("GridSample", [ONES[None, None], np.ones((1, 2, 2, 2), "f4")], {"mode": "linear"}, "mode 'linear'"),
    ("Pad", [ONES, np.array([1, 1])], {}, "2 pads"),
    ("Pad", [ONES, np.array([1, 1, 1, 1])], {"mode": "wrap"}, "mode 'wrap'"),
    ("ExpandDims", [ONES, np.array(4, "i4")], {}, "axis 4"),
    ("Unique", [ONES], {}, "a vector"),
    ("UnfoldTensor", [ONES], {"size": 4}, "slices of 4 elements"),
    ("CropAndResize", [ONES[None, None], np.ones((1, 4), "f4"), np.zeros(1, "i4"), np.ones(3, "i4")], {}, "3 sizes"),
    ("Inverse", [ONES[:2]], {}, "square"),
    ("MurmurHash3", [ONES.astype("i2")], {}, "32 or 64 bits"),
    ("ConvTransposeWithDynamicPads", [ONES[None], ONES[None]], {}, "the pads"),
    ("NGramRepeatBlock", [np.ones((1, 3), "i8"), ONES[:1]], {"ngram_size": 0}, "n-grams of 0"),
    ("DynamicTimeWarping", [np.ones((2, 3, 3), "f4")], {}, r"\[1, M, N\]"),
]


@pytest.mark.parametrize(("op", "inputs", "how", "why"), REFUSED, ids=[f"{op}: {why}" for op, *_, why in REFUSED])
def test_refused(op: str, inputs: list[Any], how: dict[str, Any], why: str) -> None:
    named = {f"x{n}": x for n, x in enumerate(inputs)}
    constants = [n for n, x in named.items() if x.dtype.kind == "i" and op not in ("MurmurHash3", "NGramRepeatBlock")]
    with pytest.raises((UnsupportedError, mlc.MlcError), match=f"{op}.*{why}|{why}.*{op}"):
        import_model(single(op, named, domain=MS, constants=constants, **how))
