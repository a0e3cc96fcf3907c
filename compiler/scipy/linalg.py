"""``mlc.scipy.linalg``: factors that are kept, systems solved with them, and functions of matrices."""

from typing import Any

from mlc.frontends.array.linalg.decompositions import det, inv
from mlc.frontends.array.linalg.exponential import expm
from mlc.frontends.array.linalg.systems import cho_factor, cho_solve, lu, lu_factor, lu_solve, solve_triangular
from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish
from mlc.scipy import matrices
from mlc.scipy.banded import solve_banded, solveh_banded
from mlc.scipy.matrices import *  # noqa: F403

__all__ = [
    *matrices.__all__,
    "cho_factor", "cho_solve", "det", "expm", "inv", "lu", "lu_factor", "lu_solve", "solve_banded",
    "solve_triangular", "solveh_banded",
]  # fmt: skip

publish(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise missing("mlc.scipy.linalg", name, __all__)
