"""Short programs in the style of tutorials, with only the import changed, against NumPy."""

import array_programs
import pytest


@pytest.mark.parametrize("name", array_programs.PROGRAMS)
def test_program(name: str) -> None:
    array_programs.check(name, seed=0)
