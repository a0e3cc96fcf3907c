"""Some programs of nested transforms beside JAX; `transform_programs.py` runs all of them."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")


@pytest.mark.parametrize("name", ["vmap_of_while_with_other_trips", "grad_of_nested_cond", "aux_of_jacobians"])
def test_a_program_agrees_with_jax(name: str) -> None:
    from transform_programs import problem

    assert not problem(name, 0)
