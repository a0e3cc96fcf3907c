"""Products of constants, which `fold-constants` computes term by term."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.test import TestOp

from mlc.dialects.graph import ContractOp
from mlc.dialects.semantics.evaluate import evaluate_statement
from mlc.dialects.semantics.numpy_evaluators import kernel_of
from mlc.dialects.types import tensor


@pytest.mark.parametrize(
    ("equation", "lhs", "rhs"),
    [
        ("mk,kn->mn", (3, 5), (5, 4)),
        ("ai,FCijcf->FCajcf", (6, 3), (2, 3, 3, 3, 4, 5)),
        ("bj,FCajcf->abFCcf", (4, 3), (2, 3, 6, 3, 4, 5)),
        ("bik,bkj->ij", (2, 3, 4), (2, 4, 5)),
        ("bmk,bkn->bmn", (1, 3, 4), (2, 4, 5)),
        ("i,j->ij", (3,), (4,)),
        ("i,i->", (7,), (7,)),
        ("ii,i->i", (3, 3), (3,)),
        ("mk,kn->mn", (3, 0), (0, 4)),
    ],
)
@pytest.mark.parametrize("element", ["f32", "f64", "i32"])
def test_the_bits_are_those_of_the_statement(equation, lhs, rhs, element):
    dtype = {"f32": np.float32, "f64": np.float64, "i32": np.int32}[element]
    random = np.random.default_rng()
    arrays = [(random.standard_normal(shape) * 9).astype(dtype) for shape in (lhs, rhs)]
    op = ContractOp(equation, *TestOp(result_types=[tensor(element, lhs), tensor(element, rhs)]).results)
    result = kernel_of(op)(*arrays)
    expected = np.zeros(result.shape, dtype)
    for statement in op.statements():
        evaluate_statement(statement, arrays, expected, {})
    assert result.dtype == dtype and result.tobytes() == expected.tobytes()
