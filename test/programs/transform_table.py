"""The table of programs of nested transforms. Each takes a framework, its array module and random numbers.

A framework has ``grad``, ``vmap``, ``scan``, … and the functions that only one of mlc and JAX has in its main
namespace: ``remat``, ``tree_map``, ``dynamic_slice``, ….
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

Program = Callable[[Any, Any, numpy.random.Generator], Any]
PROGRAMS: dict[str, Program] = {}


def program(f: Program) -> Program:
    PROGRAMS[f.__name__] = f
    return f


def numbers(rng: numpy.random.Generator, *shape: int) -> numpy.ndarray[Any, Any]:
    return rng.standard_normal(shape).astype(numpy.float64)
