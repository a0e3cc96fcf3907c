"""Functions that torch has in common with arrays or ONNX, on edges: against a float64 reference and eager gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from common_functions import KINKS, ROWS, agrees, edges, expected  # noqa: E402
from unit.frontends.torch_frontend.programs import evaluated  # noqa: E402

import mlc  # noqa: E402
import mlc.numpy as mnp  # noqa: E402
from mlc import nn  # noqa: E402
from mlc.frontends.array.namespace import NAMESPACE  # noqa: E402
from mlc.frontends.onnx import node  # noqa: E402
from mlc.frontends.onnx import ops as onnx_ops  # noqa: E402
from mlc.frontends.torch import ops  # noqa: E402
from mlc.frontends.torch.registry import REGISTRY  # noqa: E402

ELSEWHERE = frozenset(
    (
        *("all", "amax", "amin", "any", "arange", "argmax", "argmin", "argsort", "clip", "concat", "conj", "copy"),
        *("countnonzero", "cumprod", "cumsum", "diagonal", "dot", "einsum", "embedding", "empty", "emptylike", "flip"),
        *("floordivide", "full", "fulllike", "glu", "groupnorm", "layernorm", "logsoftmax", "logsumexp", "matmul"),
        *("max", "mean", "median", "min", "nanmedian", "nantonum", "nonzero", "ones", "oneslike", "outer", "prod"),
        *("repeat", "reshape", "rmsnorm", "roll", "searchsorted", "select", "softmax", "sort", "split", "squeeze"),
        *("stack", "std", "sum", "swapaxes", "transpose", "tril", "triu", "var", "where", "zeros", "zeroslike"),
        *("bernoulli", "dropout", "expand", "gather", "gru", "lstm", "prelu", "scatter", "slice", "topk", "unsqueeze"),
        *("bitwiseand", "bitwiseleftshift", "bitwisenot", "bitwiseor", "bitwiserightshift", "bitwisexor"),
        *("logicaland", "logicalnot", "logicalor", "logicalxor", "celu", "gelu", "hardswish", "hardtanh", "leakyrelu"),
        *("mish", "selu", "truedivide", "divide", "angle", "bincount", "frexp", "gcd", "histogram", "i0", "lcm"),
        *("ldexp", "multinomial", "nextafter", "unique", "poisson", "normal"),
    )
)
"""Movements, reductions, layers and functions with parameters, which have tests of their own."""


def plain(name: str) -> str:
    return name.lower().replace("_", "")


def function(name: str) -> Any:
    found = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    return (lambda *xs: found(*xs)) if name != "positive" else torch.positive


def test_every_common_function_is_held() -> None:
    ops.load_all()
    onnx_ops.load_all()
    ours = {plain(n) for n in [*NAMESPACE, *(n for n in dir(nn) if n[0].islower())]}
    theirs = ours | {plain(op) for domain, op in node.REGISTRY if domain == ""}
    common = theirs & {plain(name.partition(".")[0]) for name in REGISTRY}
    assert not common - {plain(name) for name in ROWS} - ELSEWHERE, "add a row to common_functions.py"


NAMES = [name for name, row in ROWS.items() if hasattr(torch, name) or hasattr(torch.nn.functional, name)]


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return evaluated({n: (function(n), tuple(map(torch.from_numpy, edges(ROWS[n])))) for n in NAMES})


@pytest.mark.parametrize("name", NAMES)
def test_values(name: str, results: dict[str, Any]) -> None:
    right = expected(ROWS[name], edges(ROWS[name]))
    agrees(results[name][1][0], right, name)


class Functions(torch.nn.Module):
    """All functions of one argument, in one program."""

    def forward(self, x: Any) -> Any:
        return tuple(function(name)(x) for name in SMOOTH)


SMOOTH = [name for name in NAMES if ROWS[name].inputs == 1 and name not in KINKS]


def test_gradients() -> None:
    """At kinks and far from 0, within the domain of each function, as eager torch has them in f64."""
    x = torch.tensor([0.0, 0.5, -0.5, 0.99, 3.0, -3.0, 6.0, 20.0, -30.0, 1e-30])
    exported = mlc.function(torch.export.export(Functions(), (x,)))
    for n, name in enumerate(SMOOTH):
        leaf = x.double().requires_grad_()
        value = function(name)(leaf)
        value.sum().backward()
        with np.errstate(over="ignore"):
            right = leaf.grad.numpy().astype(np.float32)
        found = np.asarray(mlc.grad(lambda x, n=n: mnp.sum(exported(x)[n]))(x.numpy()))
        finite = np.isfinite(right) & np.isfinite(value.detach().numpy())  # within the domain
        np.testing.assert_allclose(found[finite], right[finite], rtol=1e-4, atol=1e-6, err_msg=name)
